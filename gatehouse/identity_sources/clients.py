"""What the clients of the sources offer. `directory/` and `provider/` implement it; the rules know only this."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gatehouse.identity_sources.person import Person


class PasswordResult(NamedTuple):
    """Of one name and password. `person` is who has the name, whether or not the password is right."""

    person: Person | None
    correct: bool
    # Why a right or wrong password is refused all the same, as a tag: "expired", "locked", "must_change", "ambiguous".
    refused: str = ""


class Directory(Protocol):
    """Every call raises `SourceUnavailable` if no server answers in time or the answer makes no sense."""

    async def check_password(self, name: str, password: str) -> PasswordResult:
        """Find the name, and bind as the entry. An unknown name costs a bind as well. "" never reaches a server."""

    async def find(self, name: str) -> Person | None:
        """By login name; None as well if there are several."""

    async def by_subject(self, subject: str) -> Person | None:
        """The person while it is there and may log in; None when it is gone, disabled or matches no longer."""

    def people(self) -> AsyncIterator[Person]:
        """All who may log in, read page by page, with their groups."""

    def test(self, name: str = "") -> AsyncIterator[TestStep]:
        """What works, step by step: name resolved, connected, TLS, bind, search, groups; with a name, that person."""

    async def close(self) -> None: ...


class TestStep(NamedTuple):
    """A step of `test`: a tag ("resolve", "connect", "tls", "bind", "search", "groups", "person", "discovery", "keys",
    "token"), whether it works, and what was seen, for operators."""

    step: str
    works: bool
    seen: str


class AuthorizationRequest(NamedTuple):
    """Where the browser goes, and what must be kept until it comes back."""

    url: str
    state: str
    nonce: str
    verifier: str  # of PKCE


class ProviderLogin(NamedTuple):
    """A person whom a provider has authenticated."""

    person: Person
    amr: tuple[str, ...] = ()
    acr: str = ""
    authenticated: float | None = None  # auth_time
    sid: str = ""
    id_token: str = ""  # for the provider's logout


class LogoutToken(NamedTuple):
    """A verified back-channel logout token: `sid` or `subject` or both."""

    issuer: str
    subject: str
    sid: str
    jti: str
    expires: float


class CallbackRefused(Exception):
    """The answer of a provider that must not be accepted; the text is for the log. `code` is an OAuth error or ""."""

    def __init__(self, problem: str, code: str = "") -> None:
        super().__init__(problem)
        self.code = code


class Provider(Protocol):
    """Every call raises `SourceUnavailable` if the provider cannot be asked, `CallbackRefused` if it must not pass."""

    issuer: str  # of everybody there

    async def begin(self, redirect_uri: str, *, prompt: str = "", max_age: int | None = None) -> AuthorizationRequest:
        """The request to send the browser with."""

    async def complete(self, query: dict[str, str], request: AuthorizationRequest, redirect_uri: str) -> ProviderLogin:
        """From the query of the callback to a person: state, iss, code exchange, ID token, nonce."""

    async def logout_url(self, id_token: str, redirect_uri: str, state: str) -> str | None:
        """Where our logout goes on; None if the provider has no such address."""

    async def read_logout_token(self, token: str) -> LogoutToken:
        """A back-channel logout token, verified. That each is used once is checked by the caller, by `jti`."""

    def test(self) -> AsyncIterator[TestStep]: ...

    async def close(self) -> None: ...
