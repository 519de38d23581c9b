// What a service without a framework needs; the guards are in `gatehouse-verify/express` and `gatehouse-verify/nest`.
export { Forbidden, TokenInvalid, Unavailable, VerifyError } from "./errors.js";
export { bearer, Principal } from "./principal.js";
export { Verifier, type VerifierOptions } from "./verifier.js";
