"""Builds, checks and tags a release: `make release`. Nothing here is installed with Gatehouse."""
