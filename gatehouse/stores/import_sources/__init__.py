"""Reads the databases of other systems, for imports. Nothing is written there."""
