"""Passkeys: bodies, data and the rows of the table. Names and forms are those of WebAuthn in browsers."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from gatehouse.api.login.schemas import OtpCode, Password, TokenData
from gatehouse.api.operation import PREFIX, STORE_REFUSALS, Group, Limit, Operation
from gatehouse.auth import refusals
from gatehouse.stores.errors import Duplicate, InUse, Missing

Base64Url = Annotated[str, Meta(description="base64url without padding, as `toJSON()` has it.")]


class AssertionResponse(Struct):
    clientDataJSON: Base64Url
    authenticatorData: Base64Url
    signature: Base64Url
    userHandle: Base64Url | None = None


class Assertion(Struct):
    """What `navigator.credentials.get()` returns, by `toJSON()`."""

    id: Base64Url
    rawId: Base64Url
    type: str
    response: AssertionResponse


class AttestationResponse(Struct):
    clientDataJSON: Base64Url
    attestationObject: Base64Url
    transports: Annotated[list[Annotated[str, Meta(max_length=16)]], Meta(max_length=8)] | None = None


class Attestation(Struct):
    """What `navigator.credentials.create()` returns, by `toJSON()`."""

    id: Base64Url
    rawId: Base64Url
    type: str
    response: AttestationResponse


class PasskeyLoginBody(Struct):
    credential: Assertion


class ProofBody(Struct):
    """A fresh proof: the current password, or a passkey that answers `auth/passkey/options`.

    Beside the password a `code` where an authenticator app is on; where passkeys are the only factor, a passkey.
    """

    currentPassword: Password | None = None
    code: OtpCode | None = None
    credential: Assertion | None = None


class NewPasskeyBody(Struct):
    credential: Attestation
    name: Annotated[str, Meta(max_length=64)] | None = None


class PasswordLoginBody(ProofBody, kw_only=True):
    enabled: bool


class PasskeyData(Struct):
    """Times are ISO 8601 in UTC; `lastUsed` is null until the passkey has logged its owner in."""

    id: int
    name: str
    created: str
    lastUsed: str | None


class CeremonyData(Struct):
    """What the browser is asked: for `PublicKeyCredential.parse…OptionsFromJSON()`."""

    publicKey: dict[str, Any]


_CEREMONY = (refusals.TicketGone, refusals.PasskeyRefused)
PROOF_REFUSALS = (
    *_CEREMONY,
    refusals.CredentialsWrong,
    refusals.CodeProofRequired,
    refusals.PasskeyProofRequired,
    refusals.SecondFactorCodeWrong,
    refusals.TooBusy,
    *STORE_REFUSALS,
)

AUTH = (
    Operation(
        "passkey_options",
        "POST",
        f"{PREFIX}/auth/passkey/options",
        "A challenge for a login by passkey, or for a fresh proof",
        Group.AUTH,
        data=CeremonyData,
    ),
    Operation(
        "passkey_login",
        "POST",
        f"{PREFIX}/auth/passkey",
        "Log in by passkey",
        Group.AUTH,
        body=PasskeyLoginBody,
        body_required=True,
        data=TokenData,
        limits=(Limit.LOGIN_ADDRESS,),
        refusals=(*_CEREMONY, refusals.CredentialsWrong, *STORE_REFUSALS),
    ),
)

OWN_ACCOUNT = (
    Operation(
        "new_passkey_options",
        "POST",
        f"{PREFIX}/users/me/passkeys/options",
        "A challenge for a new passkey, after a fresh proof",
        Group.OWN_ACCOUNT,
        body=ProofBody,
        data=CeremonyData,
        requires_token=True,
        limits=(Limit.LOGIN_NAME,),
        refusals=PROOF_REFUSALS,
    ),
    Operation(
        "add_passkey",
        "POST",
        f"{PREFIX}/users/me/passkeys",
        "Register a passkey that answers the challenge",
        Group.OWN_ACCOUNT,
        body=NewPasskeyBody,
        body_required=True,
        data=PasskeyData,
        requires_token=True,
        refusals=(*_CEREMONY, Duplicate, *STORE_REFUSALS),
    ),
    Operation(
        "remove_passkey",
        "DELETE",
        f"{PREFIX}/users/me/passkeys/{{id}}",
        "Remove a passkey, after a fresh proof",
        Group.OWN_ACCOUNT,
        body=ProofBody,
        requires_token=True,
        limits=(Limit.LOGIN_NAME,),
        refusals=(*PROOF_REFUSALS, Missing, InUse),
    ),
    Operation(
        "set_password_login",
        "PUT",
        f"{PREFIX}/users/me/password-login",
        "Whether the password logs the caller in beside passkeys, after a fresh proof",
        Group.OWN_ACCOUNT,
        body=PasswordLoginBody,
        body_required=True,
        requires_token=True,
        limits=(Limit.LOGIN_NAME,),
        refusals=(*PROOF_REFUSALS, InUse),
    ),
)
