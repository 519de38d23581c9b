"""The state of the service, for the administration page: settings, checks, names that must wait."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from gatehouse.api.contract.operation import PREFIX, STORE_REFUSALS, Group, Operation


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
    level: Annotated[str, Meta(description="`ok`, `warn` or `fail`.")]
    check: str
    found: str
    advice: str


class ChecksData(Struct):
    checks: list[CheckData]


class LockoutData(Struct):
    """`place` is an address from which the name has logged in before, or `elsewhere`: all others."""

    name: str
    place: str
    failures: int
    until: str


class LockoutsData(Struct):
    lockouts: list[LockoutData]


class LiftBody(Struct):
    name: Annotated[str, Meta(min_length=1, max_length=64)]


def _operation(name: str, method: str, path: str, summary: str, perm: str, **more: Any) -> Operation:
    return Operation(
        name,
        method,
        f"{PREFIX}/{path}",
        summary,
        Group.CONSOLE,
        secured=True,
        perm=perm,
        refusals=STORE_REFUSALS,
        **more,
    )


OPERATIONS = (
    _operation(
        "settings",
        "GET",
        "settings",
        "The settings in force and where each was found, without secrets",
        "sys:config:list",
        data=SettingsData,
    ),
    _operation(
        "checks",
        "GET",
        "settings/checks",
        "What `gatehouse doctor` says of this node",
        "sys:config:list",
        data=ChecksData,
    ),
    _operation(
        "lockouts", "GET", "lockouts", "Names that must wait after failed logins", "sys:user:list", data=LockoutsData
    ),
    _operation(
        "lift_lockout",
        "DELETE",
        "lockouts",
        "Let a name try again at once",
        "sys:user:update",
        body=LiftBody,
        body_required=True,
    ),
)
