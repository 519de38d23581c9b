// Who holds a token, and what that allows.
import type { IncomingMessage } from "node:http";
import { Forbidden } from "./errors.js";

export class Principal {
  constructor(
    readonly userId: number,
    readonly username: string,
    readonly session: string,
    readonly roles: readonly string[],
    /** Empty unless Gatehouse runs with GATEHOUSE_TOKEN_PERMS=on. */
    readonly perms: readonly string[],
    /** Every claim of the token. */
    readonly claims: Readonly<Record<string, unknown>>,
  ) {}

  /** Throws `Forbidden` unless the user has every one of these perms. */
  requirePerms(...perms: string[]): void {
    const missing = perms.filter((perm) => !this.perms.includes(perm));
    if (missing.length) throw new Forbidden(`user ${this.userId} lacks ${missing.join(", ")}`);
  }

  /** Throws `Forbidden` unless the user holds at least one of these roles. */
  requireRoles(...anyOf: string[]): void {
    if (!anyOf.some((role) => this.roles.includes(role))) {
      throw new Forbidden(`user ${this.userId} holds none of the roles ${anyOf.join(", ")}`);
    }
  }
}

/** The token of the only `Authorization` header. Two count as none: a proxy may have read the other one. */
export function bearer(request: Pick<IncomingMessage, "headersDistinct">): string | undefined {
  const values = request.headersDistinct?.authorization ?? [];
  return values.length === 1 ? /^bearer +(\S+)$/i.exec(values[0]!.trim())?.[1] : undefined;
}
