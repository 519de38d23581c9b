"""The letters: every character of every font, drawn once at start, kept as one block of soft masks."""

from functools import cache
from importlib.resources import files
from io import BytesIO
from itertools import product
from string import ascii_uppercase, digits
from typing import Final

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFilter, ImageFont

CHARACTERS: Final = digits + ascii_uppercase

# Four faces of different build, all bold: thick strokes survive inversion and lines, hairlines do not.
FONTS: Final = (
    "DejaVuSans-Bold.ttf",
    "DejaVuSerif-Bold.ttf",
    "OpenSans-ExtraBold.ttf",
    "Roboto-Black.ttf",
)

CAP: Final = 64  # height of a capital in a mask: more than is drawn, so that sampling stays smooth
CELL: Final = 160  # side of a mask: so wide a margin that no pixel of a letter's window is looked up beyond it
_WIDEST: Final = 72  # W and M are squeezed to this, or four of them would not fit side by side

# A mask rises from 0 to 1 over this many pixels, half of them outside the letter and half inside, so one
# look-up tells how far a point lies from the letter's edge: enough for soft edges, weight and halo.
RAMP: Final = 7


class Glyphs:
    """A mask for each character of each font, 0 outside the letter to 255 inside, and the letter's width."""

    def __init__(self) -> None:
        self.masks: npt.NDArray[np.uint8] = np.zeros((len(FONTS) * len(CHARACTERS), CELL * CELL), np.uint8)
        self.widths: npt.NDArray[np.float32] = np.zeros(len(self.masks), np.float32)
        fonts = [_font(name) for name in FONTS]
        for at, (font, character) in enumerate(product(fonts, CHARACTERS)):
            drawn = _draw(font, character)
            self.widths[at] = drawn.width
            self.masks[at] = np.asarray(_centre(drawn)).reshape(-1)


@cache
def glyphs() -> Glyphs:
    """The one set of masks of this process, drawn when first asked for."""
    return Glyphs()


def _font(name: str) -> ImageFont.FreeTypeFont:
    """The face at the size at which its capitals are CAP pixels tall."""
    data = (files(__package__) / "fonts" / name).read_bytes()
    # The basic layout is all that single letters need; the default one loads a shaping library.
    trial = ImageFont.truetype(BytesIO(data), 100, layout_engine=ImageFont.Layout.BASIC)
    _, top, _, bottom = trial.getbbox("H")
    size = 100 * CAP / (bottom - top)
    return ImageFont.truetype(BytesIO(data), size, layout_engine=ImageFont.Layout.BASIC)


def _draw(font: ImageFont.FreeTypeFont, character: str) -> Image.Image:
    left, top, right, bottom = font.getbbox(character)
    drawn = Image.new("L", (int(right - left), int(bottom - top)))
    ImageDraw.Draw(drawn).text((-left, -top), character, fill=255, font=font)
    return drawn.resize((min(drawn.width, _WIDEST), CAP))


def _centre(drawn: Image.Image) -> Image.Image:
    cell = Image.new("L", (CELL, CELL))
    cell.paste(drawn, ((CELL - drawn.width) // 2, (CELL - drawn.height) // 2))
    return cell.filter(ImageFilter.BoxBlur((RAMP - 1) / 2))
