"""A stateless captcha challenge: its id, decrypted with the key, is the challenge.

Issuing writes nothing, so a flood of captcha requests fills no store. What must be stored is only that
a challenge was used: login marks its `fingerprint` until `expires`. Pure: the clock is passed in.
"""

import hmac
import secrets
from dataclasses import dataclass
from string import ascii_uppercase, digits
from typing import Final

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from gatehouse.auth.login.captcha.alphabet import ALPHABET, fold
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS

LENGTH: Final = 4

# What an id can carry. Wider than what is drawn at random: a test switch may fix the answer to "1234".
_CODES: Final = digits + ascii_uppercase

# The sealed block: expiry | answer | randomness | check. Sizes in bytes; 16 in all, one AES block.
_EXPIRY, _ANSWER, _RANDOM, _CHECK = 4, 3, 6, 3
_ID_LENGTH: Final = 36
_DASHES: Final = (8, 13, 18, 23)


@dataclass(frozen=True, slots=True)
class Challenge:
    """One captcha. `fingerprint` names it whatever the spelling of the id, so "used" is marked under it."""

    id: str
    answer: str
    expires: int
    fingerprint: bytes


class Challenges:
    """Issues challenges and opens them again; every node with the same key opens those of every other."""

    def __init__(self, key: bytes, ttl: int, fixed_answer: str | None = None) -> None:
        if ttl <= 0:
            raise ValueError("a captcha must be valid for at least one second")
        self._ttl = ttl
        self._fixed_answer = None if fixed_answer is None else _validate(fixed_answer)
        self.rekey(key)

    def rekey(self, *keys: bytes) -> None:
        """The first issues, all of them open."""
        if any(len(key) not in {16, 32} for key in keys):
            raise ValueError("the captcha key must have 16 or 32 bytes")
        # ECB is a poor mode for messages because equal blocks show; here it is what is needed. A
        # message is one block, so AES itself is used as what it is: a random-looking permutation of 16 bytes.
        # No two blocks are equal (48 random bits beside a moving expiry), so no two ids are; nothing of the
        # answer shows; and since a change of any bit scrambles all 16 bytes, the check bits authenticate.
        # A nonce or a tag would not fit into a UUID and would add nothing to that.
        self._ciphers = [Cipher(algorithms.AES(key), modes.ECB()) for key in keys]  # noqa: S305

    def issue(self, now: float) -> Challenge:
        """A fresh challenge with an unpredictable answer."""
        answer = self._fixed_answer or "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
        expires = int(now) + self._ttl
        block = expires.to_bytes(_EXPIRY) + _pack(answer) + secrets.token_bytes(_RANDOM) + bytes(_CHECK)
        sealed = self._ciphers[0].encryptor().update(block)
        return Challenge(_format(sealed), answer, expires, sealed)

    def decode(self, id: str, now: float) -> Challenge | None:  # noqa: A002 -- the contract calls it id
        """The challenge behind an id, or None if we never issued it or it has expired.

        A made-up id passes the check bits once in 2^24 tries and then needs a plausible expiry (about once
        in 2^24 again), and its maker still does not know the answer. Guessing answers is far cheaper.
        """
        sealed = _parse(id)
        if sealed is None:
            return None
        blocks = (cipher.decryptor().update(sealed) for cipher in self._ciphers)
        block = next((block for block in blocks if block[-_CHECK:] == bytes(_CHECK)), None)
        if block is None:
            return None
        expires = int.from_bytes(block[:_EXPIRY])
        # An id that is valid for longer than any node would grant is forged; refusing it also bounds the "used" marks.
        if not now < expires <= now + self._ttl + CLOCK_SKEW_SECONDS:
            return None
        answer = _unpack(block[_EXPIRY : _EXPIRY + _ANSWER])
        if answer is None:
            return None
        return Challenge(_format(sealed), answer, expires, sealed)

    @staticmethod
    def matches(challenge: Challenge, given: str) -> bool:
        """Whether a person's answer is right, in either case or in look-alikes; the time taken discloses nothing.

        Both sides are folded, so that an answer fixed for tests may have letters that are never drawn.
        """
        return hmac.compare_digest(fold(challenge.answer).encode(), fold(given).encode(errors="replace"))


def _validate(answer: str) -> str:
    answer = answer.upper()
    if len(answer) != LENGTH or any(character not in _CODES for character in answer):
        raise ValueError(f"a captcha answer is {LENGTH} letters or digits")
    return answer


def _pack(answer: str) -> bytes:
    """Four characters of six bits each."""
    number = 0
    for character in answer:
        number = number << 6 | _CODES.index(character)
    return number.to_bytes(_ANSWER)


def _unpack(packed: bytes) -> str | None:
    number = int.from_bytes(packed)
    codes = [number >> shift & 0x3F for shift in (18, 12, 6, 0)]
    if max(codes) >= len(_CODES):
        return None
    return "".join(_CODES[code] for code in codes)


def _format(sealed: bytes) -> str:
    text = sealed.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _parse(id: str) -> bytes | None:  # noqa: A002 -- as above
    """The sealed bytes of an id in the one form we print, in either case of hex; None for anything else."""
    if len(id) != _ID_LENGTH or any(id[at] != "-" for at in _DASHES):
        return None
    text = id.replace("-", "")
    # fromhex also skips white space; insisting on 32 characters and 16 bytes leaves it no room to.
    try:
        sealed = bytes.fromhex(text)
    except ValueError:
        return None
    return sealed if len(text) == 32 and len(sealed) == 16 else None
