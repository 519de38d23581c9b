"""The letters: every character of every font, drawn once at start, kept as one block of soft masks."""

from functools import cache
from importlib.resources import files
from io import BytesIO
from string import ascii_uppercase, digits
from typing import Final

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFilter, ImageFont

CHARACTERS: Final = digits + ascii_uppercase

# Five faces of different build, all bold: thick strokes survive inversion and lines, thin ones do not.
FONTS: Final = (
    "DejaVuSans-Bold.ttf",
    "DejaVuSerif-Bold.ttf",
    "NotoSerif-Bold.ttf",
    "OpenSans-ExtraBold.ttf",
    "Roboto-Black.ttf",
)

CAP: Final = 64  # pixels of a capital's height in a mask: twice what is drawn, so sampling stays smooth
CELL: Final = 104  # side of a mask: a capital, tilted, and its margin
_WIDEST: Final = 72  # W and M are squeezed to this, or four of them would not fit side by side
_SOFTNESS: Final = 1.0  # blur of a mask, in mask pixels: the anti-aliasing of whatever is sampled from it


class Glyphs:
    """Masks of shape (font, character, CELL, CELL), 0 outside a letter to 255 inside, and their widths."""

    def __init__(self) -> None:
        self.masks: npt.NDArray[np.uint8] = np.zeros((len(FONTS), len(CHARACTERS), CELL, CELL), np.uint8)
        self.widths: npt.NDArray[np.float32] = np.zeros((len(FONTS), len(CHARACTERS)), np.float32)
        for row, name in enumerate(FONTS):
            font = _font(name)
            for column, character in enumerate(CHARACTERS):
                mask = _mask(font, character)
                self.masks[row, column] = np.asarray(mask)
                left, _, right, _ = mask.getbbox() or (0, 0, 0, 0)
                self.widths[row, column] = right - left


@cache
def glyphs() -> Glyphs:
    """The one set of masks of this process, drawn when first asked for."""
    return Glyphs()


def _font(name: str) -> ImageFont.FreeTypeFont:
    """The face at the size at which its capitals are CAP pixels tall."""
    path = files(__package__) / "fonts" / name
    data = path.read_bytes()
    _, top, _, bottom = ImageFont.truetype(BytesIO(data), 100).getbbox("H")
    return ImageFont.truetype(BytesIO(data), 100 * CAP / (bottom - top))


def _mask(font: ImageFont.FreeTypeFont, character: str) -> Image.Image:
    left, top, right, bottom = font.getbbox(character)
    drawn = Image.new("L", (int(right - left), int(bottom - top)))
    ImageDraw.Draw(drawn).text((-left, -top), character, fill=255, font=font)
    drawn = drawn.resize((min(drawn.width, _WIDEST), CAP))
    cell = Image.new("L", (CELL, CELL))
    cell.paste(drawn, ((CELL - drawn.width) // 2, (CELL - drawn.height) // 2))
    return cell.filter(ImageFilter.GaussianBlur(_SOFTNESS))
