// An Express service that trusts the tokens of Gatehouse.
import express from "express";
import { Verifier } from "gatehouse-verify";
import { guard, requirePerms } from "gatehouse-verify/express";

// The address is also the issuer. If Gatehouse has a GATEHOUSE_ISSUER of its own, say so with `issuer`.
const verifier = new Verifier({
  url: process.env.GATEHOUSE_URL ?? "http://127.0.0.1:8000",
  serviceKey: process.env.GATEHOUSE_SERVICE_KEY ?? "",
  tokenType: process.env.GATEHOUSE_TOKEN_TYPE,
  failOpen: process.env.FAIL_OPEN === "true",
});

const app = express();
app.use(guard(verifier, { publicPaths: ["/health"] }));
app.get("/health", (request, response) => response.json({ status: "up" }));
app.get("/hello", (request, response) => response.json({ userId: request.principal.userId }));
app.post("/users", requirePerms("sys:user:add"), (request, response) =>
  response.json({ addedBy: request.principal.username }),
);
app.listen(Number(process.env.PORT ?? 8107), "127.0.0.1");
