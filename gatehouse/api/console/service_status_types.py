"""The status of the service, for the administration page: settings, checks, lockouts."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from gatehouse.api.console.operation import console_operation
from gatehouse.auth.refusals import CannotManage


class SettingData(Struct):
    """`value` of a secret is always empty; `source` is where it was found, empty for a default."""

    name: str
    value: str
    default: str
    source: str
    meaning: str
    secret: bool


class SettingsData(Struct):
    version: str
    settings: list[SettingData]


class CheckData(Struct):
    """`check` names the check in every language; `found` and `advice` are in the language of the request."""

    level: Annotated[str, Meta(description="`ok`, `warn` or `fail`.")]
    check: str
    found: str
    advice: str


class ChecksData(Struct):
    checks: list[CheckData]


class LockoutData(Struct):
    """`place` is an address from which the name has logged in before, or `elsewhere`: all others.

    ` (code)` behind it: the failures had a code in place of the captcha's answer, and only such logins are locked.
    """

    name: str
    place: str
    failures: int
    until: str


class LockoutsData(Struct):
    lockouts: list[LockoutData]


class LiftBody(Struct):
    name: Annotated[str, Meta(min_length=1, max_length=64)]


OPERATIONS = (
    console_operation(
        "settings",
        "GET",
        "settings",
        "The settings in force and where each was found, without secrets",
        "sys:config:list",
        data=SettingsData,
    ),
    console_operation(
        "checks",
        "GET",
        "settings/checks",
        "What `gatehouse doctor` says of this node",
        "sys:config:list",
        data=ChecksData,
    ),
    console_operation(
        "lockouts",
        "GET",
        "lockouts",
        "Lockouts: names that are locked after failed logins",
        "sys:user:list",
        data=LockoutsData,
    ),
    console_operation(
        "lift_lockout",
        "DELETE",
        "lockouts",
        "Unlock a name",
        "sys:user:update",
        body=LiftBody,
        body_required=True,
        refusals=(CannotManage,),
    ),
)
