"""The 19 MiB of each password hash: kept while hashes are being made, given back when there are none.

Left to itself, glibc keeps them for every thread for good; told to return each at once, a hash spends a quarter of its
time on the page faults of the next one. Where the C library is another, it decides by itself.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress

# From malloc.h. Set by hand, the values stay: smaller blocks come from the heap; the heap keeps as much when blocks are
# freed; and there is one heap for all threads, because only of that one can the free end be given back.
M_MMAP_THRESHOLD, MMAP_BYTES = -3, 32 * 1024 * 1024
M_TRIM_THRESHOLD, TRIM_BYTES = -1, 256 * 1024 * 1024
M_ARENA_MAX, ARENAS = -8, 1


def keep_large_blocks() -> None:
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        for name, value in ((M_MMAP_THRESHOLD, MMAP_BYTES), (M_TRIM_THRESHOLD, TRIM_BYTES), (M_ARENA_MAX, ARENAS)):
            library.mallopt(name, value)


def give_back() -> None:
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
