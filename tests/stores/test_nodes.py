"""What nodes know each other by: the name of a state store, and the rows in the accounts; on every engine."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gatehouse.stores.database.nodes import Node, Nodes
from gatehouse.stores.database.sql_engine import Database
from gatehouse.stores.state.sqlite.engine import SQLiteState
from tests.stores.conftest import Opener


async def test_all_who_share_a_state_store_see_one_identity(states: Opener, tmp_path: Path) -> None:
    nodes = [states(), states(), states()]
    seen = set(await asyncio.gather(*(node.identity() for node in nodes)))
    assert len(seen) == 1
    assert len(seen.pop()) == 32
    another = SQLiteState(tmp_path / "another.db")
    try:
        assert await another.identity() != await nodes[0].identity()
    finally:
        await another.close()


async def test_a_row_is_renewed_removed_and_forgotten(database: Database) -> None:
    store = Nodes(database)
    await store.renew(Node("a:1:x", "http://x", "", "s", started=1.0, seen=1.0))
    await store.renew(Node("a:1:x", "http://x", "store", "s", started=2.0, seen=2.0))
    await store.renew(Node("b:1:x", "http://x", "store", "s", started=3.0, seen=3.0))
    assert [(node.id, node.started, node.seen) for node in await store.all()] == [
        ("a:1:x", 1.0, 2.0),
        ("b:1:x", 3.0, 3.0),
    ]
    await store.prune(2.5)
    assert [node.id for node in await store.all()] == ["b:1:x"]
    await store.remove("b:1:x")
    assert await store.all() == []
