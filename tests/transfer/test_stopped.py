"""A run that is killed leaves whole batches behind, and goes on where it was when it is run again."""

from __future__ import annotations

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.common.os_user import os_user
from gatehouse.stores.database.import_batches import Batch, ImportBatches
from gatehouse.stores.database.outbox import NewDelivery
from gatehouse.transfer.file_reader import UserFile
from tests.support.inprocess import InProcess
from tests.transfer.conftest import Place
from tests.transfer.console import sample_console
from tests.transfer.importing import importer

PEOPLE = 8000


@pytest.mark.full
def test_a_killed_run_can_be_run_again(place: Place, sqlite_url: str) -> None:
    console = sample_console(sqlite_url)
    for number in range(100, 100 + PEOPLE):
        console.user(number, f"user{number}", 3, 2, dept_id=2)
    console.write()
    assert killed_on_the_way(place, sqlite_url) == -signal.SIGKILL, "the import was over before it could be killed"
    there = count(place, "users")
    assert 1000 <= there < PEOPLE
    # Every batch is there with its roles and its audit events, or not at all.
    assert count(place, "user_roles") == 3 + 2 * (there - 3)
    assert count(place, "audit_events", "event = 'user.added' AND address = 'import'") == there
    told = place.bring(sqlite_url)
    assert told["users"] == {"added": PEOPLE + 3 - there, "changed": 0, "unchanged": there}
    assert count(place, "users") == PEOPLE + 3
    assert count(place, "user_roles") == 3 + 2 * PEOPLE


def test_sessions_of_an_old_password_are_gone_if_the_run_stops_after_the_new_one_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "people.jsonl"
    file.write_text(json.dumps({"username": "admin", "passwordHash": hash_password("another passphrase")}) + "\n")
    write_users = ImportBatches.write_users

    async def stop_after(batches: ImportBatches, batch: Batch, new: NewDelivery) -> None:
        await write_users(batches, batch, new)
        raise KeyboardInterrupt

    with InProcess(tmp_path / "data") as gatehouse:
        token = gatehouse.login().data["accessToken"]
        monkeypatch.setattr(ImportBatches, "write_users", stop_after)
        with pytest.raises(KeyboardInterrupt):
            gatehouse.run(importer(gatehouse, overwrite_passwords=True).run(UserFile(file)))
        assert gatehouse.me(token).status == 401


def test_an_import_is_recorded_with_who_ran_it_and_not_as_done_by_the_imported(tmp_path: Path) -> None:
    file = tmp_path / "people.jsonl"
    file.write_text(json.dumps({"username": "ann", "nickname": "Ann"}) + "\n")
    with InProcess(tmp_path / "data") as gatehouse:
        gatehouse.run(importer(gatehouse).run(UserFile(file)))
        token = gatehouse.login().data["accessToken"]
        [row] = gatehouse.request("GET", "/api/v1/logs", query={"keywords": "user.added"}, token=token).data["list"]
        assert (row["operatorName"], row["operatorId"]) == (f"import ({os_user()})", "")
        assert "ann" in row["content"]


def killed_on_the_way(place: Place, source: str) -> int:
    """Kill an import once a thousand users have arrived; returns its exit code.

    It stands still while they are counted: on a busy machine it would be done before the count is. Where it stands
    still while it opens or closes the file nobody else can read that, so it goes on and the next look tells.
    """
    running = subprocess.Popen(
        [sys.executable, "-m", "gatehouse", "import", "youlai", "--from", source],
        env=place.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while running.poll() is None:
            running.send_signal(signal.SIGSTOP)
            with contextlib.suppress(sqlite3.OperationalError):
                if count(place, "users", patience=0) >= 1000:
                    break
            running.send_signal(signal.SIGCONT)
            time.sleep(0.005)
    finally:
        running.kill()
        code = running.wait()
    return code


def count(place: Place, table: str, where: str = "1", *, patience: float = 10) -> int:
    with contextlib.closing(sqlite3.connect(place.data / "accounts.db", timeout=patience)) as db:
        [(number,)] = db.execute(f"SELECT count(*) FROM {table} WHERE {where}")
    return int(number)
