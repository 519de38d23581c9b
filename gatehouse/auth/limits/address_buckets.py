"""Maps an address to its rate-limit buckets.

An IPv4 address counts by itself. A provider hands one customer an IPv6 network of /64 to /48, so IPv6 counts under all
three widths; the wider ones hold several customers and are allowed more.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache

# Widths under which an IPv6 address is counted, narrowest first, and how many times the rate each is allowed.
IPV6_WIDTHS = ((64, 1), (56, 4), (48, 16))


def address_bucket(address: str) -> str:
    """The narrowest bucket: an IPv4 address, an IPv6 /64; all without an address share one."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if parsed.version == 4:
        return address
    return str(parsed.ipv4_mapped or ipaddress.IPv6Network((parsed, 64), strict=False).network_address)


@lru_cache(maxsize=4096)  # twenty microseconds each; addresses are short
def address_buckets(address: str) -> tuple[tuple[str, int], ...]:
    """Every bucket of an address, and how many times the rate each is allowed."""
    narrowest = address_bucket(address)
    if ":" not in narrowest:
        return ((narrowest, 1),)
    wider = [(str(ipaddress.IPv6Network((narrowest, width), strict=False)), times) for width, times in IPV6_WIDTHS[1:]]
    return ((narrowest, 1), *wider)
