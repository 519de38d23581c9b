"""Sets the letters of an answer side by side: tilted, slanted, bent, each a little over its neighbour."""

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gatehouse.auth.captcha.canvas import COLUMNS, ROWS, Dice, Plane, X, Y
from gatehouse.auth.captcha.glyphs import CAP, CELL, CHARACTERS, FONTS, RAMP, glyphs
from gatehouse.auth.captcha.parameters import HEIGHT, SCALE, WIDTH, Look

THROWS: Final = 6  # for each letter, and one for their order

_WINDOW: Final = int(44 * SCALE)  # columns within which one letter is looked for: none is wider


class _Letter(NamedTuple):
    glyph: int
    width: float
    scale: float  # pixels of a mask to a CSS pixel
    drift: float
    tilt: float
    slant: float


def letters(dice: Dice, look: Look, answer: str, bends: tuple[Plane, Plane], dark: Plane) -> Plane:
    """The ink of an answer: -1 is black, 1 is white, 0 lets the ground show.

    The bends are in pixels of a mask. Where `dark` is above 0 a letter is white, else black.
    """
    chosen = [_choose(dice, look, character) for character in answer]
    centres, squeeze = _places(look, [letter.width for letter in chosen])
    windows = [_window(centre) for centre in centres]
    values = np.empty((len(chosen), ROWS, _WINDOW), np.uint8)
    for letter, centre, window, found in zip(chosen, centres, windows, values, strict=True):
        points = _points(letter, centre, squeeze, window, (bends[0][:, window], bends[1][:, window]))
        glyphs().masks[letter.glyph].take(points, out=found, mode="clip")  # clip: it need not check them beforehand
    # From the value of a mask to how far a pixel lies within the letter, in image pixels; negative: without.
    inside = values.astype(np.float32)
    inside -= np.float32(255 / 2)
    for each, letter in enumerate(chosen):
        inside[each] *= np.float32(RAMP / 255 * SCALE / letter.scale)
    white = [dark[ROWS // 2, int(centre * SCALE)] > 0 for centre in centres]
    return _lay(dice, look, windows, white, inside)


def _window(centre: float) -> slice:
    start = min(max(int(centre * SCALE) - _WINDOW // 2, 0), COLUMNS - _WINDOW)
    return slice(start, start + _WINDOW)


def _points(
    letter: _Letter, centre: float, squeeze: float, window: slice, bends: tuple[Plane, Plane]
) -> npt.NDArray[np.intp]:
    """Where in the letter's mask every pixel of its window lies.

    What tilts, slants and scales is linear, so the columns' part and the rows' part are worked out apart, and only
    their sum with the bends is a plane.
    """
    sine, cosine = math.sin(letter.tilt) * letter.scale, math.cos(letter.tilt) * letter.scale
    lean = (sine + letter.slant * letter.scale) / squeeze
    middle = HEIGHT / 2 + letter.drift
    across = bends[0] + _line(X[window], cosine / squeeze, centre)
    across += _line(Y, lean, middle, 0)[:, None]
    down = bends[1] + _line(X[window], -sine, centre)
    down += _line(Y, cosine, middle, 0)[:, None]
    np.floor(down, out=down)
    down *= np.float32(CELL)
    down += across
    return down.astype(np.intp)


def _line(along: Plane, slope: float, origin: float, height: float = CELL / 2) -> Plane:
    """A line of this slope that has this height at the origin."""
    line = along * np.float32(slope)
    line += np.float32(height - slope * origin)
    return line


def _choose(dice: Dice, look: Look, character: str) -> _Letter:
    glyph = dice.below(len(FONTS)) * len(CHARACTERS) + CHARACTERS.index(character)
    scale = CAP / dice.between(look.tall)
    drift, tilt, slant = dice.between(look.drift), dice.between(look.tilt), dice.between(look.slant)
    return _Letter(glyph, glyphs().widths[glyph] / scale, scale, drift, tilt, slant)


def _places(look: Look, widths: list[float]) -> tuple[list[float], float]:
    """Where each letter's middle goes, and how much all are squeezed or stretched to fill the width."""
    shared = look.overlap * (len(widths) - 1)
    squeeze = min((look.spread + shared) / sum(widths), look.stretch)
    left = (WIDTH - sum(widths) * squeeze + shared) / 2
    middles = []
    for width in widths:
        middles.append(left + width * squeeze / 2)
        left += width * squeeze - look.overlap
    return middles, squeeze


def _lay(dice: Dice, look: Look, windows: list[slice], white: list[bool], inside: Plane) -> Plane:
    """One over the other, in any order, so that it is not always the right-hand letter that lies on top.

    Edges are soft over one pixel. Each letter clears a rim around itself; if that is a pixel or wider, nothing of
    the old ink is left beneath the new.
    """
    clear = np.float32(0.5 - (look.halo + look.weight) * SCALE) - inside
    clear.clip(0, 1, out=clear)
    inside += np.float32(0.5 + look.weight * SCALE)
    inside.clip(0, 1, out=inside)
    ink = np.zeros((ROWS, COLUMNS), np.float32)
    for each in sorted(range(len(windows)), key=lambda _: dice.between((0, 1))):
        window = ink[:, windows[each]]
        window *= clear[each]
        if white[each]:
            window += inside[each]
        else:
            window -= inside[each]
    return ink
