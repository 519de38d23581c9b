"""Every number that decides how a captcha looks, with its reason. Lengths are CSS pixels of the shown box."""

from dataclasses import dataclass
from typing import Final

from gatehouse.auth.captcha.difficulty import Difficulty

WIDTH: Final = 108  # the box in which clients show it
HEIGHT: Final = 44
SCALE: Final = 1  # image pixels to a CSS pixel


@dataclass(frozen=True, slots=True)
class Look:
    """One way to draw. A pair is a range from which each image, or each letter, takes its own value."""

    # Letters.
    tall: tuple[float, float] = (27.0, 31.0)
    tilt: tuple[float, float] = (-0.28, 0.28)
    slant: tuple[float, float] = (-0.2, 0.2)
    drift: tuple[float, float] = (-3.0, 3.0)
    spread: float = 104.0
    overlap: float = 1.5
    merge: float = 0.0  # 0: overlap is union; 1: overlap is xor

    # Warp
    bend: float = 1.6
    bend_length: tuple[float, float] = (30.0, 60.0)

    # Regions
    region_length: tuple[float, float] = (30.0, 40.0)
    region_edge: float = 2.0
    region_waves: int = 8

    # Curves
    curves: int = 1
    curve_weight: tuple[float, float] = (3.0, 4.0)
    curve_swing: tuple[float, float] = (6.0, 14.0)
    curve_length: tuple[float, float] = (60.0, 110.0)
    curve_xor: float = 1.0

    # Tones 0..1
    dark_ground: float = 0.25
    light_ground: float = 0.75
    dark_ink: float = 0.0
    light_ink: float = 1.0

    # Texture
    grain: float = 0.06
    grain_length: float = 3.0


LOOKS: Final = {
    Difficulty.EASY: Look(),
    Difficulty.NORMAL: Look(),
    Difficulty.HARD: Look(),
}
