"""Draws a captcha: the letters of an answer, bent, inverted in soft regions and crossed by curves."""

import secrets
from typing import Final

import numpy as np
import numpy.typing as npt

from gatehouse.auth.captcha import png
from gatehouse.auth.captcha.difficulty import Difficulty
from gatehouse.auth.captcha.glyphs import CAP, CELL, CHARACTERS, FONTS, glyphs
from gatehouse.auth.captcha.parameters import HEIGHT, LOOKS, SCALE, WIDTH, Look

Plane = npt.NDArray[np.float32]

_TURN: Final = 2 * np.pi
_WINDOW: Final = 44  # CSS pixels of width within which one letter is sampled
_TILE: Final = 256


class Painter:
    """Paints answers. Safe in several threads: its only moving part, the generator, locks itself."""

    def __init__(self, difficulty: Difficulty = Difficulty.NORMAL, look: Look | None = None) -> None:
        self._look = look or LOOKS[difficulty]
        self._glyphs = glyphs()
        # NumPy's generator is not secret-grade, and need not be: it decides how the letters look, never
        # which they are. Its seed comes from the operating system, so no two workers draw alike.
        self._random = np.random.Generator(np.random.PCG64(secrets.randbits(128)))
        self._x = ((np.arange(WIDTH * SCALE) + 0.5) / SCALE).astype(np.float32)
        self._y = ((np.arange(HEIGHT * SCALE) + 0.5) / SCALE).astype(np.float32)
        self._grain = self._make_grain()

    def paint(self, answer: str) -> bytes:
        """The PNG that shows an answer."""
        look = self._look
        ink = self._letters(answer.upper())
        for _ in range(look.curves):
            curve = self._curve()
            both = ink * curve
            ink = ink + curve - (1 + look.curve_xor) * both
        region = self._regions()
        ground = look.dark_ground + (look.light_ground - look.dark_ground) * region
        stroke = look.light_ink + (look.dark_ink - look.light_ink) * region
        tone = ground + (stroke - ground) * ink
        if look.grain:
            tone += self._texture()
        tone *= png.TONES
        return png.encode(np.clip(tone, 0, png.TONES - 1).astype(np.uint8))

    def _between(self, limits: tuple[float, float], count: int) -> Plane:
        low, high = limits
        return self._random.random(count, dtype=np.float32) * np.float32(high - low) + np.float32(low)

    def _wave(self, along: Plane, length: tuple[float, float], height: float) -> Plane:
        phase, period = self._random.random(), self._between(length, 1)
        return np.sin(along * (_TURN / period) + _TURN * phase, dtype=np.float32) * np.float32(height)

    def _letters(self, answer: str) -> Plane:
        look, count = self._look, len(answer)
        fonts = self._random.integers(len(FONTS), size=count)
        codes = np.array([CHARACTERS.index(character) for character in answer])
        tall = self._between(look.tall, count)
        wide = self._glyphs.widths[fonts, codes] * tall / CAP
        # squeeze
        squeeze = np.float32(look.spread + look.overlap * (count - 1)) / wide.sum()
        squeeze = min(squeeze, np.float32(1.25))
        wide = wide * squeeze
        total = wide.sum() - look.overlap * (count - 1)
        left = (WIDTH - total) * np.float32(0.5) + np.concatenate(([0], np.cumsum(wide - look.overlap)[:-1]))
        centre_x = (left + wide / 2).astype(np.float32)
        centre_y = HEIGHT / 2 + self._between(look.drift, count)
        tilt = self._between(look.tilt, count)
        slant = self._between(look.slant, count)
        start = np.clip((centre_x - _WINDOW / 2) * SCALE, 0, (WIDTH - _WINDOW) * SCALE).astype(np.intp)
        columns = start[:, None] + np.arange(_WINDOW * SCALE)
        # position in bent space relative to centre
        bend_x = self._wave(self._y, look.bend_length, look.bend)
        bend_y = self._wave(self._x, look.bend_length, look.bend)
        dx = (self._x[columns] - centre_x[:, None])[:, None, :] + bend_x[None, :, None]
        dy = (self._y[None, :] - centre_y[:, None])[:, :, None] + bend_y[columns][:, None, :]
        cos, sin = np.cos(tilt), np.sin(tilt)
        sx = CAP / (tall * squeeze)
        sy = CAP / tall
        a, b = cos * sx, (sin + slant) * sx
        c, d = -sin * sy, cos * sy
        half = np.float32(CELL / 2)
        gx = a[:, None, None] * dx + b[:, None, None] * dy + half
        gy = c[:, None, None] * dx + d[:, None, None] * dy + half
        np.clip(gx, 0, CELL - 1, out=gx)
        np.clip(gy, 0, CELL - 1, out=gy)
        base = ((fonts * len(CHARACTERS) + codes) * CELL * CELL).astype(np.int32)
        index = gy.astype(np.int32) * CELL + gx.astype(np.int32) + base[:, None, None]
        masks = self._glyphs.masks.reshape(-1)[index]
        ink = np.zeros((HEIGHT * SCALE, WIDTH * SCALE), np.float32)
        for letter in range(count):
            part = ink[:, start[letter] : start[letter] + _WINDOW * SCALE]
            mask = masks[letter] * np.float32(1 / 255)
            part += mask - (1 + look.merge) * part * mask
        return np.clip(ink, 0, 1)

    def _regions(self) -> Plane:
        look, count = self._look, self._look.region_waves
        angle = self._between((0, _TURN), count)
        phase = self._between((0, _TURN), count)
        speed = np.float32(_TURN) / self._between(look.region_length, count)
        along_x = self._x[None, :] * (speed * np.cos(angle))[:, None]
        along_y = self._y[:, None] * (speed * np.sin(angle))[None, :] + phase[None, :]
        rows = np.hstack((np.cos(along_y), -np.sin(along_y)))
        field: Plane = rows @ np.vstack((np.cos(along_x), np.sin(along_x)))
        # slope of field ~ speed * sqrt(n/2); edge in pixels
        field *= np.float32(1 / (look.region_edge * float(speed.mean()) * np.sqrt(count / 2)))
        field += np.float32(0.5)
        return np.clip(field, 0, 1, out=field)

    def _curve(self) -> Plane:
        look = self._look
        swing = float(self._between(look.curve_swing, 1)[0])
        weight = self._between(look.curve_weight, 1)[0]
        path = HEIGHT / 2 + self._between((-6, 6), 1) + self._wave(self._x, look.curve_length, swing)
        slope = np.gradient(path) * SCALE
        distance = np.abs(self._y[:, None] - path[None, :]) / np.sqrt(1 + slope * slope)[None, :]
        curve: Plane = (weight / 2 - distance) * SCALE + np.float32(0.5)
        return np.clip(curve, 0, 1, out=curve)

    def _make_grain(self) -> Plane:
        """A tile of noise kept at about one wavelength, from which each image cuts its piece."""
        noise = self._random.standard_normal((_TILE, _TILE))
        frequency = np.hypot(np.fft.fftfreq(_TILE)[:, None], np.fft.rfftfreq(_TILE)[None, :])
        keep = np.exp(-(((frequency * self._look.grain_length * SCALE - 1) / 0.4) ** 2))
        tile = np.fft.irfft2(np.fft.rfft2(noise) * keep, s=(_TILE, _TILE))
        grain: Plane = (tile / tile.std() * self._look.grain).astype(np.float32)
        return grain

    def _texture(self) -> Plane:
        top = self._random.integers(_TILE - HEIGHT * SCALE)
        left = self._random.integers(_TILE - WIDTH * SCALE)
        return self._grain[top : top + HEIGHT * SCALE, left : left + WIDTH * SCALE]
