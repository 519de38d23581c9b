"""What an attacker does to a captcha before handing it to OCR. Each takes a grey image and returns one."""

from collections.abc import Callable

import cv2
import numpy as np
import numpy.typing as npt

Grey = npt.NDArray[np.uint8]
Cleaning = Callable[[Grey], Grey]


def _spread(values: npt.NDArray[np.float32]) -> Grey:
    """Stretches whatever came out to the full range of greys, ignoring one pixel in a hundred at each end."""
    low, high = np.percentile(values, [1, 99])
    return np.clip((values - low) * 255 / max(high - low, 1e-6), 0, 255).astype(np.uint8)


def _otsu(grey: Grey) -> Grey:
    return cv2.threshold(grey, 0, 255, cv2.THRESH_OTSU)[1].astype(np.uint8)


def _adaptive(grey: Grey) -> Grey:
    mean = cv2.ADAPTIVE_THRESH_GAUSSIAN_C
    return cv2.adaptiveThreshold(grey, 255, mean, cv2.THRESH_BINARY, 21, 5).astype(np.uint8)


def _median(size: int) -> Cleaning:
    return lambda grey: cv2.medianBlur(grey, size).astype(np.uint8)


def _morphology(operation: int, size: int) -> Cleaning:
    kernel = np.ones((size, size), np.uint8)
    return lambda grey: cv2.morphologyEx(grey, operation, kernel).astype(np.uint8)


def _blur(sigma: float) -> Cleaning:
    return lambda grey: cv2.GaussianBlur(grey, (0, 0), sigma).astype(np.uint8)


def _resize(factor: float) -> Cleaning:
    how = cv2.INTER_CUBIC if factor > 1 else cv2.INTER_AREA
    return lambda grey: cv2.resize(grey, None, fx=factor, fy=factor, interpolation=how).astype(np.uint8)


def _regions(sigma: float) -> Cleaning:
    """Turns the dark regions over, taking for dark what is dark on average around a point."""

    def clean(grey: Grey) -> Grey:
        values = grey.astype(np.float32) - 128
        return _spread(values * np.sign(cv2.GaussianBlur(values, (0, 0), sigma)))

    return clean


def _from_middle(grey: Grey) -> Grey:
    """Black and white alike become ink: made against letters that are stronger than their ground."""
    return 255 - _spread(np.abs(grey.astype(np.float32) - 128))


def _from_around(grey: Grey) -> Grey:
    """What differs from its surroundings becomes ink, whichever way it differs."""
    values = grey.astype(np.float32)
    return 255 - _spread(np.abs(values - cv2.GaussianBlur(values, (0, 0), 10)))


def _gradient(grey: Grey) -> Grey:
    values = grey.astype(np.float32)
    across, down = cv2.Sobel(values, cv2.CV_32F, 1, 0), cv2.Sobel(values, cv2.CV_32F, 0, 1)
    return 255 - _spread(np.hypot(across, down))


def _then(*steps: Cleaning) -> Cleaning:
    def clean(grey: Grey) -> Grey:
        for step in steps:
            grey = step(grey)
        return grey

    return clean


RAW = "raw"

CLEANINGS: dict[str, Cleaning] = {
    RAW: lambda grey: grey,
    "inverted": lambda grey: 255 - grey,
    "threshold": _otsu,
    "adaptive threshold": _adaptive,
    "median 3": _median(3),
    "median 5": _median(5),
    "median 3, threshold": _then(_median(3), _otsu),
    "opening 3": _morphology(cv2.MORPH_OPEN, 3),
    "opening 5": _morphology(cv2.MORPH_OPEN, 5),
    "opening 7": _morphology(cv2.MORPH_OPEN, 7),
    "closing 3": _morphology(cv2.MORPH_CLOSE, 3),
    "closing 5": _morphology(cv2.MORPH_CLOSE, 5),
    "closing 7": _morphology(cv2.MORPH_CLOSE, 7),
    "threshold, closing 3": _then(_otsu, _morphology(cv2.MORPH_CLOSE, 3)),
    "blur": _blur(1.5),
    "regions inverted, narrow": _regions(6),
    "regions inverted, wide": _regions(10),
    "distance from mid-grey": _from_middle,
    "distance from mid-grey, threshold": _then(_from_middle, _otsu),
    "distance from mid-grey, median 3": _then(_from_middle, _median(3)),
    "local contrast": _from_around,
    "gradient": _gradient,
    "twice as large": _resize(2),
    "twice as large, median 5": _then(_resize(2), _median(5)),
    "two thirds": _resize(2 / 3),
}
