"""What release 0.1.0 has written starts under this release, with everybody still logged in.

The old release is run with today's dependencies, so the data are its own. Its sources are kept beside this file,
because a checkout need not have the history: `git archive --format=tar eebc66a gatehouse | xz -9`.
"""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import pytest

from gatehouse.stores.database.migrate import HEAD
from tests.support.conversation import LOGOUT, ME, bearer, login, refresh
from tests.support.engines import Postgres, Redis
from tests.support.running import PASSWORD, Running

pytestmark = pytest.mark.full

SOURCES = Path(__file__).with_name("release-0.1.0.tar.xz")
ISSUER = "http://gatehouse.localhost"
DB = 58


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of 0.1.0."""
    folder = tmp_path_factory.mktemp("release")
    with tarfile.open(SOURCES) as archive:
        safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # not in 3.11.2
        archive.extractall(folder, **safely)
    return folder


def old(release: Path, data: Path, **settings: object) -> Running:
    running = Running(data, issuer=ISSUER, **settings)
    running.env |= {"PYTHONPATH": str(release), "PYTHONDONTWRITEBYTECODE": "1"}
    running.folder = release
    return running


@pytest.fixture(params=["embedded", "engines"])
def stores(request: pytest.FixtureRequest) -> dict[str, str]:
    if request.param == "embedded":
        return {}
    postgres: Postgres = request.getfixturevalue("postgres_server")
    redis: Redis = request.getfixturevalue("redis_server")
    return {"database_url": postgres.create("upgraded", migrated=False), "state_url": redis.emptied(DB)}


def test_everybody_stays_logged_in(release: Path, tmp_path: Path, stores: dict[str, str]) -> None:
    data = tmp_path / "data"
    before = old(release, data, **stores)
    if stores:
        migrated = before.cli("migrate")
        assert migrated.returncode == 0, migrated.stderr
    with before, before.client() as client:
        admin, gone = login(client), login(client)
        assert client.get(ME, headers=bearer(admin)).json()["data"]["roles"] == ["ADMIN"]
        client.delete(LOGOUT, headers=bearer(gone))
        added = before.cli("user", "add", "ann", "--role", "ADMIN", "--password-stdin", stdin=PASSWORD + "\n")
        assert added.returncode == 0, added.stderr
        ann = login(client, username="ann")
    assert "0.1.0" in before.output()

    after = Running(data, issuer=ISSUER, **stores)
    if stores:
        done = after.cli("migrate")
        assert done.returncode == 0, done.stderr
        assert HEAD in done.stdout
    with after, after.client() as client:
        for tokens in (admin, ann):
            assert client.get(ME, headers=bearer(tokens)).status_code == 200
            renewed = refresh(client, tokens)
            assert renewed.status_code == 200
            assert client.get(ME, headers=bearer(renewed.json()["data"])).status_code == 200
        assert client.get(ME, headers=bearer(gone)).status_code == 401
        assert refresh(client, gone).status_code == 401
        overview = client.get("/api/v1/logs/analytics/overview", headers=bearer(admin)).json()["data"]
        assert (overview["totalUvCount"], overview["totalPvCount"]) == (2, 3)
        again = login(client)
        perms = client.get(ME, headers=bearer(again)).json()["data"]["perms"]
        assert {"sys:user:create", "sys:user:add", "sys:menu:list"} <= set(perms)
        assert client.get("/api/v1/menus/routes", headers=bearer(again)).json()["data"]
