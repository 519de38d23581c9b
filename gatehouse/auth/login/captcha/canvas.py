"""The plane on which a captcha is composed, and the large planes of which every image takes a piece."""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from gatehouse.auth.login.captcha.parameters import HEIGHT, SCALE, WIDTH, Range

Plane = npt.NDArray[np.float32]

COLUMNS: Final = int(WIDTH * SCALE)
ROWS: Final = int(HEIGHT * SCALE)
FULL_CIRCLE: Final = 2 * math.pi

# The middle of every pixel, in CSS pixels.
X: Final = ((np.arange(COLUMNS) + 0.5) / SCALE).astype(np.float32)
Y: Final = ((np.arange(ROWS) + 0.5) / SCALE).astype(np.float32)

# Side of a large plane, in image pixels: room for forty thousand different pieces of an image's size.
SIDE: Final = 320
_WAVES: Final = 64  # so many that no direction stands out


class Dice:
    """What one image leaves to chance, thrown at once and handed out piece by piece.

    Plain numbers, and what follows from them is plain Python: for the few numbers that an image has, a call into
    NumPy costs more than the arithmetic.
    """

    def __init__(self, random: np.random.Generator, throws: int) -> None:
        self._thrown = random.random(throws).tolist()

    def below(self, end: int) -> int:
        return int(self._thrown.pop() * end)

    def between(self, limits: Range) -> float:
        low, high = limits
        return float(low + (high - low) * self._thrown.pop())

    def piece(self) -> tuple[slice, slice]:
        """Where an image's piece of a large plane lies.

        Large planes are made once, because a piece of one costs a microsecond and a fresh plane fifty. That pieces
        come back in another image helps nobody: they bend and shade whatever letters happen to stand there.
        """
        top, left = self.below(SIDE - ROWS), self.below(SIDE - COLUMNS)
        return slice(top, top + ROWS), slice(left, left + COLUMNS)


def waves(random: np.random.Generator, length: Range, height: float) -> Plane:
    """A large smooth plane: waves of these lengths in all directions, of this standard deviation."""
    angle, phase = random.random((2, _WAVES), np.float32) * np.float32(FULL_CIRCLE)
    period = random.uniform(*length, _WAVES).astype(np.float32)
    speed = np.float32(FULL_CIRCLE / SCALE) / period
    pixels = np.arange(SIDE, dtype=np.float32)
    # cos(a + b) = cos a cos b - sin a sin b makes the sum of all waves one matrix product.
    across = pixels * (speed * np.cos(angle))[:, None]
    down = pixels[:, None] * (speed * np.sin(angle)) + phase
    rows = np.hstack((np.cos(down), -np.sin(down))) * np.float32(height * math.sqrt(2 / _WAVES))
    summed: Plane = rows @ np.vstack((np.cos(across), np.sin(across)))
    return summed


def stripes(angle: float, period: float, bend_x: Plane, bend_y: Plane) -> Plane:
    """A large plane of stripes in one direction, -1 and 1, a pair so wide in CSS pixels, bent by as many as given."""
    pixels = (np.arange(SIDE, dtype=np.float32) + np.float32(0.5)) / np.float32(SCALE)
    turns = (pixels + bend_x) * (math.cos(angle) / period)
    turns += (pixels[:, None] + bend_y) * (math.sin(angle) / period)
    turns -= np.floor(turns)
    return np.where(turns < 0.5, np.float32(-1), np.float32(1))
