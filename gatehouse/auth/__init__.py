"""The rules: who may log in, and for how long. Knows no HTTP, no SQL and no engine; the clock is passed in."""
