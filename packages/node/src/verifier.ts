// Checks type, key, signature, issuer, audience, expiry and session of an access token.
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from "jose";
import { EndedSessions, MAX_LEEWAY } from "./ended-sessions.js";
import { TokenInvalid } from "./errors.js";
import { KeySet, type VerificationKey } from "./keys.js";
import { type Log, OutageLog } from "./outage-log.js";
import { bearer, Principal } from "./principal.js";

const MAX_TOKEN_LENGTH = 4096;

export interface VerifierOptions {
  /** The address of Gatehouse as this service reaches it. */
  url: string;
  /** From `gatehouse service-key add NAME`. */
  serviceKey: string;
  /** What tokens name as their issuer: GATEHOUSE_ISSUER. The address, unless set. */
  issuer?: string;
  /** GATEHOUSE_AUDIENCE, `gatehouse` unless set. */
  audience?: string;
  /** GATEHOUSE_TOKEN_TYPE, `at+jwt` unless set. */
  tokenType?: string;
  /** Seconds by which clocks may differ: 10 unless set, at most 120. */
  leeway?: number;
  /** Seconds without an event after which the feed of ended sessions is out of date: 5 unless set, at least 2. */
  maxSilence?: number;
  /** Accept tokens until they expire while the feed is out of date. Otherwise every request is answered 503. */
  failOpen?: boolean;
  /** Allow plain http to another machine, on a network that you trust. */
  allowHttp?: boolean;
  /** Receives the lines about outages: `console.warn` unless set. */
  log?: Log;
}

export class Verifier {
  private readonly keys: KeySet;
  private readonly ended: EndedSessions;
  private readonly issuer: string;
  private readonly audience: string;
  private readonly tokenType: string;
  private readonly leeway: number;

  /** Starts to follow the feed of ended sessions. One is enough for a process. */
  constructor(options: VerifierOptions) {
    const { serviceKey, leeway = 10, maxSilence = 5, failOpen = false, log = console.warn } = options;
    const url = checkedUrl(options.url, options.allowHttp ?? false);
    if (!serviceKey) throw new Error("serviceKey: make one with `gatehouse service-key add NAME`");
    if (!(leeway >= 0 && leeway <= MAX_LEEWAY)) throw new Error(`leeway: expected 0 to ${MAX_LEEWAY} seconds`);
    if (!(maxSilence >= 2)) throw new Error("maxSilence: expected at least 2 seconds");
    this.issuer = options.issuer ?? options.url;
    this.audience = options.audience ?? "gatehouse";
    this.tokenType = options.tokenType ?? "at+jwt";
    this.leeway = leeway;
    const consequence = failOpen ? "tokens are accepted until they expire" : "requests are answered 503";
    this.ended = new EndedSessions({
      url: `${url}/events/ended-sessions/stream`,
      serviceKey,
      maxSilence: maxSilence * 1000,
      failOpen,
      outages: new OutageLog(log, "the feed of ended sessions is out of date", consequence),
    });
    const outages = new OutageLog(log, "the public keys cannot be fetched", "known ones are used for 65 minutes");
    this.keys = new KeySet(`${url}/.well-known/jwks.json`, this.ended, outages);
  }

  /** Whose token the request carries. Throws `TokenInvalid`, or `Unavailable` if the check cannot be made. */
  async authenticate(request: Pick<IncomingMessage, "headersDistinct">): Promise<Principal> {
    const token = bearer(request);
    if (!token) throw new TokenInvalid("no token");
    return this.check(token);
  }

  /** Whose token it is. Throws `TokenInvalid`, or `Unavailable` if the check cannot be made. */
  async check(token: string): Promise<Principal> {
    const kid = this.kid(token);
    await this.ended.ready;
    const key = await this.keys.find(kid);
    if (!key) throw new TokenInvalid("signed by no key of Gatehouse");
    const { sub, sid, iat, ...others } = await this.claims(token, key);
    if (!/^\d{1,15}$/.test(sub ?? "") || typeof sid !== "string" || !sid || typeof iat !== "number") {
      throw new TokenInvalid("sub, sid or iat is not of the right form");
    }
    if (iat - this.leeway > Date.now() / 1000) throw new TokenInvalid("not yet issued");
    this.ended.check(sid, iat);
    const username = typeof others.preferred_username === "string" ? others.preferred_username : "";
    const claims = { sub, sid, iat, ...others };
    return new Principal(Number(sub), username, sid, texts(others.roles), texts(others.perms), claims);
  }

  /** Ends the connection to the feed, so that the process can end. */
  close(): void {
    this.ended.close();
  }

  /** Which key the token names. A token that is not one of Gatehouse costs no fetch. */
  private kid(token: string): string {
    if (token.length > MAX_TOKEN_LENGTH) throw new TokenInvalid("longer than any access token");
    let header;
    try {
      header = decodeProtectedHeader(token);
    } catch {
      throw new TokenInvalid("not a JWT");
    }
    if (header.typ !== this.tokenType || typeof header.kid !== "string") throw new TokenInvalid("not an access token");
    return header.kid;
  }

  private async claims(token: string, key: VerificationKey): Promise<JWTPayload> {
    try {
      // The key comes from Gatehouse's own set and the algorithm from the key: the token has no say in them.
      const { payload } = await jwtVerify(token, key.public, {
        algorithms: [key.algorithm],
        issuer: this.issuer,
        audience: this.audience,
        clockTolerance: this.leeway,
        requiredClaims: ["exp", "iat", "sub", "sid"],
      });
      if (typeof payload.exp !== "number") throw new TokenInvalid("exp is not a number");
      return payload;
    } catch (problem) {
      if (problem instanceof errors.JOSEError) throw new TokenInvalid(problem.message);
      throw problem;
    }
  }
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((item) => typeof item === "string") : []);

/** Whoever can change an answer decides which tokens are valid, so plain http is for the same machine only. */
function checkedUrl(given: string, allowHttp: boolean): string {
  const { protocol, hostname } = new URL(given);
  if (protocol !== "https:" && protocol !== "http:") throw new Error(`url: expected http or https, got ${given}`);
  const loopback = hostname === "localhost" || hostname === "[::1]" || (isIP(hostname) && hostname.startsWith("127."));
  if (protocol === "http:" && !allowHttp && !loopback) {
    throw new Error(`url: ${given} is not https; on a network that you trust, set allowHttp`);
  }
  return given.replace(/\/+$/, "");
}
