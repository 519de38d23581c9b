"""The fresh proof that a change to one's own factors needs."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from gatehouse.api.login.credential_types import OtpCode, Password
from gatehouse.api.login.passkey_login import CEREMONY_REFUSALS, Assertion
from gatehouse.auth import refusals
from gatehouse.auth.factors.factor_change_proof import Proof

PROOF_REFUSALS = (
    *CEREMONY_REFUSALS,
    refusals.CredentialsWrong,
    refusals.CodeProofRequired,
    refusals.PasskeyProofRequired,
    refusals.RecentLoginRequired,
    refusals.SecondFactorCodeWrong,
    refusals.TooBusy,
)


class ProofBody(Struct):
    """A fresh proof: the current password, or a passkey that answers `auth/passkey/options`.

    Beside the password a `code` where an authenticator app is on; where passkeys are the only factor, a passkey.
    Who has no password, because a provider logs them in, leaves it out within five minutes of the login.
    """

    currentPassword: Password | None = None
    code: OtpCode | None = None
    credential: Assertion | None = None


def proof_of(body: ProofBody) -> Proof:
    credential = msgspec.to_builtins(body.credential) if body.credential else None
    return Proof(body.currentPassword, body.code, credential)
