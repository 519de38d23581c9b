"""SQLAlchemy's asyncio engine without its ORM.

The only file that imports `sqlalchemy.ext.asyncio`. That package imports its sessions, and with them the ORM, which
nobody here uses: 4 MB in every worker and a sixth of the import time (measure with `python -X importtime -c "import
gatehouse.server.workers"`). So its two modules of sessions are replaced during that one import, unless something has
loaded them already. To switch the trick off, delete the lines around the import.
"""

from __future__ import annotations

import sys
from types import ModuleType


class _WithoutSessions(ModuleType):
    def __getattr__(self, name: str) -> None:
        """The names that the package takes from it are None."""


_SESSIONS = ("sqlalchemy.ext.asyncio.scoping", "sqlalchemy.ext.asyncio.session")
_hidden = "sqlalchemy.ext.asyncio" not in sys.modules
if _hidden:
    sys.modules.update({name: _WithoutSessions(name) for name in _SESSIONS})
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine  # noqa: E402 - see above

if _hidden:
    for name in _SESSIONS:
        del sys.modules[name]

__all__ = ["AsyncConnection", "AsyncEngine", "create_async_engine"]
