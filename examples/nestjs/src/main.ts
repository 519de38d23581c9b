// A NestJS service that trusts the tokens of Gatehouse.
import "reflect-metadata";
import { Controller, Get, HttpCode, Module, Post } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import type { Principal } from "gatehouse-verify";
import { CurrentUser, GatehouseModule, Public, RequirePerms } from "gatehouse-verify/nest";

@Controller()
class AppController {
  @Get("health")
  @Public()
  health() {
    return { status: "up" };
  }

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
  imports: [
    // The address is also the issuer. If Gatehouse has a GATEHOUSE_ISSUER of its own, say so with `issuer`.
    GatehouseModule.forRoot({
      url: process.env.GATEHOUSE_URL ?? "http://127.0.0.1:8000",
      serviceKey: process.env.GATEHOUSE_SERVICE_KEY ?? "",
      tokenType: process.env.GATEHOUSE_TOKEN_TYPE,
    }),
  ],
  controllers: [AppController],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ["error", "warn"] });
app.enableShutdownHooks();
await app.listen(Number(process.env.PORT ?? 8105), "127.0.0.1");
