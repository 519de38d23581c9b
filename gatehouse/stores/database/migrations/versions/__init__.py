"""Migrations of the accounts database, oldest first. A released version is never edited."""
