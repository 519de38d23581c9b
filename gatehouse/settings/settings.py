"""The table of all settings: name, default, and the function that reads and checks the value.

A new setting also needs a row in `docs/settings.md`, and its meaning in every language of `messages/`; tests fail until
both are there.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gatehouse.auth.login.captcha.difficulty_names import Difficulty
from gatehouse.common.parsing import (
    Network,
    Rate,
    base_path,
    between,
    captcha_answer,
    is_loopback,
    names,
    networks,
    on_off_or_address,
    one_of,
    optional_path,
    origins,
    rate,
    switch,
    url,
    without_credentials,
)
from gatehouse.settings.setting_declaration import setting, timespan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatehouse.messages import Message


@dataclass(frozen=True, slots=True)
class Settings:
    data_dir: Path = setting(Path("data"), Path)
    host: str = setting("127.0.0.1", str.strip)
    port: int = setting(8000, between(1, 65535))
    base_path: str = setting("", base_path)
    workers: int = setting(1, between(1, 256))
    database_url: str = setting("", str.strip, secret=True)
    state_url: str = setting("", str.strip, secret=True)
    secret: str = setting("", str, secret=True)
    secret_previous: str = setting("", str, secret=True)
    secret_file: Path | None = setting(None, optional_path)
    issuer: str = setting("", url)
    audience: str = setting("gatehouse", str.strip)
    admin_password: str = setting("", str, secret=True)
    access_ttl: int = timespan(7200, 1, 86400)
    refresh_ttl: int = timespan(604800, 1, 31536000)
    session_max: int = timespan(2592000, 1, 31536000)
    refresh_grace: int = timespan(10, 0, 60)
    key_max_age: int = timespan(7776000, 3600, 315360000)
    signing_algorithm: str = setting("ES256", one_of("ES256", "EdDSA", "RS256"))
    token_type: str = setting("at+jwt", one_of("at+jwt", "JWT"))
    token_perms: bool = setting(False, switch)
    token_claims: str = setting("standard", one_of("standard", "youlai"))
    sessions_per_user: int = setting(50, between(1, 10000))
    captcha_ttl: int = timespan(120, 1, 3600)
    captcha_difficulty: Difficulty = setting(Difficulty.NORMAL, lambda t: Difficulty(t.strip().lower()))
    captcha_exempt_addresses: tuple[Network, ...] = setting((), networks)
    captcha_test_answer: str = setting("", captcha_answer)
    limits: bool = setting(True, switch)
    limit_login_address: Rate = setting(Rate(30, 60), rate)
    limit_login_name: Rate = setting(Rate(10, 300), rate)
    limit_login_total: Rate = setting(Rate(6000, 60), rate)
    limit_captcha_address: Rate = setting(Rate(3000, 60), rate)
    limit_refresh_address: Rate = setting(Rate(300, 60), rate)
    limit_password_user: Rate = setting(Rate(10, 3600), rate)
    second_factor: str = setting("optional", one_of("optional", "required", "off"))
    second_factor_roles: tuple[str, ...] = setting((), names)
    trusted_proxies: tuple[Network, ...] = setting((), networks)
    cors_origins: tuple[str, ...] = setting((), origins)
    default_avatar: str = setting("", url)
    pages: bool = setting(True, switch)
    console_url: str = setting("", url)
    forgot_password: str = setting("", str.strip)
    console: bool = setting(True, switch)
    session_cache: bool = setting(True, switch)
    hash_threads: int = setting(0, between(0, 256))
    hash_queue: int = setting(64, between(1, 100000))
    metrics: str = setting("127.0.0.1:9464", on_off_or_address)
    traces: str = setting("", url, show=without_credentials)
    audit_keep: int = timespan(34560000, 86400, 315360000)
    log_level: str = setting("info", one_of("debug", "info", "warning", "error"))
    log_format: str = setting("auto", one_of("auto", "json", "pretty"))
    # Not a setting: where each of those that are not at their default was found, by name.
    sources: Mapping[str, Message | str] = dataclasses.field(default_factory=dict, compare=False, repr=False)
    # Not a setting: variables named like one that are none, each with the setting it may be meant for, or "".
    unknown_variables: Mapping[str, str] = dataclasses.field(default_factory=dict, compare=False, repr=False)
    # Not a setting: the variables that define sources of identity, secrets among them.
    source_variables: Mapping[str, str] = dataclasses.field(default_factory=dict, compare=False, repr=False)

    @property
    def accounts_url(self) -> str:
        """The SQLAlchemy URL of the accounts database, embedded default included."""
        return self.database_url or f"sqlite:///{self.accounts_path}"

    @property
    def accounts_path(self) -> Path:
        return self.data_dir / "accounts.db"

    @property
    def state_path(self) -> Path:
        return self.data_dir / "state.db"

    @property
    def embedded_accounts(self) -> bool:
        return not self.database_url

    @property
    def embedded_state(self) -> bool:
        return not self.state_url

    @property
    def postgres_state(self) -> bool:
        return self.state_url.startswith("postgres")

    @property
    def public_url(self) -> str:
        """Where clients reach the service: the issuer, or the address it listens on."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.issuer or f"http://{host}:{self.port}{self.base_path}"

    @property
    def avatar_url(self) -> str:
        """The picture of users who have none of their own."""
        return self.default_avatar or f"{self.public_url}/avatar.svg"

    @property
    def listens_on_loopback(self) -> bool:
        return is_loopback(self.host)

    @property
    def known_on_loopback(self) -> bool:
        """Whether clients reach the service at an address of this machine alone."""
        return not self.issuer or is_loopback(urlsplit(self.issuer).hostname or "")


def setting_fields() -> tuple[dataclasses.Field[Any], ...]:
    """The fields that are settings."""
    return tuple(field for field in dataclasses.fields(Settings) if field.metadata)
