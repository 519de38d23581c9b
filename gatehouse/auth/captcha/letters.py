"""Sets the letters of an answer side by side: tilted, slanted, bent, each a little over its neighbour."""

from typing import Final

import numpy as np

from gatehouse.auth.captcha.canvas import COLUMNS, ROWS, Plane, X, Y, between, lay_over
from gatehouse.auth.captcha.glyphs import CAP, CELL, CHARACTERS, FONTS, RAMP, glyphs
from gatehouse.auth.captcha.parameters import HEIGHT, SCALE, WIDTH, Look

_WINDOW: Final = int(44 * SCALE)  # columns within which one letter is looked for: none is wider
_LAST: Final = np.float32(CELL - 1)
_MIDDLE: Final = np.float32(CELL / 2)
_BLACK: Final = np.float32(-1)
_WHITE: Final = np.float32(1)


def letters(random: np.random.Generator, look: Look, answer: str, bends: tuple[Plane, Plane], light: Plane) -> Plane:
    """The ink of each pixel: -1 black, 1 white, 0 none. The bends are in pixels of a mask."""
    bend_x, bend_y = bends
    count = len(answer)
    fonts = random.integers(len(FONTS), size=count)
    drawn = fonts * len(CHARACTERS) + [CHARACTERS.index(character) for character in answer]
    tall, drifts, tilts, slants = between(random, count, look.tall, look.drift, look.tilt, look.slant)
    centres, squeeze = _places(look, glyphs().widths[drawn] * (tall / CAP))
    middles = HEIGHT / 2 + drifts
    # Where every pixel lies in the mask of a letter. What tilts, slants and scales is linear, so the columns'
    # part and the rows' part are worked out apart, for all letters at once, and only their sum is a plane.
    right, below = X - centres[:, None], Y - middles[:, None]
    scale = np.float32(CAP) / tall
    sine, cosine = np.sin(tilts) * scale, np.cos(tilts) * scale
    lean = (sine + slants * scale) / squeeze
    across_by_column = right * (cosine / squeeze)[:, None] + _MIDDLE
    across_by_row = (below * lean[:, None])[:, :, None]
    down_by_column = right * -sine[:, None] + _MIDDLE
    down_by_row = (below * cosine[:, None])[:, :, None]
    ink = np.zeros((ROWS, COLUMNS), np.float32)
    # Shuffled, so that it is not always the right-hand letter that lies on top.
    for each in random.permutation(count).tolist():
        middle = int(centres[each] * SCALE)
        start = min(max(middle - _WINDOW // 2, 0), COLUMNS - _WINDOW)
        window = slice(start, start + _WINDOW)
        across = bend_x[:, window] + across_by_column[each, window]
        across += across_by_row[each]
        down = bend_y[:, window] + down_by_column[each, window]
        down += down_by_row[each]
        inside = _look_up(drawn[each], across, down)
        # From the value of a mask to the distance from the letter's edge in image pixels.
        inside *= np.float32(RAMP / 255 * SCALE) / scale[each]
        inside += (look.weight - RAMP / 2 / scale[each]) * np.float32(SCALE)
        lay_over(ink[:, window], inside, look.halo, _BLACK if light[ROWS // 2, middle] > 0.5 else _WHITE)
    return ink


def _places(look: Look, widths: Plane) -> tuple[Plane, np.float32]:
    """Where each letter's middle goes, and how much all are squeezed or stretched to fill the width."""
    overlap = np.float32(look.overlap)
    shared = overlap * (len(widths) - 1)
    squeeze = min((look.spread + shared) / widths.sum(), np.float32(look.stretch))
    widths = widths * squeeze
    left = (WIDTH - widths.sum() + shared) / 2
    ends = left + np.cumsum(widths - overlap) + overlap
    return ends - widths / 2, squeeze


def _look_up(glyph: int, across: Plane, down: Plane) -> Plane:
    """The values, 0 to 255, of a letter's mask at the points given; uses the points up."""
    across.clip(0, _LAST, out=across)
    down.clip(0, _LAST, out=down)
    np.floor(down, out=down)
    down *= np.float32(CELL)
    down += across
    mask = glyphs().masks[glyph]
    values: Plane = mask.take(down.astype(np.intp)).astype(np.float32)
    return values
