"""Moves a console of 50,000 users in: how long it takes, what came along, and whether people can log in afterwards.

    python -m benchmarks.import_youlai                 from SQLite, and from MariaDB where it is installed
    python -m benchmarks.import_youlai --people 1000   fewer

The source is generated in the youlai schema: 12 roles of up to 40 perms, 60 departments, one user in fifty disabled,
one in a hundred deleted. Hashes are bcrypt at cost 10, a few shared by all, because making 50,000 takes an hour.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from gatehouse.server.preparation import prepare
from gatehouse.settings import load
from tests.support.conversation import login
from tests.support.running import Running
from tests.transfer.console import Console, old_hash
from tests.transfer.mariadb import MariaDBServer, programs

PASSWORDS = [f"old password number {number}" for number in range(8)]
LOGINS = 20


def generate(url: str, people: int) -> Console:
    chance = random.Random(7)
    hashes = [old_hash(password, rounds=10) for password in PASSWORDS]
    console = Console(url)
    for number in range(1, 61):
        console.department(number, f"Department {number}", chance.randrange(number))
    for number in range(1, 401):
        console.menu(number, f"module{number % 20}:thing{number % 7}:action{number}")
    for number in range(1, 13):
        console.role(number, f"ROLE_{number}", *chance.sample(range(1, 401), chance.randrange(5, 41)))
    for number in range(1, people + 1):
        console.user(
            number, f"user{number}", *chance.sample(range(1, 13), chance.randrange(1, 4)),
            password=hashes[number % len(hashes)], dept_id=chance.randrange(1, 61),
            status=int(number % 50 != 0), deleted=int(number % 100 == 1),
        )  # fmt: skip
    return console.write()


def imported(running: Running, url: str, *options: str) -> tuple[str, dict[str, Any]]:
    """The command as an operator types it, start of Python included: how long it took, and what it said."""
    started, cpu = time.perf_counter(), spent()
    words = [sys.executable, "-m", "gatehouse", "import", "youlai", "--from", url, "--json", *options]
    done = subprocess.run(words, env=running.env, stdout=subprocess.PIPE, text=True, check=True)
    return f"{time.perf_counter() - started:6.1f} s ({spent() - cpu:.1f} s of CPU)", json.loads(done.stdout)


def spent() -> float:
    """CPU seconds of all commands so far: on a busy machine they say more than the clock."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def hashes_of(running: Running, file: Path) -> dict[str, str]:
    file.unlink(missing_ok=True)
    subprocess.run(
        [sys.executable, "-m", "gatehouse", "export", str(file), "--with-hashes"],
        env=running.env, check=True, capture_output=True,
    )  # fmt: skip
    users = (json.loads(line) for line in file.read_text().splitlines())
    return {user["username"]: user["passwordHash"] for user in users if user["type"] == "user"}


def log_in(running: Running, people: int, file: Path) -> str:
    """Random people with their old passwords, and what their hashes became."""
    able = [number for number in range(1, people + 1) if number % 50 and number % 100 != 1]
    chosen = random.Random().sample(able, LOGINS)
    before = hashes_of(running, file)
    with running, running.client() as client:
        for number in chosen:
            login(client, username=f"user{number}", password=PASSWORDS[number % len(PASSWORDS)])
    after = hashes_of(running, file)
    bcrypt = sum(before[f"user{number}"].startswith("$2a$") for number in chosen)
    argon2 = sum(after[f"user{number}"].startswith("$argon2id$") for number in chosen)
    return f"{LOGINS} random users logged in with their old password: {bcrypt} bcrypt before, {argon2} Argon2id after"


def measure(kind: str, url: str, people: int, folder: Path) -> None:
    started = time.perf_counter()
    generate(url, people)
    print(f"\n{kind}: {people} users generated in {time.perf_counter() - started:.1f} s")
    running = Running(folder / kind)
    asyncio.run(prepare(load(environ=running.env)))
    for what, options in (("dry run", ("--dry-run",)), ("import", ()), ("again", ())):
        took, told = imported(running, url, *options)
        print(f"  {what:8} {took}")
        for each in ("users", "roles", "departments"):
            print(f"    {each:12} {told[each]}")
        print(f"    skipped as deleted {told['skipped']}, refused {len(told['refused'])}")
    print(f"  {log_in(running, people, folder / f'{kind}.jsonl')}")
    took, told = imported(running, url)
    print(f"  again    {took}\n    users        {told['users']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=50_000)
    people = parser.parse_args().people
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure("sqlite", f"sqlite:///{folder / 'old.db'}", people, folder)
        found = programs()
        if found is None:
            print("\nMariaDB is not installed: left out")
            return
        server = MariaDBServer(*found)
        try:
            server.start()
            measure("mariadb", server.create("youlai_admin"), people, folder)
        finally:
            server.remove()


if __name__ == "__main__":
    main()
