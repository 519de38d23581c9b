"""Draws a captcha: bent letters, black or white by regions, on hatched ground, under a curve."""

import secrets

import numpy as np
import numpy.typing as npt

from gatehouse.auth.captcha import png
from gatehouse.auth.captcha.canvas import COLUMNS, ROWS, TURN, Field, Plane, X, Y, between, lay_over
from gatehouse.auth.captcha.difficulty import Difficulty
from gatehouse.auth.captcha.glyphs import CAP, glyphs
from gatehouse.auth.captcha.letters import letters
from gatehouse.auth.captcha.parameters import HEIGHT, LOOKS, SCALE, Look

SIZE = (COLUMNS, ROWS)


class Painter:
    """Paints answers. Safe in several threads: its only moving part, the generator, locks itself."""

    def __init__(self, difficulty: Difficulty = Difficulty.NORMAL, look: Look | None = None) -> None:
        self._look = look or LOOKS[difficulty]
        # NumPy's generator is not secret-grade, and need not be: it decides how the letters look, never
        # which they are. Its seed comes from the operating system, so no two workers draw alike.
        self._random = np.random.Generator(np.random.PCG64(secrets.randbits(128)))
        # Letters look themselves up in their masks, so what bends them is measured in pixels of a mask.
        self._zoom = CAP / (sum(self._look.tall) / 2)
        self._bends = Field(self._random, self._look.bend_length, self._look.bend * self._zoom)
        self._shades = Field(self._random, self._look.region_length, _steepness(self._look))
        glyphs()  # at start, not at the first request

    def paint(self, answer: str) -> bytes:
        """The PNG that shows an answer of digits and letters; small letters are drawn as capitals."""
        look = self._look
        bends = self._bends.piece(self._random), self._bends.piece(self._random)
        light = self._shades.piece(self._random).clip(-0.5, 0.5)
        light += np.float32(0.5)
        ink = letters(self._random, look, answer.upper(), bends, light)
        for _ in range(look.curves):
            self._cross(ink, light)
        ground = light * np.float32(look.light_ground - look.dark_ground)
        ground += np.float32(look.dark_ground)
        ground += self._hatching(*bends)
        ground *= 1 - np.abs(ink)
        ground += ink.clip(0, 1, out=ink)
        return png.encode(_quantize(ground, look.tones))

    def _cross(self, ink: Plane, light: Plane) -> None:
        """Lays a curve over the letters, with a rim of ground that sets it off from them."""
        look = self._look
        ranges = (look.curve_weight, look.curve_swing, look.curve_length, look.curve_offset, (0, TURN))
        weight, swing, length, offset, phase = between(self._random, 1, *ranges)
        speed = np.float32(TURN) / length
        turn = X * speed + phase
        path = HEIGHT / 2 + offset + swing * np.sin(turn)
        # Height above the curve, over the steepness, is near enough the distance from it.
        slope = swing * speed * np.cos(turn)
        steep = np.float32(SCALE) / np.sqrt(1 + slope * slope)
        inside = (Y[:, None] - path) * steep
        np.abs(inside, out=inside)
        np.subtract(weight * np.float32(SCALE / 2), inside, out=inside)
        lay_over(ink, inside, look.curve_halo, 1 - 2 * light)

    def _hatching(self, bend_x: Plane, bend_y: Plane) -> Plane:
        """Stripes on the ground, bent like the letters: brighter by `hatch` or darker by as much."""
        look = self._look
        angle, length, phase = between(self._random, 1, (0, TURN / 2), look.hatch_length, (0, 1))
        across, down = np.cos(angle) / length, np.sin(angle) / length
        stripes: Plane = bend_x * (across / self._zoom)
        stripes += bend_y * (down / self._zoom)
        stripes += X * across
        stripes += (Y * down + phase)[:, None]
        stripes -= np.floor(stripes)
        stripes -= np.float32(0.5)
        np.copysign(np.float32(look.hatch), stripes, out=stripes)
        return stripes


def _steepness(look: Look) -> float:
    """The height of a field of regions that rises by one across a boundary of the width asked for."""
    mean_length = sum(look.region_length) / 2
    return mean_length / TURN / look.region_edge


def _quantize(tone: Plane, tones: int) -> npt.NDArray[np.uint8]:
    """So many greys, evenly spread over those that the PNG has; their number less one must divide 15."""
    tone *= np.float32(tones - 1)
    tone += np.float32(0.5)
    levels = tone.clip(0, tones - 1, out=tone).astype(np.uint8)
    levels *= np.uint8((png.TONES - 1) // (tones - 1))
    return levels
