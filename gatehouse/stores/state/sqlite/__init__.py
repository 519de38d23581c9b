"""State in one SQLite file that all workers of a machine share."""
