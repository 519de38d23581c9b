"""People and a past for the pictures: departments, roles, users, thirty days of logins, a name that must wait."""

from __future__ import annotations

import random
import time
from typing import Any

import httpx
from sqlalchemy import insert

from gatehouse.auth.oauth.definitions import ClientConfig
from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.composition import Service
from gatehouse.management.authority import Actor
from gatehouse.management.oauth_clients import ClientDraft
from gatehouse.settings import load
from gatehouse.stores.database.daily_logins import ALL_DAYS, day_of
from gatehouse.stores.database.schema import login_days, login_failures, user_roles, users
from tests.support.accounts import Accounts
from tests.support.conversation import CAPTCHA, LOGIN
from tests.support.running import PASSWORD, Running

ANSWER = "hx49"
NAMES = {"en": ("ann.lee", "Ann Lee"), "zh": ("lin.yue", "林悦")}
AGENTS = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0",
)
DEPARTMENTS = ("Sales", "Support", "Warehouse", "Research")
ROLES = {
    "EDITOR": ("Editor", ["sys:user:list", "sys:user:create", "sys:user:update", "sys:user:import", "sys:dept:list"]),
    "SUPPORT": ("Support", ["sys:user:list", "sys:session:list", "sys:session:delete"]),
    "AUDITOR": ("Auditor", ["sys:log:list"]),
}
PEOPLE = (
    "Noor Haddad", "Jonas Weber", "Mei Tanaka", "Olu Adeyemi", "Sara Lind", "Tom Baker", "Ines Duarte", "Kofi Mensah",
    "Lena Novak", "Ravi Iyer", "Eva Horn", "Paul Moreau", "Aya Sato", "Max Becker", "Zoe Clark", "Ivo Petrov",
    "Nina Rossi", "Omar Saleh", "Ruth Klein", "Hugo Alves", "Priya Nair", "Dan Frost", "Mia Jansen", "Leo Brandt",
)  # fmt: skip

WIKI = "https://wiki.example.com/oidc/callback"
APPLICATIONS = {
    "grafana": ClientDraft(
        name="Grafana",
        config=ClientConfig(
            redirect_uris=("https://grafana.example.com/login/generic_oauth",), roles=("EDITOR",), recipe="grafana"
        ),
    ),
    "wiki": ClientDraft(name="Team wiki", config=ClientConfig(redirect_uris=(WIKI,), first_party=False)),
}


async def prepare(running: Running) -> None:
    service = Service(load(environ=running.env))
    accounts, chance = Accounts(service), random.Random(7)
    places = [await accounts.add_department(name, 1) for name in DEPARTMENTS]
    for code, (name, perms) in ROLES.items():
        await accounts.add_role(code, name, perms)
    roles = [(await accounts.role(code)).id for code in ROLES]
    people = [(username, nickname) for username, nickname in NAMES.values()]
    people += [(name.lower().replace(" ", "."), name) for name in PEOPLE]
    rows = [_user(100 + at, each, chance.choice(places)) for at, each in enumerate(people)]
    async with service.stores.database.writing() as db:
        await db.execute(insert(users), rows)
        given = [roles[0], roles[0], *(chance.choice(roles) for _ in PEOPLE)]
        links = [{"user": row["id"], "role": role} for row, role in zip(rows, given, strict=True)]
        await db.execute(insert(user_roles), links)
        await db.execute(insert(login_days), _past(chance, [row["id"] for row in rows]))
        today = day_of(time.time())
        failures = [{"day": day, "failures": chance.randint(0, 5)} for day in range(today - 29, today)]
        failures[17]["failures"] = 31
        await db.execute(insert(login_failures), failures)
    for client_id, draft in APPLICATIONS.items():
        await service.management.client_changes.add(Actor(None), client_id, draft)
    await service.stop()


def _user(number: int, person: tuple[str, str], place: int) -> dict[str, Any]:
    username, nickname = person
    return {
        "id": number,
        "username": username,
        "name_key": username,
        "nickname": nickname,
        "avatar": "",
        "department": place,
        "password_hash": hash_password(PASSWORD) if number < 102 else "",
        "enabled": number % 9 != 0,
        "captcha_exempt": False,
        "created": time.time() - 86_400 * (400 - 3 * number),
        "email": f"{username}@example.com",
    }


def _past(chance: random.Random, people: list[int]) -> list[dict[str, int]]:
    today = day_of(time.time())
    rows = []
    for day in range(today - 29, today):
        quiet = (day + 4) % 7 in {0, 6}  # the weekend: day 0 was a Thursday
        active = [person for person in people if chance.random() < (0.15 if quiet else 0.8)]
        rows += [{"day": day, "user": person, "logins": chance.randint(1, 2)} for person in active]
    totals = [{"day": ALL_DAYS, "user": person, "logins": 30} for person in people]
    return [*rows, *totals]


def log_in_elsewhere(running: Running) -> None:
    """Two more sessions for each of the two."""
    for username, _ in NAMES.values():
        for agent in AGENTS:
            _try(running, username, PASSWORD, agent)


def guess(running: Running) -> None:
    """Until the name must wait."""
    for _ in range(12):
        _try(running, "root", "123456", "")


def _try(running: Running, username: str, password: str, agent: str) -> None:
    with httpx.Client(base_url=running.url, headers={"User-Agent": agent}) as client:
        captcha = client.get(CAPTCHA).json()["data"]["captchaId"]
        body = {"username": username, "password": password, "captchaId": captcha, "captchaCode": ANSWER}
        client.post(LOGIN, json=body)
