"""RP-initiated logout: at once where an ID token of ours names the session, else after a question."""

from __future__ import annotations

import base64
import json

import jwt
import pytest

from gatehouse.auth.audit import Event
from gatehouse.auth.keys.jws import MAX_TOKEN_LENGTH
from gatehouse.auth.oauth.standard_claims import ADDRESS_FIELDS
from gatehouse.management.accepted_values import CLAIM_MAX
from gatehouse.stores.database.users import UserChange
from tests.api.oauth.application import Application
from tests.api.oauth.flow import Browser, Page
from tests.api.oauth.test_sign_in import add_person
from tests.support.inprocess import InProcess

BYE = "https://app.example/bye"
LOGOUT = "/oauth2/logout"


@pytest.fixture
def hint(browser: Browser, app: Application) -> str:
    """Somebody is logged in, and the application has this ID token."""
    back = browser.sign_in(browser.authorize())
    return str(app.exchange(back.query["code"], code_verifier="").json["id_token"])


def is_out(browser: Browser) -> bool:
    return bool(browser.authorize(prompt="none").query.get("error") == "login_required")


def is_question(page: Page) -> bool:
    return page.status == 200 and "log-out" in page.buttons


def test_the_application_logs_out_and_gets_its_user_back(browser: Browser, hint: str) -> None:
    back = browser.open(LOGOUT, id_token_hint=hint, post_logout_redirect_uri=BYE, state="a state")
    assert back.location == f"{BYE}?state=a+state"
    assert not browser.is_logged_in
    assert is_out(browser)


def test_without_a_state_there_is_none_and_a_query_stays(browser: Browser, app: Application, hint: str) -> None:
    app.edit(post_logout_redirect_uris=(f"{BYE}?x=1",))
    assert browser.open(LOGOUT, id_token_hint=hint, post_logout_redirect_uri=f"{BYE}?x=1").location == f"{BYE}?x=1"


def test_by_form_as_well(browser: Browser, hint: str) -> None:
    form = {"id_token_hint": hint, "post_logout_redirect_uri": BYE, "state": "s"}
    cookies, browser.cookies = browser.cookies, {}  # they do not come with a form of another site
    assert browser.send("POST", browser.url + LOGOUT, form).location == f"{BYE}?state=s"
    browser.cookies = cookies
    assert is_out(browser)


def test_an_old_id_token_will_do(browser: Browser, gatehouse: InProcess, hint: str) -> None:
    gatehouse.clock.move(gatehouse.settings.access_ttl + 60)
    assert browser.open(LOGOUT, id_token_hint=hint, post_logout_redirect_uri=BYE).location == BYE


def test_a_long_id_token_will_do(browser: Browser, app: Application, gatehouse: InProcess) -> None:
    app.edit(claims_in_id_token=True)
    claims = json.dumps(dict.fromkeys((f"address.{name}" for name in ADDRESS_FIELDS), "北" * CLAIM_MAX))
    gatehouse.run(gatehouse.accounts.edit_user("admin", UserChange(avatar="/" + "a" * 1000, claims=claims)))
    back = browser.sign_in(browser.authorize(scope="openid profile address"))
    hint = str(app.exchange(back.query["code"], code_verifier="").json["id_token"])
    assert len(hint) > MAX_TOKEN_LENGTH
    other = Browser(gatehouse)
    add_person(gatehouse, "ann")
    other.sign_in(other.authorize(), "ann")
    assert other.authorize(prompt="none", id_token_hint=hint).query["error"] == "login_required", "of somebody else"
    assert browser.open(LOGOUT, id_token_hint=hint, post_logout_redirect_uri=BYE).location == BYE
    assert is_out(browser)


def test_without_an_address_a_page_says_so(browser: Browser, hint: str) -> None:
    page = browser.open(LOGOUT, id_token_hint=hint)
    assert page.status == 200
    assert page.texts["logged-out"]
    assert is_out(browser)


def test_without_an_id_token_the_person_is_asked(browser: Browser, hint: str) -> None:
    for query in ({}, {"state": "s"}, {"client_id": "app", "post_logout_redirect_uri": BYE, "state": "s"}):
        assert is_question(browser.open(LOGOUT, **query))
        assert not is_out(browser)
    assert hint
    back = browser.submit(browser.open(LOGOUT, client_id="app", post_logout_redirect_uri=BYE, state="s"), "log-out")
    assert back.location == f"{BYE}?state=s"
    assert is_out(browser)


def test_the_longest_address_and_state_survive_the_question(browser: Browser, app: Application, hint: str) -> None:
    bye, state = f"{BYE}?{'x' * 990}", "s" * 2048
    app.edit(post_logout_redirect_uris=(bye,))
    page = browser.open(LOGOUT, client_id="app", post_logout_redirect_uri=bye, state=state)
    assert browser.submit(page, "log-out").location == f"{bye}&state={state}"
    assert hint


def test_no_application_named_no_address_gone_to(browser: Browser, hint: str) -> None:
    page = browser.open(LOGOUT, post_logout_redirect_uri=BYE)
    assert is_question(page)
    done = browser.submit(page, "log-out")
    assert done.texts["logged-out"]
    assert hint


def test_a_form_of_the_application_without_an_id_token_is_asked_about(browser: Browser, hint: str) -> None:
    cookies, browser.cookies = browser.cookies, {}
    form = {"client_id": "app", "post_logout_redirect_uri": BYE, "state": "s"}
    sent = browser.send("POST", browser.url + LOGOUT, form)
    browser.cookies = cookies
    page = browser.follow(sent)
    assert is_question(page)
    assert browser.submit(page, "log-out").location == f"{BYE}?state=s"
    assert hint


@pytest.mark.parametrize("uri", ["https://evil.example/", f"{BYE}/", f"{BYE}?x=1", "javascript:alert(1)", "//evil"])
def test_an_address_that_is_not_registered_is_never_gone_to(browser: Browser, hint: str, uri: str) -> None:
    for query in ({"id_token_hint": hint}, {"client_id": "app"}):
        page = browser.open(LOGOUT, post_logout_redirect_uri=uri, **query)
        assert page.status == 400
        assert "post_logout_redirect_uri" in page.texts["problem"]
        assert "evil" not in page.text
    assert not is_out(browser)


def test_an_id_token_of_another_application_is_not_this_ones(browser: Browser, gatehouse: InProcess, hint: str) -> None:
    Application(gatehouse, "other", post_logout_redirect_uris=("https://other.example/",))
    page = browser.open(LOGOUT, id_token_hint=hint, client_id="other")
    assert page.status == 400
    assert "client_id" in page.texts["problem"]


def unsigned(token: str) -> str:
    head, body, _ = token.split(".")
    header = base64.urlsafe_b64encode(json.dumps({"alg": "none", "typ": "JWT"}).encode()).decode().rstrip("=")
    assert head != header
    return f"{header}.{body}."


def by_secret(token: str) -> str:
    claims = jwt.decode(token, options={"verify_signature": False})
    kid = jwt.get_unverified_header(token)["kid"]
    return jwt.encode(claims, "a secret that the application has, of some length", "HS256", {"kid": kid})


@pytest.mark.parametrize("forge", [unsigned, by_secret, lambda token: token[:-4] + "AAAA", lambda _: "x" * 9000])
def test_a_forged_id_token_is_as_good_as_none(browser: Browser, hint: str, forge: object) -> None:
    forged = forge(hint)  # type: ignore[operator]
    page = browser.open(LOGOUT, id_token_hint=forged, post_logout_redirect_uri=BYE)
    assert is_question(page)
    assert browser.submit(page, "log-out").texts["logged-out"], "and no redirect afterwards"


def test_an_access_token_is_no_id_token(browser: Browser, app: Application, hint: str) -> None:
    access = app.exchange(browser.authorize().query["code"], code_verifier="").json["access_token"]
    assert is_question(browser.open(LOGOUT, id_token_hint=access))
    assert hint


def test_whoever_is_logged_in_as_somebody_else_by_now_is_asked(
    browser: Browser, gatehouse: InProcess, hint: str
) -> None:
    add_person(gatehouse)
    gatehouse.clock.move(1)
    browser.sign_in(browser.authorize(prompt="login"), "ann")
    page = browser.open(LOGOUT, id_token_hint=hint, post_logout_redirect_uri=BYE)
    assert is_question(page)
    assert "ann" in page.text
    assert not is_out(browser)
    assert browser.submit(page, "log-out").location == BYE


def test_who_is_not_logged_in_is_logged_out(browser: Browser) -> None:
    assert browser.open(LOGOUT).texts["logged-out"]
    assert browser.open(LOGOUT, client_id="app", post_logout_redirect_uri=BYE, state="s").location == f"{BYE}?state=s"


def test_it_is_recorded(browser: Browser, gatehouse: InProcess, hint: str) -> None:
    browser.open(LOGOUT, id_token_hint=hint)
    gatehouse.run(gatehouse.service.audit.stop())
    trail = gatehouse.run(gatehouse.service.stores.audit_trail.read(newest=50))
    assert [entry.user for entry in trail if entry.event == Event.LOGOUT] == [1]
    ended = [entry.reason for entry in trail if entry.event == Event.SESSION_ENDED]
    assert ended == ["logout"]


def test_the_question_is_asked_in_the_language_asked_for(browser: Browser, hint: str) -> None:
    assert 'lang="zh-CN"' in browser.open(LOGOUT, ui_locales="zh").text
    assert hint


def test_the_way_back_is_kept_however_long_it_is(browser: Browser, gatehouse: InProcess) -> None:
    address = "https://app.example/" + "a" * 1000
    Application(gatehouse, "long", post_logout_redirect_uris=(address,))
    for state in ("s" * 2048, "世" * 682):
        browser.sign_in(browser.authorize(client_id="long"))
        asked = {"client_id": "long", "post_logout_redirect_uri": address, "state": state}
        page = browser.submit(browser.open(LOGOUT, **asked), "log-out")
        assert page.query == {"state": state}
