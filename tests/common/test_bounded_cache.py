"""The bounded cache: never more than its size, the oldest goes first, several threads at once."""

from __future__ import annotations

import threading

from gatehouse.common.bounded_cache import BoundedCache


def test_the_oldest_entry_goes_first_and_a_renewed_one_is_new() -> None:
    cache: BoundedCache[str, int] = BoundedCache(2)
    cache["a"], cache["b"] = 1, 2
    cache["a"] = 3
    cache["c"] = 4
    assert dict(cache) == {"a": 3, "c": 4}


def test_threads_share_one_without_errors() -> None:
    """Services that verify tokens call it from several threads."""
    cache: BoundedCache[int, int] = BoundedCache(4)
    errors: list[Exception] = []

    def fill(start: int) -> None:
        try:
            for number in range(start, start + 20_000):
                cache[number] = number
        except Exception as problem:  # noqa: BLE001 - any at all
            errors.append(problem)

    threads = [threading.Thread(target=fill, args=(start,)) for start in range(0, 100_000, 25_000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(cache) <= 4 + len(threads)
