"""The table of all settings: name, default, meaning, and the function that reads and checks the value.

A new setting also needs a row in `docs/settings.md`, and its meaning in Chinese in
`api/endpoints/console/chinese_settings.py`; tests fail until both are there.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gatehouse.auth.login.captcha.difficulty import Difficulty
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
from gatehouse.settings.field import setting, timespan

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Settings:
    data_dir: Path = setting(Path("data"), "Folder for the SQLite databases and the generated secret.", Path)
    host: str = setting("127.0.0.1", "Address to listen on.", str.strip)
    port: int = setting(8000, "Port to listen on.", between(1, 65535))
    base_path: str = setting("", "Prefix of every path of the service, such as /auth.", base_path)
    workers: int = setting(1, "Worker processes.", between(1, 256))
    database_url: str = setting(
        "",
        "Where accounts are stored: empty for SQLite in the data folder, or postgresql://user:password@host/name.",
        str.strip,
        secret=True,
    )
    state_url: str = setting(
        "",
        "Where sessions are stored: empty for SQLite in the data folder, or redis://, rediss://, "
        "redis+sentinel://, redis+cluster://, postgresql://.",
        str.strip,
        secret=True,
    )
    secret: str = setting(
        "", "Master secret, at least 32 random characters; every other key is derived from it.", str, secret=True
    )
    secret_previous: str = setting(
        "",
        "Older master secrets, one on each line: they only decrypt and verify. For replacing SECRET.",
        str,
        secret=True,
    )
    secret_file: Path | None = setting(
        None,
        "File with the master secret: the first line encrypts and signs; every line decrypts and verifies. "
        "Empty: the file secret in the data folder, created at the first start.",
        optional_path,
    )
    issuer: str = setting("", "Public URL of this service; the iss of its tokens.", url)
    audience: str = setting("gatehouse", "The aud of access tokens.", str.strip)
    admin_password: str = setting(
        "",
        "Password of the administrator that the first start creates. Empty: a random one, shown once.",
        str,
        secret=True,
    )
    access_ttl: int = timespan(7200, "How long an access token is valid.", 1, 86400)
    refresh_ttl: int = timespan(604800, "A session ends after this long without a refresh.", 1, 31536000)
    session_max: int = timespan(2592000, "A session ends this long after login, even if it is refreshed.", 1, 31536000)
    refresh_grace: int = timespan(10, "How long the previous refresh token is still answered after a rotation.", 0, 60)
    key_max_age: int = timespan(7776000, "Age at which a signing key is replaced by a new one.", 3600, 315360000)
    signing_algorithm: str = setting(
        "ES256",
        "Algorithm of the key that signs access tokens: ES256, EdDSA or RS256. A change rotates the key.",
        one_of("ES256", "EdDSA", "RS256"),
    )
    token_type: str = setting(
        "at+jwt", "The typ of access tokens: at+jwt, or JWT for decoders that refuse it.", one_of("at+jwt", "JWT")
    )
    token_perms: bool = setting(False, "Put the user's perms into access tokens.", switch)
    token_claims: str = setting(
        "standard",
        "Claims of access tokens: standard, or youlai to add the names that backends of that family read.",
        one_of("standard", "youlai"),
    )
    sessions_per_user: int = setting(
        50, "Sessions a user may have at once; one more ends the oldest.", between(1, 10000)
    )
    captcha_ttl: int = timespan(120, "How long a captcha is valid.", 1, 3600)
    captcha_difficulty: Difficulty = setting(
        Difficulty.NORMAL,
        "How hard the captcha is to read: easy, normal or hard.",
        lambda t: Difficulty(t.strip().lower()),
    )
    captcha_exempt_addresses: tuple[Network, ...] = setting(
        (), "Networks whose logins need no captcha, for people who cannot see it.", networks
    )
    captcha_test_answer: str = setting("", "For tests, on loopback only: the answer of every captcha.", captcha_answer)
    limits: bool = setting(True, "For tests, on loopback only: off removes every limit.", switch)
    limit_login_address: Rate = setting(
        Rate(30, 60), "Failed logins from one address; those without a solved captcha are counted apart.", rate
    )
    limit_login_name: Rate = setting(
        Rate(10, 300),
        "Failed logins of one name before it is locked; the lock time grows to 15 minutes.",
        rate,
    )
    limit_login_total: Rate = setting(Rate(6000, 60), "Login attempts of all users together.", rate)
    limit_captcha_address: Rate = setting(Rate(3000, 60), "Captchas for one address, counted in each worker.", rate)
    limit_refresh_address: Rate = setting(Rate(300, 60), "Failed refreshes from one address.", rate)
    limit_password_user: Rate = setting(
        Rate(10, 3600), "Attempts of one user to change their own password, successful or not.", rate
    )
    second_factor: str = setting(
        "optional",
        "Second factors: optional (who has one is asked for it), required (everybody must have one) or off.",
        one_of("optional", "required", "off"),
    )
    second_factor_roles: tuple[str, ...] = setting(
        (), "Roles whose holders must have a second factor, separated by commas.", names
    )
    trusted_proxies: tuple[Network, ...] = setting(
        (),
        "Networks of proxies whose X-Forwarded-For, or without it Forwarded, is used. They must set or remove both.",
        networks,
    )
    cors_origins: tuple[str, ...] = setting((), "Origins of front ends that are served from another origin.", origins)
    default_avatar: str = setting(
        "", "Avatar URL of users without one. Empty: a neutral picture served by Gatehouse.", url
    )
    pages: bool = setting(
        True, "Serve the web pages: login at /, account at /account, administration at /admin, API at /docs.", switch
    )
    console_url: str = setting("", "URL of your console; the account page links to it.", url)
    forgot_password: str = setting(
        "",
        "Where to turn with a forgotten password, shown on the login page: an https: or mailto: URL, or a sentence.",
        str.strip,
    )
    console: bool = setting(
        True, "Answer the calls of management consoles: users, roles, menus, departments, log.", switch
    )
    session_cache: bool = setting(
        True, "SQLite state: cache a session's status until the next commit; off reads the file every time.", switch
    )
    hash_threads: int = setting(
        0, "Password hashes that a worker computes at once; 0 divides the cores among the workers.", between(0, 256)
    )
    hash_queue: int = setting(
        64, "Logins that may wait for a password hash in a worker; more are answered with 503.", between(1, 100000)
    )
    metrics: str = setting(
        "127.0.0.1:9464",
        "Where /metrics is served: an address, off, or on for the public listener (then block it in the proxy).",
        on_off_or_address,
    )
    traces: str = setting(
        "",
        "URL of an OpenTelemetry collector (OTLP over HTTP) to send traces to; needs the extra otel.",
        url,
        show=without_credentials,
    )
    audit_keep: int = timespan(34560000, "How long audit events are kept.", 86400, 315360000)
    log_level: str = setting("info", "Lowest level to log.", one_of("debug", "info", "warning", "error"))
    log_format: str = setting(
        "auto", "Log format: json or pretty; auto is pretty on a terminal.", one_of("auto", "json", "pretty")
    )
    # Not a setting: where each of those that are not at their default was found, by name.
    sources: Mapping[str, str] = dataclasses.field(default_factory=dict, compare=False, repr=False)
    # Not a setting: variables named like one that are none, each with the setting it may be meant for, or "".
    unknown_variables: Mapping[str, str] = dataclasses.field(default_factory=dict, compare=False, repr=False)

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
