"""What people type as their second factor: six digits of an app, or a recovery code.

Neither can be taken for the answer of a captcha, which has four characters. That is why a client that knows nothing of
second factors can send a code in the captcha field.
"""

from __future__ import annotations

import unicodedata
from enum import StrEnum
from typing import NamedTuple

from gatehouse.auth.factors import recovery_codes, totp


class CodeKind(StrEnum):
    TOTP = "totp"
    RECOVERY = "recovery_code"


class Code(NamedTuple):
    kind: CodeKind
    value: str


def read_code(typed: str | None) -> Code | None:
    """The code that was typed, with or without spaces, in full-width digits too; None if it is neither kind."""
    text = "".join(unicodedata.normalize("NFKC", typed or "").split())
    if len(text) < totp.DIGITS:
        return None
    if len(text) == totp.DIGITS and text.isascii() and text.isdigit():
        return Code(CodeKind.TOTP, text)
    normal = recovery_codes.normalize(text)
    return Code(CodeKind.RECOVERY, normal) if normal else None
