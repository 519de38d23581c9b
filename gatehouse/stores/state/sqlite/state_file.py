"""The file of the embedded state: its tables, and how it is opened. `engine.py` reads and writes it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import apsw

from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from pathlib import Path

    from gatehouse.stores.state.protocol import Session

VERSION = 3
# Names from 0.1.0: `strikes` holds failures and lockouts, `marks` flags, and `latest` is `absolute_end`.
SCHEMA = """
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, user INTEGER NOT NULL, generation INTEGER NOT NULL, opened REAL NOT NULL,
  rotated REAL NOT NULL, ends REAL NOT NULL, latest REAL NOT NULL, address TEXT NOT NULL, agent TEXT NOT NULL,
  day INTEGER NOT NULL, proof TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX sessions_by_user ON sessions (user, opened);
CREATE INDEX sessions_by_day ON sessions (day);
CREATE TABLE epochs (user INTEGER PRIMARY KEY, epoch INTEGER NOT NULL);
CREATE TABLE captchas (fingerprint BLOB PRIMARY KEY, expires INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX captchas_by_end ON captchas (expires);
CREATE TABLE rates (key TEXT PRIMARY KEY, arrival REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX rates_by_end ON rates (arrival);
CREATE TABLE strikes (
  key TEXT PRIMARY KEY, failures INTEGER NOT NULL, since REAL NOT NULL, level INTEGER NOT NULL,
  until REAL NOT NULL, expires REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX strikes_by_end ON strikes (expires);
CREATE TABLE marks (key TEXT PRIMARY KEY, expires REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX marks_by_end ON marks (expires);
"""

# Tables that came later and change nothing that was there: a release that does not know them leaves them alone.
ADDITIONS = """
CREATE TABLE IF NOT EXISTS expiring_values (
  key TEXT PRIMARY KEY, value TEXT NOT NULL, expires REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS expiring_values_by_end ON expiring_values (expires);
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ended_sessions (
  position INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, at REAL NOT NULL, reason TEXT NOT NULL,
  expires REAL NOT NULL
);
"""

# Sessions are swept by the day on which they end, not by the second: a refresh almost never changes it, so it writes
# one page and not three. Among a million sessions that is what it costs.
UPGRADES = {
    1: """
DROP INDEX sessions_by_end;
ALTER TABLE sessions ADD COLUMN day INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET day = CAST(ends / 86400 AS INTEGER);
CREATE INDEX sessions_by_day ON sessions (day);
""",
    2: "ALTER TABLE sessions ADD COLUMN proof TEXT NOT NULL DEFAULT '';",
}

SESSION_COLUMNS = "id, user, generation, opened, rotated, ends, latest, address, agent, proof"
INSERT_SESSION = f"INSERT INTO sessions ({SESSION_COLUMNS}, day) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608

BUSY_MILLISECONDS = 5_000


def session_row(session: Session) -> tuple[apsw.SQLiteValue, ...]:
    """The values of `INSERT_SESSION`."""
    return (*session[:10], day_of(session.ends))


def day_of(at: float) -> int:
    return int(at // 86_400)


def connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    connection.execute("PRAGMA journal_mode = WAL")
    # FULL: the log is synced before a commit is answered, so a power cut loses no acknowledged logout.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA mmap_size = 268435456")
    connection.execute("PRAGMA journal_size_limit = 67108864")
    return connection


def create(path: Path) -> None:
    """Make the file and its tables if they are not there; safe when several processes do it at once."""
    try:
        _create(path)
    except (apsw.Error, OSError) as problem:
        raise StoreUnavailable(f"state file {path}: {problem}") from problem


def _create(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = connect(path)
    try:
        connection.execute("BEGIN IMMEDIATE")
        [(version,)] = connection.execute("PRAGMA user_version")
        if version > VERSION:
            raise StoreUnavailable(f"{path} has state version {version}; this release knows {VERSION}")
        for step in [SCHEMA] if version == 0 else [UPGRADES[older] for older in range(version, VERSION)]:
            connection.execute(step)
        connection.execute(ADDITIONS)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    finally:
        connection.close()
