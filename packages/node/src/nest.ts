// A module for NestJS that guards every route.
import {
  type CanActivate,
  type DynamicModule,
  type ExecutionContext,
  HttpException,
  Inject,
  Injectable,
  Module,
  type ModuleMetadata,
  type OnModuleDestroy,
  type Provider,
  SetMetadata,
  createParamDecorator,
} from "@nestjs/common";
import { APP_GUARD, Reflector } from "@nestjs/core";
import { VerifyError } from "./errors.js";
import type { Principal } from "./principal.js";
import { Verifier, type VerifierOptions } from "./verifier.js";

const PUBLIC = "gatehouse:public";
const PERMS = "gatehouse:perms";
const ROLES = "gatehouse:roles";

/** No token is needed. */
export const Public = () => SetMetadata(PUBLIC, true);

/** All of these perms are needed. */
export const RequirePerms = (...perms: string[]) => SetMetadata(PERMS, perms);

/** One of these roles is needed. */
export const RequireRoles = (...anyOf: string[]) => SetMetadata(ROLES, anyOf);

/** The `Principal` whose token the request carries. */
export const CurrentUser = createParamDecorator(
  (_: unknown, context: ExecutionContext): Principal => context.switchToHttp().getRequest().principal,
);

@Injectable()
export class GatehouseGuard implements CanActivate {
  constructor(
    @Inject(Verifier) private readonly verifier: Verifier,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const targets = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean>(PUBLIC, targets)) return true;
    const request = context.switchToHttp().getRequest();
    try {
      // Fastify wraps the request of Node.
      const principal = await this.verifier.authenticate(request.raw ?? request);
      for (const perms of this.reflector.getAll<string[][]>(PERMS, targets)) if (perms) principal.requirePerms(...perms);
      for (const roles of this.reflector.getAll<string[][]>(ROLES, targets)) if (roles) principal.requireRoles(...roles);
      request.principal = principal;
      return true;
    } catch (problem) {
      if (!(problem instanceof VerifyError)) throw problem;
      const response = context.switchToHttp().getResponse();
      for (const [name, value] of Object.entries(problem.headers)) response.header(name, value);
      throw new HttpException(problem.body, problem.status, { cause: problem });
    }
  }
}

export interface GatehouseAsyncOptions extends Pick<ModuleMetadata, "imports"> {
  useFactory: (...injected: any[]) => VerifierOptions | Promise<VerifierOptions>;
  inject?: any[];
}

/** Imported once, by the application's module: every route then needs a good token unless it is `@Public()`. */
@Module({})
export class GatehouseModule implements OnModuleDestroy {
  constructor(@Inject(Verifier) private readonly verifier: Verifier) {}

  static forRoot(options: VerifierOptions): DynamicModule {
    return guarded({ provide: Verifier, useFactory: () => new Verifier(options) });
  }

  static forRootAsync({ imports = [], inject = [], useFactory }: GatehouseAsyncOptions): DynamicModule {
    const made = async (...injected: unknown[]) => new Verifier(await useFactory(...injected));
    return guarded({ provide: Verifier, useFactory: made, inject }, imports);
  }

  onModuleDestroy(): void {
    this.verifier.close();
  }
}

function guarded(verifier: Provider, imports: ModuleMetadata["imports"] = []): DynamicModule {
  return {
    module: GatehouseModule,
    global: true,
    imports,
    providers: [verifier, { provide: APP_GUARD, useClass: GatehouseGuard }],
    exports: [Verifier],
  };
}
