"""An operation under `/api/v1`, declared at the method that serves it:

    @Operation("POST", "/api/v1/roles", "Add a role", perm="sys:role:create", body=RoleBody, refusals=(Duplicate,))
    async def add_role(self, request: Request, principal: Principal) -> Response: ...

The name of the method is the name of the operation in metrics and OpenAPI. `routes.py` routes by the declaration and
`description/openapi.py` describes it, so the two cannot differ. `operation_table.py` has all of them.
"""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from gatehouse.api.error_catalogue import BodyTooLarge, BodyUnreadable, UnsupportedMediaType
from gatehouse.auth import refusals
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.response import Response

Serve = TypeVar("Serve", bound="Callable[..., Awaitable[Response]]")

PREFIX = "/api/v1"

# What an id, several of them or a code is made of. Anything else in its place is a path that does not exist.
PATH_VALUE = r"^[A-Za-z0-9._~,-]+$"

JSON = "application/json"
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

BODY_REFUSALS = (refusals.FieldMissing, refusals.FieldInvalid, BodyUnreadable, BodyTooLarge, UnsupportedMediaType)


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


class Alias(NamedTuple):
    """The same operation as other consoles call it: another method, perhaps another path."""

    method: str
    path: str
    summary: str


class Operation(msgspec.Struct, frozen=True):
    method: str
    path: str
    summary: str
    public: bool = False  # answered without a token; the endpoint of any other is called with the principal, too
    checks_token_itself: bool = False  # needs a token, but the endpoint is called with the request alone
    # Checked before the endpoint runs. Stated by its current name; the older name allows the operation as well.
    perm: str | None = None
    or_perms: tuple[str, ...] = ()  # each of these allows it as well
    query: type[msgspec.Struct] | None = None
    body: Any = None  # a type that msgspec decodes
    takes: tuple[str, ...] = (JSON,)  # media types of the body
    upload_limit: int = 0  # bytes of a file in the body, beyond what every body may have
    data: Any = None  # a type that msgspec encodes
    produces: str = JSON  # media type of a success
    limits: tuple[Limit, ...] = ()
    refusals: tuple[type[Exception], ...] = ()  # beyond those that follow from the rest
    without_stores: bool = False  # works while they are unavailable
    older_paths: tuple[str, ...] = ()
    aliases: tuple[Alias, ...] = ()
    description: str = ""
    # By the variant of the contract (A, B) that has its values in the body, or in the query.
    body_examples: dict[str, dict[str, Any]] | None = None
    query_examples: dict[str, dict[str, Any]] | None = None
    name: str = ""  # that of the method

    def __call__(self, serve: Serve) -> Serve:
        named = msgspec.structs.replace(self, name=serve.__name__)
        serve.__dict__["operations"] = (
            named,
            *(msgspec.structs.replace(named, **alias._asdict()) for alias in self.aliases),
        )
        return serve

    @property
    def group(self) -> Group:
        if self.path.startswith(f"{PREFIX}/auth/"):
            return Group.AUTH
        return Group.OWN_ACCOUNT if f"{self.path}/".startswith(f"{PREFIX}/users/me/") else Group.CONSOLE

    @property
    def body_required(self) -> bool:
        """Whether any of its fields is."""
        if not isinstance(self.body, type):
            return self.body is not None
        return any(field.required for field in msgspec.structs.fields(self.body))

    @property
    def all_refusals(self) -> tuple[type[Exception], ...]:
        """Everything this operation may refuse with."""
        return tuple(
            dict.fromkeys(
                (
                    *(() if self.public else (refusals.AccessTokenInvalid,)),
                    *((refusals.NotAllowed,) if self.perm else ()),
                    *((refusals.FieldInvalid,) if self.query else ()),
                    *(BODY_REFUSALS if self.body else ()),
                    *self.refusals,
                    *(() if self.without_stores else (StoreUnavailable,)),
                    *(limit.refusal for limit in self.limits),
                )
            )
        )


def operations_of(*classes: Callable[..., object]) -> tuple[Operation, ...]:
    """Those that the methods of these classes serve, in the order of the files."""
    methods = (method for endpoints in classes for method in vars(endpoints).values())
    return tuple(operation for method in methods for operation in getattr(method, "operations", ()))
