"""The form of a login name that is compared, looked up and counted."""

from __future__ import annotations

import unicodedata


def name_key(username: str) -> str:
    """Without regard to case and to Unicode spelling."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", username).casefold())
