"""One class for each group of operations: reads the request, calls `auth/`, builds the response."""
