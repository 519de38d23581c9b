"""The pixel grid of a captcha, its random numbers, and the large textures of which every image takes a crop."""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from gatehouse.auth.login.captcha.appearance import HEIGHT, SCALE, WIDTH, Range

FloatArray = npt.NDArray[np.float32]

COLUMNS: Final = int(WIDTH * SCALE)
ROWS: Final = int(HEIGHT * SCALE)
FULL_CIRCLE: Final = 2 * math.pi

# The middle of every pixel, in CSS pixels.
X: Final = ((np.arange(COLUMNS) + 0.5) / SCALE).astype(np.float32)
Y: Final = ((np.arange(ROWS) + 0.5) / SCALE).astype(np.float32)

# Side of a square texture, in image pixels: room for forty thousand different crops of an image's size.
TEXTURE_SIZE: Final = 320
_WAVES: Final = 64  # so many that no direction stands out


class RandomNumbers:
    """The random numbers of one image, generated in one call.

    They are Python floats: for so few numbers a call into NumPy costs more than the arithmetic.
    """

    def __init__(self, random: np.random.Generator, count: int) -> None:
        self._numbers = random.random(count).tolist()

    def below(self, end: int) -> int:
        return int(self._numbers.pop() * end)

    def between(self, limits: Range) -> float:
        low, high = limits
        return float(low + (high - low) * self._numbers.pop())

    def random_crop(self) -> tuple[slice, slice]:
        """A random part of a texture, of the size of an image.

        Textures are made once, because a crop costs a microsecond and a new texture fifty. That images share crops
        does not help an attacker: the letters in them differ.
        """
        top, left = self.below(TEXTURE_SIZE - ROWS), self.below(TEXTURE_SIZE - COLUMNS)
        return slice(top, top + ROWS), slice(left, left + COLUMNS)


def waves(random: np.random.Generator, length: Range, height: float) -> FloatArray:
    """A smooth texture: waves of these lengths in all directions, of this standard deviation."""
    angle, phase = random.random((2, _WAVES), np.float32) * np.float32(FULL_CIRCLE)
    period = random.uniform(*length, _WAVES).astype(np.float32)
    speed = np.float32(FULL_CIRCLE / SCALE) / period
    pixels = np.arange(TEXTURE_SIZE, dtype=np.float32)
    # cos(a + b) = cos a cos b - sin a sin b makes the sum of all waves one matrix product.
    across = pixels * (speed * np.cos(angle))[:, None]
    down = pixels[:, None] * (speed * np.sin(angle)) + phase
    rows = np.hstack((np.cos(down), -np.sin(down))) * np.float32(height * math.sqrt(2 / _WAVES))
    columns = np.vstack((np.cos(across), np.sin(across)))
    # Not `rows @ columns`: that starts a thread for each core, which waits for more in a loop at full speed.
    summed: FloatArray = np.einsum("ij,jk->ik", rows, columns)
    return summed


def stripes(angle: float, period: float, bend_x: FloatArray, bend_y: FloatArray) -> FloatArray:
    """A texture of stripes in one direction, -1 and 1. `period` is the width of a pair; all lengths are CSS pixels."""
    pixels = (np.arange(TEXTURE_SIZE, dtype=np.float32) + np.float32(0.5)) / np.float32(SCALE)
    turns = (pixels + bend_x) * (math.cos(angle) / period)
    turns += (pixels[:, None] + bend_y) * (math.sin(angle) / period)
    turns -= np.floor(turns)
    return np.where(turns < 0.5, np.float32(-1), np.float32(1))
