"""Guessing at our form for applications: it tells no more, and lets nobody guess faster, than the login of the API."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest

from gatehouse.auth.limits.throttle import COMPANY_LOGINS
from gatehouse.auth.login.code_after_password import TICKET_SECONDS
from gatehouse.auth.passwords.hashing import hash_password
from tests.api.oauth.application import Application, basic
from tests.api.oauth.attacks.parties import ISSUER, WITH_PKCE, add_person, refused, signed_in
from tests.api.oauth.flow import Browser, Page
from tests.support.factors import App, enrol
from tests.support.inprocess import InProcess
from tests.support.running import ANSWER, PASSWORD

SESSION = "__Host-gatehouse_session"


@pytest.fixture(scope="module")
def gatehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    limits: dict[str, Any] = {"limit_login_name": "3/minute", "limit_login_address": "1000/minute"}
    data = tmp_path_factory.mktemp("guesses") / "data"
    with InProcess(data, issuer=ISSUER, limits="on", limit_refresh_address="3/minute", **limits) as running:
        add_person(running, "disabled")
        running.run(running.accounts.disable_user("disabled"))
        running.login("warm-up", "wrong")  # counts the bcrypt users, once in ten minutes
        yield running


_numbers = itertools.count(1)


@pytest.fixture
def known(gatehouse: InProcess) -> str:
    """Somebody whose failures are those of one test alone."""
    name = f"known-{next(_numbers)}"
    add_person(gatehouse, name)
    return name


def enrolled(gatehouse: InProcess, username: str) -> App:
    token = gatehouse.login(username).data["accessToken"]
    app, _ = enrol(
        lambda method, path, body: gatehouse.request(method, path, body=body, token=token).data, gatehouse.clock
    )
    gatehouse.clock.move(60)  # its first code was used to enrol
    return app


def told(page: Page) -> tuple[int, str, dict[str, str]]:
    """What a person, or a program, learns from the page: all of it but what is random or was typed."""
    random = {page.fields[name] for name in ("form", "next", "captchaId", "username") if page.fields.get(name)}
    text = re.sub(r"data:image/[^\"]+", "", page.text)
    for each in sorted(random, key=len, reverse=True):
        text = text.replace(each, "")
    text = re.sub(r"[A-Za-z0-9_%-]{60,}", "", text)
    headers = {name: value for name, value in page.answer.headers.items() if name not in {"x-request-id", "set-cookie"}}
    return page.status, text, headers


# Names


def test_the_form_says_the_same_of_every_name(app: Application, gatehouse: InProcess, known: str) -> None:
    """Through free failures, the lock, its end and the longer lock after it."""
    walks = []
    for name in (known, "disabled", "unknown"):
        browser, walk = Browser(gatehouse), []
        for pause in (0, 0, 0, 0, 31, 0):
            gatehouse.clock.move(pause)
            page = browser.sign_in(browser.authorize(), name, "wrong password")
            walk.append(told(page))
            assert (page.fields["username"], SESSION in browser.cookies) == (name, False)
        walks.append(walk)
    assert walks[1] == walks[0]
    assert walks[2] == walks[0]
    assert [status for status, _, _ in walks[0]] == [400, 400, 400, 429, 400, 429]


def test_the_right_password_of_a_disabled_user_is_a_wrong_one(
    app: Application, gatehouse: InProcess, known: str
) -> None:
    gatehouse.run(gatehouse.accounts.disable_user(known))
    disabled, nobody = Browser(gatehouse), Browser(gatehouse)
    right = told(disabled.sign_in(disabled.authorize(), known))
    assert right == told(nobody.sign_in(nobody.authorize(), "nobody-there"))


def test_a_hint_shows_nothing_of_the_name(app: Application, gatehouse: InProcess, known: str) -> None:
    names = (known, "disabled", "unknown")
    pages = [told(Browser(gatehouse).authorize(login_hint=name)) for name in names]
    assert pages[1:] == [pages[0]] * 2
    silent = [Browser(gatehouse).authorize(login_hint=name, prompt="none").query for name in names]
    assert silent[1:] == [silent[0]] * 2


def test_failures_here_and_at_the_api_are_counted_together(app: Application, gatehouse: InProcess, known: str) -> None:
    browser = Browser(gatehouse)
    for _ in range(2):
        assert browser.sign_in(browser.authorize(), known, "wrong").status == 400
    assert gatehouse.login(known, "wrong").status == 400
    assert gatehouse.login(known).code == "A0211"
    page = browser.sign_in(browser.authorize(), known)
    assert (page.status, SESSION in browser.cookies) == (429, False)


# Captchas


def test_a_captcha_is_good_for_one_try_at_either_door(
    app: Application, browser: Browser, gatehouse: InProcess, known: str
) -> None:
    page = browser.authorize()
    assert browser.sign_in(page, known, "wrong").status == 400
    again = browser.sign_in(page, known)
    assert (again.status, SESSION in browser.cookies) == (400, False)
    fresh = browser.authorize()
    browser.sign_in(fresh, known, "wrong")
    body = {"captchaId": fresh.fields["captchaId"]}
    assert gatehouse.login(known, changes=body).code == "A0242"


@pytest.mark.parametrize(
    "changes", [{"captchaCode": ""}, {"captchaCode": "zzzz"}, {"captchaId": ""}, {"captchaId": "x"}]
)
def test_without_one_nobody_gets_in(app: Application, browser: Browser, changes: dict[str, str], known: str) -> None:
    form = {"username": known, "password": PASSWORD, "captchaCode": ANSWER, **changes}
    page = browser.submit(browser.authorize(), "", follow=True, **form)
    assert (page.status, SESSION in browser.cookies) == (400, False)


# Second factors


def test_codes_are_guessed_no_faster_on_the_page_for_them(app: Application, gatehouse: InProcess, known: str) -> None:
    totp, browser = enrolled(gatehouse, known), Browser(gatehouse)
    page = browser.sign_in(browser.authorize(), known)
    for _ in range(3):
        assert browser.submit(page, otpCode=totp.wrong()).status == 400
    right = browser.submit(page, otpCode=totp.code())
    assert (right.status, SESSION in browser.cookies) == (429, False)
    assert gatehouse.login(known, changes={"otpCode": totp.code()}).code == "A0211"


def test_a_code_is_good_once_at_either_door(app: Application, gatehouse: InProcess, known: str) -> None:
    totp, browser = enrolled(gatehouse, known), Browser(gatehouse)
    code = totp.code()
    assert "code" in browser.submit(browser.sign_in(browser.authorize(), known), otpCode=code).query
    assert gatehouse.login(known, changes={"otpCode": code}).status == 400
    other = Browser(gatehouse)
    page = other.submit(other.sign_in(other.authorize(), known), otpCode=code)
    assert (page.status, SESSION in other.cookies) == (400, False)


def test_the_step_is_not_skipped(app: Application, gatehouse: InProcess, known: str) -> None:
    """After the password there is no session yet, whatever is opened next."""
    enrolled(gatehouse, known)
    browser = Browser(gatehouse)
    page = browser.sign_in(browser.authorize(), known)
    assert "otpCode" in page.fields
    assert SESSION not in browser.cookies
    assert "captchaCode" in browser.open(page.fields["next"]).fields
    for form in ({"otpCode": ""}, {"otpCode": "000000", "ticket": ""}, {"otpCode": "000000", "pending": "x"}):
        assert browser.submit(page, "", follow=True, **form).status in {400, 410}
        assert SESSION not in browser.cookies


def test_the_ticket_between_the_steps_is_for_one_browser_and_some_minutes(
    app: Application, gatehouse: InProcess, known: str
) -> None:
    totp, browser, thief = enrolled(gatehouse, known), Browser(gatehouse), Browser(gatehouse)
    page = browser.sign_in(browser.authorize(), known)
    own = thief.authorize().fields["form"]
    stolen = thief.send("POST", f"{ISSUER}/oauth2/factor", {**page.fields, "form": own, "otpCode": totp.code()})
    assert (stolen.status, SESSION in thief.cookies) == (400, False)
    gatehouse.clock.move(TICKET_SECONDS)
    late = browser.submit(page, otpCode=totp.code())
    assert (late.status, SESSION in browser.cookies) == (400, False)


def test_a_new_password_voids_what_the_old_one_has_shown(app: Application, gatehouse: InProcess, known: str) -> None:
    totp, browser = enrolled(gatehouse, known), Browser(gatehouse)
    page = browser.sign_in(browser.authorize(), known)
    gatehouse.run(gatehouse.accounts.set_password(known, hash_password("another password")))
    late = browser.submit(page, otpCode=totp.code())
    assert (late.status, SESSION in browser.cookies) == (400, False)


def test_a_second_factor_that_is_asked_for_is_shown(app: Application, gatehouse: InProcess, known: str) -> None:
    """`acr_values`: who has one and did not show it signs in again; what the ID token says is true."""
    browser = signed_in(gatehouse, known)
    gatehouse.clock.move(1)
    weak = app.exchange(browser.authorize(acr_values="2", **WITH_PKCE).query["code"]).json
    assert app.read(weak["id_token"])["acr"] == "1"
    totp = enrolled(gatehouse, known)
    page = browser.authorize(acr_values="2", **WITH_PKCE)
    assert "captchaCode" in page.fields
    back = browser.submit(browser.sign_in(page, known), otpCode=totp.code())
    claims = app.read(app.exchange(back.query["code"]).json["id_token"])
    assert (claims["acr"], set(claims["amr"])) == ("2", {"pwd", "otp"})


# A fresh login


@pytest.mark.parametrize(
    "asks", [{"prompt": "login"}, {"max_age": "0"}, {"max_age": "5"}, {"prompt": "select_account"}]
)
def test_a_fresh_login_is_asked_for_each_time(
    app: Application, gatehouse: InProcess, asks: dict[str, str], known: str
) -> None:
    browser = signed_in(gatehouse, known)
    gatehouse.clock.move(10)
    for _ in range(2):
        page = browser.authorize(**asks, **WITH_PKCE)
        assert "captchaCode" in page.fields
        assert "captchaCode" in browser.open(page.fields["next"]).fields, "leaving the form out does not help"
        back = browser.sign_in(page, known)
        claims = app.read(app.exchange(back.query["code"]).json["id_token"])
        assert claims["auth_time"] == int(gatehouse.clock())
        gatehouse.clock.move(10)
    if "max_age" in asks:
        assert browser.authorize(prompt="none", **asks).query["error"] == "login_required"


# Secrets of applications


def test_guesses_at_secrets_are_limited_by_address(app: Application, gatehouse: InProcess) -> None:
    statuses = [
        app.token({"authorization": basic("app", f"guess {number}")}, grant_type="refresh_token").status
        for number in range(6)
    ]
    assert statuses == [401, 401, 401, 429, 429, 429]
    assert refused(app.exchange("x")), "and lock nobody out who has the right one"


def test_a_secret_is_too_long_to_be_guessed(app: Application) -> None:
    assert re.fullmatch(r"ghc_[A-Za-z0-9_-]{43}", app.secret)


# Floods


def test_what_is_kept_for_strangers_is_limited_by_address(gatehouse: InProcess) -> None:
    """State keeps what a login with a company account is for, before anybody has solved a captcha."""
    nobody = Browser(gatehouse)
    statuses = [nobody.send("GET", f"{ISSUER}/oauth2/company?next=x").status for _ in range(COMPANY_LOGINS.count + 2)]
    assert (set(statuses[:-3]), set(statuses[-2:])) == ({400}, {429})  # give or take one, for rounding
    assert Browser(gatehouse, "127.0.0.2").send("GET", f"{ISSUER}/oauth2/company?next=x").status == 400
