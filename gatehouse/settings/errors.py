"""The error that every problem with a setting is reported by."""

from __future__ import annotations


class SettingsError(Exception):
    """One or more settings cannot be used; each problem is a sentence that names the setting."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
