"""Why no release can be made. The message says what to do."""

from __future__ import annotations


class Refused(Exception):
    """The tree, the changelog or what was built is not what a release needs."""
