"""What the management consoles of this family call, a file for each page: bodies, data and the rows of the table."""

from __future__ import annotations

from gatehouse.api.contract.console import departments

CONSOLE = (*departments.OPERATIONS,)
