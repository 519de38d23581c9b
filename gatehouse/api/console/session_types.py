"""Everybody's live sessions, for the administration page."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from gatehouse.api.console.fields import IdNumber  # noqa: TC001 - msgspec reads the annotations
from gatehouse.api.console.operation import console_operation
from gatehouse.api.login.schemas import EndedData, SessionData
from gatehouse.auth import refusals
from gatehouse.stores.errors import Missing


class LiveSessionQuery(Struct):
    keywords: Annotated[str, Meta(max_length=128, description="Looked for in the names of users.")] = ""
    userId: IdNumber | None = None
    start: Annotated[int, Meta(ge=0, le=10_000_000, description="`next` of the page before.")] = 0
    limit: Annotated[int, Meta(ge=1, le=100)] = 50


class LiveSessionData(SessionData, kw_only=True):
    userId: str
    username: str


class LiveSessionsData(Struct):
    sessions: list[LiveSessionData]
    next: Annotated[int | None, Meta(description="`start` of the next page; null after the last.")]


# The perms of the user page are enough too: who may disable a user ends the sessions by it.
OPERATIONS = (
    console_operation(
        "live_sessions",
        "GET",
        "sessions",
        "Live sessions: of all users, of one user, or of the users that a search finds",
        "sys:session:list",
        or_perms=("sys:user:list",),
        query=LiveSessionQuery,
        data=LiveSessionsData,
    ),
    console_operation(
        "end_live_session",
        "DELETE",
        "sessions/{id}",
        "End a session of any user",
        "sys:session:delete",
        or_perms=("sys:user:update",),
        refusals=(refusals.CannotManage, refusals.NoSuchSession, Missing),
    ),
    console_operation(
        "end_user_sessions",
        "DELETE",
        "users/{id}/sessions",
        "End all sessions of a user",
        "sys:session:delete",
        or_perms=("sys:user:update",),
        data=EndedData,
        refusals=(refusals.FieldInvalid, refusals.CannotManage, Missing),
    ),
)
