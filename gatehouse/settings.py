"""Every setting: its name, default, meaning and check. Nothing else in Gatehouse reads the environment.

A value comes from the first of: a command-line flag, the environment (`GATEHOUSE_` and the name in capitals),
the TOML file, the default. `docs/settings.md` carries the same table; a test holds the two together.
"""

from __future__ import annotations

import dataclasses
import os
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gatehouse.auth.login.captcha.difficulty import Difficulty
from gatehouse.parsing import (
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
    seconds,
    switch,
    url,
    with_unit,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

PREFIX = "GATEHOUSE_"
CONFIG_VARIABLE = "GATEHOUSE_CONFIG"
DEFAULT_CONFIG = Path("gatehouse.toml")


class SettingsError(Exception):
    """One or more settings cannot be used; each problem is a sentence that names the setting."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def setting(
    default: object,
    meaning: str,
    read: Callable[[str], object],
    *,
    secret: bool = False,
    show: Callable[[Any], str] = str,
) -> Any:
    return dataclasses.field(
        default=default,
        metadata={"meaning": meaning, "read": read, "secret": secret, "show": show},
        repr=not secret,
    )


def lasting(default: int, meaning: str, low: int, high: int) -> Any:
    """A duration in seconds, shown with a unit: 7d."""
    return setting(default, meaning, seconds(low, high), show=with_unit)


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
        "redis+sentinel://, redis+cluster://.",
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
    access_ttl: int = lasting(7200, "How long an access token is valid.", 1, 86400)
    refresh_ttl: int = lasting(604800, "A session ends after this long without a refresh.", 1, 31536000)
    session_max: int = lasting(2592000, "A session ends this long after login, even if it is refreshed.", 1, 31536000)
    refresh_grace: int = lasting(10, "How long the previous refresh token is still answered after a rotation.", 0, 60)
    key_max_age: int = lasting(7776000, "Age at which a signing key is replaced by a new one.", 3600, 315360000)
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
    captcha_ttl: int = lasting(120, "How long a captcha is valid.", 1, 3600)
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
    limit_login_address: Rate = setting(Rate(30, 60), "Login attempts from one address.", rate)
    limit_login_name: Rate = setting(
        Rate(10, 300),
        "Failed logins of one name before it is locked; the lock time grows to 15 minutes.",
        rate,
    )
    limit_login_total: Rate = setting(Rate(6000, 60), "Login attempts of all users together.", rate)
    limit_captcha_address: Rate = setting(Rate(120, 60), "Captchas for one address, counted in each worker.", rate)
    limit_refresh_address: Rate = setting(Rate(300, 60), "Refresh attempts from one address.", rate)
    limit_password_user: Rate = setting(
        Rate(10, 3600), "Attempts of one user to change the own password, successful or not.", rate
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
        (), "Networks of proxies whose X-Forwarded-For and Forwarded headers are used.", networks
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
        "", "URL of an OpenTelemetry collector (OTLP over HTTP) to send traces to; needs the extra otel.", url
    )
    audit_keep: int = lasting(34560000, "How long audit events are kept.", 86400, 315360000)
    log_level: str = setting("info", "Lowest level to log.", one_of("debug", "info", "warning", "error"))
    log_format: str = setting(
        "auto", "Log format: json or pretty; auto is pretty on a terminal.", one_of("auto", "json", "pretty")
    )

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
    def public_url(self) -> str:
        """Where clients reach the service: the issuer, or the address it listens on."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.issuer or f"http://{host}:{self.port}{self.base_path}"

    @property
    def listens_on_loopback(self) -> bool:
        return is_loopback(self.host)

    @property
    def known_on_loopback(self) -> bool:
        """Whether clients reach the service at an address of this machine alone."""
        return not self.issuer or is_loopback(urlsplit(self.issuer).hostname or "")


@dataclass(frozen=True, slots=True)
class Described:
    """One setting as documentation and `--help` show it."""

    name: str
    variable: str
    flag: str
    default: str
    meaning: str
    secret: bool


def described() -> Iterator[Described]:
    for field in dataclasses.fields(Settings):
        yield Described(
            name=field.name,
            variable=PREFIX + field.name.upper(),
            flag="--" + field.name.replace("_", "-"),
            default=_shown(field.default, field.metadata["show"]),
            meaning=field.metadata["meaning"],
            secret=field.metadata["secret"],
        )


def load(
    flags: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    config: Path | None = None,
) -> Settings:
    """The settings in force. Raises `SettingsError` that names every problem at once."""
    environ = os.environ if environ is None else environ
    given: dict[str, tuple[str, str]] = {}
    problems: list[str] = []
    for name, text in _from_file(config, environ, problems).items():
        given[name] = (text, f"{name} in the settings file")
    for field in dataclasses.fields(Settings):
        variable = PREFIX + field.name.upper()
        if variable in environ:
            given[field.name] = (environ[variable], variable)
    for name, text in (flags or {}).items():
        given[name] = (text, "--" + name.replace("_", "-"))

    values: dict[str, Any] = {}
    for field in dataclasses.fields(Settings):
        text, source = given.get(field.name, ("", ""))
        if not text.strip():
            continue  # an empty value means the default, as in `GATEHOUSE_ISSUER=`
        try:
            values[field.name] = field.metadata["read"](text)
        except ValueError as problem:
            problems.append(f"{source}: {problem}" if not field.metadata["secret"] else f"{source}: not valid")
    if problems:
        raise SettingsError(problems)
    settings = Settings(**values)
    _check_together(settings)
    return settings


def _from_file(config: Path | None, environ: Mapping[str, str], problems: list[str]) -> dict[str, str]:
    named = config or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    path = named or DEFAULT_CONFIG
    if named is None and not path.exists():
        return {}
    if named is None and not _ours(path):
        problems.append(
            f"settings file {path.absolute()}: found in the current folder, but others can write it;"
            f" name it with --config or {CONFIG_VARIABLE} if you trust it"
        )
        return {}
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        problems.append(f"settings file {path}: {problem}")
        return {}
    known = {field.name for field in dataclasses.fields(Settings)}
    problems += [f"settings file {path}: there is no setting {name!r}" for name in content if name not in known]
    return {name: _as_text(value) for name, value in content.items() if name in known}


def _ours(path: Path) -> bool:
    """Whether only this user and root can have written it: a folder of somebody else may hold a file for us."""
    found = path.stat()
    return found.st_uid in {os.geteuid(), 0} and not found.st_mode & stat.S_IWOTH


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ",".join(str(part) for part in value)
    return str(value)


def _shown(value: object, show: Callable[[Any], str]) -> str:
    if value is None or value in ("", ()):
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    return show(value)


def _check_together(settings: Settings) -> None:
    """Rules between settings. The test switches open the door, so they stay on this machine."""
    problems = []
    # An issuer elsewhere means a proxy on this machine that lets strangers in.
    if not settings.listens_on_loopback or not settings.known_on_loopback:
        where = "it is refused unless HOST and the host of ISSUER are loopback"
        if settings.captcha_test_answer:
            problems.append(f"GATEHOUSE_CAPTCHA_TEST_ANSWER is for tests: {where}")
        if not settings.limits:
            problems.append(f"GATEHOUSE_LIMITS=off is for tests: {where}")
    if settings.second_factor == "off" and settings.second_factor_roles:
        problems.append("GATEHOUSE_SECOND_FACTOR=off contradicts GATEHOUSE_SECOND_FACTOR_ROLES: set one")
    if settings.secret_previous and not settings.secret:
        problems.append("GATEHOUSE_SECRET_PREVIOUS is set without GATEHOUSE_SECRET")
    if settings.secret and settings.secret_file:
        problems.append("GATEHOUSE_SECRET and GATEHOUSE_SECRET_FILE are both set: set one")
    if problems:
        raise SettingsError(problems)
