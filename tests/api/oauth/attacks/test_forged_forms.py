"""Forms that another site sends from somebody's browser, pages in its frames, and sessions that it plants."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.api.oauth.application import CALLBACK, Application
from tests.api.oauth.attacks.parties import (
    ISSUER,
    WITH_PKCE,
    add_person,
    signed_in,
    tokens_of,
)
from tests.api.oauth.flow import AUTHORIZE, Browser, Page, asked
from tests.support.inprocess import InProcess
from tests.support.running import ANSWER, PASSWORD

SESSION, BROWSER = "__Host-gatehouse_session", "__Host-gatehouse_browser"


def is_sign_in(page: Page) -> bool:
    return "captchaCode" in page.fields


def is_logged_in(browser: Browser) -> bool:
    return not is_sign_in(browser.authorize())


# Login: the attacker wants the victim to work in the attacker's account


def test_the_form_of_an_attacker_logs_nobody_in(app: Application, gatehouse: InProcess) -> None:
    """Login CSRF: everything in the form is right, but it was made for the attacker's browser."""
    attacker, victim = Browser(gatehouse), Browser(gatehouse)
    page = attacker.authorize()
    typed = {"username": "admin", "password": PASSWORD, "captchaCode": ANSWER}
    forged = victim.send("POST", f"{ISSUER}/oauth2/sign-in", {**page.fields, **typed})
    assert (forged.status, is_sign_in(forged)) == (400, True)
    assert SESSION not in victim.cookies
    victim.authorize()  # has a form of its own by now
    again = victim.send("POST", f"{ISSUER}/oauth2/sign-in", {**attacker.authorize().fields, **typed})
    assert (again.status, SESSION in victim.cookies) == (400, False)


@pytest.mark.parametrize("token", ["", "x", "ü", "A" * 43, "null"])
def test_nor_does_one_with_an_invented_token(app: Application, browser: Browser, token: str) -> None:
    page = browser.authorize()
    refusal = browser.submit(page, username="admin", password=PASSWORD, captchaCode=ANSWER, form=token)
    assert (refusal.status, SESSION in browser.cookies) == (400, False)
    del browser.cookies[BROWSER]
    refusal = browser.submit(page, username="admin", password=PASSWORD, captchaCode=ANSWER)
    assert (refusal.status, SESSION in browser.cookies) == (400, False)


def test_a_cookie_of_any_length_makes_no_form_token_fit(app: Application, browser: Browser) -> None:
    page = browser.authorize()
    for planted in ("", "x" * 65, "x" * 5000):
        browser.cookies[BROWSER] = planted
        refusal = browser.submit(page, username="admin", password=PASSWORD, captchaCode=ANSWER)
        assert (refusal.status, SESSION in browser.cookies) == (400, False)
        assert browser.cookies[BROWSER] != planted, "and keeps nobody out"


def test_the_second_step_of_a_login_is_for_the_browser_of_the_first(gatehouse: InProcess, app: Application) -> None:
    """A page that waits for a code is worth nothing in another browser, with the right code or without."""
    victim = Browser(gatehouse)
    form = {**victim.authorize().fields, "ticket": "x", "otpCode": "123456"}
    stolen = Browser(gatehouse).send("POST", f"{ISSUER}/oauth2/factor", form)
    assert (stolen.status, is_sign_in(stolen)) == (400, True)


def test_a_forged_request_makes_the_browser_nothing_but_a_visitor(app: Application, gatehouse: InProcess) -> None:
    """CSRF at authorize: `state` comes back as it came, so the application sees that it did not ask."""
    victim = signed_in(gatehouse)
    answer = victim.authorize(state="of the attacker").query
    assert answer["state"] == "of the attacker"
    assert "state" not in victim.authorize(state="").query


def test_a_cross_site_post_uses_no_session(app: Application, gatehouse: InProcess) -> None:
    """Browsers send no cookie of ours with it; the request goes on as a GET, under the rules of one."""
    victim = signed_in(gatehouse)
    for path in ("sign-in", "consent", "logout", "factor"):
        without_cookies = Browser(gatehouse).send("POST", f"{ISSUER}/oauth2/{path}", {"next": "/oauth2/enter?to="})
        assert SESSION not in "".join(without_cookies.answer.cookies)
    assert is_logged_in(victim)


# Consent


def test_nobody_consents_by_the_form_of_another_site(hostile: Application, gatehouse: InProcess) -> None:
    """With the cookies of the victim, and with a token from the attacker's own page."""
    attacker, victim = signed_in(gatehouse), signed_in(gatehouse)
    request = {"client_id": "hostile", "redirect_uri": "https://hostile.example/callback", **WITH_PKCE}
    own = attacker.authorize(**request)
    assert own.buttons.keys() >= {"allow", "deny"}
    for form in (
        {"next": own.fields["next"], "answer": "allow"},
        {**own.fields, "answer": "allow"},
        {**own.fields, "answer": "allow", "form": ""},
        {"next": f"{AUTHORIZE}?{urlencode(asked(**request))}", "answer": "allow", "form": own.fields["form"]},
    ):
        victim.follow(victim.send("POST", f"{ISSUER}/oauth2/consent", form))
        assert "allow" in victim.authorize(**request).buttons, "still asked"
        assert victim.authorize(**request, prompt="none").query["error"] == "consent_required"


def test_a_consent_is_for_what_it_showed(gatehouse: InProcess) -> None:
    """More scopes, or claims by name that belong to more, are asked for anew."""
    app = Application(gatehouse, "third", first_party=False)
    browser, request = signed_in(gatehouse), {"client_id": "third", **WITH_PKCE}
    first = browser.submit(browser.authorize(scope="openid", **request), "allow")
    assert "code" in first.query
    assert "code" in browser.authorize(scope="openid", prompt="none", **request).query
    for more in (
        {"scope": "openid email"},
        {"scope": "openid offline_access"},
        {"scope": "openid roles"},
        {"scope": "openid", "claims": '{"userinfo": {"email": null}}'},
        {"scope": "openid", "claims": '{"id_token": {"phone_number": {"essential": true}}}'},
    ):
        assert browser.authorize(prompt="none", **request, **more).query.get("error") == "consent_required", more
        assert "allow" in browser.authorize(**request, **more).buttons, more
    assert app.client_id == "third"


def test_a_consent_is_of_one_person_for_one_application(gatehouse: InProcess) -> None:
    add_person(gatehouse, "carol")
    for name in ("third-a", "third-b"):
        Application(gatehouse, name, first_party=False)
    browser = signed_in(gatehouse)
    browser.submit(browser.authorize(client_id="third-a", **WITH_PKCE), "allow")
    assert "code" in browser.authorize(client_id="third-a", prompt="none", **WITH_PKCE).query
    assert browser.authorize(client_id="third-b", prompt="none", **WITH_PKCE).query["error"] == "consent_required"
    carol = signed_in(gatehouse, "carol")
    assert carol.authorize(client_id="third-a", prompt="none", **WITH_PKCE).query["error"] == "consent_required"


def test_a_page_that_somebody_else_has_left_open_counts_for_nobody(gatehouse: InProcess) -> None:
    """Two people at one browser: the form in the other tab asks again, as whoever is logged in by now."""
    add_person(gatehouse, "ivy")
    Application(gatehouse, "third-c", first_party=False)
    browser, request = signed_in(gatehouse), {"client_id": "third-c", **WITH_PKCE}
    consent, logout = browser.authorize(**request), browser.open("/oauth2/logout")
    gatehouse.clock.move(1)
    browser.sign_in(browser.authorize(client_id="third-c", prompt="login", **WITH_PKCE), "ivy")
    again = browser.submit(consent, "allow")
    assert "allow" in again.buttons
    assert browser.authorize(prompt="none", **request).query["error"] == "consent_required"
    assert "form" in browser.submit(logout, "log-out").fields
    assert is_logged_in(browser)


def test_who_says_no_gives_nothing(hostile: Application, gatehouse: InProcess) -> None:
    browser = signed_in(gatehouse)
    request = {"client_id": "hostile", "redirect_uri": "https://hostile.example/callback", **WITH_PKCE}
    for answer in ("", "deny", "ALLOW", "allow allow", "yes"):
        page = browser.submit(browser.authorize(**request), answer=answer)
        assert page.query["error"] == "access_denied"
        assert "code" not in page.query


# Logout


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"client_id": "app"},
        {"logout_hint": "admin"},
        {"confirmed": "1"},
        {"confirmed": "1", "form": "x"},
        {"id_token_hint": "x.y.z"},
    ],
)
def test_another_site_logs_nobody_out(app: Application, gatehouse: InProcess, query: dict[str, str]) -> None:
    """A link, an image or a form: the person is asked."""
    victim = signed_in(gatehouse)
    assert victim.open("/oauth2/logout", **query).status in {200, 400}
    victim.follow(victim.send("POST", f"{ISSUER}/oauth2/logout", query))
    attackers = signed_in(gatehouse).open("/oauth2/logout")
    victim.follow(victim.send("POST", f"{ISSUER}/oauth2/logout", {**attackers.fields, "confirmed": "1"}))
    assert is_logged_in(victim)


def test_an_id_token_logs_out_its_own_session_alone(app: Application, gatehouse: InProcess) -> None:
    """The attacker's own ID token in the victim's browser."""
    attacker, victim = signed_in(gatehouse), signed_in(gatehouse)
    hint = tokens_of(app, attacker)["id_token"]
    page = victim.open("/oauth2/logout", id_token_hint=hint)
    assert "form" in page.fields
    victim.follow(victim.send("POST", f"{ISSUER}/oauth2/logout", {"id_token_hint": hint}))
    assert is_logged_in(victim)


# Clickjacking


def test_no_page_shows_in_a_frame(app: Application, hostile: Application, gatehouse: InProcess) -> None:
    browser, nobody = signed_in(gatehouse), Browser(gatehouse)
    consent = browser.authorize(client_id="hostile", redirect_uri="https://hostile.example/callback", **WITH_PKCE)
    pages = [
        nobody.authorize(),
        consent,
        browser.open("/oauth2/logout"),
        browser.authorize(response_mode="form_post"),
        browser.authorize(redirect_uri="https://evil.example"),
        nobody.open("/oauth2/logout"),
    ]
    assert consent.buttons.keys() >= {"allow", "deny"}
    for page in pages:
        headers = page.answer.headers
        policy = headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
        assert "default-src 'none'" in policy
        assert "base-uri 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"


# Sessions that are planted, old or of somebody else


def test_a_session_that_was_planted_is_not_the_victims(app: Application, gatehouse: InProcess) -> None:
    """Fixation: the attacker's cookie in the victim's browser is worth nothing to the attacker after the login."""
    add_person(gatehouse, "dora")
    attacker = signed_in(gatehouse)
    victim = Browser(gatehouse)
    victim.cookies[SESSION] = attacker.cookies[SESSION]
    gatehouse.clock.move(1)
    victim.sign_in(victim.authorize(prompt="login"), "dora")
    assert victim.cookies[SESSION] != attacker.cookies[SESSION]
    assert not is_logged_in(attacker), "the planted session has ended"
    assert is_logged_in(victim)


def test_an_own_session_is_not_shared_by_a_cookie_from_before(app: Application, gatehouse: InProcess) -> None:
    """The same user logs in again: the session goes on, and cookies from before the login are void."""
    browser = signed_in(gatehouse)
    thief = Browser(gatehouse)
    thief.cookies[SESSION] = browser.cookies[SESSION]
    assert is_logged_in(thief)
    gatehouse.clock.move(1)
    browser.sign_in(browser.authorize(prompt="login"))
    assert not is_logged_in(thief)
    assert is_logged_in(browser)


def test_the_cookie_of_an_ended_session_opens_nothing(app: Application, gatehouse: InProcess) -> None:
    browser = signed_in(gatehouse)
    cookie = browser.cookies[SESSION]
    browser.submit(browser.open("/oauth2/logout"), "log-out")
    assert SESSION not in browser.cookies
    browser.cookies[SESSION] = cookie
    assert not is_logged_in(browser)
    assert browser.authorize(prompt="none").query["error"] == "login_required"


@pytest.mark.parametrize("cookie", ["", "x", "A" * 200, "A" * 5000, "%00", "1-abc", "ü".encode().decode("latin-1")])
def test_a_cookie_that_we_did_not_make_is_nobody(app: Application, browser: Browser, cookie: str) -> None:
    browser.cookies[SESSION] = cookie
    assert browser.authorize(prompt="none").query["error"] == "login_required"


def test_a_cookie_without_the_prefix_is_not_read(app: Application, gatehouse: InProcess) -> None:
    """A neighbouring host can set a cookie of any name but one that begins with `__Host-`."""
    browser = signed_in(gatehouse)
    other = Browser(gatehouse)
    other.cookies["gatehouse_session"] = browser.cookies[SESSION]
    other.cookies["__Secure-gatehouse_session"] = browser.cookies[SESSION]
    assert not is_logged_in(other)


def test_cookies_are_for_this_host_and_no_script(app: Application, browser: Browser) -> None:
    page = browser.authorize()
    cookies = [*page.answer.cookies]
    after = browser.submit(page, follow=False, username="admin", password=PASSWORD, captchaCode=ANSWER)
    cookies += after.answer.cookies
    assert {cookie.partition("=")[0] for cookie in cookies} == {SESSION, BROWSER}
    for cookie in cookies:
        _, *flags = cookie.split("; ")
        assert set(flags) == {"Path=/", "HttpOnly", "SameSite=Lax", "Secure"}, "and until the browser is closed"


def test_a_session_of_the_browser_needs_a_token_of_ours(app: Application, gatehouse: InProcess) -> None:
    """The API that sets the cookie takes neither a cookie nor a token of an application."""
    browser = signed_in(gatehouse)
    tokens = tokens_of(app, browser)
    path = "/api/v1/auth/browser-session"
    for token in (tokens["access_token"], tokens["id_token"], tokens["refresh_token"]):
        answer = gatehouse.request("POST", path, token=token)
        assert (answer.status, answer.cookies) == (401, ())
    with_cookie = browser.send("POST", f"{ISSUER}{path}")
    assert (with_cookie.status, with_cookie.answer.cookies) == (401, ())


def test_a_code_is_not_given_by_a_cookie_alone_to_whom_may_not(gatehouse: InProcess) -> None:
    """Roles are read anew: somebody who is logged in elsewhere does not get into this application."""
    add_person(gatehouse, "erin")
    Application(gatehouse, "staff-only", roles=("ADMIN",))
    browser = signed_in(gatehouse, "erin")
    for prompt in ("", "none", "consent"):
        page = browser.authorize(client_id="staff-only", prompt=prompt, **WITH_PKCE)
        assert (page.query["error"], "code" in page.query) == ("access_denied", False)
    assert page.location.startswith(CALLBACK)
