"""HTTP, independent of the API's operations: request, reply, client address, CORS, time-outs."""
