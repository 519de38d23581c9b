"""What goes over the wire: the route table, bodies, variants, errors, and their OpenAPI description."""
