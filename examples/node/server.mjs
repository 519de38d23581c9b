// A Node service without a framework that trusts the tokens of Gatehouse.
import { createServer } from "node:http";
import { Verifier, VerifyError } from "gatehouse-verify";

// The address is also the issuer. If Gatehouse has a GATEHOUSE_ISSUER of its own, say so with `issuer`.
const verifier = new Verifier({
  url: process.env.GATEHOUSE_URL ?? "http://127.0.0.1:8000",
  serviceKey: process.env.GATEHOUSE_SERVICE_KEY ?? "",
  tokenType: process.env.GATEHOUSE_TOKEN_TYPE,
});

const operations = new Map([
  ["GET /hello", (who) => ({ userId: who.userId, roles: who.roles })],
  ["GET /report", (who) => (who.requireRoles("ADMIN"), { report: [] })],
  ["POST /users", (who) => (who.requirePerms("sys:user:add"), { addedBy: who.username })],
]);

createServer(async (request, response) => {
  const send = (status, body, headers = {}) =>
    response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
  try {
    const principal = await verifier.authenticate(request);
    const operation = operations.get(`${request.method} ${request.url}`);
    if (!operation) return send(404, { code: "C0113", msg: "There is nothing at this path" });
    send(200, { code: "00000", msg: "ok", data: operation(principal) });
  } catch (refusal) {
    if (!(refusal instanceof VerifyError)) throw refusal;
    send(refusal.status, refusal.body, refusal.headers);
  }
}).listen(Number(process.env.PORT ?? 8101), "127.0.0.1");
