"""HTTP, independent of the API's operations: request, response, client address, CORS, forms."""
