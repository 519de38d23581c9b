"""Checks the settings of a Redis server that durability depends on, for `gatehouse doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.stores.state.redis.connection import ServerError

if TYPE_CHECKING:
    from gatehouse.stores.state.redis.servers import Servers

OLDEST = (6, 2)


async def warnings(servers: Servers) -> list[str]:
    """One sentence for each thing to change; the same one for several servers is listed once."""
    found: list[str] = []
    for info in await servers.call_all("INFO", "everything"):
        found += _of_info(dict(line.split(":", 1) for line in info.decode().splitlines() if ":" in line))
    try:
        for reply in await servers.call_all("CONFIG", "GET", "*"):
            words = [word.decode(errors="replace") for word in reply]
            found += _of_config(dict(zip(words[::2], words[1::2], strict=True)))
    except ServerError:
        found.append(
            "the server does not let us read its configuration: check by hand that appendonly is yes"
            " and maxmemory-policy is noeviction"
        )
    return list(dict.fromkeys(found))


def _of_info(info: dict[str, str]) -> list[str]:
    version = info.get("redis_version", "0.0")
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        return [f"the server is Redis {version}: {OLDEST[0]}.{OLDEST[1]} or newer is needed, or any Valkey"]
    if info.get("role") == "slave":
        return ["the server is a replica: sessions must be read from the primary, or a logout shows late"]
    if info.get("aof_last_write_status", "ok") != "ok":
        return ["the last write to the append-only file failed: look at the disk of the server"]
    return []


def _of_config(config: dict[str, str]) -> list[str]:
    found = []
    if config.get("maxmemory-policy", "noeviction") != "noeviction":
        found.append(
            f"maxmemory-policy is {config['maxmemory-policy']}: when memory is full the server would evict sessions"
            " and limits; set noeviction"
        )
    if config.get("appendonly") == "no":
        found.append("appendonly is no: a restart of the server loses what was not saved; set appendonly yes")
    elif config.get("appendfsync") == "no":
        found.append("appendfsync is no: a power cut can lose half a minute; set everysec, or always to lose nothing")
    return found
