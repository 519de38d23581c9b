"""How a session was proven: the methods of its login, by the names of RFC 8176 (`amr`).

They are kept in the session's row and carried into its tokens. A session that 0.1.0 has opened has none.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Method(StrEnum):
    PASSWORD = "pwd"
    CODE = "otp"  # of an authenticator app, or a recovery code
    PASSKEY = "hwk"
    QR = "qr"  # confirmed in another session, whose methods stand before it


# What the password alone is not. A passkey verifies its user, so it stands for both.
SECOND_FACTORS = frozenset({Method.CODE, Method.PASSKEY})


def pack_methods(methods: Sequence[str]) -> str:
    return "+".join(methods)


def unpack_methods(proof: str) -> tuple[str, ...]:
    return tuple(proof.split("+")) if proof else ()


def confirmed_by_qr(methods: Sequence[str]) -> tuple[str, ...]:
    """The methods of a session that another one has confirmed; unknown if those of the other are."""
    return (*methods, Method.QR) if methods else ()
