"""The client's address: the peer of the connection, unless that peer is a trusted proxy.

A forwarding header is a list that each proxy appends to, so it is read from the right: the first address that is
not a trusted proxy is the client; the entries to its left may be forged by that client.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.common.parsing import Network

# No address is longer; what is longer must not fill the cache.
MAX_ADDRESS_LENGTH = 45

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_FORWARDED_FOR = re.compile(r'(?:^|[;,])\s*for\s*=\s*("[^"]*"|[^;,\s]*)', re.IGNORECASE)


def peer_address(client: str) -> str:
    """From `1.2.3.4:5678` or `[::1]:5678` as the server writes it; empty if there is none."""
    host = client.rpartition(":")[0].strip("[]")
    return _normal(host.partition("%")[0])  # which of our interfaces a link-local peer is on says nothing about it


@lru_cache(maxsize=4096)  # written by the server, so it is short
def _normal(host: str) -> str:
    parsed = _parse(host)
    return str(parsed) if parsed else ""


def client_address(
    peer: str, trusted: Sequence[Network], forwarded_for: Sequence[str], forwarded: Sequence[str]
) -> str:
    if not is_trusted(peer, trusted):
        return peer
    hops = [hop for line in forwarded_for for hop in line.split(",")]
    if not hops:
        hops = [hop for line in forwarded for hop in _FORWARDED_FOR.findall(line)]
    for hop in reversed(hops):
        address = _parse(_without_port(hop))
        if address is None:
            return peer  # a hop without an address: entries before it cannot be trusted
        if not is_trusted(str(address), trusted):
            return str(address)
        peer = str(address)
    return peer


def is_trusted(address: str, trusted: Sequence[Network]) -> bool:
    parsed = _parse(address)
    return parsed is not None and any(parsed in network for network in trusted)


def _without_port(hop: str) -> str:
    hop = hop.strip().strip('"')
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop


def _parse(text: str) -> Address | None:
    return _parse_short(text) if len(text) <= MAX_ADDRESS_LENGTH else None


@lru_cache(maxsize=4096)  # ten microseconds each, three times a request behind a proxy
def _parse_short(text: str) -> Address | None:
    try:
        parsed = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(parsed, ipaddress.IPv4Address):
        return parsed
    # A scope id is free text of any length, and means nothing beyond the machine that wrote it.
    return None if parsed.scope_id else parsed.ipv4_mapped or parsed
