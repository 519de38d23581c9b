"""docs/authority.md: as the rules have it, and as a running service answers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from gatehouse.api.operation_declaration import Group
from gatehouse.api.operation_table import OPERATIONS
from gatehouse.auth.oauth.definitions import ClientConfig
from gatehouse.auth.perms import names_of
from gatehouse.identity_sources.definitions import ProviderConfig, SourceKind
from gatehouse.identity_sources.person import Person
from gatehouse.management.authority import OPERATOR, RoleGrant
from gatehouse.management.identity_sources import SourceDraft
from gatehouse.management.oauth_clients import ClientDraft
from gatehouse.messages import section
from gatehouse.stores.database.menus import Menu, MenuType
from gatehouse.stores.database.roles import NewRole
from gatehouse.stores.database.users import NewUser
from gatehouse.transfer import user_sheet_reader as user_sheet
from gatehouse.transfer.xlsx import read_sheet
from tests.api.console import authority_table
from tests.api.console.authority_table import BRANCH, KINDS, PARENTS, PLACES, ROLES, SECTIONS, Call, Kind
from tests.api.console.conftest import HASH
from tests.api.console.test_user_import_and_export import XLSX, sheet
from tests.support.accounts import Accounts
from tests.support.conversation import bearer, login
from tests.support.local import Local

BY_NAME = {operation.name: operation for operation in OPERATIONS}
CHANGES = {
    operation.name
    for operation in OPERATIONS
    if operation.group is Group.CONSOLE and operation.perm and operation.method != "GET"
} - {"sync_identity_source"}  # takes a directory: `test_identity_sources.py` has it


class Rooms:
    """The departments, roles and users of the table in a service. See `authority_table.World`."""

    def __init__(self, service: Local, client: httpx.Client) -> None:
        self._service = service
        self._accounts = Accounts(service.service)
        self._client = client
        self._numbers = itertools.count(1)
        self._names: dict[int, str] = {}
        self._tokens: dict[str, str] = {}
        self._roles: dict[str, int] = {}
        self._lay_out()

    def _lay_out(self) -> None:
        for department, parent in list(PARENTS.items())[1:]:
            assert self._service.run(self._accounts.add_department(PLACES[department], parent)) == department
        for role in ROLES:
            if role.code == "ADMIN":
                held = self._service.run(self._accounts.role("ADMIN")).perms
                more = [perm for perm in held if names_of(perm)[0] not in role.perms]
                self._service.run(self._accounts.deny("ADMIN", more))
            else:
                self._add_role(role.code, role)
            number = self._service.run(self._accounts.role(role.code)).id
            self._roles[role.code], self._names[-number] = number, role.code

    def as_kind(self, kind: Kind) -> None:
        self._kind, self._caller = kind, ""

    def call(self, call: Call) -> httpx.Response:
        operation = BY_NAME[call.operation]
        path = re.sub("{(id|ids|name|clientId)}", str(call.number), operation.path).replace(
            "{identity}", str(call.identity)
        )
        sent: dict[str, Any] = {"json": call.body} if call.body is not None else {}
        if call.sheet:
            sent = {"files": {"file": ("users.xlsx", sheet([*call.sheet]), XLSX)}}
        params = {"password": call.password} if call.password else None
        headers = bearer(self._caller or self._token(self._kind))
        return self._client.request(operation.method, path, headers=headers, params=params, **sent)

    def _token(self, kind: Kind) -> str:
        if kind.role.code not in self._tokens:
            self._tokens[kind.role.code] = self._log_in(self.user(kind.department, kind.role.code))
        return self._tokens[kind.role.code]

    def _log_in(self, user: int) -> str:
        return str(login(self._client, username=self._names[user])["accessToken"])

    # What the table asks for

    def unused(self) -> str:
        return f"x{next(self._numbers)}"

    def name(self, user: int) -> str:
        """The name of a user, or the code of a role by its number with a minus."""
        return self._names[user]

    def user(self, department: int, *codes: str) -> int:
        name = self.unused()
        user = self._service.run(self._accounts.add_user(NewUser(name, name, HASH, department, 0), codes))
        self._names[user] = name
        return user

    def me(self, *more: str) -> int:
        """The caller of this attempt is a new one, with these roles beside its own."""
        user = self.user(self._kind.department, self._kind.role.code, *more)
        self._caller = self._log_in(user)
        return user

    def session(self, user: int) -> str:
        return str(jwt.decode(self._log_in(user), options={"verify_signature": False})["sid"])

    def role(self, like: RoleGrant, *, held: bool, where: int = BRANCH) -> int:
        code = self.unused().upper()
        number = self._add_role(code, like)
        if held:
            self.user(where, code)
        return number

    def _add_role(self, code: str, like: RoleGrant) -> int:
        new = NewRole(code, code, like.enabled, data_scope=like.scope.kind)
        changes = self._service.service.management.role_changes
        self._service.run(changes.add(OPERATOR, new, sorted(like.perms), sorted(like.scope.chosen)))
        number = self._service.run(self._accounts.role(code)).id
        self._names[-number] = code
        return number

    def role_id(self, code: str) -> int:
        return self._roles[code]

    def department(self, parent: int, *, people: bool = False, enabled: bool = True) -> int:
        adding = self._accounts.add_department(self.unused(), parent, enabled=enabled)
        department = self._service.run(adding)
        if people:
            self.user(department)
        return department

    def page(self) -> int:
        return self._menu(Menu(0, None, "Menu", MenuType.PAGE, route_path=self.unused(), component="x"))

    def button(self, perm: str) -> int:
        return self._menu(Menu(0, self.page(), "Menu", MenuType.BUTTON, perm=perm))

    def source(self) -> str:
        """A provider that nobody asks until somebody logs in."""
        name = self.unused()
        config = ProviderConfig(issuer="https://127.0.0.1:1", client_id="x")
        changes = self._service.service.management.source_changes
        self._service.run(changes.add(OPERATOR, name, SourceKind.OPENID, SourceDraft(title=name, config=config)))
        return name

    def identity(self, user: int) -> int:
        service, name = self._service.service, self.source()
        source = service.identity.sources.by_name(name)
        assert source is not None
        person = Person(self.unused(), name, {}, issuer=source.provider.issuer)
        self._service.run(service.management.source_changes.link(OPERATOR, user, source, person))
        [identity] = self._service.run(service.stores.sources.identities_of(user))
        return identity.id

    def application(self) -> str:
        name = f"app{self.unused()}"
        draft = ClientDraft(config=ClientConfig(redirect_uris=("https://127.0.0.1:1/callback",)))
        self._service.run(self._service.service.management.client_changes.add(OPERATOR, name, draft))
        return name

    def _menu(self, new: Menu) -> int:
        return self._service.run(self._service.service.management.menu_changes.add(OPERATOR, new))


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rooms]:
    folder: Path = tmp_path_factory.mktemp("authority") / "data"
    with Local(folder) as service, service.client() as client, pytest.MonkeyPatch.context() as patch:
        patch.setattr(user_sheet, "read_sheet_apart", read_sheet)  # a process for each sheet is not what this shows
        yield Rooms(service, client)


def is_allowed(answer: httpx.Response) -> bool:
    """Refused is a 403 by the rules and not for want of the call's perm; in a sheet, a row that is not taken."""
    content = answer.json()
    if answer.status_code == 200:
        return "validCount" not in (content.get("data") or {}) or content["data"]["validCount"] == 1
    assert (answer.status_code, content["code"]) == (403, "A0301"), answer.text
    assert content["msg"] != section("errors")["NotAllowed"], "the caller has the perm of the call"
    return False


@pytest.mark.parametrize(
    "kind",
    [
        # Most of what the others try is allowed, so they show less.
        pytest.param(kind, id=kind.role.code, marks=() if kind.role.code == "MANAGER" else pytest.mark.full)
        for kind in KINDS
    ],
)
@pytest.mark.parametrize("title", SECTIONS)
def test_the_service_answers_as_the_table_says(rooms: Rooms, title: str, kind: Kind) -> None:
    wrong = []
    for row in SECTIONS[title]:
        for attempt in row.tries:
            rooms.as_kind(kind)
            call = attempt(rooms)
            answer = rooms.call(call)
            if is_allowed(answer) != (row.lack(kind) is None):
                wrong.append((row.what, row.whom, call, answer.text))
    assert wrong == []


class NoRooms(Rooms):
    """Makes nothing: for calls that are only looked at."""

    def __init__(self) -> None:
        def anything(*_: object, **__: object) -> int:
            return 0

        for made in (
            "user",
            "name",
            "session",
            "role",
            "role_id",
            "department",
            "button",
            "page",
            "unused",
            "me",
            "source",
            "identity",
            "application",
        ):
            setattr(self, made, anything)


def test_every_change_that_needs_a_perm_is_in_the_table() -> None:
    """The next operation needs a row, too."""
    calls = [attempt(NoRooms()) for rows in SECTIONS.values() for row in rows for attempt in row.tries]
    assert {call.operation for call in calls} == CHANGES


def test_the_page_is_what_the_rules_say() -> None:
    """After a change of the rules: `python -m tests.api.console.authority_table`."""
    assert authority_table.PAGE.read_text(encoding="utf-8") == authority_table.page()
