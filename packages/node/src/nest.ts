// A guard for every route. Its answers are those that consoles of the vue3-element-admin family act on.
import {
  type CanActivate,
  type ExecutionContext,
  ForbiddenException,
  HttpException,
  Injectable,
  ServiceUnavailableException,
  SetMetadata,
  createParamDecorator,
} from "@nestjs/common";
import { Reflector } from "@nestjs/core";
import { TokenInvalid, Verifier, type Principal } from "./verifier.js";

const PERMS = "gatehouse:perms";

/** All of these perms are needed. */
export const RequirePerms = (...perms: string[]) => SetMetadata(PERMS, perms);

export const CurrentUser = createParamDecorator(
  (_: unknown, context: ExecutionContext): Principal => context.switchToHttp().getRequest().principal,
);

@Injectable()
export class GatehouseGuard implements CanActivate {
  constructor(private readonly verifier: Verifier, private readonly reflector: Reflector) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest();
    const [, token] = /^bearer (\S+)$/i.exec(request.headers.authorization ?? "") ?? [];
    const principal = await this.principal(token, context);
    const needed = this.reflector.getAllAndOverride<string[]>(PERMS, [context.getHandler(), context.getClass()]) ?? [];
    if (!needed.every((perm) => principal.perms.includes(perm))) {
      throw new ForbiddenException({ code: "A0301", msg: "Not allowed" });
    }
    request.principal = principal;
    return true;
  }

  private async principal(token: string | undefined, context: ExecutionContext): Promise<Principal> {
    try {
      if (!token) throw new TokenInvalid();
      return await this.verifier.check(token);
    } catch (problem) {
      const response = context.switchToHttp().getResponse();
      if (problem instanceof TokenInvalid) {
        response.setHeader("WWW-Authenticate", 'Bearer error="invalid_token"');
        throw new HttpException({ code: "A0230", msg: "Please log in" }, 401);
      }
      response.setHeader("Retry-After", "2");
      throw new ServiceUnavailableException({ code: "C0300", msg: "The service is not available, try again in a moment" });
    }
  }
}
