"""Authorization requests: what an application may ask for, read from a query, a form, or pushed before (RFC 9126).

Until the redirect address is known to be registered, a refusal is shown on a page of ours (`PageRefusal`). Every later
one goes to that address (`RedirectRefusal`). Parsing and checking are functions of their arguments.
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Any

import msgspec

from gatehouse.auth.oauth.definitions import ClientAuth, Pkce, Scope
from gatehouse.auth.oauth.errors import PageProblem, PageRefusal, RedirectRefusal
from gatehouse.auth.oauth.id_tokens import ACR_VALUES
from gatehouse.auth.oauth.redirect_uris import is_registered
from gatehouse.auth.oauth.scope_claims import SCOPE_OF
from gatehouse.auth.sealed_tickets.sealed_tickets import Tickets
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.auth.oauth.clients import Client, Clients
    from gatehouse.stores.state.protocol import State

    Parameters = Mapping[str, str]
    SubjectOfHint = Callable[[str], Awaitable[str]]

PUSHED_SECONDS = 90
SIGN_IN_SECONDS = 3600  # how long a person may take on the pages of one request, from its arrival
REQUEST_URI = "urn:ietf:params:oauth:request_uri:"
MAX_SEALED_LENGTH = 8192
# In bytes: together they fit into `MAX_SEALED_LENGTH`. Some proxies keep the address that somebody came for in `state`.
MAX_LENGTHS = {"state": 2048, "nonce": 512, "login_hint": 256, "ui_locales": 128, "acr_values": 256, "claims": 4096}
MAX_SUBJECT_LENGTH = 64  # longer than any of ours
RESPONSE_MODES = ("query", "form_post")
PROMPTS = ("none", "login", "consent", "select_account")
NOT_SUPPORTED = {
    "request": "request_not_supported",
    "request_uri": "request_uri_not_supported",
    "registration": "registration_not_supported",
}

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_AGE = re.compile(r"[0-9]{1,9}", re.ASCII)


class Destination(msgspec.Struct, frozen=True, array_like=True):
    """Where the answer goes: an address that is registered for the client, and how."""

    redirect_uri: str
    state: str
    response_mode: str

    def refusal(self, error: str, description: str) -> RedirectRefusal:
        return RedirectRefusal(error, description, self.redirect_uri, self.state, self.response_mode)


class AuthorizationRequest(Destination, frozen=True, array_like=True):
    client: int  # its number
    scopes: tuple[str, ...]
    nonce: str = ""
    challenge: str = ""  # of PKCE, S256
    prompt: tuple[str, ...] = ()  # none, or some of login and consent
    max_age: int | None = None
    login_hint: str = ""
    ui_locales: str = ""
    acr_values: tuple[str, ...] = ()
    subject: str = ""  # that a valid `id_token_hint` names
    claims: tuple[str, ...] = ()  # of userinfo that are asked for by name
    id_token_claims: tuple[str, ...] = ()
    at: float = 0.0  # when the browser came with it: a login since then is a fresh one. 0: it has not come yet
    pushed: str = ""  # a random id if the application has pushed it: such a request gives one code
    required_acr: tuple[str, ...] | None = None  # an `acr` that it cannot do without; (): none that there is


def destination_of(parameters: Parameters, client: Client) -> Destination:
    """Raises `PageRefusal` unless the address is one of the client's, character by character."""
    redirect_uri = parameters.get("redirect_uri", "")
    if not is_registered(redirect_uri, client.config):
        raise PageRefusal(PageProblem.REDIRECT_URI)
    state, mode = parameters.get("state", ""), parameters.get("response_mode", "")
    return Destination(
        redirect_uri,
        state if _fits("state", state) else "",  # what cannot be sent back whole is not sent back
        mode if mode in RESPONSE_MODES else RESPONSE_MODES[0],
    )


def parse(parameters: Parameters, client: Client) -> AuthorizationRequest:
    """The request as it was made; raises `PageRefusal` or `RedirectRefusal`. Whose `id_token_hint` it is, is open."""
    to = destination_of(parameters, client)
    _refuse_unsupported(parameters, to)
    prompt = tuple(parameters.get("prompt", "").split())
    if not set(prompt) <= set(PROMPTS) or ("none" in prompt and len(prompt) > 1):
        raise to.refusal("invalid_request", "prompt is none, or some of login, consent and select_account")
    max_age = parameters.get("max_age", "")
    if max_age and not _AGE.fullmatch(max_age):
        raise to.refusal("invalid_request", "max_age is a number of seconds")
    claims = _claims(parameters.get("claims", ""), to)
    return AuthorizationRequest(
        **msgspec.structs.asdict(to),
        client=client.id,
        scopes=_scopes(parameters.get("scope", ""), client, to),
        nonce=parameters.get("nonce", ""),
        challenge=_challenge(parameters, to),
        prompt=tuple({"login" if each == "select_account" else each: 0 for each in prompt}),
        max_age=int(max_age) if max_age else None,
        login_hint=parameters.get("login_hint", ""),
        ui_locales=parameters.get("ui_locales", ""),
        acr_values=_known_acr((*parameters.get("acr_values", "").split(), *_values_of(claims.id_token, "acr"))),
        subject=next(iter(_values_of(claims.id_token, "sub")), "")[:MAX_SUBJECT_LENGTH],
        claims=_known_claims(claims.userinfo, client),
        id_token_claims=_known_claims(claims.id_token, client),
        required_acr=_required_acr(claims.id_token),
    )


def check(request: AuthorizationRequest, client: Client) -> None:
    """Whether this client may ask so."""
    pkce = Pkce.REQUIRED if client.config.auth is ClientAuth.NONE else client.config.pkce
    if request.challenge or pkce is Pkce.OPTIONAL:
        return
    if pkce is Pkce.REQUIRED:
        raise request.refusal("invalid_request", "code_challenge is missing: this application must use PKCE with S256")
    if not (request.nonce and Scope.OPENID in request.scopes):
        raise request.refusal("invalid_request", "code_challenge (PKCE with S256) or nonce is missing")


def _refuse_unsupported(parameters: Parameters, to: Destination) -> None:
    for name, error in NOT_SUPPORTED.items():
        if parameters.get(name):
            raise to.refusal(error, f"{name} is not supported here")
    response_type = parameters.get("response_type", "")
    if response_type != "code":
        error = "unsupported_response_type" if response_type else "invalid_request"
        raise to.refusal(error, "response_type is code")
    if (parameters.get("response_mode") or "query") not in RESPONSE_MODES:
        raise to.refusal("invalid_request", "response_mode is query or form_post")
    for name, longest in MAX_LENGTHS.items():
        if not _fits(name, parameters.get(name, "")):
            raise to.refusal("invalid_request", f"{name} is longer than {longest} bytes")


def _fits(name: str, value: str) -> bool:
    return len(value.encode()) <= MAX_LENGTHS[name]


def _scopes(text: str, client: Client, to: Destination) -> tuple[str, ...]:
    """Those that exist and the client may ask for, each once. Others are left out, and the answer says which it got."""
    asked = set(text.split())
    scopes = tuple(scope.value for scope in client.config.scopes if scope in asked)
    if not scopes:
        raise to.refusal("invalid_scope", "scope has none that this application may ask for; begin with openid")
    return scopes


def _challenge(parameters: Parameters, to: Destination) -> str:
    challenge = parameters.get("code_challenge", "")
    method = parameters.get("code_challenge_method", "")
    # Without a method it would be `plain`, which protects nothing.
    if (challenge or method) and (method != "S256" or not _CHALLENGE.fullmatch(challenge)):
        raise to.refusal("invalid_request", "code_challenge is the S256 of a verifier, with code_challenge_method=S256")
    return challenge


class _Claims(msgspec.Struct):
    """The `claims` parameter (OpenID Connect Core, 5.5)."""

    userinfo: dict[str, Any] | None = None
    id_token: dict[str, Any] | None = None


def _claims(text: str, to: Destination) -> _Claims:
    try:
        return msgspec.json.decode(text, type=_Claims) if text else _Claims()
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise to.refusal("invalid_request", "claims is a JSON object with userinfo or id_token") from None


def _known_claims(asked: dict[str, Any] | None, client: Client) -> tuple[str, ...]:
    """Those that there are, of scopes that the client may ask for. Others are passed over, as the standard has it."""
    return tuple(name for name, scope in SCOPE_OF.items() if name in (asked or ()) and scope in client.config.scopes)


def _values_of(asked: dict[str, Any] | None, name: str) -> list[str]:
    """The values that are wanted of a claim: `{"value": "2"}` or `{"values": ["2", "1"]}`."""
    wish = (asked or {}).get(name)
    if not isinstance(wish, dict):
        return []
    values = wish.get("values", [wish.get("value")])
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


def _known_acr(asked: Iterable[str]) -> tuple[str, ...]:
    """Of any others nothing is known here."""
    return tuple(dict.fromkeys(value for value in asked if value in ACR_VALUES))


def _required_acr(asked: dict[str, Any] | None) -> tuple[str, ...] | None:
    """Those of an essential claim, one of which must be met (5.5.1.1); None if it is a wish, or names none."""
    wish = (asked or {}).get("acr")
    values = _values_of(asked, "acr")
    is_essential = isinstance(wish, dict) and wish.get("essential") is True
    return _known_acr(values) if is_essential and values else None


class PushedRequests:
    """Sealed requests: named by a `request_uri` that holds all of it, so that any node takes it and none stores it."""

    def __init__(self, ring: KeyRing, state: State, clock: Callable[[], float]) -> None:
        self._pushed = Tickets(ring, "authorization requests", AuthorizationRequest, PUSHED_SECONDS, clock)
        self._kept = Tickets(ring, "authorization requests", AuthorizationRequest, SIGN_IN_SECONDS, clock)
        self._state = state
        self._clock = clock

    def push(self, request: AuthorizationRequest) -> str:
        """The `request_uri` of a request that an application has pushed."""
        one_time = msgspec.structs.replace(request, pushed=secrets.token_urlsafe(12), at=0.0)
        return REQUEST_URI + self._pushed.make(one_time).text

    def make(self, request: AuthorizationRequest) -> str:
        """The same for our own pages, while somebody signs in."""
        return REQUEST_URI + self._kept.make(request).text

    def open(self, request_uri: str) -> AuthorizationRequest | None:
        sealed = request_uri.removeprefix(REQUEST_URI)
        ticket = self._kept.open(sealed, MAX_SEALED_LENGTH) if sealed != request_uri else None
        if ticket is None or (ticket.content.at and ticket.content.at + SIGN_IN_SECONDS <= self._clock()):
            return None  # each page seals it anew, and must not make it younger
        return ticket.content

    async def use(self, request: AuthorizationRequest) -> bool:
        """To be called when a code is issued: True unless it is one that was pushed and has given a code already."""
        if not request.pushed:
            return True
        now = self._clock()
        until = now + PUSHED_SECONDS + SIGN_IN_SECONDS + CLOCK_SKEW_SECONDS
        return await self._state.compare_and_set(f"pushed|{request.pushed}", None, "1", until, now)


class AuthorizationRequests:
    """From the parameters of a request to the request, with its client."""

    def __init__(
        self, clients: Clients, pushed: PushedRequests, subject_of_hint: SubjectOfHint, clock: Callable[[], float]
    ) -> None:
        self._clients = clients
        self._pushed = pushed
        self._subject_of_hint = subject_of_hint
        self._clock = clock

    async def read(self, parameters: Parameters) -> tuple[AuthorizationRequest, Client]:
        """What a browser brings: the parameters themselves, or the name of a request that was sealed before."""
        client = await self._clients.find(parameters.get("client_id", ""))
        if client is None:
            raise PageRefusal(PageProblem.CLIENT)
        if parameters.get("request_uri", "").startswith(REQUEST_URI):
            request = self._sealed(parameters["request_uri"], client)
        else:
            request = await self.new(parameters, client)
        return request if request.at else msgspec.structs.replace(request, at=self._clock()), client

    async def new(self, parameters: Parameters, client: Client) -> AuthorizationRequest:
        request = parse(parameters, client)
        check(request, client)
        hint = parameters.get("id_token_hint", "")
        # One that cannot be verified (any more) says nothing: our old keys are deleted.
        subject = await self._subject_of_hint(hint) if hint else ""
        return msgspec.structs.replace(request, subject=subject) if subject else request

    def _sealed(self, request_uri: str, client: Client) -> AuthorizationRequest:
        """Checked again: the application may have been changed meanwhile."""
        request = self._pushed.open(request_uri)
        if request is None or request.client != client.id:
            raise PageRefusal(PageProblem.REQUEST_URI, client.config.url)
        if not is_registered(request.redirect_uri, client.config):
            raise PageRefusal(PageProblem.REDIRECT_URI)
        check(request, client)
        return request
