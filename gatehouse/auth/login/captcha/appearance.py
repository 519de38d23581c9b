"""Every number that decides how a captcha looks, with its reason. Lengths are CSS pixels of the shown box.

What people read and machines do not was found by measurement (`benchmarks/captcha_strength.py`, figures in
`docs/captcha.md`). Two things carry it: stripes as strong and as wide as strokes, of which the eye picks out at once
what is whole, black or white; and a curve with a rim, which the eye sees as lying in front and reads past.
"""

from dataclasses import dataclass, replace
from typing import Final

from gatehouse.auth.login.captcha.difficulty_names import Difficulty

Range = tuple[float, float]

WIDTH: Final = 108  # the box in which clients show it
HEIGHT: Final = 44

# Image pixels to a CSS pixel. At 1 the rims blur and one letter in ten is lost; at 2 the image is past 2,500
# bytes. 1.5 reads like 2 on a fine screen and shrinks cleanly on a coarse one.
SCALE: Final = 1.5

# Four faces of different build, all bold: thick strokes survive inversion and lines, hairlines do not.
FONTS: Final = (
    "DejaVuSans-Bold.ttf",
    "DejaVuSerif-Bold.ttf",
    "OpenSans-ExtraBold.ttf",
    "Roboto-Black.ttf",
)

# The masks of the letters, in pixels of their own.
CAP_HEIGHT: Final = 64  # height of a capital in a mask: more than is drawn, so that sampling stays smooth
MASK_SIZE: Final = 160  # side of a mask: its margin is so wide that every pixel of a letter's window falls into it
# A mask rises from 0 to 1 over this many pixels, half of them outside the letter and half inside, so one
# look-up tells how far a point lies from the letter's edge: enough for soft edges, weight and halo.
EDGE_WIDTH: Final = 7


@dataclass(frozen=True, slots=True)
class Appearance:
    """One way to draw. A range is where each image, or each letter, takes its own value from."""

    # Letters as large as the box allows when they tilt: size is what legibility depends on most.
    letter_height: Range = (31.0, 34.0)
    tilt: Range = (-0.17, 0.17)  # radians; at 0.3 H and X are taken for each other under the curve
    slant: Range = (-0.1, 0.1)
    vertical_offset: Range = (-1.5, 1.5)  # up and down; more would cut letters off at the edge
    text_width: float = 104.0  # the width they share
    stretch: float = 1.25  # four narrow letters are stretched by no more than this
    overlap: float = 1.5  # neighbours touch, so segmentation by columns fails
    halo: float = 1.0  # the letter on top has a rim of background, so people still tell them apart
    weight: float = 0.1  # added to every stroke; more closes the eyes of P, 4 and 9

    # Lower is meant for people. With the smaller tilt it raised what `ddddocr` reads of raw images from about 3 of a
    # hundred to 4 or 5; that it helps people is not shown yet (docs/captcha.md). A curve 1.9 wide with a rim of 1.0
    # raises it to 7 or 8.
    bend: float = 0.65
    bend_length: Range = (18.0, 28.0)  # half a letter: longer moves whole letters, shorter frays strokes

    # Some letters are black on a light background, the others white on a dark one, so no single polarity reads an
    # image. The boundary runs between the letters: people misread most a letter that has both behind it.
    region_edge: float = 1.0  # a soft boundary, or it would look like a stroke
    region_ragged: float = 1.5  # how far it strays from the middle between two letters

    # The curve, a third of a stroke wide, with a rim that cuts the letters beneath. Without the rim OCR reads six times
    # as many. It crosses each letter once: twice, and it hides in one image of twenty the stroke that tells H from X or
    # 2 from 9; flatter, and it runs along the bars of T and L.
    curves: int = 1
    curve_weight: Range = (2.2, 2.4)  # thinner, and openings take it away
    curve_halo: float = 1.25  # at 1.5, and the bend at 1.05, three images of forty were misread
    curve_amplitude: Range = (11.0, 14.0)
    curve_length: Range = (64.0, 84.0)
    curve_offset: Range = (-3.0, 3.0)

    # Tones: 0 is black, 1 is white. The stripes of either background reach far over mid-grey, and their outer ones come
    # close to the ink of the other: so neither a threshold nor the distance from mid-grey takes the ink out of them.
    # With less hatch raw images are read three times as often; with equal backgrounds the distance reads one in two.
    dark_background: float = 0.37
    light_background: float = 0.63
    hatch: float = 0.26
    # A stripe is as wide as a stroke: where it is narrower, a morphological opening or closing wipes the stripes away
    # and leaves the letters.
    hatch_length: Range = (9.5, 11.0)

    # Of sixteen greys these are kept: ink, the stripes of both backgrounds, and two for the edges between them. Without
    # those two raw images are read three times as often; more cost bytes and show no better.
    tones: tuple[int, ...] = (0, 2, 5, 7, 8, 10, 13, 15)


_NORMAL: Final = Appearance()

APPEARANCES: Final = {
    Difficulty.EASY: replace(_NORMAL, bend=0.5, curve_weight=(1.7, 1.9), curve_halo=1.0),
    Difficulty.NORMAL: _NORMAL,
    Difficulty.HARD: replace(
        _NORMAL,
        tilt=(-0.3, 0.3),
        slant=(-0.15, 0.15),
        bend=1.15,
        overlap=2.5,
        curve_weight=(2.1, 2.3),
        curve_halo=1.4,
        curve_amplitude=(9.0, 12.0),
        curve_length=(44.0, 58.0),
    ),
}
