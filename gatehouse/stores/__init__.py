"""Remembers: a small Protocol for each memory, several engines behind it."""
