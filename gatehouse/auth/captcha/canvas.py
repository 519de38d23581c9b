"""The plane on which a captcha is composed, and the smooth random fields that bend and divide it."""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from gatehouse.auth.captcha.parameters import HEIGHT, SCALE, WIDTH, Range

Plane = npt.NDArray[np.float32]

COLUMNS: Final = int(WIDTH * SCALE)
ROWS: Final = int(HEIGHT * SCALE)
TURN: Final = 2 * math.pi

# The middle of every pixel, in CSS pixels.
X: Final = ((np.arange(COLUMNS) + 0.5) / SCALE).astype(np.float32)
Y: Final = ((np.arange(ROWS) + 0.5) / SCALE).astype(np.float32)

# Side of a field, in image pixels: room for a quarter of a million different pieces of an image's size.
_SIDE: Final = 640
_WAVES: Final = 64  # so many that no direction stands out


def between(random: np.random.Generator, count: int, *ranges: Range) -> Plane:
    """A row of so many values for every range, evenly spread over it; in one call, since calls are dear."""
    limits = np.array(ranges, np.float32)
    low = limits[:, :1]
    return random.random((len(ranges), count), np.float32) * (limits[:, 1:] - low) + low


def lay_over(ink: Plane, inside: Plane, rim: float, colour: Plane | np.float32) -> None:
    """Adds a shape to the ink, in place, after clearing it and a rim around it of whatever was there.

    Ink is -1 where it is black, 1 where it is white, 0 where the ground shows. `inside` tells how far within
    the shape each pixel lies, in image pixels (negative: outside); it is used up. Edges are soft over one
    pixel, so a rim of that width or more leaves nothing of the old ink beneath the new.
    """
    clear = np.float32(0.5 - rim * SCALE) - inside
    ink *= clear.clip(0, 1, out=clear)
    inside += np.float32(0.5)
    inside.clip(0, 1, out=inside)
    inside *= colour
    ink += inside


class Field:
    """A smooth random field with room for many images; each takes a piece of it.

    Made once, because a piece costs a microsecond and a fresh field sixty. That pieces come back in another
    image helps nobody: they bend and shade whatever letters happen to stand there.
    """

    def __init__(self, random: np.random.Generator, length: Range, height: float) -> None:
        """A field of waves of these lengths, whose values have this standard deviation."""
        angle, phase, period = between(random, _WAVES, (0, TURN), (0, TURN), length)
        speed = np.float32(TURN / SCALE) / period
        pixels = np.arange(_SIDE, dtype=np.float32)
        # cos(a + b) = cos a cos b - sin a sin b makes the sum of all waves one matrix product.
        across = pixels * (speed * np.cos(angle))[:, None]
        down = pixels[:, None] * (speed * np.sin(angle)) + phase
        rows = np.hstack((np.cos(down), -np.sin(down))) * np.float32(height * math.sqrt(2 / _WAVES))
        self.values: Plane = rows @ np.vstack((np.cos(across), np.sin(across)))

    def piece(self, random: np.random.Generator) -> Plane:
        """A view of the field, not to be written to."""
        top, left = divmod(int(random.integers((_SIDE - ROWS) * (_SIDE - COLUMNS))), _SIDE - COLUMNS)
        return self.values[top : top + ROWS, left : left + COLUMNS]
