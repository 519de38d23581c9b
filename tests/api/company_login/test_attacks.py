"""What an attacker tries between the button and the tokens. Nobody is let in, and nobody is sent elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gatehouse.auth.audit import Event
from gatehouse.auth.login.company_login import STATE_SECONDS
from gatehouse.auth.login.company_tickets import COMPLETE_SECONDS
from gatehouse.management.authority import OPERATOR
from gatehouse.management.identity_sources import SourceDraft
from gatehouse.stores.database.users import NewUser, UserChange
from tests.api.company_login.browser import CAROLINE, EXCHANGE, Browser, Company, problem_of, query_of, recorded
from tests.identity_sources.provider.hostile_provider import HostileProvider
from tests.support.inprocess import InProcess


def sessions(company: Company) -> int:
    return sum(count for (event, _), count in company.service.service.audit.counts.items() if event == "login")


# The state


def test_the_cookie_is_for_this_flow_alone(company: Company, browser: Browser) -> None:
    answer = browser.request("GET", "/login/corp")
    [cookie] = answer.cookies
    name, *flags = cookie.split("; ")
    assert flags == ["Max-Age=600", "Path=/login/", "HttpOnly", "SameSite=Lax"]
    assert len(cookie) < 2000
    assert "corp" not in name
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_behind_https_the_cookie_is_secure_and_below_the_path_that_browsers_see(
    tmp_path: Path, hostile: HostileProvider
) -> None:
    with InProcess(tmp_path / "data", issuer="https://127.0.0.1/auth") as service:
        company = Company(service, hostile)
        company.add()
        [cookie] = Browser(company).request("GET", "/login/corp").cookies
        assert cookie.endswith("; Path=/auth/login/; HttpOnly; SameSite=Lax; Secure")


def test_an_answer_that_another_browser_has_asked_for_is_refused(company: Company, browser: Browser) -> None:
    """Login CSRF: the attacker's answer in the victim's browser."""
    attacker = Browser(company)
    answer = attacker.answer_of(attacker.depart())
    assert problem_of(browser.come_back(answer)) == "expired"
    browser.depart()
    assert problem_of(browser.come_back(answer)) == "expired"
    assert sessions(company) == 0


def test_an_answer_is_taken_once(company: Company, browser: Browser) -> None:
    answer = browser.answer_of(browser.depart())
    cookies = dict(browser.cookies)
    assert problem_of(browser.come_back(answer)) == ""
    browser.cookies = cookies
    assert problem_of(browser.come_back(answer)) == "expired"
    assert company.provider.times("/token") == 1


def test_a_login_that_takes_too_long_has_expired(company: Company, browser: Browser) -> None:
    answer = browser.answer_of(browser.depart())
    company.service.clock.move(STATE_SECONDS)
    assert problem_of(browser.come_back(answer)) == "expired"
    assert company.provider.times("/token") == 0


def test_an_answer_of_one_provider_is_not_taken_for_that_of_another(company: Company, browser: Browser) -> None:
    """Mix-up: the cookie names the source, each has a callback of its own, and `iss` must be right."""
    company.add("other")
    answer = browser.answer_of(browser.depart())
    assert problem_of(browser.come_back(answer, "other")) == "expired"
    answer = browser.answer_of(browser.depart(), {"iss": "https://evil.example"})
    assert problem_of(browser.come_back(answer)) == "refused"
    assert company.provider.times("/token") == 0


@pytest.mark.parametrize(
    "change",
    [
        {"nonce": "another"},
        {"iss": "https://evil.example"},
        {"aud": "another-client"},
        {"exp": 1},
        {"sub": ""},
    ],
)
def test_an_id_token_that_is_not_for_this_login_is_refused(
    company: Company, browser: Browser, change: dict[str, Any]
) -> None:
    assert problem_of(browser.arrive(**change)) == "refused"
    assert company.service.service.audit.counts["login.failed", "provider"] == 1
    assert company.service.service.identity.sources.counts == {("corp", "refused"): 1}


def test_a_stolen_code_does_not_fit_another_login(company: Company, browser: Browser) -> None:
    """Code injection: PKCE binds the code to the browser that began."""
    victim = Browser(company)
    stolen = victim.answer_of(victim.depart())["code"]
    answer = browser.answer_of(browser.depart(), {"code": stolen})
    assert problem_of(browser.come_back(answer)) == "refused"


def test_a_person_who_changes_her_mind(company: Company, browser: Browser) -> None:
    answer = browser.answer_of(browser.depart(), {"code": None, "error": "access_denied"})
    back = browser.come_back(answer)
    assert back.headers["location"] == f"{company.url}/?problem=cancelled&provider=corp"
    assert browser.cookies == {}


@pytest.mark.parametrize("query", ["state=a&state=b", "code=1&code=1&state=a", "x=%ff", "&".join(["a=b"] * 99)])
def test_a_query_that_makes_no_sense(browser: Browser, query: str) -> None:
    answer = browser.request("GET", "/login/corp/callback", raw_query=query)
    assert problem_of(answer) == "refused"


def test_huge_values_are_refused(browser: Browser) -> None:
    assert problem_of(browser.come_back({"state": "x" * 100_000, "code": "y"})) == "expired"
    answer = browser.answer_of(browser.depart(), {"code": "y" * 100_000})
    assert problem_of(browser.come_back(answer)) == "refused"
    browser.cookies = {"gatehouse_login_" + "0" * 16: "x" * 100_000}
    assert problem_of(browser.come_back({"state": "s", "code": "y"})) == "expired"


def test_cookies_of_many_begun_logins_do_not_pile_up(browser: Browser) -> None:
    for _ in range(10):
        browser.depart()
        assert len(browser.cookies) <= 4
    last = browser.depart()
    assert problem_of(browser.come_back(browser.answer_of(last))) == ""


def test_nobody_is_sent_to_another_site(company: Company, browser: Browser) -> None:
    for to in ("https://evil.example/", "//evil.example", "https://console.example@evil.example/"):
        answer = browser.request("GET", "/login/corp", query={"to": to})
        assert (answer.status, answer.cookies) == (400, ())
        assert answer.content == b"to is not valid\n"
    browser.depart("https://console.example/")
    # A `to` that comes with the answer is not looked at.
    answer = browser.come_back({**browser.answer_of(browser.depart()), "to": "https://evil.example/"})
    assert answer.headers["location"].startswith(f"{company.url}/?ticket=")


def test_an_unknown_or_disabled_provider(company: Company, browser: Browser) -> None:
    for name in ("nobody", "corp"):
        changes = company.service.service.management.source_changes
        company.service.run(changes.edit(OPERATOR, "corp", SourceDraft(enabled=False)))
        assert browser.depart(name=name) == f"{company.url}/?problem=unavailable&provider={name}"
        assert problem_of(browser.come_back({"state": "s"}, name)) == "unavailable"
        assert browser.request("POST", f"/login/{name}/backchannel-logout").status == 404
    assert company.service.request("GET", "/api/v1/auth/providers").json["data"] == []


# Who somebody is


def test_the_name_or_address_of_a_user_of_ours_opens_nothing(company: Company, browser: Browser) -> None:
    admin = company.service.run(company.service.accounts.user("admin"))
    company.service.run(company.service.accounts.edit_user("admin", UserChange(email="root@corp.example")))
    assert problem_of(browser.arrive(preferred_username="admin")) == "name_taken"
    assert problem_of(browser.arrive(preferred_username="ADMIN")) == "name_taken"
    assert problem_of(browser.arrive(preferred_username="eve", email="root@corp.example", email_verified=True)) == ""
    tokens = browser.login(preferred_username="eve", email="root@corp.example", email_verified=True)
    assert company.service.me(tokens["accessToken"]).data["userId"] != admin.user.id
    assert {entry.reason for entry in recorded(company, Event.LOGIN_FAILED)} == {"name_taken"}


def test_a_new_owner_of_a_name_is_another_person(company: Company, browser: Browser) -> None:
    browser.login(sub="first")
    assert problem_of(browser.arrive(sub="second")) == "name_taken"


def test_a_disabled_user_stays_out(company: Company, browser: Browser) -> None:
    browser.login()
    company.service.run(company.service.accounts.disable_user("caroline"))
    assert problem_of(browser.arrive()) == "disabled"
    [failure] = recorded(company, Event.LOGIN_FAILED)
    assert (failure.reason, failure.detail, failure.user) == ("disabled", '{"source":"corp"}', failure.user)
    assert failure.user is not None


# The ticket


def test_a_ticket_is_good_once(browser: Browser) -> None:
    location = browser.arrive()
    assert browser.exchange(location).status == 200
    assert browser.exchange(location).code == "A0242"


@pytest.mark.usefixtures("engines")
@pytest.mark.every_engine
def test_of_many_exchanges_at_once_one_gets_a_session(company: Company, browser: Browser) -> None:
    ticket = query_of(browser.arrive())["ticket"]
    options: dict[str, Any] = {"body": {"ticket": ticket}, "headers": {"user-agent": browser.agent}}

    async def race() -> list[int]:
        answers = (company.service.send("POST", EXCHANGE, **options) for _ in range(8))
        return sorted(answer.status for answer in await asyncio.gather(*answers))

    assert company.service.run(race()) == [200] + [400] * 7


def test_a_ticket_lives_a_minute(company: Company, browser: Browser) -> None:
    location = browser.arrive()
    company.service.clock.move(COMPLETE_SECONDS)
    assert browser.exchange(location).code == "A0242"


@pytest.mark.parametrize("thief", [{"address": "10.0.0.9"}, {"agent": "curl"}])
def test_a_stolen_ticket_is_no_use(company: Company, browser: Browser, thief: dict[str, str]) -> None:
    location = browser.arrive()
    assert Browser(company, **thief).exchange(location).code == "A0242"
    assert company.service.service.audit.counts["ticket.refused", "company"] == 1
    assert browser.exchange(location).status == 200, "it is still good for the browser that it was made for"


@pytest.mark.parametrize("change", ["disable_user", "delete_user"])
def test_a_user_who_goes_meanwhile_gets_no_session(company: Company, browser: Browser, change: str) -> None:
    location = browser.arrive()
    company.service.run(getattr(company.service.accounts, change)("caroline"))
    assert browser.exchange(location).code in {"A0242", "A0210"}
    assert sessions(company) == 0
    assert company.service.run(_live(company)) == 0


async def _live(company: Company) -> int:
    users = [row.user.id for row in [await company.service.accounts.user("admin")]]
    return sum([len(await company.service.service.sessions.of_user(user)) for user in (*users, 2, 3, 4)])


def _unlink(company: Company) -> None:
    service = company.service.service
    user = company.service.run(company.service.accounts.user("caroline")).user.id
    [identity] = company.service.run(service.stores.sources.identities_of(user))
    company.service.run(service.management.source_changes.unlink(OPERATOR, user, identity.id))


def _disable_source(company: Company) -> None:
    changes = company.service.service.management.source_changes
    company.service.run(changes.edit(OPERATOR, "corp", SourceDraft(enabled=False)))


@pytest.mark.parametrize("change", [_unlink, _disable_source])
def test_a_ticket_is_void_once_its_identity_or_source_is(
    company: Company, browser: Browser, change: Callable[[Company], None]
) -> None:
    location = browser.arrive()
    change(company)
    assert browser.exchange(location).code == "A0242"
    assert company.service.run(_live(company)) == 0


# Limits


def test_failed_callbacks_and_guessed_tickets_use_up_the_limit_of_the_address(
    tmp_path: Path, hostile: HostileProvider
) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_address="3/minute") as service:
        hostile.clock = service.clock  # type: ignore[assignment]
        company = Company(service, hostile)
        company.add()
        browser = Browser(company)
        for _ in range(2):
            assert problem_of(browser.arrive(nonce="wrong")) == "refused"
        # Nobody's failure: no answer of a provider was looked at.
        for _ in range(5):
            assert problem_of(browser.come_back({"state": "made-up"})) == "expired"
        assert browser.request("POST", EXCHANGE, body={"ticket": "made-up"}).code == "A0242"
        answer = browser.come_back(browser.answer_of(browser.depart()))
        assert (answer.status, int(answer.headers["retry-after"]) > 0) == (429, True)
        assert browser.request("POST", EXCHANGE, body={"ticket": "made-up"}).code == "A0502"
        assert Browser(company, address="10.0.0.7").login()


def test_starting_logins_is_limited_as_captchas_are(tmp_path: Path, hostile: HostileProvider) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_captcha_address="2/minute") as service:
        company = Company(service, hostile)
        company.add()
        statuses = [Browser(company).request("GET", "/login/corp").status for _ in range(3)]
        assert statuses == [302, 302, 429]


def test_local_users_are_not_touched(company: Company, browser: Browser) -> None:
    """A user of ours with the same name as a person there keeps its password and its roles."""
    new = NewUser(username="caroline", nickname="Ours", password_hash="", department=1, created=0.0)
    company.service.run(company.service.accounts.add_user(new, ["STAFF"]))
    assert problem_of(browser.arrive(**CAROLINE)) == "name_taken"
    profile = company.service.run(company.service.accounts.user("caroline"))
    assert (profile.user.nickname, tuple(profile.roles)) == ("Ours", ("STAFF",))
