"""Sends every token of the table to a service and says where the answer is not the one that is due.

    python try_tokens.py --issuer http://127.0.0.1:8099 --service http://127.0.0.1:8100

The service trusts the issuer, answers `GET /hello` to any good token and `POST /users` to the perm `sys:user:add`.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import time
from typing import Any
from urllib.parse import urlsplit

# Far longer than an adapter needs to notice that the feed is late; a slow machine fails nothing.
LATE_NOTICED_SECONDS = 60


class Caller:
    def __init__(self, url: str) -> None:
        self._where = urlsplit(url)

    def status(self, method: str, path: str, token: str | None = None) -> int:
        return self._call(method, path, token)[0]

    def json(self, path: str) -> Any:
        return json.loads(self._call("GET", path, None)[1])

    def _call(self, method: str, path: str, token: str | None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self._where.netloc, timeout=20)
        try:
            headers = {} if token is None else {"Authorization": f"Bearer {token}"}
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


def differences(issuer: str, service: str, adapter: str = "") -> tuple[int, list[str]]:
    """How many tokens were tried, and what was wrong with the answers."""
    caller, wrong = Caller(service), []
    rows = [row for row in Caller(issuer).json("/tokens") if row["only"] in {"", adapter}]
    for row in rows:
        due = {"GET /hello": 401 if row["status"] == 401 else 200, "POST /users": row["status"]}
        for operation, status in due.items():
            method, path = operation.split()
            given = caller.status(method, path, row["token"])
            if given != status:
                wrong.append(f"{row['name']}: {operation} answers {given}, not {status}")
    if caller.status("GET", "/hello") != 401:
        wrong.append("no token: GET /hello does not answer 401")
    fetched = Caller(issuer).json("/fetched-from-attacker")
    if fetched:
        wrong.append(f"keys were fetched from an address that a token named: {fetched}")
    if not notices_a_late_feed(Caller(issuer), caller):
        wrong.append("the feed is held back: a session that ended meanwhile is still accepted")
    return len(rows) + 1, wrong


def notices_a_late_feed(issuer: Caller, caller: Caller) -> bool:
    """Events come every second, each later than the one before: only who connects again hears of the session's end."""
    token = issuer.json("/late-token")
    if caller.status("GET", "/hello", token) != 200:
        return False
    issuer.status("POST", "/hold-back")
    deadline = time.monotonic() + LATE_NOTICED_SECONDS
    while time.monotonic() < deadline:
        if caller.status("GET", "/hello", token) == 401:
            return True
        time.sleep(0.1)
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description="Try a service with every token of the table.")
    parser.add_argument("--issuer", default="http://127.0.0.1:8099")
    parser.add_argument("--service", required=True)
    parser.add_argument("--adapter", default="", help="add the rows for this adapter, such as youlai-boot")
    given = parser.parse_args()
    tried, wrong = differences(given.issuer, given.service, given.adapter)
    sys.stdout.write("".join(f"{line}\n" for line in wrong) + f"{tried} tokens tried, {len(wrong)} answers wrong\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
