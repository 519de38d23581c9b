"""What goes over the wire: the table of operations, bodies, variants, errors, and their OpenAPI description."""
