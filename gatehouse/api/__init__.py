"""Speaks HTTP and the envelope. Knows the rules in `auth`, never a store."""
