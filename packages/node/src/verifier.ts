// Checks type, key, signature, issuer, audience, expiry and session of an access token.
import { createRemoteJWKSet, errors, jwtVerify, type JWTVerifyGetKey } from "jose";
import type { EndedSessions } from "./ended-sessions.js";

export interface Principal {
  userId: number;
  username: string;
  roles: string[];
  perms: string[];
}

/** No token, or not one that opens anything. */
export class TokenInvalid extends Error {}

const strings = (value: unknown): string[] => (Array.isArray(value) ? value.filter((each) => typeof each === "string") : []);

export class Verifier {
  private readonly key: JWTVerifyGetKey;

  constructor(gatehouse: string, private readonly issuer: string, private readonly audience: string,
    private readonly tokenType: string, private readonly ended: EndedSessions) {
    // Fetched when first needed, kept for five minutes, fetched again for an unknown key at most once a second.
    const keys = createRemoteJWKSet(new URL(`${gatehouse}/.well-known/jwks.json`), {
      cacheMaxAge: 300_000,
      cooldownDuration: 1_000,
      timeoutDuration: 3_000,
    });
    // jose takes a key only for its own `alg`. For a token without `kid` it would take any key that fits.
    this.key = (header, token) => {
      if (typeof header.kid !== "string") throw new errors.JWKSNoMatchingKey();
      return keys(header, token);
    };
  }

  async check(token: string): Promise<Principal> {
    const { sub, sid, iat, ...claims } = await this.claims(token);
    if (!/^\d{1,15}$/.test(sub ?? "") || typeof sid !== "string" || !sid) throw new TokenInvalid();
    if (this.ended.has(sid, iat ?? 0)) throw new TokenInvalid();
    return {
      userId: Number(sub),
      username: String(claims.preferred_username ?? ""),
      roles: strings(claims.roles),
      perms: strings(claims.perms),
    };
  }

  private async claims(token: string) {
    try {
      const { payload } = await jwtVerify(token, this.key, {
        algorithms: ["ES256", "EdDSA", "RS256"],
        typ: this.tokenType,
        issuer: this.issuer,
        audience: this.audience,
        clockTolerance: 10,
        requiredClaims: ["exp", "sub", "sid"],
      });
      if (typeof payload.exp !== "number") throw new TokenInvalid();
      return payload;
    } catch (problem) {
      // Keys that cannot be had at all are not the caller's fault: that error goes on, and the answer is 503.
      const keysAway = problem instanceof errors.JWKSTimeout || (problem as { code?: string }).code === "ERR_JOSE_GENERIC";
      if (problem instanceof errors.JOSEError && !keysAway) throw new TokenInvalid();
      throw problem;
    }
  }
}
