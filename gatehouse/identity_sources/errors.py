"""What can go wrong with a source of identity."""

from __future__ import annotations


class SourceUnavailable(Exception):
    """It cannot be asked, or what it answers cannot be used: nobody is let in, and nobody's password is wrong.

    The text is for operators and goes to the log. `step` says how far it got, for `test`.
    """

    def __init__(self, problem: str, step: str = "") -> None:
        super().__init__(problem)
        self.step = step
