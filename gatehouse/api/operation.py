"""What the table of operations says of one operation: path, types, perm, rate limits, refusals."""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from gatehouse.api.contract.errors import BodyTooLarge, BodyUnreadable, UnsupportedMediaType
from gatehouse.auth import refusals
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    import msgspec

PREFIX = "/api/v1"

# What an id, several of them or a code is made of. Anything else in its place is a path that does not exist.
PATH_VALUE = r"^[A-Za-z0-9._~,-]+$"

JSON = "application/json"
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

BODY_REFUSALS = (refusals.FieldMissing, refusals.FieldInvalid, BodyUnreadable, BodyTooLarge, UnsupportedMediaType)
STORE_REFUSALS = (StoreUnavailable,)


class Group(StrEnum):
    """The tag of an operation in OpenAPI. The console group can be switched off as a whole."""

    AUTH = "auth"
    OWN_ACCOUNT = "own account"
    CONSOLE = "console"


class Limit(Enum):
    """A rate limit, by the setting that holds it, and what it answers when it is used up."""

    CAPTCHA_ADDRESS = "limit_captcha_address"
    LOGIN_ADDRESS = "limit_login_address"
    LOGIN_TOTAL = "limit_login_total"
    LOGIN_NAME = "limit_login_name"
    REFRESH_ADDRESS = "limit_refresh_address"
    PASSWORD_USER = "limit_password_user"

    @property
    def refusal(self) -> type[refusals.Refused]:
        return refusals.NameLocked if self is Limit.LOGIN_NAME else refusals.TooManyRequests


class Operation(NamedTuple):
    """`name` is the endpoint that answers it, and its label in the metrics."""

    name: str
    method: str
    path: str
    summary: str
    group: Group
    body: Any = None  # a type that msgspec decodes
    body_required: bool = False
    takes: tuple[str, ...] = (JSON,)  # media types of the body
    upload_limit: int = 0  # bytes of a file in the body, beyond what every body may have
    query: type[msgspec.Struct] | None = None
    data: Any = None  # a type that msgspec encodes
    produces: str = JSON  # media type of a success
    requires_token: bool = False
    # Checked before the endpoint runs. Stated by its current name; the older name allows the operation as well.
    perm: str | None = None
    or_perms: tuple[str, ...] = ()  # each of these allows it as well
    limits: tuple[Limit, ...] = ()
    refusals: tuple[type[Exception], ...] = ()  # beyond those that follow from the columns above
    older_paths: tuple[str, ...] = ()

    @property
    def all_refusals(self) -> tuple[type[Exception], ...]:
        """Everything this operation may refuse with."""
        return tuple(
            dict.fromkeys(
                (
                    *((refusals.AccessTokenInvalid,) if self.requires_token else ()),
                    *((refusals.NotAllowed,) if self.perm else ()),
                    *((refusals.FieldInvalid,) if self.query else ()),
                    *(BODY_REFUSALS if self.body else ()),
                    *self.refusals,
                    *(limit.refusal for limit in self.limits),
                )
            )
        )
