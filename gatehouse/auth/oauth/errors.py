"""Refusals in the form of RFC 6749: a code of the standard, and a sentence for the developer of the application.

Where they go: as JSON to the application's server, by the browser to the application's registered address
(`RedirectRefusal`), or to a page of ours where there is no such address (`PageRefusal`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from gatehouse.auth.refusals import Refused

if TYPE_CHECKING:
    from gatehouse.auth.audit import ClientRefusal


class OAuthRefusal(Refused):
    def __init__(self, error: str, description: str, *, status: int = 400) -> None:
        super().__init__(f"{error}: {description}")
        self.error = error
        self.description = description
        self.status = status


class InvalidClient(OAuthRefusal):
    """The application has not shown that it is the one it says. Counted by address."""

    def __init__(self, reason: ClientRefusal, description: str) -> None:
        super().__init__("invalid_client", description, status=401)
        self.reason = reason


class RedirectRefusal(OAuthRefusal):
    def __init__(self, error: str, description: str, redirect_uri: str, state: str, response_mode: str) -> None:
        super().__init__(error, description)
        self.redirect_uri = redirect_uri
        self.state = state
        self.response_mode = response_mode


class PageProblem(StrEnum):
    """What a page of ours says to a person whom no application can be told of."""

    CLIENT = "client"  # unknown, or switched off
    REDIRECT_URI = "redirect_uri"  # not registered
    REQUEST_URI = "request_uri"  # expired, used, or of another application
    POST_LOGOUT_REDIRECT_URI = "post_logout_redirect_uri"  # not registered
    TO = "to"  # neither of this service nor of a console that is configured
    UNREADABLE = "unreadable"  # a parameter twice, or not a form


class PageRefusal(Refused):
    def __init__(self, problem: PageProblem, back: str = "") -> None:
        """`back`: where people open the application that has sent them here, if it is known."""
        super().__init__(problem.value)
        self.problem = problem
        self.back = back
