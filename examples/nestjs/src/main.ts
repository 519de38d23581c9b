// A NestJS service that trusts the tokens of Gatehouse.
import "reflect-metadata";
import { Controller, Get, HttpCode, Module, Post } from "@nestjs/common";
import { APP_GUARD, NestFactory } from "@nestjs/core";
import { CurrentUser, GatehouseGuard, RequirePerms } from "./guard.js";
import { EndedSessions } from "./ended-sessions.js";
import { Verifier, type Principal } from "./verifier.js";

// The address is also the issuer. If Gatehouse has a GATEHOUSE_ISSUER of its own, give that one to the verifier.
const gatehouse = process.env.GATEHOUSE_URL ?? "http://127.0.0.1:8000";
const tokenType = process.env.GATEHOUSE_TOKEN_TYPE ?? "at+jwt";
const ended = new EndedSessions(gatehouse, process.env.GATEHOUSE_SERVICE_KEY ?? "");

@Controller()
class AppController {
  @Get("hello")
  hello(@CurrentUser() user: Principal) {
    return { userId: user.userId };
  }

  @Post("users")
  @HttpCode(200)
  @RequirePerms("sys:user:add")
  addUser(@CurrentUser() user: Principal) {
    return { addedBy: user.username };
  }
}

@Module({
  controllers: [AppController],
  providers: [
    { provide: Verifier, useValue: new Verifier(gatehouse, gatehouse, "gatehouse", tokenType, ended) },
    { provide: APP_GUARD, useClass: GatehouseGuard },
  ],
})
class AppModule {}

await ended.start();
const app = await NestFactory.create(AppModule, { logger: ["error", "warn"] });
app.enableShutdownHooks();
await app.listen(Number(process.env.PORT ?? 8105), "127.0.0.1");
