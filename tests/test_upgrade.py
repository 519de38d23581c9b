"""What each earlier release has written starts under this tree, with everybody still logged in.

The old release is run with today's dependencies, so the data are its own. Its sources are kept beside this file
(`release/past_release_sources.py`).
"""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from gatehouse.stores.database.migrate import HEAD
from tests.support.conversation import LOGOUT, ME, bearer, login, refresh
from tests.support.engines import Postgres, Redis
from tests.support.openapi_fields import offered
from tests.support.running import PASSWORD, Running

pytestmark = pytest.mark.full

RELEASES = {
    path.name.removeprefix("release-").removesuffix(".tar.xz"): path
    for path in sorted(Path(__file__).parent.glob("release-*.tar.xz"))
}
ISSUER = "http://gatehouse.localhost"
DB = 58
# They cannot read the state file that this tree leaves behind, so everybody logs in again after a roll back.
LOSES_STATE = {"0.1.0"}
# Settings of the new nodes while old ones run: docs/upgrade.md.
WHILE_BOTH_RUN = {"0.1.0": {"signing_algorithm": "EdDSA"}}


class Release(NamedTuple):
    version: str
    folder: Path


@pytest.fixture(params=RELEASES)
def release(request: pytest.FixtureRequest, tmp_path: Path) -> Release:
    folder = tmp_path / "release"
    with tarfile.open(RELEASES[request.param]) as archive:
        safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # not in 3.11.2
        archive.extractall(folder, **safely)
    # Makes it a package that is in this folder alone: a namespace package would take modules of this tree as well.
    (folder / "gatehouse" / "__init__.py").touch()
    return Release(request.param, folder)


def old(release: Release, data: Path, **settings: object) -> Running:
    running = Running(data, issuer=ISSUER, **settings)
    running.env |= {"PYTHONPATH": str(release.folder), "PYTHONDONTWRITEBYTECODE": "1"}
    running.folder = release.folder
    return running


def migrate(node: Running) -> str:
    done = node.cli("migrate")
    assert done.returncode == 0, done.stderr
    return done.stdout


class People(NamedTuple):
    """Tokens that the old release has issued."""

    admin: dict[str, Any]
    ann: dict[str, Any]
    logged_out: dict[str, Any]


def log_in(node: Running, client: httpx.Client) -> People:
    admin, logged_out = login(client), login(client)
    client.delete(LOGOUT, headers=bearer(logged_out))
    added = node.cli("user", "add", "ann", "--role", "ADMIN", "--password-stdin", stdin=PASSWORD + "\n")
    assert added.returncode == 0, added.stderr
    return People(admin, login(client, username="ann"), logged_out)


def renewed(client: httpx.Client, tokens: dict[str, Any]) -> dict[str, Any]:
    """What a refresh answers; before and after it the access token is accepted."""
    assert client.get(ME, headers=bearer(tokens)).status_code == 200
    answer = refresh(client, tokens)
    assert answer.status_code == 200, answer.text
    fresh: dict[str, Any] = answer.json()["data"]
    assert client.get(ME, headers=bearer(fresh)).status_code == 200
    return fresh


def assert_everybody_is_still_there(client: httpx.Client, people: People) -> None:
    for tokens in (people.admin, people.ann):
        renewed(client, tokens)
    assert client.get(ME, headers=bearer(people.logged_out)).status_code == 401
    assert refresh(client, people.logged_out).status_code == 401
    overview = client.get("/api/v1/logs/analytics/overview", headers=bearer(people.admin)).json()["data"]
    assert (overview["totalUvCount"], overview["totalPvCount"]) == (2, 3)
    again = login(client)
    perms = client.get(ME, headers=bearer(again)).json()["data"]["perms"]
    assert {"sys:user:create", "sys:user:add", "sys:menu:list", "sys:source:update", "sys:source:edit"} <= set(perms)
    assert client.get("/api/v1/menus/routes", headers=bearer(again)).json()["data"]


def test_one_machine_is_upgraded_and_rolled_back(release: Release, tmp_path: Path) -> None:
    data = tmp_path / "data"
    before, after = old(release, data), Running(data, issuer=ISSUER)
    with before, before.client() as client:
        people, promised = log_in(before, client), offered(client.get("/openapi.json").json())
    assert f"Gatehouse {release.version} " in before.output()
    with after, after.client() as client:
        assert_everybody_is_still_there(client, people)
        assert promised <= offered(client.get("/openapi.json").json()), "what a release has offered stays"
        since = login(client)
    roll_back(release, data)
    with old(release, data) as restored, restored.client() as client:
        assert refresh(client, people.logged_out).status_code == 401
        if release.version not in LOSES_STATE:
            renewed(client, since)
        assert client.get(ME, headers=bearer(login(client, username="ann"))).status_code == 200


def roll_back(release: Release, data: Path) -> None:
    """The steps of docs/upgrade.md."""
    for backup in data.glob("accounts.*.backup.db"):  # none where the schema is the same
        for name in ("accounts.db-wal", "accounts.db-shm"):
            (data / name).unlink(missing_ok=True)
        backup.replace(data / "accounts.db")
    if release.version in LOSES_STATE:
        for file in data.glob("state.db*"):
            file.unlink()


def test_nodes_are_upgraded_one_after_the_other(
    release: Release, tmp_path: Path, postgres_server: Postgres, redis_server: Redis
) -> None:
    """The old node goes on while the database is migrated under it, and then beside the new one."""
    stores = {"database_url": postgres_server.create("upgraded", migrated=False), "state_url": redis_server.emptied(DB)}
    before = old(release, tmp_path / "data", **stores)
    after = Running(tmp_path / "data", issuer=ISSUER, **stores, **WHILE_BOTH_RUN.get(release.version, {}))
    migrate(before)
    with before, before.client() as old_node:
        people = log_in(before, old_node)
        assert HEAD in migrate(after)
        with after, after.client() as new_node:
            assert_everybody_is_still_there(new_node, people)
            for one, other in ((old_node, new_node), (new_node, old_node)):
                renewed(one, renewed(other, login(one)))
