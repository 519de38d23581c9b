"""Every number that decides how a captcha looks, with its reason. Lengths are CSS pixels of the shown box.

What people read and machines do not was found by measurement (`benchmarks/captcha_strength.py`, figures in
`docs/captcha.md`). Two things carry it: strokes of pure black or white, which the eye picks out at once of a
ground that is neither, and a curve with a rim, which the eye sees as lying in front and reads past.
"""

from dataclasses import dataclass, replace
from typing import Final

from gatehouse.auth.captcha.difficulty import Difficulty

Range = tuple[float, float]

WIDTH: Final = 108  # the box in which clients show it
HEIGHT: Final = 44

# Image pixels to a CSS pixel. At 1 the rims blur and one letter in ten is lost; at 2 the image is past 2,500
# bytes. 1.5 reads like 2 on a fine screen and shrinks cleanly on a coarse one.
SCALE: Final = 1.5


@dataclass(frozen=True, slots=True)
class Look:
    """One way to draw. A range is where each image, or each letter, takes its own value from."""

    # Letters as large as the box allows when they tilt: size is what legibility depends on most.
    tall: Range = (31.0, 34.0)
    tilt: Range = (-0.3, 0.3)  # radians; from 0.5 on, T, Y and 4 are taken for each other
    slant: Range = (-0.15, 0.15)
    drift: Range = (-1.5, 1.5)  # up and down; more would cut letters off at the edge
    spread: float = 104.0  # the width they share
    stretch: float = 1.25  # four narrow letters are stretched by no more than this
    overlap: float = 1.5  # neighbours touch, so columns do not cut them apart ...
    halo: float = 1.0  # ... but the one on top has a rim of ground, so the eye does
    weight: float = 0.1  # added to every stroke; more closes the eyes of P, 4 and 9

    # The bend: the strongest lever against OCR after the curve, and the first to hurt people.
    bend: float = 1.0
    bend_length: Range = (18.0, 28.0)  # half a letter: longer moves whole letters, shorter frays strokes

    # Light and dark regions of the ground. A letter is black where its middle lies on light ground and white
    # on dark ground, so no single polarity reads an image, yet each letter stays whole: letters inverted half
    # way through cost people one image in five and OCR nothing.
    region_length: Range = (80.0, 120.0)  # an image has one or two of them
    region_edge: float = 2.0  # a soft boundary, or it would look like a stroke

    # The curve, a third of a stroke wide, with a rim that cuts the letters beneath. Without the rim OCR
    # reads six times as many. It is steep, because a flat one runs along the bars of E, H and 3 and hides
    # them: steep, it crosses every letter twice and costs people less than a flat one half as effective.
    curves: int = 1
    curve_weight: Range = (2.1, 2.3)  # thinner, and median filters take it away
    curve_halo: float = 1.3  # at 1.4, and the bend at 1.05, one image in four was misread
    curve_swing: Range = (9.0, 12.0)
    curve_length: Range = (44.0, 58.0)
    curve_offset: Range = (-3.0, 3.0)

    # Tones: 0 is black, 1 is white. Stripes reach over mid-grey from both kinds of ground, so a threshold
    # keeps stripes wherever it is set; ink is black or white, further out than any stripe. A stripe is about
    # as wide as a stroke: at two thirds of that, a morphological opening or closing wipes the stripes away
    # and leaves the letters, and OCR then reads one in five.
    dark_ground: float = 0.42
    light_ground: float = 0.58
    hatch: float = 0.24
    hatch_length: Range = (6.0, 7.5)

    # So many greys are kept. Six are the two inks and the four stripes; more cost bytes and show no better.
    tones: int = 6


_NORMAL: Final = Look()

LOOKS: Final = {
    Difficulty.EASY: replace(_NORMAL, bend=0.6, tilt=(-0.2, 0.2), curve_weight=(1.7, 1.9), curve_halo=1.0),
    Difficulty.NORMAL: _NORMAL,
    Difficulty.HARD: replace(_NORMAL, bend=1.25, curve_weight=(2.2, 2.4), curve_halo=1.45, overlap=2.5),
}
