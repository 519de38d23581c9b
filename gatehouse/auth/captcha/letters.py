"""Sets the letters of an answer side by side: tilted, slanted, bent, each a little over its neighbour."""

from typing import Final

import numpy as np
import numpy.typing as npt

from gatehouse.auth.captcha.canvas import COLUMNS, ROWS, Plane, X, Y, between, lay_over
from gatehouse.auth.captcha.glyphs import CAP, CELL, CHARACTERS, FONTS, RAMP, glyphs
from gatehouse.auth.captcha.parameters import HEIGHT, SCALE, WIDTH, Look

_WINDOW: Final = int(44 * SCALE)  # columns within which one letter is looked for: none is wider
_LAST: Final = np.float32(CELL - 1)
_MIDDLE: Final = np.float32(CELL / 2)
_BLACK: Final = np.float32(-1)
_WHITE: Final = np.float32(1)


def letters(random: np.random.Generator, look: Look, answer: str, bends: tuple[Plane, Plane], light: Plane) -> Plane:
    """The ink of each pixel: -1 black, 1 white, 0 none."""
    bend_x, bend_y = bends
    count = len(answer)
    fonts = random.integers(len(FONTS), size=count)
    codes = np.array([CHARACTERS.index(character) for character in answer])
    tall, drifts, tilts, slants = between(random, count, look.tall, look.drift, look.tilt, look.slant)
    centres, squeeze = _places(look, glyphs().widths[fonts, codes] * (tall / CAP))
    middles = HEIGHT / 2 + drifts
    starts = [min(max(int(x * SCALE) - _WINDOW // 2, 0), COLUMNS - _WINDOW) for x in centres.tolist()]
    windows = [slice(start, start + _WINDOW) for start in starts]
    # All letters at once: every pixel's place in the mask of its letter, from the letter's middle.
    right = np.stack([bend_x[:, window] + X[window] for window in windows]) - _each(centres)
    down = np.stack([bend_y[:, window] for window in windows]) + (Y - middles[:, None])[:, :, None]
    scale = np.float32(CAP) / tall
    sine, cosine = np.sin(tilts), np.cos(tilts)
    across = right * _each(cosine * scale / squeeze)
    across += down * _each((sine + slants) * scale / squeeze)
    down *= _each(cosine * scale)
    down -= right * _each(sine * scale)
    inside = _look_up(fonts * len(CHARACTERS) + codes, across, down)
    # From the value of a mask to the distance from the letter's edge in image pixels.
    inside *= _each(np.float32(RAMP / 255 * SCALE) / scale)
    inside += _each((look.weight - RAMP / 2 / scale) * SCALE)
    ink = np.zeros((ROWS, COLUMNS), np.float32)
    # Shuffled, so that it is not always the right-hand letter that lies on top.
    for letter in random.permutation(count).tolist():
        middle = light[ROWS // 2, int(centres[letter] * SCALE)]
        lay_over(ink[:, windows[letter]], inside[letter], look.halo, _BLACK if middle > 0.5 else _WHITE)
    return ink


def _each(values: Plane) -> Plane:
    """One value a letter, shaped to meet that letter's pixels."""
    return values[:, None, None]


def _places(look: Look, widths: Plane) -> tuple[Plane, np.float32]:
    """Where each letter's middle goes, and how much all are squeezed or stretched to fill the width."""
    overlap = np.float32(look.overlap)
    shared = overlap * (len(widths) - 1)
    squeeze = min((look.spread + shared) / widths.sum(), np.float32(look.stretch))
    widths = widths * squeeze
    left = (WIDTH - widths.sum() + shared) / 2
    ends = left + np.cumsum(widths - overlap) + overlap
    return ends - widths / 2, squeeze


def _look_up(glyph: npt.NDArray[np.intp], across: Plane, down: Plane) -> Plane:
    """The values, 0 to 255, of each letter's mask at points given from its middle; uses the points up."""
    across += _MIDDLE
    across.clip(0, _LAST, out=across)
    down += _MIDDLE
    down.clip(0, _LAST, out=down)
    np.floor(down, out=down)
    down *= np.float32(CELL)
    down += across
    places = down.astype(np.intp)
    places += (glyph * CELL * CELL)[:, None, None]
    return glyphs().masks.take(places).astype(np.float32)
