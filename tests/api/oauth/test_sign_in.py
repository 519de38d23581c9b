"""A plain browser signs in for an application: the form, what it says about mistakes, and the second factor."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gatehouse.auth.audit import Event
from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.messages import section
from gatehouse.stores.database.users import NewUser
from tests.api.oauth.application import CALLBACK, Application
from tests.api.oauth.conftest import ISSUER
from tests.api.oauth.flow import Browser, Page, asked
from tests.support.authenticator import Authenticator
from tests.support.factors import App, enrol
from tests.support.inprocess import InProcess
from tests.support.running import ANSWER, PASSWORD

ENGLISH = section("pages", "en")


def add_person(gatehouse: InProcess, name: str = "ann") -> str:
    new = NewUser(name, name.title(), hash_password(PASSWORD), 1, gatehouse.clock())
    gatehouse.run(gatehouse.accounts.add_user(new))
    return name


def with_app(gatehouse: InProcess, name: str) -> tuple[App, list[str]]:
    token = gatehouse.login(name).data["accessToken"]
    return enrol(lambda *call: gatehouse.request(*call[:2], body=call[2], token=token).data, gatehouse.clock)


def test_somebody_signs_in_and_comes_back_with_a_code(browser: Browser, app: Application) -> None:
    page = browser.authorize()
    assert page.status == 200
    assert page.fields["username"] == ""
    back = browser.sign_in(page)
    assert back.location.startswith(f"{CALLBACK}?")
    assert back.query.keys() == {"code", "state", "iss"}
    assert (back.query["state"], back.query["iss"]) == ("a state", ISSUER)
    tokens = app.exchange(back.query["code"], code_verifier="").json
    claims = app.read(tokens["id_token"])
    assert (claims["sub"], claims["nonce"], claims["acr"], claims["amr"]) == ("1", "a nonce", "1", ["pwd"])


def test_who_is_logged_in_is_not_asked_again(browser: Browser) -> None:
    browser.sign_in(browser.authorize())
    assert "code" in browser.authorize().query
    assert "code" in browser.authorize(prompt="none").query


def test_a_form_of_the_application_goes_on_as_a_get(browser: Browser) -> None:
    sent = browser.send("POST", f"{browser.url}/oauth2/authorize", asked())
    assert sent.status == 303
    assert sent.location.startswith(f"{ISSUER}/oauth2/authorize?client_id=app&request_uri=")
    assert "code" in browser.sign_in(browser.follow(sent)).query


def test_a_request_that_was_pushed_gives_one_code(browser: Browser, app: Application) -> None:
    pushed = app.call("/oauth2/par", **{name: value for name, value in asked().items() if name != "client_id"})
    query = {"client_id": "app", "request_uri": pushed.json["request_uri"]}
    assert "code" in browser.sign_in(browser.open("/oauth2/authorize", **query)).query
    again = browser.open("/oauth2/authorize", **query)
    assert again.status == 400
    assert "request_uri" in again.texts["problem"]


# What is wrong is said where the login page says it


@pytest.mark.parametrize(
    ("typed", "place", "words"),
    [
        ({"password": "wrong"}, "password-message", "A0210"),
        ({"username": "nobody"}, "password-message", "A0210"),
        ({"captchaCode": "zzzz"}, "captchaCode-message", "A0240"),
        ({"captchaCode": ""}, "captchaCode-message", "needed.captcha"),
        ({"username": ""}, "username-message", "needed.username"),
        ({"username": "   "}, "username-message", "needed.username"),
        ({"password": ""}, "password-message", "needed.password"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(
    browser: Browser, typed: dict[str, str], place: str, words: str
) -> None:
    page = browser.authorize()
    right = {"username": "admin", "password": PASSWORD, "captchaCode": ANSWER}
    form: Any = {**right, **typed}
    refused = browser.submit(page, "sign-in", **form)
    assert refused.status == 400
    assert refused.texts[place] == ENGLISH[words]
    said = [text for name, text in refused.texts.items() if name.endswith("-message") and text]
    assert said == [ENGLISH[words]]
    assert PASSWORD not in refused.text
    assert not browser.is_logged_in
    assert refused.fields["captchaId"] != page.fields["captchaId"]
    assert "code" in browser.sign_in(refused).query


def test_a_picture_is_good_once(browser: Browser) -> None:
    page = browser.authorize()
    browser.sign_in(page, password="wrong")
    assert browser.sign_in(page).texts["captchaCode-message"] == ENGLISH["A0242"]


def test_another_picture_comes_without_a_script_and_the_name_stays(browser: Browser) -> None:
    page = browser.authorize()
    another = browser.submit(page, "captcha-reload", username="ann", password=PASSWORD)
    assert another.status == 200
    assert (another.fields["username"], another.fields["password"]) == ("ann", "")
    assert another.fields["captchaId"] != page.fields["captchaId"]
    assert "code" in browser.sign_in(another).query


def test_the_answer_is_the_same_for_names_that_exist_and_names_that_do_not(browser: Browser) -> None:
    def answer(name: str) -> tuple[int, str]:
        refused = browser.sign_in(browser.authorize(), name, "wrong")
        return refused.status, re.sub('(value|href|src)="[^"]*"', "", refused.text)

    assert answer("admin") == answer("nobody")


def test_a_locked_name_is_told_how_long(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_name="2/minute") as gatehouse:
        Application(gatehouse)
        browser = Browser(gatehouse)
        for _ in range(2):
            assert browser.sign_in(browser.authorize(), password="wrong").status == 400
        refused = browser.sign_in(browser.authorize())
        assert refused.status == 429
        assert "30 seconds" in refused.texts["username-message"]
        assert not browser.is_logged_in


def test_too_many_pictures_are_a_page_of_ours(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_captcha_address="2/minute") as gatehouse:
        Application(gatehouse)
        browser = Browser(gatehouse)
        pages = [browser.authorize() for _ in range(3)]
        assert [page.status for page in pages] == [200, 200, 429]
        assert pages[-1].answer.headers["retry-after"] == "30"
        assert pages[-1].texts["problem"]


def test_whoever_takes_too_long_begins_again_at_the_application(browser: Browser, app: Application) -> None:
    app.edit(url="https://app.example/")
    page = browser.authorize()
    for _ in range(2):
        browser.service.clock.move(1790)
        page = browser.submit(page, "captcha-reload")
        assert page.status == 200
    browser.service.clock.move(30)
    gone = browser.sign_in(page)
    assert gone.status == 400, "no page makes the request younger"
    assert "request_uri" in gone.texts["problem"]
    assert gone.links["back"] == "https://app.example/"


def test_the_address_of_a_form_alone_is_the_login_page(browser: Browser) -> None:
    for path in ("/oauth2/sign-in", "/oauth2/factor"):
        assert browser.send("GET", browser.url + path).location == f"{ISSUER}/"


# As the application wishes


def test_the_name_is_filled_in_by_login_hint(browser: Browser) -> None:
    assert browser.authorize(login_hint="ann").fields["username"] == "ann"
    browser.sign_in(browser.authorize())
    browser.service.clock.move(1)
    assert browser.authorize(prompt="login").fields["username"] == "admin", "who is to log in again"


@pytest.mark.parametrize(
    ("locales", "accepted", "language"),
    [
        ("zh-CN en", "en", "zh-CN"),
        ("fr zh", "en", "zh-CN"),
        ("se", "zh", "zh-CN"),
        ("", "zh", "zh-CN"),
        ("en", "zh", "en"),
        ("se", "", "en"),
    ],
)
def test_the_language_is_the_one_asked_for(browser: Browser, locales: str, accepted: str, language: str) -> None:
    browser.language = accepted
    page = browser.authorize(ui_locales=locales)
    assert f'<html lang="{language}"' in page.text
    refused = browser.sign_in(page, password="wrong")
    assert f'<html lang="{language}"' in refused.text
    assert refused.texts["password-message"] == section("pages", language[:2])["A0210"]


# The same rules as at every login


def test_it_is_recorded_as_every_login(browser: Browser, gatehouse: InProcess) -> None:
    browser.sign_in(browser.authorize(), password="wrong")
    browser.sign_in(browser.authorize())
    token = gatehouse.login().data["accessToken"]
    gatehouse.run(gatehouse.service.audit.stop())
    logins = gatehouse.request("GET", "/api/v1/users/me/logins", token=token).data["logins"]
    assert len(logins) == 2
    trail = gatehouse.run(gatehouse.service.stores.audit_trail.read(newest=50))
    failed = [entry.reason for entry in trail if entry.event == Event.LOGIN_FAILED]
    assert failed == ["password"]
    sessions = gatehouse.request("GET", "/api/v1/users/me/sessions", token=token).data["sessions"]
    assert sorted(each["current"] for each in sessions) == [False, True]


def test_who_is_disabled_meanwhile_signs_in_again(browser: Browser, gatehouse: InProcess) -> None:
    add_person(gatehouse)
    browser.sign_in(browser.authorize(), "ann")
    gatehouse.run(gatehouse.accounts.disable_user("ann"))
    page = browser.authorize()
    assert page.status == 200
    assert browser.sign_in(page, "ann").texts["password-message"] == ENGLISH["A0210"]
    assert browser.authorize(prompt="none").query["error"] == "login_required"


def test_a_factor_that_is_required_by_now_ends_a_session_without_one(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data") as gatehouse:
        Application(gatehouse)
        browser = Browser(gatehouse)
        browser.sign_in(browser.authorize())
        cookies = browser.cookies
    with InProcess(tmp_path / "data", gatehouse.clock, second_factor="required") as gatehouse:
        browser = Browser(gatehouse)
        browser.cookies = cookies
        assert "captchaCode" in browser.authorize().fields


# The second factor


@pytest.fixture
def enrolled(gatehouse: InProcess) -> tuple[App, list[str]]:
    return with_app(gatehouse, add_person(gatehouse))


def to_code(browser: Browser, **request: str) -> Page:
    page = browser.sign_in(browser.authorize(**request), "ann")
    assert page.status == 200
    assert set(page.fields) == {"form", "next", "ticket", "pending", "otpCode"}
    return page


def test_the_code_comes_on_a_page_of_its_own(
    browser: Browser, app: Application, gatehouse: InProcess, enrolled: tuple[App, list[str]]
) -> None:
    page = to_code(browser)
    assert not browser.is_logged_in
    gatehouse.clock.move(30)
    code = enrolled[0].code()
    back = browser.submit(page, "confirm", otpCode=f" {code[:3]} {code[3:]} ")
    claims = app.read(app.exchange(back.query["code"], code_verifier="").json["id_token"])
    assert (claims["acr"], claims["amr"]) == ("2", ["pwd", "otp"])


def test_a_recovery_code_works_too(browser: Browser, enrolled: tuple[App, list[str]]) -> None:
    assert "code" in browser.submit(to_code(browser), "confirm", otpCode=enrolled[1][0]).query
    browser.cookies.clear()
    again = browser.submit(to_code(browser), "confirm", otpCode=enrolled[1][0])
    assert again.texts["otpCode-message"] == ENGLISH["login.code.again"]


def test_a_wrong_code_is_told_and_can_be_corrected(
    browser: Browser, gatehouse: InProcess, enrolled: tuple[App, list[str]]
) -> None:
    refused = browser.submit(to_code(browser), "confirm", otpCode=enrolled[0].wrong())
    assert refused.status == 400
    assert refused.texts["otpCode-message"] == ENGLISH["login.code.again"]
    assert not browser.is_logged_in
    gatehouse.clock.move(30)
    assert "code" in browser.submit(refused, "confirm", otpCode=enrolled[0].code()).query


def test_wrong_codes_count_as_failed_logins_of_the_name(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_name="2/minute") as gatehouse:
        Application(gatehouse)
        add_person(gatehouse)
        device, _ = with_app(gatehouse, "ann")
        gatehouse.clock.move(30)
        browser = Browser(gatehouse)
        page = to_code(browser)
        for _ in range(2):
            page = browser.submit(page, "confirm", otpCode=device.wrong())
        locked = browser.submit(page, "confirm", otpCode=device.code())
        assert (page.status, locked.status) == (400, 429)
        assert "30 seconds" in locked.texts["otpCode-message"]
        assert not browser.is_logged_in
        assert browser.sign_in(browser.authorize(), "ann").status == 429, "counted under one key with passwords"


def test_a_password_that_was_shown_is_void_once_it_has_changed(
    browser: Browser, gatehouse: InProcess, enrolled: tuple[App, list[str]]
) -> None:
    page = to_code(browser)
    gatehouse.run(gatehouse.accounts.set_password("ann", hash_password("another password of ann")))
    gatehouse.clock.move(30)
    refused = browser.submit(page, "confirm", otpCode=enrolled[0].code())
    assert refused.status == 400
    assert "captchaCode" in refused.fields, "from the beginning"
    assert not browser.is_logged_in


def test_a_password_that_was_shown_is_good_for_a_while_and_for_this_browser(
    browser: Browser, gatehouse: InProcess, enrolled: tuple[App, list[str]]
) -> None:
    page = to_code(browser)
    other = Browser(gatehouse)
    other.authorize()
    stolen = page._replace(fields={**page.fields, "form": other.authorize().fields["form"]})
    gatehouse.clock.move(30)
    assert "captchaCode" in other.submit(stolen, "confirm", otpCode=enrolled[0].code()).fields
    gatehouse.clock.move(301)
    assert "captchaCode" in browser.submit(page, "confirm", otpCode=enrolled[0].code()).fields


def test_a_code_may_come_in_place_of_the_picture_as_in_every_console(
    browser: Browser, gatehouse: InProcess, enrolled: tuple[App, list[str]]
) -> None:
    gatehouse.clock.move(30)
    assert "code" in browser.sign_in(browser.authorize(), "ann", captcha=enrolled[0].code()).query


def test_who_must_have_a_factor_and_has_none_is_sent_to_the_login_page_and_back(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", second_factor="required") as gatehouse:
        Application(gatehouse)
        browser = Browser(gatehouse)
        page = browser.authorize()
        refused = browser.sign_in(page)
        assert refused.status == 400
        assert not browser.is_logged_in
        assert refused.links["elsewhere"].startswith(
            "../?next=%2Foauth2%2Fauthorize%3Fclient_id%3Dapp%26request_uri%3D"
        )
        assert ENGLISH["flow.enrol"] in refused.text


# A passkey: the script of the page sends it as a form


def passkey_of(gatehouse: InProcess, name: str) -> Authenticator:
    token = gatehouse.login(name).data["accessToken"]
    device = Authenticator(ISSUER, "gatehouse.localhost")
    proof = {"currentPassword": PASSWORD}
    made = gatehouse.request("POST", "/api/v1/users/me/passkeys/options", body=proof, token=token).data
    answer = {"name": "Phone", "credential": device.create(made["publicKey"])}
    assert gatehouse.request("POST", "/api/v1/users/me/passkeys", body=answer, token=token).status == 200
    return device


def shown(gatehouse: InProcess, device: Authenticator) -> str:
    challenge: Any = gatehouse.request("POST", "/api/v1/auth/passkey/options").data["publicKey"]
    return json.dumps(device.get(challenge))


def test_a_passkey_signs_in(browser: Browser, app: Application, gatehouse: InProcess) -> None:
    device = passkey_of(gatehouse, add_person(gatehouse))
    back = browser.submit(browser.authorize(), credential=shown(gatehouse, device))
    claims = app.read(app.exchange(back.query["code"], code_verifier="").json["id_token"])
    assert (claims["acr"], claims["amr"]) == ("2", ["hwk"])


@pytest.mark.parametrize("credential", ["", "{", "[]", '{"id": 1}', "null", "[" * 10_000])
def test_what_no_passkey_says_is_refused(browser: Browser, credential: str) -> None:
    refused = browser.submit(browser.authorize(), credential=credential)
    assert refused.status == 400
    assert refused.texts["form-message"] == ENGLISH["login.passkey.refused"]
    assert not browser.is_logged_in


def test_who_has_a_passkey_alone_is_told_to_use_it(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", issuer=ISSUER, second_factor_roles="GUEST") as gatehouse:
        Application(gatehouse)
        add_person(gatehouse)
        passkey_of(gatehouse, "ann")
        gatehouse.run(gatehouse.accounts.add_role("GUEST", "Guests"))
        gatehouse.run(gatehouse.accounts.grant("ann", ["GUEST"]))
        browser = Browser(gatehouse)
        refused = browser.sign_in(browser.authorize(), "ann")
        assert refused.status == 400
        assert ENGLISH["flow.passkey"] in refused.text
