"""An importer over the stores of a service in the test's own process."""

from __future__ import annotations

from typing import Any

from gatehouse.transfer.importer import Importer
from tests.support.inprocess import InProcess


def importer(gatehouse: InProcess, **options: Any) -> Importer:
    service = gatehouse.service
    return Importer(
        database=service.stores.database,
        state=service.stores.state,
        sessions=service.sessions,
        outbox=service.outbox,
        clock=service.clock,
        **options,
    )
