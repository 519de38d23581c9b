"""The master secret: from a setting, or from a file that the first start makes for the owner only.

There may be several, one on each line: the first encrypts and signs (keys, refresh tokens, captchas), every one
decrypts and verifies. So a secret is replaced in two steps that log nobody out: first the new one is added behind the
old one on every node, then it moves to the front.
"""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from gatehouse.settings import Settings, SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MIN_LENGTH = 32
MIN_DISTINCT = 10
# Parts of published examples that people paste.
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


def read_secrets(settings: Settings) -> tuple[bytes, ...]:
    """The secrets in force, the one that encrypts and signs first. Raises `SettingsError` if one is missing or weak."""
    if settings.secret:
        further = [(text, f"GATEHOUSE_SECRET_PREVIOUS, line {n}") for n, text in _lines(settings.secret_previous)]
        return tuple(_validate(*each) for each in [(settings.secret, "GATEHOUSE_SECRET"), *further])
    path = secret_path(settings)
    try:
        lines = _lines(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as problem:
        raise SettingsError([f"secret file {path}: {problem}"]) from None
    if not lines:
        raise SettingsError([f"secret file {path} is empty"])
    return tuple(_validate(text, f"secret file {path}, line {n}") for n, text in lines)


def new_secret() -> bytes:
    return secrets.token_urlsafe(48).encode()


def write_secrets(path: Path, lines: Sequence[bytes]) -> None:
    """Replace the file in one step; its owner stays the same when another user runs the command."""
    owner = path.stat()
    temporary = _write_temporary(path, lines)
    if (os.getuid(), os.getgid()) != (owner.st_uid, owner.st_gid):
        os.chown(temporary, owner.st_uid, owner.st_gid)
    temporary.replace(path)


def make_secret(settings: Settings) -> None:
    """Create the secret file if the embedded default needs one and there is none.

    Written to a temporary file and linked into place, so that of two starts at once both see one whole file.
    """
    if settings.secret or settings.secret_file or secret_path(settings).exists():
        return
    path = secret_path(settings)
    temporary = _write_temporary(path, [new_secret()])
    try:
        os.link(temporary, path)
    except FileExistsError:
        return  # another start was faster: its secret is used
    finally:
        temporary.unlink()


def _write_temporary(path: Path, lines: Sequence[bytes]) -> Path:
    temporary = path.with_name(f".secret.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.writelines(line + b"\n" for line in lines)
        file.flush()
        os.fsync(file.fileno())
    return temporary


def _lines(text: str) -> list[tuple[int, str]]:
    return [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


def _validate(text: str, source: str) -> bytes:
    if len(text) < MIN_LENGTH:
        raise SettingsError([f"{source}: a secret has at least {MIN_LENGTH} random characters"])
    if len(set(text)) < MIN_DISTINCT or any(sample in text.lower() for sample in _SAMPLES):
        raise SettingsError([f"{source}: this secret can be guessed; make one with `openssl rand -base64 48`"])
    return text.encode()
