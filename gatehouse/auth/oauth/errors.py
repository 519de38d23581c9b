"""Refusals in the form of RFC 6749: a code of the standard, and a sentence for the developer of the application.

Where they may go is decided above: to the application's own address, to a page of ours, or as JSON.
"""

from __future__ import annotations

from gatehouse.auth.refusals import Refused


class OAuthRefusal(Refused):
    def __init__(self, error: str, description: str, *, status: int = 400) -> None:
        super().__init__(f"{error}: {description}")
        self.error = error
        self.description = description
        self.status = status


class InvalidClient(OAuthRefusal):
    """The application has not shown that it is the one it says. Counted by address."""

    def __init__(self, description: str) -> None:
        super().__init__("invalid_client", description, status=401)
