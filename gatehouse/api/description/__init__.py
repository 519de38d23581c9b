"""The description of the API: OpenAPI, made from the operations."""
