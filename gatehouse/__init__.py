"""Gatehouse: a login service that admin front ends plug into."""

__version__ = "0.1.0"
