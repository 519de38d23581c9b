"""Tickets: short-lived texts that only we can make and read, so that issuing one stores nothing.

A ticket is sealed for one purpose and valid for no other. One that is good once is marked as used in state, under its
`id`; those of `user_tickets.py` are void once the account has changed.
"""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import msgspec

from gatehouse.auth.keys.sealing import WrongSecret, seal, unseal
from gatehouse.common.base64url import base64url, from_base64url

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.keys.key_ring import KeyRing

T = TypeVar("T", bound=msgspec.Struct)

_NONCE_BYTES = 12
_MAX_LENGTH = 4096


class Ticket(NamedTuple, Generic[T]):
    text: str
    id: str
    expires: float
    content: T


class Tickets(Generic[T]):
    def __init__(self, ring: KeyRing, purpose: str, content: type[T], seconds: int, clock: Callable[[], float]) -> None:
        self._ring = ring
        self._purpose = purpose
        self._decoder = msgspec.msgpack.Decoder(tuple[float, content])  # type: ignore[valid-type]
        self._seconds = seconds
        self._clock = clock

    def make(self, content: T) -> Ticket[T]:
        expires = self._clock() + self._seconds
        sealed = seal(self._ring.secrets[0], self._purpose, "ticket", msgspec.msgpack.encode((expires, content)))
        return Ticket(base64url(sealed), _id(sealed), expires, content)

    def open(self, text: str, max_length: int = _MAX_LENGTH) -> Ticket[T] | None:
        """The ticket, or None if we did not make it for this purpose or it has expired."""
        ticket = self.open_expired(text, max_length)
        return ticket if ticket is not None and self._clock() < ticket.expires else None

    def open_expired(self, text: str, max_length: int = _MAX_LENGTH) -> Ticket[T] | None:
        """The same, whether it has expired or not."""
        if len(text) > max_length or not text.isascii():
            return None
        try:
            sealed = from_base64url(text)
            content = unseal(self._ring.secrets, self._purpose, "ticket", sealed)
        except (binascii.Error, ValueError, WrongSecret):
            return None
        expires, inner = self._decoder.decode(content)
        return Ticket(text, _id(sealed), expires, inner)


def _id(sealed: bytes) -> str:
    """Random, and the same for every spelling of the text."""
    return sealed[:_NONCE_BYTES].hex()
