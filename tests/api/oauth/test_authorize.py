"""The authorization endpoint: how the application's wishes are met, and where each refusal goes."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import urlencode

import pytest

from tests.api.oauth.application import CALLBACK, Application
from tests.api.oauth.conftest import ISSUER
from tests.api.oauth.flow import Browser, Page, asked
from tests.api.oauth.test_sign_in import add_person, with_app
from tests.support.inprocess import InProcess

STATE = {"state": "a state", "iss": ISSUER}
UNMET = "unmet_authentication_requirements"


def id_token(app: Application, back: Page) -> str:
    return str(app.exchange(back.query["code"], code_verifier="").json["id_token"])


def claims(app: Application, back: Page) -> dict[str, object]:
    return app.read(id_token(app, back))


@pytest.fixture
def logged_in(browser: Browser) -> Browser:
    browser.sign_in(browser.authorize())
    browser.service.clock.move(10)
    return browser


# Fresh logins and second factors


def test_prompt_login_asks_again_and_keeps_the_session(logged_in: Browser, app: Application) -> None:
    before = claims(app, logged_in.authorize())
    page = logged_in.authorize(prompt="login")
    assert "captchaCode" in page.fields
    logged_in.service.clock.move(5)
    after = claims(app, logged_in.sign_in(page))
    assert after["sid"] == before["sid"]
    assert after["auth_time"] == before["auth_time"] + 15  # type: ignore[operator]


def test_select_account_asks_again_too(logged_in: Browser) -> None:
    assert "captchaCode" in logged_in.authorize(prompt="select_account").fields


def test_max_age(logged_in: Browser, app: Application) -> None:
    assert "captchaCode" in logged_in.authorize(max_age="9").fields
    assert logged_in.authorize(max_age="9", prompt="none").query["error"] == "login_required"
    assert "code" in logged_in.authorize(max_age="10").query
    back = logged_in.sign_in(logged_in.authorize(max_age="0"))
    assert claims(app, back)["auth_time"] == int(logged_in.service.clock())


def test_a_second_factor_is_asked_for_by_acr_values(browser: Browser, app: Application, gatehouse: InProcess) -> None:
    add_person(gatehouse)
    assert claims(app, browser.sign_in(browser.authorize(), "ann"))["acr"] == "1"
    gatehouse.clock.move(10)
    assert claims(app, browser.authorize(acr_values="2"))["acr"] == "1", "she has none, and the answer says so"
    device, _ = with_app(gatehouse, "ann")
    gatehouse.clock.move(30)
    assert claims(app, browser.authorize(acr_values="1 2"))["acr"] == "1"
    page = browser.sign_in(browser.authorize(acr_values="2"), "ann")
    assert claims(app, browser.submit(page, "confirm", otpCode=device.code()))["acr"] == "2"
    gatehouse.clock.move(10)
    assert claims(app, browser.authorize(acr_values="2"))["acr"] == "2", "shown once, in this session"


def test_an_acr_that_is_essential_is_met_or_no_code_is_given(
    browser: Browser, app: Application, gatehouse: InProcess
) -> None:
    """OpenID Connect Core, 5.5.1.1."""
    add_person(gatehouse)
    essential = json.dumps({"id_token": {"acr": {"essential": True, "values": ["2"]}}})
    assert browser.sign_in(browser.authorize(claims=essential), "ann").query["error"] == UNMET, "she has none"
    assert browser.authorize(claims=essential, prompt="none").query["error"] == UNMET
    unknown = json.dumps({"id_token": {"acr": {"essential": True, "value": "urn:example:gold"}}})
    assert browser.authorize(claims=unknown).query["error"] == UNMET
    for wish in ({"values": ["2"]}, {"essential": True}, {"essential": True, "values": ["2", "1"]}):
        assert claims(app, browser.authorize(claims=json.dumps({"id_token": {"acr": wish}})))["acr"] == "1"
    device, _ = with_app(gatehouse, "ann")
    gatehouse.clock.move(30)
    assert browser.authorize(claims=essential, prompt="none").query["error"] == "login_required"
    page = browser.sign_in(browser.authorize(claims=essential), "ann")
    assert claims(app, browser.submit(page, "confirm", otpCode=device.code()))["acr"] == "2"
    assert claims(app, browser.authorize(claims=essential, prompt="none"))["acr"] == "2"


def test_an_id_token_hint_names_who_is_meant(logged_in: Browser, app: Application, gatehouse: InProcess) -> None:
    hint = id_token(app, logged_in.authorize())
    assert "code" in logged_in.authorize(prompt="none", id_token_hint=hint).query
    add_person(gatehouse)
    other = Browser(gatehouse)
    other.sign_in(other.authorize(), "ann")
    gatehouse.clock.move(1)
    assert other.authorize(prompt="none", id_token_hint=hint).query["error"] == "login_required"
    page = other.authorize(id_token_hint=hint)
    assert "captchaCode" in page.fields
    gatehouse.clock.move(1)
    assert other.sign_in(page, "ann").query["error"] == "login_required", "somebody else again"


def test_nobody_is_asked_with_prompt_none(browser: Browser) -> None:
    back = browser.authorize(prompt="none")
    assert back.query == {"error": "login_required", "error_description": back.query["error_description"], **STATE}


# Who may use it, and consent


def test_an_application_for_some_roles(logged_in: Browser, app: Application, gatehouse: InProcess) -> None:
    add_person(gatehouse)
    app.edit(roles=("ADMIN",))
    assert "code" in logged_in.authorize().query
    other = Browser(gatehouse)
    back = other.sign_in(other.authorize(), "ann")
    assert (back.query["error"], back.query["state"]) == ("access_denied", "a state")


def test_consent_is_asked_for_once(logged_in: Browser, app: Application) -> None:
    app.edit(first_party=False)
    page = logged_in.authorize(scope="openid email")
    assert set(page.buttons) >= {"allow", "deny", "switch"}
    assert "your e-mail address" in page.text
    assert "your phone number" not in page.text
    assert "code" in logged_in.submit(page, "allow").query
    assert "code" in logged_in.authorize(scope="openid").query
    more = logged_in.authorize(scope="openid phone")
    assert "allow" in more.buttons
    assert "code" in logged_in.submit(more, "allow").query
    assert "code" in logged_in.authorize(scope="openid email phone").query, "both are allowed by now"


def test_claims_by_name_are_consented_to(logged_in: Browser, app: Application) -> None:
    app.edit(first_party=False)
    wanted = json.dumps({"userinfo": {"email": None}})
    assert "your e-mail address" in logged_in.authorize(claims=wanted).text


def test_consent_can_be_refused(logged_in: Browser, app: Application) -> None:
    app.edit(first_party=False)
    back = logged_in.submit(logged_in.authorize(), "deny")
    assert (back.query["error"], back.query["state"]) == ("access_denied", "a state")
    assert "allow" in logged_in.authorize().buttons
    assert logged_in.authorize(prompt="none").query["error"] == "consent_required"


def test_prompt_consent_asks_for_the_companys_own_too(logged_in: Browser) -> None:
    for _ in range(2):
        page = logged_in.authorize(prompt="consent")
        assert "code" in logged_in.submit(page, "allow").query
        logged_in.service.clock.move(1)


def test_somebody_else_can_sign_in_instead_of_consenting(
    logged_in: Browser, app: Application, gatehouse: InProcess
) -> None:
    add_person(gatehouse)
    app.edit(first_party=False)
    page = logged_in.submit(logged_in.authorize(), "switch")
    consent = logged_in.sign_in(page, "ann")
    assert "You are logged in as ann." in consent.text
    assert "code" in logged_in.submit(consent, "allow").query


# Where refusals go


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"client_id": "unknown"}, "client_id"),
        ({"client_id": ""}, "client_id"),
        ({"client_id": "x" * 10_000}, "client_id"),
        ({"redirect_uri": ""}, "redirect_uri"),
        ({"redirect_uri": "https://evil.example/"}, "redirect_uri"),
        ({"redirect_uri": f"{CALLBACK}/"}, "redirect_uri"),
        ({"redirect_uri": f"{CALLBACK}?x=1"}, "redirect_uri"),
        ({"redirect_uri": f"{CALLBACK}#x"}, "redirect_uri"),
        ({"redirect_uri": "https://APP.example/callback"}, "redirect_uri"),
        ({"redirect_uri": "https://app.example/../callback"}, "redirect_uri"),
        ({"redirect_uri": "https://app.example@evil.example/callback"}, "redirect_uri"),
        ({"redirect_uri": "javascript:alert(1)//"}, "redirect_uri"),
        ({"request_uri": "urn:ietf:params:oauth:request_uri:made-up"}, "request_uri"),
    ],
)
def test_no_browser_is_sent_where_nobody_is_known_to_be(browser: Browser, changes: dict[str, str], names: str) -> None:
    for page in (
        browser.authorize(**changes),
        browser.send("POST", f"{browser.url}/oauth2/authorize", asked(**changes)),
    ):
        assert page.status == 400
        assert names in page.texts["problem"]
        assert "evil" not in page.text


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": ""}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"request": "x.y.z"}, "request_not_supported"),
        ({"request_uri": "https://evil.example/request"}, "request_uri_not_supported"),
        ({"scope": "nothing"}, "invalid_scope"),
        ({"prompt": "none login"}, "invalid_request"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"code_challenge": "x", "code_challenge_method": "plain"}, "invalid_request"),
        ({"nonce": ""}, "invalid_request"),  # neither a nonce nor PKCE
    ],
)
def test_the_application_hears_of_what_it_asks_wrongly(browser: Browser, changes: dict[str, str], error: str) -> None:
    back = browser.authorize(**changes)
    assert back.location.startswith(f"{CALLBACK}?error={error}&")
    assert {**back.query, **STATE} == back.query
    assert back.query.keys() <= {"error", "error_description", "state", "iss"}
    description = back.query["error_description"]
    assert description.isascii()
    assert not set(description) & set('"\\\n')


@pytest.mark.parametrize(
    "send",
    [
        lambda browser, query: browser.send("GET", f"{browser.url}/oauth2/authorize?{query}"),
        lambda browser, query: browser.send(
            "POST",
            f"{browser.url}/oauth2/authorize",
            headers={"content-type": "application/x-www-form-urlencoded"},
            content=query.encode(),
        ),
    ],
    ids=["query", "form"],
)
@pytest.mark.parametrize(
    "query", [f"client_id=app&redirect_uri={CALLBACK}&redirect_uri=https://evil.example/", "client_id=%FF", "a&b" * 200]
)
def test_what_cannot_be_read_is_a_page_of_ours(
    browser: Browser, send: Callable[[Browser, str], Page], query: str
) -> None:
    page = send(browser, query)
    assert page.status == 400
    assert page.texts["problem"]


def test_an_address_with_a_query_keeps_it(browser: Browser, app: Application) -> None:
    app.edit(redirect_uris=(f"{CALLBACK}?dummy1=lorem&dummy2=ipsum",))
    back = browser.sign_in(browser.authorize(redirect_uri=f"{CALLBACK}?dummy1=lorem&dummy2=ipsum"))
    assert back.location.startswith(f"{CALLBACK}?dummy1=lorem&dummy2=ipsum&code=")
    assert back.query["dummy2"] == "ipsum"


def test_the_answer_as_a_form(browser: Browser, app: Application) -> None:
    state = "\"'><script>alert(1)</script>"
    page = browser.sign_in(browser.authorize(response_mode="form_post", state=state))
    assert page.status == 200
    assert page.action == CALLBACK
    assert page.fields.keys() == {"code", "state", "iss"}
    assert page.fields["state"] == state
    assert "<script>alert" not in page.text
    assert app.exchange(page.fields["code"], code_verifier="").status == 200
    refused = browser.authorize(response_mode="form_post", prompt="none", max_age="0", scope="x")
    assert (refused.action, refused.fields["error"]) == (CALLBACK, "invalid_scope")
    policy = page.answer.headers["content-security-policy"]
    assert "form-action 'self' https: https:" in policy


def test_what_is_unknown_is_passed_over(logged_in: Browser) -> None:
    assert "code" in logged_in.authorize(display="popup", claims_locales="se", ui_locales="se", foo="bar").query


def test_a_parameter_without_a_value_is_as_good_as_none(logged_in: Browser, app: Application) -> None:
    """RFC 6749, 3.1."""
    optional = (
        "response_mode", "prompt", "max_age", "claims", "acr_values", "login_hint", "ui_locales", "id_token_hint",
        "code_challenge", "code_challenge_method", "request", "request_uri", "registration", "display",
    )  # fmt: skip
    blank = dict.fromkeys(optional, "")
    query = urlencode({**asked(), **blank})
    assert "code" in logged_in.send("GET", f"{ISSUER}/oauth2/authorize?{query}").query
    assert app.call("/oauth2/par", **{**asked(client_id=""), **blank}).status == 201


def test_an_application_that_is_switched_off_is_unknown(browser: Browser, app: Application) -> None:
    page = browser.authorize()
    app.change(enabled=False)
    assert "client_id" in browser.sign_in(page).texts["problem"]
