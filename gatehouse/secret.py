"""The master secret: from a setting, or from a file that the first start makes for the owner only."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from gatehouse.settings import Settings, SettingsError

if TYPE_CHECKING:
    from pathlib import Path

SHORTEST = 32
FEWEST_DIFFERENT = 10
# Parts of the examples that people paste: a secret that somebody published is none.
_SAMPLES = (
    "changeme",
    "change-me",
    "change_me",
    "secret",
    "password",
    "example",
    "0123456789",
    "abcdefgh",
    "youlai",
)


def secret_path(settings: Settings) -> Path:
    return settings.secret_file or settings.data_dir / "secret"


def read_secret(settings: Settings) -> bytes:
    """The secret in force. Raises `SettingsError` if there is none or it is weak."""
    if settings.secret:
        return _checked(settings.secret, "GATEHOUSE_SECRET")
    path = secret_path(settings)
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise SettingsError([f"secret file {path}: {problem}"]) from None
    return _checked(text, f"secret file {path}")


def make_secret(settings: Settings) -> None:
    """Make the secret file if the embedded default needs one and it is not there.

    Written aside and linked into place, so that of two starts at once both see one whole file.
    """
    if settings.secret or settings.secret_file or secret_path(settings).exists():
        return
    path = secret_path(settings)
    aside = path.with_name(f".secret.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(secrets.token_urlsafe(48) + "\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(aside, path)
    except FileExistsError:
        return  # the other start was quicker: its secret counts
    finally:
        aside.unlink()


def _checked(text: str, source: str) -> bytes:
    if len(text) < SHORTEST:
        raise SettingsError([f"{source}: a secret has at least {SHORTEST} random characters"])
    if len(set(text)) < FEWEST_DIFFERENT or any(sample in text.lower() for sample in _SAMPLES):
        raise SettingsError([f"{source}: this secret can be guessed; make one with `openssl rand -base64 48`"])
    return text.encode()
