"""Decides: who may in, and for how long. Knows no HTTP, no SQL and no engine; the clock is handed in."""
