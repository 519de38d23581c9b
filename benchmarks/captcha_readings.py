"""Whether what OCR read is the answer: as it was read, and mapped onto the letters that are drawn.

An attacker knows the eight letters and reads an A as a 4. The service accepts the A too, so the mapped rate is what a
script gets with no work of its own.
"""

from gatehouse.auth.login.captcha.alphabet import fold


def as_read(reading: str, answer: str) -> bool:
    """As a script would send it: case, blanks and stray signs do not count."""
    return _signs(reading) == answer


def mapped(reading: str, answer: str) -> bool:
    return fold(_signs(reading)) == answer


def _signs(reading: str) -> str:
    return "".join(sign for sign in reading.upper() if sign.isascii() and sign.isalnum())
