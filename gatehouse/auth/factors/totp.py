"""Time-based one-time passwords (RFC 6238): SHA-1, 6 digits, 30 seconds, one time step of skew to either side.

Pure: the clock is passed in. That a code is accepted only once is the work of `code_verifier.py`: a matching code names
its time step, and a time step is marked as used.
"""

from __future__ import annotations

import base64
import hmac
import os
from typing import Final
from urllib.parse import quote, urlencode

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.hotp import HOTP

DIGITS: Final = 6
TIME_STEP_SECONDS: Final = 30
SKEW_TIME_STEPS: Final = 1
SECRET_BYTES: Final = 20  # as long as the output of SHA-1, as RFC 4226 recommends


def new_secret() -> bytes:
    return os.urandom(SECRET_BYTES)


def time_step_at(now: float) -> int:
    return int(now // TIME_STEP_SECONDS)


def code_of(secret: bytes, time_step: int, digits: int = DIGITS) -> str:
    # SHA-1 is what authenticator apps implement; HMAC does not depend on the collisions that broke it.
    return HOTP(secret, digits, SHA1()).generate(time_step).decode()  # noqa: S303


def matching_time_step(secret: bytes, code: str, now: float) -> int | None:
    """The time step whose code this is, or None. All are compared, so the time taken discloses nothing."""
    current, found = time_step_at(now), None
    for time_step in range(max(0, current - SKEW_TIME_STEPS), current + SKEW_TIME_STEPS + 1):
        if hmac.compare_digest(code_of(secret, time_step).encode(), code.encode(errors="replace")):
            found = time_step
    return found


def accepted_until(time_step: int) -> float:
    """When no node accepts the code of a time step any more; its use must be recorded until then."""
    return float((time_step + 1 + SKEW_TIME_STEPS) * TIME_STEP_SECONDS)


def base32(secret: bytes) -> str:
    """The secret as a person types it into an app that cannot read the QR code."""
    return base64.b32encode(secret).decode().rstrip("=")


def uri(secret: bytes, issuer: str, account: str) -> str:
    """What the QR code of an enrolment holds; every authenticator app reads it."""
    label = f"{quote(issuer, safe='')}:{quote(account, safe='')}"
    values = {
        "secret": base32(secret),
        "issuer": issuer,
        "algorithm": "SHA1",
        "digits": str(DIGITS),
        "period": str(TIME_STEP_SECONDS),
    }
    return f"otpauth://totp/{label}?{urlencode(values, quote_via=quote)}"
