"""Starts the service: prepares the stores, forks the workers, drains them at the end."""
