"""Sources that the environment defines: variables `GATEHOUSE_SOURCE_<NAME>_<FIELD>`.

The name is written in upper case, with `_` for `-`; the fields are those of the configuration, and KIND, TITLE, SORT,
SECRET and SECRET_FILE.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gatehouse.identity_sources.definitions import DirectoryConfig, ProviderConfig, SourceKind, config_type
from gatehouse.identity_sources.field_texts import field_types, read_field, with_fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gatehouse.identity_sources.definitions import Config

PREFIX = "GATEHOUSE_SOURCE_"
KIND, SECRET, SECRET_FILE = "KIND", "SECRET", "SECRET_FILE"
_OTHERS = {"KIND": str, "TITLE": str, "SORT": int, "SECRET": str, "SECRET_FILE": str}
# Longest first: DEFAULT_DEPARTMENT also ends like DEPARTMENT.
_FIELDS = sorted(
    {*_OTHERS, *(name.upper() for config in (DirectoryConfig, ProviderConfig) for name in field_types(config))},
    key=len,
    reverse=True,
)


class DefinedSource(NamedTuple):
    name: str
    kind: SourceKind
    title: str
    sort: int
    config: Config
    secret: str

    def variable(self, field: str) -> str:
        return f"{PREFIX}{self.name.upper().replace('-', '_')}_{field.upper()}"


def read_sources(variables: Mapping[str, str], problems: list[str]) -> Iterator[DefinedSource]:
    """What cannot be read is a problem that names its variable, and never a value: some are secret."""
    by_name: dict[str, dict[str, str]] = {}
    for variable, text in sorted(variables.items()):
        rest = variable.removeprefix(PREFIX)
        field = next((field for field in _FIELDS if rest.endswith(f"_{field}")), None)
        if field is None:
            problems.append(f"{variable}: a source has no such field")
        elif text.strip():  # an empty value means the default
            by_name.setdefault(rest.removesuffix(f"_{field}"), {})[field] = text
    for name, texts in by_name.items():
        yield from _read_source(name, texts, problems)


def _read_source(name: str, texts: dict[str, str], problems: list[str]) -> Iterator[DefinedSource]:
    kinds = [kind.value for kind in SourceKind]
    kind = texts.get(KIND, "").strip().lower()
    if kind not in kinds:
        problems.append(f"{PREFIX}{name}_{KIND}: expected one of {', '.join(kinds)}")
        return
    values: dict[str, Any] = {}
    types = {field.upper(): of for field, of in field_types(config_type(SourceKind(kind))).items()} | _OTHERS
    before = len(problems)
    for field, text in texts.items():
        try:
            values[field] = _read_field(types, field, text, kind)
        except (ValueError, OSError) as problem:
            problems.append(f"{PREFIX}{name}_{field}: {problem}")
    if SECRET in values and SECRET_FILE in values:
        problems.append(f"{PREFIX}{name}_{SECRET} and {PREFIX}{name}_{SECRET_FILE} are both set: set one")
    if len(problems) > before:
        return
    title, sort, secret = (
        values.get("TITLE", ""),
        values.get("SORT", 0),
        values.get(SECRET_FILE, values.get(SECRET, "")),
    )
    fields = {field.lower(): value for field, value in values.items() if field not in _OTHERS}
    config = with_fields(config_type(SourceKind(kind))(), fields)
    yield DefinedSource(name.lower().replace("_", "-"), SourceKind(kind), title, sort, config, secret)


def _read_field(types: dict[str, Any], field: str, text: str, kind: str) -> Any:
    if field not in types:
        raise ValueError(f"a source of kind {kind} has no such field")
    if field == SECRET_FILE:
        return Path(text.strip()).read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
    return text if field == SECRET else read_field(types[field], text)
