"""What `gatehouse doctor` says of the nodes that serve."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from gatehouse.doctor.findings import fail, ok
from gatehouse.messages import message
from gatehouse.server.node_agreement import disagreements, fingerprint, live_nodes
from gatehouse.stores.database.nodes import Node
from gatehouse.stores.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gatehouse.composition import Service
    from gatehouse.doctor.findings import Finding


async def check_nodes(service: Service) -> AsyncIterator[Finding]:
    """The nodes that serve now, and whether one with these settings could serve beside them."""
    now = time.time()
    try:
        others = await live_nodes(service.stores.database, now)
        secrets, identity = service.key_ring.secrets, await service.stores.state.identity()
    except StoreError:
        return  # reported above
    own = Node("", service.settings.public_url, identity, fingerprint(secrets[0]), now, now)
    for each in disagreements(own, secrets, others):
        yield fail("nodes", each, message("advice.nodes"))
    nodes = tuple(
        message("findings.node", node=node.id, time=time.strftime("%F %R", time.gmtime(node.started)))
        for node in others
    )
    yield ok("nodes", message("findings.nodes", count=len(others), nodes=nodes))
