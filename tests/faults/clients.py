"""Clients that behave like front ends, and write down all they do and see."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from random import Random

import httpx

from gatehouse.stores.database.users import UserChange
from gatehouse.stores.errors import StoreError
from tests.faults.history import History, Operation, Outcome, What
from tests.support.accounts import Accounts
from tests.support.conversation import CAPTCHA, LOGIN, LOGOUT, ME, REFRESH, bearer
from tests.support.running import ANSWER, PASSWORD, TLS

# Longer than any pause of the fault injector: who waits this long for nothing has lost the answer.
PATIENCE = 10.0
# After this long a repeated refresh could fall out of the grace window, and would be theft: then leave it.
GRACE = 7.0
SESSIONS = 4

DEFINITE = {"A0230", "A0231", "A0210", "A0240", "A0242"}
NOT_AVAILABLE = {"C0300", "B0210"}


@dataclass
class Held:
    """A session that a client holds: its refresh tokens, oldest first, and its newest access token."""

    user: str
    id: str
    refresh: list[str]
    access: str
    left: bool = field(default=False)


class Client:
    def __init__(self, number: int, random: Random, history: History, nodes: list[str], users: list[str]) -> None:
        self.number = number
        self.random = random
        self.history = history
        self.users = users
        self.http = [httpx.AsyncClient(base_url=url, timeout=PATIENCE, verify=TLS) for url in nodes]
        self.held: list[Held] = []

    async def live(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            await self.step()
            await asyncio.sleep(self.random.uniform(0, 0.04))
        for http in self.http:
            await http.aclose()

    async def step(self) -> None:
        if not self.held or (len(self.held) < SESSIONS and self.random.random() < 0.1):
            await self.log_in(twice=self.random.random() < 0.2)
            return
        held = self.random.choice(self.held)
        doing = self.random.choices(
            [self.me, self.renew, self.race, self.log_out, self.steal],
            [60, 20, 8, 8, 4 if len(held.refresh) > 2 else 0],
        )[0]
        await doing(held)
        if held.left:
            # The last word of a session is a question: is it really over, on every node?
            await asyncio.gather(*(self.me(held, http) for http in self.http))
            self.held.remove(held)

    def any_node(self) -> httpx.AsyncClient:
        return self.random.choice(self.http)

    async def log_in(self, *, twice: bool) -> None:
        try:
            captcha = (await self.any_node().get(CAPTCHA)).json()["data"]["captchaId"]
        except (httpx.HTTPError, KeyError, ValueError):
            await asyncio.sleep(0.1)
            return
        user = self.random.choice(self.users)
        body = {"username": user, "password": PASSWORD, "captchaId": captcha, "captchaCode": ANSWER}
        await asyncio.gather(*(self._log_in(user, body) for _ in range(2 if twice else 1)))

    async def _log_in(self, user: str, body: dict[str, str]) -> None:
        start = self.history.now()
        outcome, code, data, _ = await self._send("POST", LOGIN, json=body)
        token = data.get("refreshToken", "")
        self._record(What.LOGIN, user, session_of(token), start, outcome, code, given=body["captchaId"], got=token)
        if outcome is Outcome.OK:
            self.held.append(Held(user, session_of(token), [token], data["accessToken"]))

    async def me(self, held: Held, http: httpx.AsyncClient | None = None) -> None:
        start = self.history.now()
        outcome, code, data, _ = await self._send("GET", ME, http, headers=bearer(held.access))
        version = int(data["nickname"].removeprefix("v")) if outcome is Outcome.OK else 0
        self._record(What.ME, held.user, held.id, start, outcome, code, version=version)
        held.left |= outcome is Outcome.REFUSED

    async def renew(self, held: Held) -> None:
        """As a front end does it: the same token again until an answer comes, while it may."""
        begun = self.history.now()
        while not await self._refresh(held, held.refresh[-1]):
            if held.left:
                return
            if self.history.now() - begun > GRACE:
                self.leave(held)
                return
            await asyncio.sleep(0.1)

    async def race(self, held: Held) -> None:
        """Several tabs at once, on any node."""
        begun = self.history.now()
        token = held.refresh[-1]
        answered = await asyncio.gather(*(self._refresh(held, token) for _ in range(3)))
        if not held.left and not any(answered):
            if self.history.now() - begun > GRACE / 2:
                self.leave(held)
            else:
                await self.renew(held)

    async def _refresh(self, held: Held, token: str) -> bool:
        start = self.history.now()
        outcome, code, data, late = await self._send("POST", REFRESH, json={"refreshToken": token})
        got = data.get("refreshToken", "")
        self._record(What.REFRESH, held.user, held.id, start, outcome, code, given=token, got=got)
        held.left |= outcome is Outcome.REFUSED
        if late:
            self.leave(held)  # it may still be carried out, when its token has become an old one
        if outcome is Outcome.OK:
            held.access = data["accessToken"]
            if got not in held.refresh:
                held.refresh.append(got)
        return outcome is Outcome.OK

    async def log_out(self, held: Held) -> None:
        start = self.history.now()
        outcome, code, _, _ = await self._send("POST", LOGOUT, headers=bearer(held.access))
        self._record(What.LOGOUT, held.user, held.id, start, outcome, code)
        held.left |= outcome in {Outcome.OK, Outcome.REFUSED}

    async def steal(self, held: Held) -> None:
        start = self.history.now()
        outcome, code, _, _ = await self._send("POST", REFRESH, json={"refreshToken": held.refresh[-3]})
        self._record(What.REUSE, held.user, held.id, start, outcome, code, given=held.refresh[-3])
        held.left |= outcome is Outcome.REFUSED

    def leave(self, held: Held) -> None:
        if not held.left:
            self._record(What.LEAVE, held.user, held.id, self.history.now(), Outcome.UNKNOWN, "")
            held.left = True

    async def _send(
        self, method: str, path: str, http: httpx.AsyncClient | None = None, **options: object
    ) -> tuple[Outcome, str, dict[str, str], bool]:
        """The outcome, the code, the data, and whether the answer was given up while the node still had it."""
        try:
            answer = await (http or self.any_node()).request(method, path, **options)  # type: ignore[arg-type]
        except httpx.TimeoutException:
            return Outcome.UNKNOWN, "timeout", {}, True
        except httpx.HTTPError as problem:
            return Outcome.UNKNOWN, type(problem).__name__, {}, False
        code = answer.json()["code"]
        if code == "00000":
            return Outcome.OK, code, answer.json().get("data") or {}, False
        if code in NOT_AVAILABLE:
            return Outcome.UNKNOWN, code, {}, False
        return (Outcome.REFUSED if code in DEFINITE else Outcome.FAULT), code, {}, False

    def _record(
        self, what: What, user: str, session: str, start: float, outcome: Outcome, code: str, **facts: object
    ) -> None:
        end = self.history.now()
        self.history.add(Operation(self.number, what, user, session, start, end, outcome, code, **facts))  # type: ignore[arg-type]


async def change_accounts(
    accounts: Accounts, random: Random, history: History, users: list[str], stop: asyncio.Event
) -> None:
    """An operator: gives users a new nickname, `v1`, `v2` and so on, as the command line would."""
    versions = dict.fromkeys(users, 0)
    while not stop.is_set():
        user = random.choice(users)
        versions[user] += 1
        start = history.now()
        try:
            await accounts.edit_user(user, UserChange(nickname=f"v{versions[user]}"))
            outcome = Outcome.OK
        except StoreError:
            outcome = Outcome.UNKNOWN
        history.add(Operation(-1, What.CHANGE, user, "", start, history.now(), outcome, version=versions[user]))
        await asyncio.sleep(random.uniform(0.05, 0.3))


def session_of(token: str) -> str:
    return token.split(".")[1] if token else ""
