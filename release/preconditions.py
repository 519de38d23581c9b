"""What must be so before a version is tagged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from release import changelog
from release import git as repository
from release.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path


def reasons_against(version: str, root: Path) -> list[str]:
    """Empty if that version can be released from this tree."""
    reasons = []
    for check in (
        lambda: changelog.dated_section(version, root),
        lambda: repository.require_clean_tree(root),
        lambda: repository.require_free_tag(version, root),
    ):
        try:
            check()
        except Refused as reason:
            reasons.append(str(reason))
    return reasons
