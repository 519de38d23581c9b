"""How hard the picture is to read. In a file of its own so that settings can name it without NumPy."""

from enum import StrEnum


class Difficulty(StrEnum):
    """What `CAPTCHA_DIFFICULTY` chooses; `docs/captcha.md` shows what each level costs and buys."""

    EASY = "easy"
    NORMAL = "normal"
    HARD = "hard"
