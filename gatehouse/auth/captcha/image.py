"""Draws a captcha: bent letters, black or white by regions, on hatched ground, under a curve."""

import math
import secrets
from collections.abc import Iterator
from typing import Final

import numpy as np

from gatehouse.auth.captcha import png
from gatehouse.auth.captcha.canvas import COLUMNS, ROWS, TURN, Dice, Plane, X, Y, stripes, waves
from gatehouse.auth.captcha.difficulty import Difficulty
from gatehouse.auth.captcha.glyphs import CAP, glyphs
from gatehouse.auth.captcha.letters import THROWS, letters
from gatehouse.auth.captcha.parameters import HEIGHT, LOOKS, SCALE, Look

SIZE = (COLUMNS, ROWS)

_HATCHINGS: Final = 8  # directions of stripes to choose from; each takes 400 KB

_THROWS: Final = 9  # of the dice: four pieces and a hatching
_CURVE_THROWS: Final = 5


class Painter:
    """Paints answers. Safe in several threads: its only moving part, the generator, locks itself."""

    def __init__(self, difficulty: Difficulty = Difficulty.NORMAL, look: Look | None = None) -> None:
        self._look = look = look or LOOKS[difficulty]
        # NumPy's generator is not secret-grade, and need not be: it decides how the letters look, never
        # which they are. Its seed comes from the operating system, so no two workers draw alike.
        self._random = random = np.random.Generator(np.random.PCG64(secrets.randbits(128)))
        # Letters look themselves up in their masks, so what bends them is measured in pixels of a mask.
        zoom = CAP / (sum(look.tall) / 2)
        self._bends = waves(random, look.bend_length, look.bend * zoom)
        # From -1, light ground, to 1, dark ground: the ink that stands out from it.
        self._dark = waves(random, look.region_length, 2 * _steepness(look)).clip(-1, 1)
        # Tones are counted in the steps that the image keeps.
        self._white = np.float32(look.tones - 1)
        light = (1 - self._dark) / 2
        self._ground = (look.dark_ground + light * (look.light_ground - look.dark_ground)) * self._white
        self._hatchings = [hatching * np.float32(look.hatch * (look.tones - 1)) for hatching in self._hatch(zoom)]
        glyphs()  # at start, not at the first request

    def _hatch(self, zoom: float) -> Iterator[Plane]:
        """Stripes in all directions, bent as much as the letters."""
        narrow, wide = self._look.hatch_length
        for each in range(_HATCHINGS):
            angle = (each + self._random.random()) * math.pi / _HATCHINGS
            period = self._random.uniform(narrow, wide)
            yield stripes(angle, period, self._bends / np.float32(zoom), self._bends.T / np.float32(zoom))

    def paint(self, answer: str) -> bytes:
        """The PNG that shows an answer of digits and letters; small letters are drawn as capitals."""
        look = self._look
        dice = Dice(self._random, _THROWS + len(answer) * THROWS + look.curves * _CURVE_THROWS)
        region = dice.piece()
        dark = self._dark[region]
        bends = self._bends[dice.piece()], self._bends[dice.piece()]
        ink = letters(dice, look, answer.upper(), bends, dark)
        for _ in range(look.curves):
            self._cross(dice, ink, dark)
        tone = self._ground[region] + self._hatchings[dice.below(_HATCHINGS)][dice.piece()]
        bare = np.abs(ink)
        np.subtract(1, bare, out=bare)
        tone *= bare
        np.maximum(ink, 0, out=ink)
        ink *= self._white
        tone += ink
        tone += np.float32(0.5)
        levels = tone.astype(np.uint8)
        levels *= np.uint8((png.TONES - 1) // (look.tones - 1))
        return png.encode(levels)

    def _cross(self, dice: Dice, ink: Plane, colour: Plane) -> None:
        """Lays a curve over the letters, with a rim of ground that sets it off from them."""
        look = self._look
        half = dice.between(look.curve_weight) * SCALE / 2
        swing, speed = np.float32(dice.between(look.curve_swing)), np.float32(TURN / dice.between(look.curve_length))
        turn = X * speed + np.float32(dice.between((0, TURN)))
        path = swing * np.sin(turn) + np.float32(HEIGHT / 2 + dice.between(look.curve_offset))
        # Height above the curve, over the steepness, is near enough the distance from it.
        slope = swing * speed * np.cos(turn)
        steep = np.float32(SCALE) / np.sqrt(1 + slope * slope)
        away = Y[:, None] * steep
        away -= path * steep
        np.abs(away, out=away)
        clear = away + np.float32(0.5 - look.curve_halo * SCALE - half)
        clear.clip(0, 1, out=clear)
        ink *= clear
        np.subtract(np.float32(half + 0.5), away, out=away)
        away.clip(0, 1, out=away)
        away *= colour
        ink += away


def _steepness(look: Look) -> float:
    """The height of a field of regions that rises by one across a boundary of the width asked for."""
    mean_length = sum(look.region_length) / 2
    return mean_length / TURN / look.region_edge
