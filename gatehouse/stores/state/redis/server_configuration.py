"""Checks the settings of a Redis server that durability depends on, for `gatehouse doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.messages import message
from gatehouse.stores.state.redis.connection import ServerError

if TYPE_CHECKING:
    from gatehouse.messages import Message
    from gatehouse.stores.state.redis.servers import Servers

OLDEST = (6, 2)


async def warnings(servers: Servers) -> list[Message]:
    """What to change; the same for several servers is listed once."""
    found: list[Message] = []
    for info in await servers.call_all("INFO", "everything"):
        found += _of_info(dict(line.split(":", 1) for line in info.decode().splitlines() if ":" in line))
    try:
        for reply in await servers.call_all("CONFIG", "GET", "*"):
            words = [word.decode(errors="replace") for word in reply]
            found += _of_config(dict(zip(words[::2], words[1::2], strict=True)))
    except ServerError:
        found.append(message("findings.redis_unreadable"))
    return list(dict.fromkeys(found))


def _of_info(info: dict[str, str]) -> list[Message]:
    version = info.get("redis_version", "0.0")
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        return [message("findings.redis_old", version=version, oldest=f"{OLDEST[0]}.{OLDEST[1]}")]
    if info.get("role") == "slave":
        return [message("findings.redis_replica")]
    if info.get("aof_last_write_status", "ok") != "ok":
        return [message("findings.redis_append_failed")]
    return []


def _of_config(config: dict[str, str]) -> list[Message]:
    found = []
    if config.get("maxmemory-policy", "noeviction") != "noeviction":
        found.append(message("findings.redis_evicts", policy=config["maxmemory-policy"]))
    if config.get("appendonly") == "no":
        found.append(message("findings.redis_not_saved"))
    elif config.get("appendfsync") == "no":
        found.append(message("findings.redis_not_synced"))
    return found
