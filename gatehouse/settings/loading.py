"""Reads the settings: flags first, then the environment, then the TOML file. No setting is read anywhere else."""

from __future__ import annotations

import os
import stat
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gatehouse.messages import Message, message
from gatehouse.settings.cross_checks import check_together
from gatehouse.settings.errors import SettingsError
from gatehouse.settings.settings import Settings, setting_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "GATEHOUSE_"
SOURCE_PREFIX = "GATEHOUSE_SOURCE_"  # of sources of identity, which `identity_sources/environment.py` reads
CONFIG_VARIABLE = "GATEHOUSE_CONFIG"
DEFAULT_CONFIG = Path("gatehouse.toml")


class SettingText(NamedTuple):
    """The text of a setting, and where it was found."""

    text: str
    source: Message | str


def load(
    flags: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    config: Path | None = None,
) -> Settings:
    """The settings in force.

    Raises `SettingsError`, which names all that cannot be read, or else all that contradict each other.
    """
    problems: list[str] = []
    environ = os.environ if environ is None else environ
    given = _collect(flags or {}, environ, config, problems)
    values = _parse(given, problems)
    if problems:
        raise SettingsError(problems)
    sources = {name: given[name].source for name in values}
    settings = Settings(
        **values,
        sources=sources,
        unknown_variables=_unknown_variables(environ),
        source_variables={name: text for name, text in environ.items() if name.startswith(SOURCE_PREFIX)},
    )
    check_together(settings)
    return settings


def _collect(
    flags: Mapping[str, str], environ: Mapping[str, str], config: Path | None, problems: list[str]
) -> dict[str, SettingText]:
    """Flags win over the environment, the environment over the file."""
    given = {
        name: SettingText(text, message("setting_sources.file", name=name))
        for name, text in _from_file(config, environ, problems).items()
    }
    for field in setting_fields():
        variable = PREFIX + field.name.upper()
        if variable in environ:
            given[field.name] = SettingText(environ[variable], variable)
    for name, text in flags.items():
        given[name] = SettingText(text, "--" + name.replace("_", "-"))
    return given


def _unknown_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Reported, not refused: they may belong to another program, or to Kubernetes, which sets some for each Service."""
    known = [CONFIG_VARIABLE, *(PREFIX + field.name.upper() for field in setting_fields())]
    return {
        name: next(iter(get_close_matches(name, known, n=1, cutoff=0.85)), "")
        for name in sorted(environ)
        if name.startswith(PREFIX) and not name.startswith(SOURCE_PREFIX) and name not in known
    }


def _parse(given: Mapping[str, SettingText], problems: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in setting_fields():
        text, source = given.get(field.name, ("", ""))
        if not text.strip():
            continue  # an empty value means the default, as in `GATEHOUSE_ISSUER=`
        try:
            values[field.name] = field.metadata["read"](text)
        except ValueError as problem:
            problems.append(f"{source}: {problem}" if not field.metadata["secret"] else f"{source}: not valid")
    return values


def _from_file(config: Path | None, environ: Mapping[str, str], problems: list[str]) -> dict[str, str]:
    named = config or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    path = named or DEFAULT_CONFIG
    if named is None and not path.exists():
        return {}
    if named is None and not _is_trusted(path):
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
    known = {field.name for field in setting_fields()}
    problems += [f"settings file {path}: there is no setting {name!r}" for name in content if name not in known]
    return {name: _as_text(value) for name, value in content.items() if name in known}


def _is_trusted(path: Path) -> bool:
    """Whether only this user and root can have written it: the current folder may belong to somebody else."""
    found = path.stat()
    return found.st_uid in {os.geteuid(), 0} and not found.st_mode & stat.S_IWOTH


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ",".join(str(part) for part in value)
    return str(value)
