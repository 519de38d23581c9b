"""Draws the letters of an answer side by side: tilted, slanted, bent, each overlapping its neighbour a little."""

import itertools
import math
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gatehouse.auth.login.captcha.appearance import (
    CAP_HEIGHT,
    EDGE_WIDTH,
    FONTS,
    HEIGHT,
    MASK_SIZE,
    SCALE,
    WIDTH,
    Appearance,
)
from gatehouse.auth.login.captcha.canvas import COLUMNS, ROWS, FloatArray, RandomNumbers, X, Y
from gatehouse.auth.login.captcha.glyph_masks import Glyph, glyph

RANDOMS_PER_LETTER: Final = 6  # font, height, offset, tilt, slant, z-order

_WINDOW: Final = int(44 * SCALE)  # columns within which one letter is looked for: none is wider
_COLUMNS: Final = X[:_WINDOW]


class _Letter(NamedTuple):
    glyph: Glyph
    width: float
    scale: float  # pixels of a mask to a CSS pixel
    vertical_offset: float
    tilt: float
    slant: float


class Row(NamedTuple):
    """The letters of an answer, where they stand, and which are white."""

    letters: list[_Letter]
    centres: list[float]
    windows: list[slice]  # the columns within which each is looked for
    squeeze: float
    white: list[bool]


def arrange(numbers: RandomNumbers, appearance: Appearance, answer: str) -> Row:
    chosen = [_choose(numbers, appearance, character) for character in answer]
    centres, squeeze = _centres(appearance, [letter.width for letter in chosen])
    patterns = _patterns(len(chosen))
    white = patterns[numbers.below(len(patterns))]
    return Row(chosen, centres, [_window(centre) for centre in centres], squeeze, white)


def draw(numbers: RandomNumbers, appearance: Appearance, row: Row, bends: tuple[FloatArray, FloatArray]) -> FloatArray:
    """The ink of the letters: -1 is black, 1 is white, 0 is background. The bends are in pixels of a mask."""
    values = np.empty((len(row.letters), ROWS, _WINDOW), np.uint8)
    for letter, points, found in zip(row.letters, _points(row, bends), values, strict=True):
        letter.glyph.mask.take(points, out=found, mode="clip")  # clip: it need not check them beforehand
    # From the value of a mask to how far a pixel lies within the letter, in image pixels, counted from `edges`.
    slopes = np.array([EDGE_WIDTH / 255 * SCALE / letter.scale for letter in row.letters], np.float32)[:, None, None]
    edges = slopes * np.float32(255 / 2)
    return _composite(numbers, appearance, row, values * slopes, edges)


@cache
def _patterns(count: int) -> list[list[bool]]:
    """Which letters may be white: some, and not all on one side. OCR reads a run of one colour best."""
    rows = itertools.product((False, True), repeat=count)
    return [list(row) for row in rows if sum(a != b for a, b in itertools.pairwise(row)) >= min(2, count - 1)]


def _window(centre: float) -> slice:
    start = min(max(int(centre * SCALE) - _WINDOW // 2, 0), COLUMNS - _WINDOW)
    return slice(start, start + _WINDOW)


def _points(row: Row, bends: tuple[FloatArray, FloatArray]) -> npt.NDArray[np.intp]:
    """Where in its letter's mask every pixel of each window lies.

    What tilts, slants and scales is linear, so the columns' part and the rows' part are worked out apart, and only
    their sum with the bends has a value for each pixel. All letters at once: for one, the calls cost more than
    the arithmetic.
    """
    across, down = (np.stack([bend[:, window] for window in row.windows]) for bend in bends)
    lines = np.array([_lines(*each, row.squeeze) for each in zip(row.letters, row.centres, row.windows, strict=True)])
    slopes, heights = lines.astype(np.float32).T.reshape(2, 4, -1, 1)
    across += (slopes[0] * _COLUMNS + heights[0])[:, None, :]
    across += (slopes[1] * Y + heights[1])[:, :, None]
    down += (slopes[2] * _COLUMNS + heights[2])[:, None, :]
    down += (slopes[3] * Y + heights[3])[:, :, None]
    np.floor(down, out=down)
    down *= np.float32(MASK_SIZE)
    down += across
    return down.astype(np.intp)


def _lines(letter: _Letter, centre: float, window: slice, squeeze: float) -> tuple[float, ...]:
    """Slopes and heights of four lines: across a mask by columns and by rows, down a mask by columns and by rows."""
    sine, cosine = math.sin(letter.tilt) * letter.scale, math.cos(letter.tilt) * letter.scale
    lean = (sine + letter.slant * letter.scale) / squeeze
    start, middle = window.start / SCALE - centre, HEIGHT / 2 + letter.vertical_offset
    wide = cosine / squeeze
    return (
        wide,
        lean,
        -sine,
        cosine,
        MASK_SIZE / 2 + wide * start,
        -lean * middle,
        MASK_SIZE / 2 - sine * start,
        -cosine * middle,
    )


def _choose(numbers: RandomNumbers, appearance: Appearance, character: str) -> _Letter:
    drawn = glyph(numbers.below(len(FONTS)), character)
    scale = CAP_HEIGHT / numbers.between(appearance.letter_height)
    vertical_offset, tilt, slant = (
        numbers.between(appearance.vertical_offset),
        numbers.between(appearance.tilt),
        numbers.between(appearance.slant),
    )
    return _Letter(drawn, drawn.width / scale, scale, vertical_offset, tilt, slant)


def _centres(appearance: Appearance, widths: list[float]) -> tuple[list[float], float]:
    """Where each letter's middle goes, and how much all are squeezed or stretched to fill the width."""
    shared = appearance.overlap * (len(widths) - 1)
    squeeze = min((appearance.text_width + shared) / sum(widths), appearance.stretch)
    left = (WIDTH - sum(widths) * squeeze + shared) / 2
    middles = []
    for width in widths:
        middles.append(left + width * squeeze / 2)
        left += width * squeeze - appearance.overlap
    return middles, squeeze


def _composite(
    numbers: RandomNumbers, appearance: Appearance, row: Row, reach: FloatArray, edges: FloatArray
) -> FloatArray:
    """The letters over each other, in a random z-order, so that it is not always the right-hand one that is on top.

    Edges are soft over one pixel. Each letter clears a halo around itself; if that is a pixel or wider, nothing of
    the old ink is left beneath the new.
    """
    clear = edges + np.float32(0.5 - (appearance.halo + appearance.weight) * SCALE) - reach
    clear.clip(0, 1, out=clear)
    reach += np.float32(0.5 + appearance.weight * SCALE) - edges
    reach.clip(0, 1, out=reach)
    ink = np.zeros((ROWS, COLUMNS), np.float32)
    for each in sorted(range(len(row.letters)), key=lambda _: numbers.between((0, 1))):
        window = ink[:, row.windows[each]]
        window *= clear[each]
        if row.white[each]:
            window += reach[each]
        else:
            window -= reach[each]
    return ink
