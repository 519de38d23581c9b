"""Sources of identity in a service of the test's own."""

from __future__ import annotations

from typing import Any

from gatehouse.identity_sources.definitions import DirectoryConfig, Mapping, SourceKind
from gatehouse.management.authority import OPERATOR
from gatehouse.management.identity_sources import SourceDraft
from gatehouse.stores.database.roles import NewRole
from tests.support.inprocess import InProcess
from tests.support.slapd import PASSWORD, Slapd

MAPPING = Mapping(roles={"staff": ("STAFF",), "admins": ("AUDITOR",)})


def add_roles(gatehouse: InProcess, *codes: str) -> None:
    for code in codes:
        gatehouse.run(gatehouse.service.stores.roles.add(NewRole(code, code.title())))


def add_directory(gatehouse: InProcess, slapd: Slapd, name: str = "corp", **config: Any) -> None:
    settings = slapd.settings(**({"mapping": MAPPING, "timeout": 30.0} | config))
    draft = SourceDraft(config=DirectoryConfig(**settings), secret=PASSWORD)
    gatehouse.run(gatehouse.service.management.source_changes.add(OPERATOR, name, SourceKind.DIRECTORY, draft))
