"""The captcha: a challenge that needs no memory (`challenge`) and the picture of its answer (`image`).

Only the challenge and the difficulty are exported here. They cost nothing to import; the picture pulls in
NumPy, so import the renderer from `gatehouse.auth.login.captcha.image`.
"""

from gatehouse.auth.login.captcha.alphabet import ALPHABET
from gatehouse.auth.login.captcha.challenge import LENGTH, Challenge, Challenges
from gatehouse.auth.login.captcha.difficulty_names import Difficulty

__all__ = ["ALPHABET", "LENGTH", "Challenge", "Challenges", "Difficulty"]
