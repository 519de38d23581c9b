"""The calls of the page behind a link that sets a password."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from gatehouse.api.login.schemas import Password  # noqa: TC001 - msgspec reads the types
from gatehouse.api.operation import PREFIX, STORE_REFUSALS, Group, Limit, Operation
from gatehouse.auth import refusals

Ticket = Annotated[str, Meta(min_length=1, max_length=1024, description="What follows the # of the link.")]


class PasswordLinkBody(Struct):
    ticket: Ticket


class PasswordByLinkBody(Struct):
    ticket: Ticket
    newPassword: Password


class LinkOwnerData(Struct):
    username: str


AUTH = (
    Operation(
        "password_link_owner",
        "POST",
        f"{PREFIX}/auth/password-link",
        "Whose password a link sets",
        Group.AUTH,
        body=PasswordLinkBody,
        body_required=True,
        data=LinkOwnerData,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=(refusals.TicketGone, *STORE_REFUSALS),
    ),
    Operation(
        "set_password_by_link",
        "PUT",
        f"{PREFIX}/auth/password-link",
        "Set a password with a link; it works once, and all sessions of the user end",
        Group.AUTH,
        body=PasswordByLinkBody,
        body_required=True,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=(refusals.TicketGone, refusals.PasswordRefused, refusals.TooBusy, *STORE_REFUSALS),
    ),
)
