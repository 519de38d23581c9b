"""Draws a captcha: bent letters on hatched ground, inverted by regions, with a curve laid over them."""

import secrets

import numpy as np

from gatehouse.auth.captcha import png
from gatehouse.auth.captcha.canvas import COLUMNS, ROWS, TURN, Plane, X, Y, between, smooth, step
from gatehouse.auth.captcha.difficulty import Difficulty
from gatehouse.auth.captcha.glyphs import glyphs
from gatehouse.auth.captcha.letters import letters
from gatehouse.auth.captcha.parameters import HEIGHT, LOOKS, Look

SIZE = (COLUMNS, ROWS)


class Painter:
    """Paints answers. Safe in several threads: its only moving part, the generator, locks itself."""

    def __init__(self, difficulty: Difficulty = Difficulty.NORMAL, look: Look | None = None) -> None:
        self._look = look or LOOKS[difficulty]
        # NumPy's generator is not secret-grade, and need not be: it decides how the letters look, never
        # which they are. Its seed comes from the operating system, so no two workers draw alike.
        self._random = np.random.Generator(np.random.PCG64(secrets.randbits(128)))
        glyphs()  # at start, not at the first request

    def paint(self, answer: str) -> bytes:
        """The PNG that shows an answer of digits and letters; small letters are drawn as capitals."""
        look = self._look
        bend_x, bend_y = self._bend(), self._bend()
        ink = letters(self._random, look, answer.upper(), bend_x, bend_y)
        for _ in range(look.curves):
            ink = self._cross(ink)
        light = self._regions()
        ground = light * np.float32(look.light_ground - look.dark_ground)
        ground += np.float32(look.dark_ground)
        ground += self._hatching(bend_x, bend_y)
        # Ink is white on dark ground and black on light ground.
        tone = ground + (1 - light - ground) * ink
        return png.encode(_quantize(tone, look.tones))

    def _bend(self) -> Plane:
        look = self._look
        return smooth(self._random, look.bend_length, look.bend_waves) * np.float32(look.bend)

    def _cross(self, ink: Plane) -> Plane:
        """Lays a curve over the letters, with a rim of ground that sets it off from them."""
        look = self._look
        weight, swing, length, offset, phase = (
            between(self._random, limits, 1)
            for limits in (
                look.curve_weight,
                look.curve_swing,
                look.curve_length,
                look.curve_offset,
                (0.0, 1.0),
            )
        )
        turn = X * (TURN / length) + TURN * phase
        path = HEIGHT / 2 + offset + swing * np.sin(turn)
        slope = swing * (TURN / length) * np.cos(turn)
        inside = weight / 2 - np.abs(Y[:, None] - path) / np.sqrt(1 + slope * slope)
        ink *= 1 - step(inside + np.float32(look.curve_halo))
        return np.maximum(ink, step(inside), out=ink)

    def _regions(self) -> Plane:
        """1 where the ground is light, 0 where it is dark."""
        look = self._look
        field = smooth(self._random, look.region_length, look.region_waves)
        # One over the mean slope of the field turns its value into a distance from the boundary.
        field *= np.float32(sum(look.region_length) / 2 / TURN / look.region_edge)
        field += np.float32(0.5)
        return field.clip(0, 1, out=field)

    def _hatching(self, bend_x: Plane, bend_y: Plane) -> Plane:
        """Stripes on the ground, bent like the letters."""
        look = self._look
        angle, length, phase = (
            between(self._random, limits, 1) for limits in ((0.0, float(TURN) / 2), look.hatch_length, (0.0, 1.0))
        )
        stripes = (bend_x + X) * (np.cos(angle) / length)
        stripes += (bend_y + Y[:, None]) * (np.sin(angle) / length)
        stripes += phase
        stripes -= np.floor(stripes)
        return np.where(stripes < 0.5, np.float32(look.hatch), np.float32(-look.hatch))


def _quantize(tone: Plane, tones: int) -> "np.ndarray[tuple[int, int], np.dtype[np.uint8]]":
    tone *= np.float32(tones - 1)
    tone += np.float32(0.5)
    levels = tone.clip(0, tones - 1, out=tone).astype(np.uint8)
    levels *= np.uint8((png.TONES - 1) // (tones - 1))
    return levels
