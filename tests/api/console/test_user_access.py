"""How users get in, as administrators manage it: passwords, links to set one, second factors."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

import pytest
from sqlalchemy import text

from gatehouse.management.password_links import LINK_SECONDS
from gatehouse.stores.database.passkeys import Passkey, Passkeys
from gatehouse.stores.database.sql_engine import Database
from gatehouse.stores.database.users import NewUser
from tests.api.console.conftest import HASH, Console
from tests.support.factors import enrol
from tests.support.inprocess import Answer, InProcess

NEW = "a wholly different phrase"
LINK = "/api/v1/auth/password-link"


@pytest.fixture
def ann(gatehouse: InProcess) -> int:
    return int(gatehouse.run(gatehouse.accounts.add_user(NewUser("ann", "Ann", HASH, 1, 0.0))))


def with_app(gatehouse: InProcess) -> None:
    """Ann sets up an authenticator app."""
    token = gatehouse.login("ann").data["accessToken"]
    enrol(lambda method, path, body: gatehouse.request(method, path, body=body, token=token).data, gatehouse.clock)


def add_passkey(gatehouse: InProcess, user: int) -> None:
    passkey = Passkey(
        id=0,
        user=user,
        handle=b"handle",
        credential=b"credential",
        public=b"key",
        sign_count=0,
        transports="",
        backed_up=False,
        name="Phone",
        created=0.0,
        last_used=None,
    )
    gatehouse.run(Passkeys(gatehouse.service.stores.database).add(passkey))


async def execute(database: Database, statement: str) -> None:
    async with database.writing() as db:
        await db.execute(text(statement))


def link_for(console: Console, user: int) -> str:
    """The ticket of a fresh link."""
    made = console.call("POST", f"users/{user}/password-link").data
    page, _, ticket = made["url"].partition("#")
    assert page.endswith("/set-password")
    return str(ticket)


def use(gatehouse: InProcess, ticket: str, password: str = NEW) -> Answer:
    return gatehouse.request("PUT", LINK, body={"ticket": ticket, "newPassword": password})


def test_a_password_is_set_in_the_body(console: Console, gatehouse: InProcess, ann: int) -> None:
    session = gatehouse.login("ann").data
    console.refused("A0421", "PUT", f"users/{ann}/password", {"password": "password1"})
    console.refused("A0410", "PUT", f"users/{ann}/password", {})
    console.done("PUT", f"users/{ann}/password", {"password": NEW})
    assert gatehouse.me(session["accessToken"]).status == 401
    assert gatehouse.login("ann").code == "A0210"
    assert gatehouse.login("ann", NEW).status == 200


def test_a_link_sets_a_password_once_and_ends_the_sessions(console: Console, gatehouse: InProcess, ann: int) -> None:
    session = gatehouse.login("ann").data
    ticket, other = link_for(console, ann), link_for(console, ann)
    assert gatehouse.request("POST", LINK, body={"ticket": ticket}).data == {"username": "ann"}
    assert use(gatehouse, ticket, "password1").code == "A0421"
    assert use(gatehouse, ticket).code == "00000"
    assert gatehouse.me(session["accessToken"]).status == 401
    assert gatehouse.login("ann", NEW).status == 200
    for void in (ticket, other):
        assert use(gatehouse, void, "yet another phrase").code == "A0242"
        assert gatehouse.request("POST", LINK, body={"ticket": void}).code == "A0242"


def test_a_user_who_never_had_a_password_gets_one_by_link(console: Console, gatehouse: InProcess) -> None:
    console.done("POST", "users", {"username": "new", "nickname": "New"})
    [row] = console.get("users", keywords="new")["list"]
    assert use(gatehouse, link_for(console, int(row["id"]))).status == 200
    assert gatehouse.login("new", NEW).status == 200


def test_of_many_uses_at_once_one_counts(console: Console, gatehouse: InProcess, ann: int) -> None:
    ticket = link_for(console, ann)

    async def race() -> list[Answer]:
        tries = [{"ticket": ticket, "newPassword": f"{NEW} {number}"} for number in range(8)]
        return await asyncio.gather(*(gatehouse.send("PUT", LINK, body=each) for each in tries))

    codes = Counter(answer.code for answer in gatehouse.run(race()))
    assert codes == {"00000": 1, "A0242": 7}


@pytest.mark.parametrize("change", ["expiry", "password", "disabled", "deleted"])
def test_a_link_is_void(console: Console, gatehouse: InProcess, ann: int, change: str) -> None:
    ticket = link_for(console, ann)
    if change == "expiry":
        gatehouse.clock.move(LINK_SECONDS + 1)
    elif change == "password":
        console.done("PUT", f"users/{ann}/password", {"password": "some other phrase"})
    elif change == "disabled":
        console.done("PUT", f"users/{ann}", {"username": "ann", "nickname": "Ann", "status": 0})
    else:
        console.done("DELETE", f"users/{ann}")
    assert use(gatehouse, ticket).code == "A0242"
    before = gatehouse.service.audit.counts["ticket.refused", "password_link"]
    for made_up in ("", "x", ticket[:-1], "é" * 40, "A" * 1024):
        assert use(gatehouse, made_up).status == 400
    assert gatehouse.service.audit.counts["ticket.refused", "password_link"] == before + 4, "all but the empty one"


def test_a_link_is_good_for_a_day(console: Console, gatehouse: InProcess, ann: int) -> None:
    ticket = link_for(console, ann)
    gatehouse.clock.move(LINK_SECONDS - 1)
    assert use(gatehouse, ticket).status == 200


def test_a_link_does_not_replace_the_second_factor(console: Console, gatehouse: InProcess, ann: int) -> None:
    with_app(gatehouse)
    assert use(gatehouse, link_for(console, ann)).status == 200
    assert gatehouse.login("ann", NEW).code == "A0220"


def test_links_and_their_use_are_recorded(console: Console, gatehouse: InProcess, ann: int) -> None:
    ticket = link_for(console, ann)
    use(gatehouse, ticket)
    gatehouse.run(gatehouse.service.audit.stop())
    events = gatehouse.run(gatehouse.service.stores.audit_trail.read(newest=5, user=ann))
    told = {(event.event, event.actor) for event in events if event.event.startswith("password")}
    assert told == {("password_link.made", 1), ("password.changed", None)}
    assert ticket[:40] not in repr(events)


def test_the_second_factor_of_a_user_is_shown_and_reset(console: Console, gatehouse: InProcess, ann: int) -> None:
    none = {"totp": False, "passkeys": [], "recoveryCodesLeft": 0, "passwordLogin": True, "password": "here"}
    assert console.get(f"users/{ann}/second-factor") == none
    with_app(gatehouse)
    assert console.get(f"users/{ann}/second-factor") == none | {"totp": True, "recoveryCodesLeft": 10}
    assert console.call("DELETE", f"users/{ann}/second-factor").data == {"removed": ["totp"]}
    assert console.get(f"users/{ann}/second-factor") == none
    assert gatehouse.login("ann").status == 200
    console.refused("C0113", "GET", "users/999/second-factor")
    console.refused("C0113", "DELETE", "users/999/second-factor")


def test_a_reset_is_whole_and_recorded_or_does_nothing(console: Console, gatehouse: InProcess, ann: int) -> None:
    with_app(gatehouse)
    add_passkey(gatehouse, ann)
    before = console.get(f"users/{ann}/second-factor")
    service = gatehouse.service
    gatehouse.run(execute(service.stores.database, "ALTER TABLE passkeys RENAME TO elsewhere"))
    assert console.call("DELETE", f"users/{ann}/second-factor").status >= 500
    gatehouse.run(execute(service.stores.database, "ALTER TABLE elsewhere RENAME TO passkeys"))
    assert console.get(f"users/{ann}/second-factor") == before
    assert console.call("DELETE", f"users/{ann}/second-factor").data == {"removed": ["totp", "passkey"]}
    assert service.audit.counts["factor.reset", ""] == 2


def test_nobody_does_this_to_those_who_hold_more(user: Callable[..., Console]) -> None:
    helper = user("helper", "sys:user:list", "sys:user:reset-password")
    helper.refused("A0301", "PUT", "users/1/password", {"password": NEW})
    helper.refused("A0301", "POST", "users/1/password-link")
    helper.refused("A0301", "DELETE", "users/1/second-factor")


def test_an_open_session_is_not_enough_to_change_ones_own_way_in(user: Callable[..., Console]) -> None:
    """One's own password takes the current one, one's own factor a code: who finds an unlocked screen has neither."""
    helper = user("helper", "sys:user:list", "sys:user:reset-password")
    gatehouse = helper.gatehouse
    own = gatehouse.me(helper.token).data["userId"]
    enrol(
        lambda method, path, body: gatehouse.request(method, path, body=body, token=helper.token).data, gatehouse.clock
    )
    helper.refused("A0301", "PUT", f"users/{own}/password", {"password": NEW})
    helper.refused("A0301", "PUT", f"users/{own}/password/reset", password=NEW)
    helper.refused("A0301", "POST", f"users/{own}/password-link")
    helper.refused("A0301", "DELETE", f"users/{own}/second-factor")
    assert gatehouse.login("helper", NEW).code == "A0210"
    assert gatehouse.login("helper").code == "A0220"


@pytest.mark.parametrize(
    "change", ["the user gets more", "the maker has less", "the maker is disabled", "the maker is gone"]
)
def test_a_link_is_void_once_its_maker_may_not_make_it(
    gatehouse: InProcess, user: Callable[..., Console], ann: int, change: str
) -> None:
    """Or a link made for a newcomer would set the password of the administrator that the newcomer has become."""
    helper, accounts = user("helper", "sys:user:reset-password"), gatehouse.accounts
    ticket, kept = link_for(helper, ann), link_for(Console(gatehouse), ann)
    if change == "the user gets more":
        gatehouse.run(accounts.grant("ann", ["ADMIN"]))
    elif change == "the maker has less":
        gatehouse.run(accounts.deny("HELPER", ["sys:user:reset-password"]))
    elif change == "the maker is disabled":
        gatehouse.run(accounts.disable_user("helper"))
    else:
        gatehouse.run(accounts.delete_user("helper"))
    assert gatehouse.request("POST", LINK, body={"ticket": ticket}).code == "A0242"
    assert use(gatehouse, ticket).code == "A0242"
    assert use(gatehouse, kept).status == 200
