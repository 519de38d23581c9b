"""The master secret's derived keys, the signing keys and their rotation, service keys."""
