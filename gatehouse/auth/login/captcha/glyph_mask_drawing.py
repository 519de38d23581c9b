"""Draws the masks of the letters with Pillow.

A module of its own, without NumPy: the service draws the letters at its start in another process, so that Pillow
(6 MB) is in no worker. `glyph_masks.py` keeps what was drawn.
"""

from functools import cache
from importlib.resources import files
from io import BytesIO
from itertools import product
from typing import Final, NamedTuple

from PIL import Image, ImageDraw, ImageFilter, ImageFont

from gatehouse.auth.login.captcha.alphabet import ALPHABET
from gatehouse.auth.login.captcha.appearance import CAP_HEIGHT, EDGE_WIDTH, FONTS, MASK_SIZE

_WIDEST: Final = 72  # W and M are squeezed to this, or four of them would not fit side by side


class DrawnGlyph(NamedTuple):
    """A letter in a square of MASK_SIZE pixels, 0 outside the letter to 255 inside, and the letter's width."""

    mask: bytes
    width: int


def draw_alphabet() -> dict[tuple[int, str], DrawnGlyph]:
    """Every letter of a captcha in every font, by the font's number and the letter."""
    return {(font, letter): draw(font, letter) for font, letter in product(range(len(FONTS)), ALPHABET)}


def draw(font: int, character: str) -> DrawnGlyph:
    face = _face(font)
    left, top, right, bottom = face.getbbox(character)
    drawn = Image.new("L", (int(right - left), int(bottom - top)))
    ImageDraw.Draw(drawn).text((-left, -top), character, fill=255, font=face)
    drawn = drawn.resize((min(drawn.width, _WIDEST), CAP_HEIGHT))
    cell = Image.new("L", (MASK_SIZE, MASK_SIZE))
    cell.paste(drawn, ((MASK_SIZE - drawn.width) // 2, (MASK_SIZE - drawn.height) // 2))
    return DrawnGlyph(cell.filter(ImageFilter.BoxBlur((EDGE_WIDTH - 1) / 2)).tobytes(), drawn.width)


@cache
def _face(font: int) -> ImageFont.FreeTypeFont:
    """The face at the size at which its capitals are CAP_HEIGHT pixels tall."""
    data = (files(__package__) / "fonts" / FONTS[font]).read_bytes()
    # The basic layout is all that single letters need; the default one loads a shaping library.
    trial = ImageFont.truetype(BytesIO(data), 100, layout_engine=ImageFont.Layout.BASIC)
    _, top, _, bottom = trial.getbbox("H")
    size = 100 * CAP_HEIGHT / (bottom - top)
    return ImageFont.truetype(BytesIO(data), size, layout_engine=ImageFont.Layout.BASIC)
