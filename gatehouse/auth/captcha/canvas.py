"""The plane on which a captcha is composed, and the smooth random shapes that bend and divide it."""

from typing import Final

import numpy as np
import numpy.typing as npt

from gatehouse.auth.captcha.parameters import HEIGHT, SCALE, WIDTH, Range

Plane = npt.NDArray[np.float32]

COLUMNS: Final = int(WIDTH * SCALE)
ROWS: Final = int(HEIGHT * SCALE)
TURN: Final = np.float32(2 * np.pi)

# The middle of every pixel, in CSS pixels.
X: Final = ((np.arange(COLUMNS) + 0.5) / SCALE).astype(np.float32)
Y: Final = ((np.arange(ROWS) + 0.5) / SCALE).astype(np.float32)


def between(random: np.random.Generator, limits: Range, count: int) -> Plane:
    """So many values, evenly spread over a range."""
    low, high = limits
    return random.random(count, dtype=np.float32) * np.float32(high - low) + np.float32(low)


def step(distance: Plane) -> Plane:
    """0 outside an edge and 1 inside, soft over one pixel; the distance inwards is in CSS pixels."""
    soft: Plane = distance * np.float32(SCALE)
    soft += np.float32(0.5)
    return soft.clip(0, 1, out=soft)


def smooth(random: np.random.Generator, length: Range, waves: int) -> Plane:
    """A random field over the whole plane, of unit variance: plane waves from all directions, summed.

    cos(a + b) = cos a cos b - sin a sin b turns the sum into one small matrix product, which is ten times
    quicker than so many cosines of every pixel.
    """
    angle = between(random, (0, float(TURN)), waves)
    phase = between(random, (0, float(TURN)), waves)
    speed = TURN / between(random, length, waves)
    along_x = X * (speed * np.cos(angle))[:, None]
    along_y = Y[:, None] * (speed * np.sin(angle)) + phase
    down = np.hstack((np.cos(along_y), -np.sin(along_y)))
    across = np.vstack((np.cos(along_x), np.sin(along_x)))
    field: Plane = down @ (across * np.float32((2 / waves) ** 0.5))
    return field
