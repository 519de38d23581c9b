"""Sets the letters of an answer side by side: tilted, slanted, bent, each a little over its neighbour."""

from typing import Final

import numpy as np

from gatehouse.auth.captcha.canvas import COLUMNS, ROWS, Plane, X, Y, between, step
from gatehouse.auth.captcha.glyphs import CAP, CELL, CHARACTERS, FONTS, RAMP, glyphs
from gatehouse.auth.captcha.parameters import HEIGHT, SCALE, WIDTH, Look

_WINDOW: Final = int(44 * SCALE)  # columns within which one letter is looked for: none is wider
_LAST: Final = np.float32(CELL - 1)
_MIDDLE: Final = np.float32(CELL / 2)
_DISTANCE: Final = ((np.arange(256) / 255 - 0.5) * RAMP).astype(np.float32)  # of a mask's value from its edge


def letters(random: np.random.Generator, look: Look, answer: str, bend_x: Plane, bend_y: Plane) -> Plane:
    """How much of each pixel is ink."""
    count = len(answer)
    fonts = random.integers(len(FONTS), size=count)
    codes = np.array([CHARACTERS.index(character) for character in answer])
    tall = between(random, look.tall, count)
    centres, squeeze = _places(look, glyphs().widths[fonts, codes] * (tall / CAP))
    middles = HEIGHT / 2 + between(random, look.drift, count)
    tilts, slants = between(random, look.tilt, count), between(random, look.slant, count)
    ink = np.zeros((ROWS, COLUMNS), np.float32)
    # Shuffled, so that it is not always the right-hand letter that lies on top.
    for each in random.permutation(count):
        start = min(max(int(centres[each] * SCALE) - _WINDOW // 2, 0), COLUMNS - _WINDOW)
        seen = slice(start, start + _WINDOW)
        right = bend_x[:, seen] + (X[seen] - centres[each])
        down = bend_y[:, seen] + (Y[:, None] - middles[each])
        scale = np.float32(CAP) / tall[each]
        sine, cosine = np.sin(tilts[each]), np.cos(tilts[each])
        across = right * (cosine * scale / squeeze)
        across += down * ((sine + slants[each]) * scale / squeeze)
        down *= cosine * scale
        right *= sine * scale
        down -= right
        inside = _inside(int(fonts[each]) * len(CHARACTERS) + int(codes[each]), across, down)
        inside *= 1 / scale
        inside += np.float32(look.weight)
        part = ink[:, seen]
        part *= 1 - step(inside + np.float32(look.halo))
        np.maximum(part, step(inside), out=part)
    return ink


def _places(look: Look, widths: Plane) -> tuple[Plane, np.float32]:
    """Where each letter's middle goes, and how much all are squeezed or stretched to fill the width."""
    overlaps = np.float32(look.overlap * (len(widths) - 1))
    squeeze = min((look.spread + overlaps) / widths.sum(), np.float32(look.stretch))
    widths = widths * squeeze
    margin = (WIDTH - widths.sum() + overlaps) / 2
    return margin + np.cumsum(widths - np.float32(look.overlap)) - widths / 2 + np.float32(look.overlap), squeeze


def _inside(glyph: int, across: Plane, along: Plane) -> Plane:
    """How far inside the letter's edge each point lies (negative: outside), in pixels of the mask."""
    across += _MIDDLE
    along += _MIDDLE
    columns = across.clip(0, _LAST, out=across).astype(np.int32)
    rows = along.clip(0, _LAST, out=along).astype(np.int32)
    rows *= CELL
    rows += columns
    mask = glyphs().masks[glyph * CELL * CELL : (glyph + 1) * CELL * CELL]
    return _DISTANCE.take(mask.take(rows))
