"""Attacks on the pages of a login: forms of other sites, frames, markup in values, addresses elsewhere, cookies.

Those on codes and tokens are with the token endpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from tests.api.oauth.application import Application
from tests.api.oauth.conftest import ISSUER
from tests.api.oauth.flow import Browser, Page, asked
from tests.api.oauth.test_browser_sessions import COOKIE, lives, session_of
from tests.api.oauth.test_sign_in import add_person, with_app
from tests.support.inprocess import InProcess
from tests.support.running import ANSWER, PASSWORD

MARKUP = "\"'><script>alert(1)</script>{form}{{next}}<!--providers-->"


@pytest.fixture
def logged_in(browser: Browser) -> Browser:
    browser.sign_in(browser.authorize())
    browser.service.clock.move(5)
    return browser


@pytest.fixture
def attacker(gatehouse: InProcess) -> Browser:
    """Has an account of their own, and forms that we made for them."""
    add_person(gatehouse, "mallory")
    return Browser(gatehouse)


def plant(browser: Browser, page: Page, **values: str) -> Page:
    """Another site lets the browser send a form that it has got itself. Lax cookies stay behind."""
    cookies, browser.cookies = browser.cookies, {}
    sent = browser.send("POST", f"{ISSUER}/oauth2/{page.action}", {**page.fields, **values})
    gone = {cookie.partition("=")[0] for cookie in sent.answer.cookies if "Max-Age=0" in cookie}
    browser.cookies = {name: value for name, value in cookies.items() if name not in gone} | browser.cookies
    return sent


# Forms of other sites


def test_nobody_is_logged_in_by_a_form_of_another_site(browser: Browser, attacker: Browser) -> None:
    """Login CSRF: the victim would work in the attacker's account."""
    page, mallory = attacker.authorize(), {"username": "mallory", "password": PASSWORD, "captchaCode": ANSWER}
    for cookies in ({}, {"__Host-gatehouse_browser": ""}, dict(browser.cookies)):
        browser.cookies = cookies
        assert plant(browser, page, **mallory).status == 400
        assert not browser.is_logged_in
    browser.authorize()  # the victim has a cookie of their own
    refused = browser.send("POST", f"{ISSUER}/oauth2/sign-in", {**page.fields, **mallory})
    assert refused.status == 400
    assert not browser.is_logged_in


def test_nobody_is_logged_in_by_the_second_step_of_somebody_else(
    browser: Browser, attacker: Browser, gatehouse: InProcess
) -> None:
    device, _ = with_app(gatehouse, "mallory")
    page = attacker.sign_in(attacker.authorize(), "mallory")
    gatehouse.clock.move(30)
    own = browser.authorize()
    assert plant(browser, page, otpCode=device.code()).status == 400
    sent = browser.send(
        "POST", f"{ISSUER}/oauth2/factor", {**page.fields, "form": own.fields["form"], "otpCode": device.code()}
    )
    assert sent.status == 400
    assert not browser.is_logged_in


def test_nobody_consents_by_a_form_of_another_site(
    logged_in: Browser, attacker: Browser, app: Application, gatehouse: InProcess
) -> None:
    app.edit(first_party=False)
    page = attacker.sign_in(attacker.authorize(), "mallory")
    plant(logged_in, page, answer="allow")
    # Even with the cookies, as an old browser would send them.
    logged_in.send("POST", f"{ISSUER}/oauth2/consent", {**page.fields, "answer": "allow"})
    own = logged_in.authorize()
    assert "allow" in own.buttons
    # Neither with a token that this browser got for another form, or in another login.
    sign_in = logged_in.authorize(prompt="login")
    stale = {**own.fields, "form": sign_in.fields["form"], "answer": "allow"}
    logged_in.send("POST", f"{ISSUER}/oauth2/consent", stale)
    assert "allow" in logged_in.authorize().buttons
    gatehouse.clock.move(1)
    logged_in.sign_in(logged_in.authorize(prompt="login"))
    logged_in.submit(own, "allow", follow=False)
    assert "allow" in logged_in.authorize().buttons


def test_nobody_is_logged_out_by_another_site(logged_in: Browser, attacker: Browser, app: Application) -> None:
    attacker.sign_in(attacker.authorize(), "mallory")
    question = attacker.open("/oauth2/logout")
    for form in ({"confirmed": "yes"}, {"client_id": "app"}, {}):
        plant(logged_in, question, **form)
    logged_in.send("POST", f"{ISSUER}/oauth2/logout", {**question.fields, "confirmed": "yes"})
    logged_in.open("/oauth2/logout", confirmed="yes")
    back = attacker.authorize()
    theirs = app.exchange(back.query["code"], code_verifier="").json["id_token"]
    logged_in.open("/oauth2/logout", id_token_hint=theirs)
    plant(logged_in, question._replace(fields={}), id_token_hint=theirs)
    assert logged_in.is_logged_in
    assert "code" in logged_in.authorize(prompt="none").query


# Planted cookies


def test_a_planted_session_is_not_the_victims(
    browser: Browser, attacker: Browser, gatehouse: InProcess, app: Application
) -> None:
    """Session fixation: what the attacker knows must open nothing after the victim's login."""
    attacker.sign_in(attacker.authorize(), "mallory")
    known = dict(attacker.cookies)
    planted = session_of(gatehouse, app, attacker)
    browser.cookies = dict(known)
    gatehouse.clock.move(1)
    browser.sign_in(browser.authorize(prompt="login"))
    assert browser.cookies[COOKIE] != known[COOKIE]
    assert not lives(gatehouse, planted)
    attacker.cookies = known
    assert attacker.authorize(prompt="none").query["error"] == "login_required"


# Frames, caches, referrers


@pytest.mark.parametrize(
    "show",
    [
        lambda browser: browser.authorize(),
        lambda browser: browser.sign_in(browser.authorize(), password="wrong"),
        lambda browser: browser.authorize(client_id="unknown"),
        lambda browser: browser.sign_in(browser.authorize(prompt="consent")),
        lambda browser: browser.sign_in(browser.authorize(response_mode="form_post")),
        lambda browser: browser.open("/oauth2/logout"),
    ],
    ids=["sign-in", "refused", "problem", "consent", "post", "logged-out"],
)
def test_no_page_can_be_framed_or_kept(browser: Browser, show: Callable[[Browser], Page]) -> None:
    headers = show(browser).answer.headers
    policy = {rule.split()[0]: rule.split()[1:] for rule in headers["content-security-policy"].split(";")}
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == ["'none'"]
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == ["'self'"]
    assert policy["form-action"][0] == "'self'"
    assert set(policy["form-action"]) <= {"'self'", "https:"}
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"


def test_redirects_are_not_kept_and_tell_no_referrer(logged_in: Browser) -> None:
    for page in (logged_in.authorize(), logged_in.send("POST", f"{ISSUER}/oauth2/authorize", asked())):
        assert page.answer.headers["cache-control"] == "no-store"
        assert page.answer.headers["referrer-policy"] == "no-referrer"


# Markup in values


def test_values_are_text(browser: Browser, app: Application) -> None:
    app.change(name=MARKUP[:64])
    pages = [browser.authorize(login_hint=MARKUP, state=MARKUP, ui_locales=MARKUP)]
    pages.append(browser.submit(pages[0], "sign-in", username=MARKUP[:40], password="x", captchaCode=MARKUP[:30]))
    pages.append(browser.submit(pages[1], "captcha-reload", username=MARKUP))
    pages.append(browser.sign_in(browser.authorize(prompt="consent", state=MARKUP)))
    pages.append(browser.authorize(state=MARKUP, response_mode="form_post"))
    pages.append(browser.open("/oauth2/logout", state=MARKUP, ui_locales=MARKUP))
    assert [page.status for page in pages] == [200, 400, 200, 200, 200, 200]
    for page in pages:
        assert "<script>" not in page.text
        assert page.text.count("<script") == 1
    assert pages[0].fields["username"] == MARKUP, "and nothing is lost"
    assert pages[4].fields["state"] == MARKUP


@pytest.mark.parametrize("state", ["a\r\nSet-Cookie: x=y", "a\nb", "é\u2028中", "%0d%0a"])
def test_a_state_comes_back_as_it_was_and_is_no_header(logged_in: Browser, state: str) -> None:
    back = logged_in.authorize(state=state)
    assert back.query["state"] == state
    assert back.location.isascii()
    assert not set("\r\n") & set(back.location)


# Addresses elsewhere


@pytest.mark.parametrize(
    "going_on",
    [
        "",
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "/oauth2/authorize@evil.example",
        "/oauth2/authorize/../../evil",
        "/oauth2/authorize?client_id=app&redirect_uri=https://evil.example/",
        "/oauth2/authorize?client_id=app&request_uri=urn:ietf:params:oauth:request_uri:x",
        "/oauth2/enter?to=https://evil.example/",
        "/oauth2/logout",
        "javascript:alert(1)",
        "/oauth2/authorize?" + "x" * 20_000,
    ],
)
def test_a_form_leads_to_none_but_our_own_steps(browser: Browser, going_on: str) -> None:
    page = browser.authorize()
    sent = browser.submit(
        page, "sign-in", follow=False, next=going_on, username="admin", password=PASSWORD, captchaCode=ANSWER
    )
    assert sent.status == 400
    assert not browser.is_logged_in
    assert "evil" not in sent.text


def test_a_login_leads_to_our_own_host_first(browser: Browser) -> None:
    sent = browser.submit(
        browser.authorize(), "sign-in", follow=False, username="admin", password=PASSWORD, captchaCode=ANSWER
    )
    assert sent.location.startswith(f"{ISSUER}/oauth2/authorize?")
    assert urlsplit(sent.location).netloc == urlsplit(ISSUER).netloc


# Other requests' tickets


def test_the_request_of_one_application_is_not_anothers(browser: Browser, gatehouse: InProcess) -> None:
    Application(gatehouse, "other")
    page = browser.authorize()
    sealed = page.fields["next"].partition("request_uri=")[2]
    swapped = browser.open("/oauth2/authorize", client_id="other", request_uri=sealed.replace("%3A", ":"))
    assert swapped.status == 400
    assert "request_uri" in swapped.texts["problem"]


def test_a_request_is_checked_again_when_somebody_has_signed_in(browser: Browser, app: Application) -> None:
    page = browser.authorize()
    app.edit(redirect_uris=("https://app.example/other",))
    assert "redirect_uri" in browser.sign_in(page).texts["problem"]
