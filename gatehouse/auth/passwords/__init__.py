"""Hashing and checking passwords: the hash formats, the bounded pool of threads, hashes for unknown names."""
