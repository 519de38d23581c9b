"""Draws a captcha: bent letters, black or white by regions, on hatched ground, under a curve."""

import math
import secrets
from collections.abc import Iterator
from typing import Final

import numpy as np

from gatehouse.auth.login.captcha import png
from gatehouse.auth.login.captcha.canvas import COLUMNS, FULL_CIRCLE, ROWS, Dice, Plane, X, Y, stripes, waves
from gatehouse.auth.login.captcha.difficulty import Difficulty
from gatehouse.auth.login.captcha.letters import THROWS, Row, arrange, draw
from gatehouse.auth.login.captcha.parameters import APPEARANCES, CAP, HEIGHT, SCALE, Appearance

SIZE = (COLUMNS, ROWS)

_HATCHINGS: Final = 8  # directions of stripes to choose from; each takes 400 KB

_THROWS: Final = 10  # of the dice: four pieces, a hatching and who is white
_CURVE_THROWS: Final = 5


class CaptchaRenderer:
    """Draws the answer of a captcha as an image. Safe in several threads: the random generator locks itself."""

    def __init__(self, difficulty: Difficulty = Difficulty.NORMAL, appearance: Appearance | None = None) -> None:
        self._appearance = appearance = appearance or APPEARANCES[difficulty]
        # NumPy's generator is not secret-grade, and need not be: it decides how the letters look, never
        # which they are. Its seed comes from the operating system, so no two workers draw alike.
        self._random = random = np.random.Generator(np.random.PCG64(secrets.randbits(128)))
        # Letters look themselves up in their masks, so what bends them is measured in pixels of a mask.
        zoom = CAP / (sum(appearance.tall) / 2)
        self._bends = waves(random, appearance.bend_length, appearance.bend * zoom)
        # Tones from black to white are counted up to 255, and the nearest that is kept is shown.
        self._packed = png.packing(appearance.tones)
        self._contrast = np.float32((appearance.light_ground - appearance.dark_ground) / 2 * 255)
        mean = np.float32((appearance.light_ground + appearance.dark_ground) / 2 * 255)
        self._hatchings = [mean + hatching * np.float32(appearance.hatch * 255) for hatching in self._hatch(zoom)]
        self._ragged = waves(random, appearance.bend_length, appearance.region_ragged / appearance.region_edge)

    def _hatch(self, zoom: float) -> Iterator[Plane]:
        """Stripes in all directions, bent as much as the letters."""
        narrow, wide = self._appearance.hatch_length
        for each in range(_HATCHINGS):
            angle = (each + self._random.random()) * math.pi / _HATCHINGS
            period = self._random.uniform(narrow, wide)
            yield stripes(angle, period, self._bends / np.float32(zoom), self._bends.T / np.float32(zoom))

    def render(self, answer: str) -> bytes:
        """The PNG that shows an answer of digits and letters; small letters are drawn as capitals."""
        appearance = self._appearance
        dice = Dice(self._random, _THROWS + len(answer) * THROWS + appearance.curves * _CURVE_THROWS)
        row = arrange(dice, appearance, answer.upper())
        bends = self._bends[dice.piece()], self._bends[dice.piece()]
        ink = draw(dice, appearance, row, bends)
        dark = self._regions(dice, row)
        for _ in range(appearance.curves):
            self._cross(dice, ink, dark)
        tone = self._hatchings[dice.below(_HATCHINGS)][dice.piece()] - dark * self._contrast
        bare = np.abs(ink)
        np.subtract(1, bare, out=bare)
        tone *= bare
        np.maximum(ink, 0, out=ink)
        ink *= np.float32(255)
        tone += ink
        return png.encode(tone.astype(np.uint8), self._packed)

    def _regions(self, dice: Dice, row: Row) -> Plane:
        """From -1, light ground under black letters, to 1, dark ground under white ones."""
        appearance = self._appearance
        colours = [1.0 if white else -1.0 for white in row.white]
        apart = (row.centres[-1] - row.centres[0]) / max(1, len(colours) - 1)
        line = np.interp(X, row.centres, colours) * (apart / 2 / appearance.region_edge)
        dark = self._ragged[dice.piece()] + line.astype(np.float32)
        dark.clip(-1, 1, out=dark)
        return dark

    def _cross(self, dice: Dice, ink: Plane, colour: Plane) -> None:
        """Lays a curve over the letters, with a rim of ground that sets it off from them."""
        appearance = self._appearance
        half = dice.between(appearance.curve_weight) * SCALE / 2
        swing, speed = (
            np.float32(dice.between(appearance.curve_swing)),
            np.float32(FULL_CIRCLE / dice.between(appearance.curve_length)),
        )
        turn = X * speed + np.float32(dice.between((0, FULL_CIRCLE)))
        path = swing * np.sin(turn) + np.float32(HEIGHT / 2 + dice.between(appearance.curve_offset))
        # Height above the curve, over the steepness, is near enough the distance from it.
        slope = swing * speed * np.cos(turn)
        steep = np.float32(SCALE) / np.sqrt(1 + slope * slope)
        away = Y[:, None] * steep
        away -= path * steep
        np.abs(away, out=away)
        clear = away + np.float32(0.5 - appearance.curve_halo * SCALE - half)
        clear.clip(0, 1, out=clear)
        ink *= clear
        np.subtract(np.float32(half + 0.5), away, out=away)
        away.clip(0, 1, out=away)
        away *= colour
        ink += away
