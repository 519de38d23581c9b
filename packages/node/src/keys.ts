// The public keys of Gatehouse: fetched when needed, cached, and fetched again at a bounded rate.
//
// - A key that is known and fresh is used without a request.
// - After five minutes the set is fetched again, so that a retired key is forgotten. In an outage it is used for an
//   hour more.
// - A `kid` that is not known causes a fetch, at most one a second, whatever forged tokens arrive.
import { createPublicKey, type KeyObject } from "node:crypto";
import { Unavailable } from "./errors.js";
import { type OutageLog, reasonOf } from "./outage-log.js";

const MAX_AGE = 300_000;
const STALE_FOR = 3_600_000;
const MIN_INTERVAL = 1_000;
const TIMEOUT = 3_000;
const MAX_KEYS = 100;
const MAX_ANSWER_LENGTH = 256 * 1024;
const ALGORITHMS: Record<string, string> = { "EC P-256": "ES256", "OKP Ed25519": "EdDSA", RSA: "RS256" };

export interface VerificationKey {
  readonly algorithm: string;
  readonly public: KeyObject;
}

export class KeySet {
  private keys = new Map<string, VerificationKey>();
  private fetched = -Infinity;
  private tried = -Infinity;
  private problem: string | undefined;
  private pending: Promise<void> | undefined;

  /** While the feed is out of date as well, its lines in the log say all there is to say. */
  constructor(
    private readonly url: string,
    private readonly feed: { readonly fresh: boolean },
    private readonly outages: OutageLog,
  ) {}

  /** The key, or undefined if Gatehouse has no such key. Throws `Unavailable` if that cannot be found out. */
  async find(kid: string): Promise<VerificationKey | undefined> {
    if (!this.isCurrent(kid)) await (this.pending ??= this.update());
    const old = performance.now() >= this.fetched + MAX_AGE + STALE_FOR;
    const key = old ? undefined : this.keys.get(kid);
    if (!key && this.problem) throw new Unavailable(this.problem);
    return key;
  }

  /** Whether no fetch is needed, or none is allowed yet. */
  private isCurrent(kid: string): boolean {
    const fresh = this.keys.has(kid) && performance.now() < this.fetched + MAX_AGE;
    return fresh || performance.now() < this.tried + MIN_INTERVAL;
  }

  private async update(): Promise<void> {
    try {
      this.keys = read(await fetchText(this.url));
      this.fetched = performance.now();
      this.problem = undefined;
      this.outages.recovered();
    } catch (problem) {
      this.problem = `the public keys cannot be fetched: ${reasonOf(problem)}`;
      if (this.feed.fresh) this.outages.failed(reasonOf(problem));
    } finally {
      // Counted from the end, so that a service which fails slowly is not asked without pause.
      this.tried = performance.now();
      this.pending = undefined;
    }
  }
}

async function fetchText(url: string): Promise<string> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT), redirect: "error" });
  if (!answer.ok) throw new Error(`${url} answered HTTP ${answer.status}`);
  const text = await answer.text();
  if (text.length > MAX_ANSWER_LENGTH) throw new Error(`${url} answered more than ${MAX_ANSWER_LENGTH} characters`);
  return text;
}

/** The keys of a JWKS that can sign access tokens; others are passed over. */
function read(text: string): Map<string, VerificationKey> {
  const { keys } = JSON.parse(text);
  if (!Array.isArray(keys) || keys.length > MAX_KEYS) throw new Error("not a JWKS");
  const usable = new Map<string, VerificationKey>();
  for (const jwk of keys) {
    const algorithm = ALGORITHMS[jwk.kty === "RSA" ? "RSA" : `${jwk.kty} ${jwk.crv}`];
    if (typeof jwk.kid !== "string" || (jwk.use ?? "sig") !== "sig") continue;
    if (!algorithm || (jwk.alg ?? algorithm) !== algorithm) continue;
    usable.set(jwk.kid, { algorithm, public: createPublicKey({ key: jwk, format: "jwk" }) });
  }
  return usable;
}
