"""HTTP without the contract: request, reply, client address, CORS, time-outs."""
