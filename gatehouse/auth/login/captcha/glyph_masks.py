"""The masks of the letters in this process: each is drawn once, here or by the process that starts the service."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from gatehouse.auth.login.captcha.glyph_mask_drawing import DrawnGlyph


class Glyph(NamedTuple):
    mask: npt.NDArray[np.uint8]  # MASK_SIZE rows of MASK_SIZE values, in one line
    width: float


_glyphs: dict[tuple[int, str], Glyph] = {}


def glyph(font: int, character: str) -> Glyph:
    known = _glyphs.get((font, character))
    if known is None:
        from gatehouse.auth.login.captcha.glyph_mask_drawing import draw  # noqa: PLC0415 - Pillow, 6 MB; a worker is given all it needs

        preload({(font, character): draw(font, character)})
        known = _glyphs[font, character]
    return known


def preload(drawn: Mapping[tuple[int, str], DrawnGlyph]) -> None:
    """Take glyphs that were drawn elsewhere. Workers inherit them by the fork."""
    for key, (mask, width) in drawn.items():
        _glyphs[key] = Glyph(np.frombuffer(mask, np.uint8), width)
