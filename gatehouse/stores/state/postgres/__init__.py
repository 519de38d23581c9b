"""State in PostgreSQL, for those who have it and no Redis."""
