"""Sessions, the two kinds of token, and the cached profiles."""
