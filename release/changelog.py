"""The section of the changelog that belongs to a version. Its heading is `## 0.2.0 (2026-11-20)`."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING

from release.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

CHANGELOG = "CHANGELOG.md"
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_DATED = re.compile(r"(\S+) \((\d{4}-\d\d-\d\d)\)")


def dated_section(version: str, root: Path) -> str:
    """The text of the topmost section. Raises `Refused` unless it is that version's, and has a date."""
    text = (root / CHANGELOG).read_text(encoding="utf-8")
    headings = list(_HEADING.finditer(text))
    wanted = f"the topmost section of {CHANGELOG} must be `## {version} (YYYY-MM-DD)`"
    if not headings:
        raise Refused(f"{wanted}, and there is none")
    dated = _DATED.fullmatch(headings[0][1])
    if not dated or dated[1] != version or not _is_date(dated[2]):
        raise Refused(f"{wanted}, and is `{headings[0][0]}`")
    end = headings[1].start() if len(headings) > 1 else len(text)
    section = text[headings[0].end() : end].strip()
    if not section:
        raise Refused(f"the section of {version} in {CHANGELOG} is empty")
    return section


def _is_date(text: str) -> bool:
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True
