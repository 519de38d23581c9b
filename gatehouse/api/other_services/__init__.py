"""For operators and other services: health, keys, introspection, ended sessions."""
