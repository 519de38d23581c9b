"""Storage: accounts (SQL), state (one protocol, several engines), and the databases of other systems, read-only."""
