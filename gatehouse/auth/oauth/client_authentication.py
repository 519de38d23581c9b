"""How an application shows that it is the one it says: by a secret, by a signed assertion (RFC 7523), or not at all.

Each uses the kind that it is registered with and no other, so that none can be talked down to a weaker one. What it
presents is checked before anything that it asks for is touched.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote_plus

import jwt
import msgspec

from gatehouse.auth.audit import Audit, ClientRefusal, Event
from gatehouse.auth.oauth.client_secrets import digest
from gatehouse.auth.oauth.definitions import ClientAuth
from gatehouse.auth.oauth.errors import InvalidClient, OAuthRefusal
from gatehouse.common.base64url import from_base64url
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS
from gatehouse.common.jwk import read_jwk, verified_payload

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from gatehouse.auth.audit import ClientInfo
    from gatehouse.auth.limits.throttle import Throttle
    from gatehouse.auth.oauth.clients import Client, Clients
    from gatehouse.stores.database.oauth_clients import ClientStore
    from gatehouse.stores.state.protocol import State

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ASSERTION_ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")
ASSERTION_SECONDS = 600  # the longest that one may be good for
MAX_ASSERTION_LENGTH = 8192
MAX_JTI_LENGTH = 255


class Credentials(NamedTuple):
    """What a request brings: who it says to be, and the proof, which is a secret or an assertion."""

    client_id: str
    method: ClientAuth
    proof: str = ""


def read_credentials(authorization: Sequence[str], form: Mapping[str, str]) -> Credentials:
    """From the `Authorization` headers and the form; refused if it brings several kinds (RFC 6749, 2.3)."""
    named = form.get("client_id", "")
    brought = [
        *_basic(authorization),
        *([Credentials(named, ClientAuth.SECRET, form["client_secret"])] if form.get("client_secret") else ()),
        *([_assertion(form)] if form.get("client_assertion") else ()),
    ]
    if len(brought) > 1:
        raise OAuthRefusal("invalid_request", "use one kind of client authentication")
    credentials = brought[0] if brought else Credentials(named, ClientAuth.NONE)
    if named and credentials.client_id != named:
        raise OAuthRefusal("invalid_request", "client_id is not the client that authenticates")
    if not credentials.client_id:
        raise InvalidClient(ClientRefusal.UNKNOWN, "client_id is missing")
    return credentials


def uses_basic(authorization: Sequence[str]) -> bool:
    return any(header.partition(" ")[0].lower() == "basic" for header in authorization)


def _basic(authorization: Sequence[str]) -> list[Credentials]:
    """Both halves are form-encoded within (RFC 6749, 2.3.1). Other schemes are not for clients."""
    if not uses_basic(authorization):
        return []
    try:
        [header] = authorization
        decoded = base64.b64decode(header.partition(" ")[2].strip(), validate=True).decode()
        client_id, _, secret = decoded.partition(":")
        return [Credentials(unquote_plus(client_id), ClientAuth.SECRET, unquote_plus(secret))]
    except (ValueError, binascii.Error):
        raise InvalidClient(ClientRefusal.SECRET, "the Authorization header cannot be read") from None


def _assertion(form: Mapping[str, str]) -> Credentials:
    if form.get("client_assertion_type") != ASSERTION_TYPE:
        raise InvalidClient(ClientRefusal.ASSERTION, f"client_assertion_type is {ASSERTION_TYPE}")
    token = form["client_assertion"]
    if len(token) > MAX_ASSERTION_LENGTH:
        raise InvalidClient(ClientRefusal.ASSERTION, "client_assertion is too long")
    try:
        # Only to find the client, whose key is looked up then: nothing else is believed before the signature is.
        claims = _decode_claims(from_base64url(token.split(".")[1]))
        return Credentials(str(claims["sub"]), ClientAuth.PRIVATE_KEY_JWT, token)
    except (LookupError, ValueError, msgspec.MsgspecError, RecursionError):
        raise InvalidClient(ClientRefusal.ASSERTION, "client_assertion is not a JWT with sub") from None


_decode_claims = msgspec.json.Decoder(dict[str, Any]).decode


def read_assertion(token: str, jwks: str) -> dict[str, Any]:
    """The claims that one of the client's keys has signed. The algorithm is one that fits the kind of the key."""
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError):
        raise InvalidClient(ClientRefusal.ASSERTION, "client_assertion is not a signed JWT") from None
    algorithm, kid = header.get("alg"), header.get("kid")
    if algorithm not in ASSERTION_ALGORITHMS or "crit" in header or not isinstance(kid, str | None):
        raise InvalidClient(ClientRefusal.ASSERTION, f"alg is one of {' '.join(ASSERTION_ALGORITHMS)}, without crit")
    keys = [key for key in map(read_jwk, msgspec.json.decode(jwks or '{"keys":[]}')["keys"]) if key is not None]
    # A key without a `kid` is the only one that its client has, whatever it is called there.
    payload = verified_payload(token, algorithm, kid if keys and keys[0].kid else None, keys)
    if payload is None:
        raise InvalidClient(ClientRefusal.ASSERTION, "no registered key of this client has signed client_assertion")
    try:
        return _decode_claims(payload)
    except (ValueError, msgspec.MsgspecError, RecursionError):
        raise InvalidClient(ClientRefusal.ASSERTION, "the claims of client_assertion are not a JSON object") from None


def check_assertion(claims: Mapping[str, Any], client_id: str, audiences: Collection[str], now: float) -> float:
    """When it expires; refused unless the client made it for us, for a short time (RFC 7523, 3)."""

    def refuse_unless(condition: bool, what: str) -> None:  # noqa: FBT001
        if not condition:
            raise InvalidClient(ClientRefusal.ASSERTION, f"client_assertion: {what}")

    refuse_unless(claims.get("iss") == client_id == claims.get("sub"), "iss and sub are the client_id")
    audience = claims.get("aud")
    named = audience if isinstance(audience, list) else [audience]
    # All of them are us: whoever else it was made for could bring it here.
    ours = [each for each in named if isinstance(each, str) and each in audiences]
    refuse_unless(bool(named) and ours == named, "aud is the issuer, and nobody else")
    times = {name: claims[name] for name in ("exp", "iat", "nbf") if name in claims}
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in times.values())
    refuse_unless(numbers and "exp" in times, "exp, iat and nbf are numbers, and exp is there")
    refuse_unless(now < times["exp"] + CLOCK_SKEW_SECONDS, "it has expired")
    refuse_unless(
        times["exp"] <= now + ASSERTION_SECONDS + CLOCK_SKEW_SECONDS,
        f"it is good for {ASSERTION_SECONDS} seconds at most",
    )
    begins = max(times.get("iat", 0), times.get("nbf", 0))
    refuse_unless(begins <= now + CLOCK_SKEW_SECONDS, "it begins in the future")
    jti = claims.get("jti")
    refuse_unless(isinstance(jti, str) and 0 < len(jti) <= MAX_JTI_LENGTH, "jti is missing or too long")
    return float(times["exp"])


class ClientAuthentication:
    def __init__(
        self,
        *,
        clients: Clients,
        store: ClientStore,
        state: State,
        throttle: Throttle,
        audit: Audit,
        clock: Callable[[], float],
        audiences: Collection[str],
    ) -> None:
        """`audiences`: what an assertion may name as its audience."""
        self._clients = clients
        self._store = store
        self._state = state
        self._throttle = throttle
        self._audit = audit
        self._clock = clock
        self._audiences = audiences

    async def authenticate(self, authorization: Sequence[str], form: Mapping[str, str], who: ClientInfo) -> Client:
        """The application that asks. Failures count by address; beyond the limit, that is the answer."""
        try:
            return await self._authenticate(read_credentials(authorization, form))
        except InvalidClient as refusal:
            self._audit.record(Event.CLIENT_REFUSED, who, reason=refusal.reason)
            await self._throttle.record_client_failure(who.address)
            raise

    async def _authenticate(self, credentials: Credentials) -> Client:
        client = await self._clients.find(credentials.client_id)
        if client is None:
            raise InvalidClient(ClientRefusal.UNKNOWN, "there is no such client, or it is switched off")
        if credentials.method is not client.config.auth:
            raise InvalidClient(ClientRefusal.METHOD, f"this client is registered with {client.config.auth.value}")
        if credentials.method is ClientAuth.SECRET:
            await self._check_secret(client, credentials.proof)
        elif credentials.method is ClientAuth.PRIVATE_KEY_JWT:
            await self._check_assertion(client, credentials.proof)
        return client

    async def _check_secret(self, client: Client, secret: str) -> None:
        now, presented = self._clock(), digest(secret)
        stored = await self._store.secrets_of(client.id)
        valid = [each.digest for each in stored if each.expires is None or now < each.expires]
        # All are compared, so that the time tells nothing.
        if not any([hmac.compare_digest(presented, each) for each in valid]):  # noqa: C419
            raise InvalidClient(ClientRefusal.SECRET, "the client secret is wrong or has expired")

    async def _check_assertion(self, client: Client, token: str) -> None:
        now = self._clock()
        claims = read_assertion(token, client.config.jwks)
        expires = check_assertion(claims, client.client_id, self._audiences, now)
        used = f"assertion|{client.id}|{hashlib.sha256(claims['jti'].encode(errors='replace')).hexdigest()[:32]}"
        if not await self._state.compare_and_set(used, None, "1", expires + 2 * CLOCK_SKEW_SECONDS, now):
            raise InvalidClient(ClientRefusal.REPLAYED, "client_assertion was used before")
