"""The names of the levels; `appearance.py` says what each looks like.

In a file of its own so that settings can name one without NumPy.
"""

from enum import StrEnum


class Difficulty(StrEnum):
    """What `CAPTCHA_DIFFICULTY` chooses; `docs/captcha.md` shows what each level costs and buys."""

    EASY = "easy"
    NORMAL = "normal"
    HARD = "hard"
