"""For operators and other services: health, metrics, keys, introspection, ended sessions."""
