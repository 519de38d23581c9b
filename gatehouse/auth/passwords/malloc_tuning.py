"""Tunes malloc for password hashes of 19 MiB: the memory is reused from hash to hash, and released after the last.

By default glibc either never releases it from any thread, or maps it again for each hash, which then spends a quarter
of its time on page faults: compare `timeit` of `hash_password` with and without `keep_large_blocks()`. Other C
libraries have no such options and decide by themselves.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress

# From malloc.h: blocks up to MMAP_BYTES come from the heap; the heap keeps up to TRIM_BYTES when blocks are freed; all
# threads share one arena, because `malloc_trim` releases the free end of the main arena only.
M_MMAP_THRESHOLD, MMAP_BYTES = -3, 32 * 1024 * 1024
M_TRIM_THRESHOLD, TRIM_BYTES = -1, 256 * 1024 * 1024
M_ARENA_MAX, ARENAS = -8, 1


def keep_large_blocks() -> None:
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        for name, value in ((M_MMAP_THRESHOLD, MMAP_BYTES), (M_TRIM_THRESHOLD, TRIM_BYTES), (M_ARENA_MAX, ARENAS)):
            library.mallopt(name, value)


def release_free_memory() -> None:
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
