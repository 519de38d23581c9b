"""Types of fields that several pages of the console share."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

# Selects of the consoles send the text of a number, switches true and false.
Id = int | str
Flag = int | str | bool

# What the databases' integer columns hold.
Number = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
IdNumber = Annotated[int, Meta(ge=0, le=2**53 - 1)]
