"""Passkeys (WebAuthn): what a browser is asked to do, and what it answers.

A challenge is a sealed ticket, so handing one out writes nothing; that it was used is marked in state, like a captcha.
User verification is always required, so a passkey replaces password and second factor. RP id and origin are those of
the issuer, or localhost for a loopback address: an answer that was made for another site is refused.
"""

from __future__ import annotations

import asyncio
import binascii
import secrets
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from gatehouse.auth.refusals import PasskeyRefused, TicketGone
from gatehouse.auth.sealed_tickets.sealed_tickets import Ticket, Tickets
from gatehouse.common.base64url import base64url, from_base64url
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS
from gatehouse.common.parsing import is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.stores.database.passkeys import Passkey
    from gatehouse.stores.state.protocol import State

Json = dict[str, Any]

CHALLENGE_SECONDS = 300
HANDLE_BYTES = 32
# ES256, EdDSA and RS256, as COSE numbers them: what `webauthn` verifies and authenticators make.
ALGORITHMS = (-7, -8, -257)


class Challenge(msgspec.Struct, array_like=True):
    """`user` is 0 where anybody may answer; `handle` is that of the passkey to be made."""

    user: int = 0
    handle: bytes = b""


class NewPasskey(NamedTuple):
    user: int
    handle: bytes
    credential: bytes
    public: bytes
    sign_count: int
    backed_up: bool


class Assertion(NamedTuple):
    sign_count: int
    backed_up: bool


class Ceremonies:
    def __init__(self, *, ring: KeyRing, state: State, clock: Callable[[], float], public_url: str) -> None:
        url = urlsplit(public_url)
        # Browsers give passkeys to names only: on the machine itself the page is opened as localhost.
        host = url.hostname or "localhost"
        self.rp_id = "localhost" if is_loopback(host) and not host.endswith("localhost") else host
        self.origin = f"{url.scheme}://{self.rp_id}" + (f":{url.port}" if url.port else "")
        self._state = state
        self._clock = clock
        self._registration = Tickets(ring, "passkey registration", Challenge, CHALLENGE_SECONDS, clock)
        self._login = Tickets(ring, "passkey login", Challenge, CHALLENGE_SECONDS, clock)

    def registration_options(self, user: int, username: str, nickname: str, existing: Sequence[Passkey]) -> Json:
        handle = existing[0].handle if existing else secrets.token_bytes(HANDLE_BYTES)
        return {
            "challenge": self._registration.make(Challenge(user, handle)).text,
            "rp": {"id": self.rp_id, "name": self.rp_id},
            "user": {"id": base64url(handle), "name": username, "displayName": nickname},
            "pubKeyCredParams": [{"type": "public-key", "alg": number} for number in ALGORITHMS],
            "timeout": CHALLENGE_SECONDS * 1000,
            "excludeCredentials": [_descriptor(passkey) for passkey in existing],
            "authenticatorSelection": {
                "residentKey": "required",
                "requireResidentKey": True,
                "userVerification": "required",
            },
            "attestation": "none",
        }

    def login_options(self) -> Json:
        """For any user: the authenticator knows whose passkey it holds."""
        return {
            "challenge": self._login.make(Challenge()).text,
            "rpId": self.rp_id,
            "timeout": CHALLENGE_SECONDS * 1000,
            "userVerification": "required",
            "allowCredentials": [],
        }

    async def verify_registration(self, credential: Json) -> NewPasskey:
        """The new passkey, if it answers a challenge that we issued and that was not answered before."""
        ticket = await self._use(self._registration, credential)
        verified = await asyncio.to_thread(self._check_registration, credential, ticket.text)
        return NewPasskey(
            ticket.content.user,
            ticket.content.handle,
            verified.credential_id,
            verified.credential_public_key,
            verified.sign_count,
            verified.credential_backed_up,
        )

    async def use_login_challenge(self, credential: Json) -> Ticket[Challenge]:
        """The login challenge that was answered, marked as used whether the answer is right or wrong."""
        return await self._use(self._login, credential)

    async def verify_assertion(self, credential: Json, ticket: Ticket[Challenge], passkey: Passkey) -> Assertion:
        handle = credential["response"].get("userHandle")
        if handle and handle != base64url(passkey.handle):
            raise PasskeyRefused("made for another user")
        verified = await asyncio.to_thread(self._check_assertion, credential, ticket.text, passkey.public)
        return Assertion(verified.new_sign_count, verified.credential_backed_up)

    async def _use(self, tickets: Tickets[Challenge], credential: Json) -> Ticket[Challenge]:
        ticket = tickets.open(_challenge_of(credential))
        if ticket is None:
            raise TicketGone("a forged or expired challenge")
        expires = ticket.expires + CLOCK_SKEW_SECONDS
        if not await self._state.compare_and_set(f"passkey|{ticket.id}", None, "used", expires, self._clock()):
            raise TicketGone("a challenge that was answered before")
        return ticket

    # In a thread: the library takes half a second and 30 MB to load, which only those pay who have a passkey.

    def _check_registration(self, credential: Json, challenge: str) -> Any:
        import webauthn  # noqa: PLC0415 - see above
        from webauthn.helpers.exceptions import WebAuthnException  # noqa: PLC0415

        try:
            return webauthn.verify_registration_response(
                credential=credential,
                expected_challenge=from_base64url(challenge),
                expected_rp_id=self.rp_id,
                expected_origin=self.origin,
                require_user_verification=True,
            )
        except (WebAuthnException, ValueError, TypeError, KeyError, IndexError, RecursionError) as problem:
            raise PasskeyRefused(type(problem).__name__) from problem

    def _check_assertion(self, credential: Json, challenge: str, public: bytes) -> Any:
        import webauthn  # noqa: PLC0415 - see above
        from webauthn.helpers.exceptions import WebAuthnException  # noqa: PLC0415

        try:
            return webauthn.verify_authentication_response(
                credential=credential,
                expected_challenge=from_base64url(challenge),
                expected_rp_id=self.rp_id,
                expected_origin=self.origin,
                credential_public_key=public,
                credential_current_sign_count=0,  # the caller compares it, and tells a clone from a forgery
                require_user_verification=True,
            )
        except (WebAuthnException, ValueError, TypeError, KeyError, IndexError, RecursionError) as problem:
            raise PasskeyRefused(type(problem).__name__) from problem


def is_clone(before: int, after: int) -> bool:
    """A counter that does not rise: two devices hold the key. Authenticators that do not count always say 0."""
    return (before > 0 or after > 0) and after <= before


def _descriptor(passkey: Passkey) -> Json:
    transports = [each for each in passkey.transports.split(",") if each]
    known = {"transports": transports} if transports else {}
    return {"type": "public-key", "id": base64url(passkey.credential)} | known


def _challenge_of(credential: Json) -> str:
    """The challenge that the browser says it was given; the signature over it is checked later."""
    try:
        client_data = msgspec.json.decode(from_base64url(credential["response"]["clientDataJSON"]), type=dict[str, Any])
    except (binascii.Error, ValueError, msgspec.DecodeError, RecursionError):
        raise PasskeyRefused("clientDataJSON cannot be read") from None
    return str(client_data.get("challenge", ""))
