"""Types of the fields in which callers prove who they are."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

Password = Annotated[str, Meta(min_length=1, description="Never cut, trimmed or folded.")]
OtpCode = Annotated[
    str,
    Meta(min_length=1, max_length=32, description="Six digits of an authenticator app, or a recovery code."),
]
