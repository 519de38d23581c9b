"""Draws a captcha: bent letters, black or white by regions, on a hatched background, under a curve."""

import math
import secrets
from collections.abc import Iterator
from typing import Final

import numpy as np

from gatehouse.auth.login.captcha import png
from gatehouse.auth.login.captcha.appearance import APPEARANCES, CAP_HEIGHT, HEIGHT, SCALE, Appearance
from gatehouse.auth.login.captcha.canvas import (
    FULL_CIRCLE,
    FloatArray,
    RandomNumbers,
    X,
    Y,
    stripes,
    waves,
)
from gatehouse.auth.login.captcha.difficulty_names import Difficulty
from gatehouse.auth.login.captcha.letter_row import RANDOMS_PER_LETTER, Row, arrange, draw

_HATCHINGS: Final = 8  # directions of stripes to choose from; each takes 400 KB

_RANDOMS_PER_IMAGE: Final = 10  # four crops of two numbers each, the hatching, the pattern of colours
_RANDOMS_PER_CURVE: Final = 5


class CaptchaRenderer:
    """Draws the answer of a captcha as an image. Safe in several threads: the random generator locks itself."""

    def __init__(self, difficulty: Difficulty = Difficulty.NORMAL, appearance: Appearance | None = None) -> None:
        self._appearance = appearance = appearance or APPEARANCES[difficulty]
        # NumPy's generator is not secret-grade, and need not be: it decides how the letters look, never
        # which they are. Its seed comes from the operating system, so no two workers draw alike.
        self._random = random = np.random.Generator(np.random.PCG64(secrets.randbits(128)))
        # Each pixel of the image is mapped back into the mask of its letter, so bends are in pixels of a mask.
        zoom = CAP_HEIGHT / (sum(appearance.letter_height) / 2)
        self._bends = waves(random, appearance.bend_length, appearance.bend * zoom)
        # Tones from black to white are counted up to 255, and the nearest that is kept is shown.
        self._packed = png.packing(appearance.tones)
        self._contrast = np.float32((appearance.light_background - appearance.dark_background) / 2 * 255)
        mean = np.float32((appearance.light_background + appearance.dark_background) / 2 * 255)
        self._hatchings = [mean + hatching * np.float32(appearance.hatch * 255) for hatching in self._hatch(zoom)]
        self._ragged = waves(random, appearance.bend_length, appearance.region_ragged / appearance.region_edge)

    def _hatch(self, zoom: float) -> Iterator[FloatArray]:
        """Stripes in all directions, bent as much as the letters."""
        narrow, wide = self._appearance.hatch_length
        for each in range(_HATCHINGS):
            angle = (each + self._random.random()) * math.pi / _HATCHINGS
            period = self._random.uniform(narrow, wide)
            yield stripes(angle, period, self._bends / np.float32(zoom), self._bends.T / np.float32(zoom))

    def render(self, answer: str) -> bytes:
        """The PNG that shows an answer of digits and letters; small letters are drawn as capitals."""
        appearance = self._appearance
        numbers = RandomNumbers(
            self._random, _RANDOMS_PER_IMAGE + len(answer) * RANDOMS_PER_LETTER + appearance.curves * _RANDOMS_PER_CURVE
        )
        row = arrange(numbers, appearance, answer.upper())
        bends = self._bends[numbers.random_crop()], self._bends[numbers.random_crop()]
        ink = draw(numbers, appearance, row, bends)
        dark = self._regions(numbers, row)
        for _ in range(appearance.curves):
            self._draw_curve(numbers, ink, dark)
        tone = self._hatchings[numbers.below(_HATCHINGS)][numbers.random_crop()] - dark * self._contrast
        background_alpha = np.abs(ink)
        np.subtract(1, background_alpha, out=background_alpha)
        tone *= background_alpha
        np.maximum(ink, 0, out=ink)
        ink *= np.float32(255)
        tone += ink
        return png.encode(tone.astype(np.uint8), self._packed)

    def _regions(self, numbers: RandomNumbers, row: Row) -> FloatArray:
        """From -1, light background under black letters, to 1, dark background under white ones."""
        appearance = self._appearance
        colours = [1.0 if white else -1.0 for white in row.white]
        apart = (row.centres[-1] - row.centres[0]) / max(1, len(colours) - 1)
        line = np.interp(X, row.centres, colours) * (apart / 2 / appearance.region_edge)
        dark = self._ragged[numbers.random_crop()] + line.astype(np.float32)
        dark.clip(-1, 1, out=dark)
        return dark

    def _draw_curve(self, numbers: RandomNumbers, ink: FloatArray, colour: FloatArray) -> None:
        """Draws a curve over the letters, with a halo of background that sets it off from them."""
        appearance = self._appearance
        half = numbers.between(appearance.curve_weight) * SCALE / 2
        amplitude, speed = (
            np.float32(numbers.between(appearance.curve_amplitude)),
            np.float32(FULL_CIRCLE / numbers.between(appearance.curve_length)),
        )
        turn = X * speed + np.float32(numbers.between((0, FULL_CIRCLE)))
        path = amplitude * np.sin(turn) + np.float32(HEIGHT / 2 + numbers.between(appearance.curve_offset))
        # Height above the curve, over the steepness, is near enough the distance from it.
        slope = amplitude * speed * np.cos(turn)
        steep = np.float32(SCALE) / np.sqrt(1 + slope * slope)
        distance = Y[:, None] * steep
        distance -= path * steep
        np.abs(distance, out=distance)
        clear = distance + np.float32(0.5 - appearance.curve_halo * SCALE - half)
        clear.clip(0, 1, out=clear)
        ink *= clear
        np.subtract(np.float32(half + 0.5), distance, out=distance)
        distance.clip(0, 1, out=distance)
        distance *= colour
        ink += distance
