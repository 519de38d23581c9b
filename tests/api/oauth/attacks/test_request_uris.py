"""`request_uri` and `request`: nothing is fetched, and only what we have sealed for this application is opened."""

from __future__ import annotations

import base64
import json
import socket
from urllib.parse import urlencode

import jwt
import pytest

from gatehouse.auth.oauth.authorization_requests import MAX_LENGTHS, PUSHED_SECONDS, REQUEST_URI, SIGN_IN_SECONDS
from tests.api.oauth.application import CALLBACK, Application
from tests.api.oauth.attacks.parties import ISSUER, WITH_PKCE, code_of, on_our_page, refused, signed_in
from tests.api.oauth.flow import AUTHORIZE, Browser, asked
from tests.support.inprocess import InProcess


def push(app: Application, **changes: str) -> str:
    form = {**asked(client_id="", **changes), **WITH_PKCE}
    answer = app.call("/oauth2/par", **form)
    assert answer.status == 201, answer.content
    return str(answer.json["request_uri"])


def test_no_address_is_fetched(app: Application, gatehouse: InProcess) -> None:
    """SSRF: a listener on the loopback hears nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/request.jwt"
        browser = signed_in(gatehouse)
        assert browser.authorize(request_uri=address).query["error"] == "request_uri_not_supported"
        assert on_our_page(browser.authorize(request_uri=address, redirect_uri=""))
        assert refused(app.call("/oauth2/par", **asked(client_id="", request_uri=address)), "invalid_request")
        for name in ("jwks_uri", "sector_identifier_uri", "logo_uri", "client_metadata_uri", "registration"):
            browser.authorize(**{name: address})
        browser.authorize(client_id=address)
        with pytest.raises(BlockingIOError):
            listener.accept()


@pytest.mark.parametrize(
    "uri",
    [
        "http://169.254.169.254/latest/meta-data/",
        "https://evil.example/request.jwt#" + "A" * 43,
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_FLUSHALL",
        "data:application/jwt,e30.e30.",
        "urn:ietf:params:oauth:request_ur",
        "URN:IETF:PARAMS:OAUTH:REQUEST_URI:x",
        "urn:example:x",
    ],
)
def test_an_address_of_another_kind_is_refused(app: Application, gatehouse: InProcess, uri: str) -> None:
    assert signed_in(gatehouse).authorize(request_uri=uri).query["error"] == "request_uri_not_supported"


def test_no_request_object_is_read(app: Application, gatehouse: InProcess) -> None:
    """One without a signature could say anything, also another address."""
    content = {**asked(), "redirect_uri": "https://evil.example", "iss": "app", "aud": ISSUER}
    for request in (jwt.encode(content, "", "none"), jwt.encode(content, app.secret, "HS256"), "x"):
        browser = signed_in(gatehouse)
        page = browser.authorize(request=request)
        assert page.location.startswith(f"{CALLBACK}?")
        assert page.query["error"] == "request_not_supported"
        assert on_our_page(browser.authorize(request=request, redirect_uri=""))
        assert refused(app.call("/oauth2/par", **asked(client_id="", request=request)), "request_not_supported")


def sealed_for_others(app: Application, gatehouse: InProcess) -> dict[str, str]:
    """Texts that we seal for other purposes, each of them shown to a browser or to an application."""
    browser = signed_in(gatehouse)
    page = browser.open("/oauth2/logout")
    entered = browser.send("GET", f"{ISSUER}/oauth2/enter")
    return {
        "the cookie of a session": browser.cookies["__Host-gatehouse_session"],
        "a code": code_of(browser),
        "the ticket of a console": entered.query["ticket"],
        "what a logout is for": page.fields["then"],
        "a form token": page.fields["form"],
        "the cookie of a form": browser.cookies["__Host-gatehouse_browser"],
    }


def test_what_we_seal_for_something_else_is_no_request(app: Application, gatehouse: InProcess) -> None:
    browser = signed_in(gatehouse)
    for what, text in sealed_for_others(app, gatehouse).items():
        page = browser.open(AUTHORIZE, client_id="app", request_uri=REQUEST_URI + text)
        assert on_our_page(page), what


def test_and_a_request_is_nothing_else(app: Application, gatehouse: InProcess) -> None:
    """Neither a code, nor a cookie, nor what a logout goes on with."""
    sealed = push(app).removeprefix(REQUEST_URI)
    assert refused(app.exchange(sealed))
    nobody = Browser(gatehouse)
    nobody.cookies["__Host-gatehouse_session"] = sealed
    assert "captchaCode" in nobody.authorize().fields
    texts = sealed_for_others(app, gatehouse)
    for what, text in texts.items():
        if what != "a code":
            assert refused(app.exchange(text)), what
        if what != "the cookie of a session":
            nobody.cookies["__Host-gatehouse_session"] = text
            assert "captchaCode" in nobody.authorize().fields, what
        if what != "the ticket of a console":
            ticket = gatehouse.request("POST", "/api/v1/auth/qr-code/login", body={"ticket": text})
            assert ticket.status == 400, what


def test_a_forged_one_is_refused(app: Application, gatehouse: InProcess) -> None:
    browser, good = signed_in(gatehouse), push(app)
    plain = base64.urlsafe_b64encode(json.dumps(asked()).encode()).decode().rstrip("=")
    last = "B" if good[-20] == "A" else "A"
    for uri in (
        REQUEST_URI,
        REQUEST_URI + "x",
        REQUEST_URI + plain,
        good[:-20] + last + good[-19:],
        good + "A",
        good[:-1],
        REQUEST_URI + "A" * 9000,
        REQUEST_URI + "ü",
        REQUEST_URI + "../" + good.removeprefix(REQUEST_URI),
    ):
        assert on_our_page(browser.open(AUTHORIZE, client_id="app", request_uri=uri))


def test_it_belongs_to_the_application_that_pushed_it(
    app: Application, hostile: Application, gatehouse: InProcess
) -> None:
    browser, uri = signed_in(gatehouse), push(app)
    Application(gatehouse, "neighbour")  # at the same address, so that nothing else is in the way
    for client_id in ("hostile", "neighbour"):
        assert on_our_page(browser.open(AUTHORIZE, client_id=client_id, request_uri=uri))
    assert on_our_page(browser.open(AUTHORIZE, client_id="", request_uri=uri))
    assert on_our_page(browser.open(AUTHORIZE, request_uri=uri))
    assert browser.open(AUTHORIZE, client_id="app", request_uri=uri).query["code"]


def test_parameters_beside_it_change_nothing(app: Application, gatehouse: InProcess) -> None:
    """What was authenticated when it was pushed cannot be exchanged in the browser."""
    browser, uri = signed_in(gatehouse), push(app)
    page = browser.open(
        AUTHORIZE,
        client_id="app",
        request_uri=uri,
        redirect_uri="https://evil.example/",
        state="evil",
        scope="openid email phone roles offline_access",
        code_challenge="A" * 43,
        response_mode="form_post",
        nonce="evil",
    )
    assert page.location.startswith(f"{CALLBACK}?")
    assert page.query["state"] == "a state"
    tokens = app.exchange(page.query["code"]).json
    assert tokens["scope"] == "openid"
    assert app.read(tokens["id_token"])["nonce"] == "a nonce"


def test_it_gives_one_code(app: Application, gatehouse: InProcess) -> None:
    browser, uri = signed_in(gatehouse), push(app)
    assert browser.open(AUTHORIZE, client_id="app", request_uri=uri).query["code"]
    assert on_our_page(browser.open(AUTHORIZE, client_id="app", request_uri=uri))
    assert on_our_page(signed_in(gatehouse).open(AUTHORIZE, client_id="app", request_uri=uri))


def test_nor_does_the_page_of_a_sign_in_give_a_second(app: Application, gatehouse: InProcess) -> None:
    """What our pages make of it while somebody signs in is the same request."""
    nobody, uri = Browser(gatehouse), push(app)
    page = nobody.open(AUTHORIZE, client_id="app", request_uri=uri)
    assert nobody.sign_in(page).query["code"]
    assert on_our_page(nobody.open(page.fields["next"]))


def test_it_must_be_opened_soon(app: Application, gatehouse: InProcess) -> None:
    uri = push(app)
    gatehouse.clock.move(PUSHED_SECONDS)
    assert on_our_page(signed_in(gatehouse).open(AUTHORIZE, client_id="app", request_uri=uri))


def test_a_page_that_was_left_open_is_worth_nothing(app: Application, gatehouse: InProcess) -> None:
    nobody = Browser(gatehouse)
    page = nobody.authorize()
    gatehouse.clock.move(SIGN_IN_SECONDS)
    assert on_our_page(nobody.sign_in(page))


def test_it_is_checked_again_when_it_is_opened(gatehouse: InProcess) -> None:
    """The application may have been changed, or switched off, since it was pushed."""
    app, browser = Application(gatehouse, "changing"), signed_in(gatehouse)
    uri = push(app)
    app.edit(redirect_uris=("https://app.example/new",))
    assert on_our_page(browser.open(AUTHORIZE, client_id="changing", request_uri=uri))
    app.edit(redirect_uris=(CALLBACK,))
    uri = push(app)
    app.change(enabled=False)
    assert on_our_page(browser.open(AUTHORIZE, client_id="changing", request_uri=uri))


def test_nobody_pushes_for_another(app: Application, hostile: Application, gatehouse: InProcess) -> None:
    form = {**asked(), **WITH_PKCE}
    assert refused(hostile.call("/oauth2/par", {"authorization": ""}, **form), "invalid_client", 401)
    sent = hostile.gatehouse.run(hostile.post("/oauth2/par", form, {"authorization": f"Basic {_basic(hostile)}"}))
    assert refused(sent, "invalid_request")


def _basic(app: Application) -> str:
    return base64.b64encode(f"{app.client_id}:{app.secret}".encode()).decode()


def test_a_request_that_is_as_long_as_allowed_is_no_dead_end(gatehouse: InProcess) -> None:
    address = "https://app.example/" + "a" * 1000
    app = Application(gatehouse, "longest", redirect_uris=(address,))
    limits = {name: longest for name, longest in MAX_LENGTHS.items() if name != "claims"}
    texts = [{name: "x" * longest for name, longest in limits.items()}]
    texts.append({name: "世" * (longest // 3) for name, longest in limits.items()})
    for wish in ({"sub": {"value": "1" * 4000}}, {"acr": {"values": ["a" * 4000]}}, None):
        for text in texts:
            changes = {**text, "claims": json.dumps({"id_token": wish}), "redirect_uri": address}
            form = {**asked(client_id="", **changes), **WITH_PKCE}
            uri = app.call("/oauth2/par", **form).json["request_uri"]
            browser = Browser(gatehouse)
            for page in (
                browser.open(AUTHORIZE, client_id="longest", request_uri=uri),
                browser.authorize(client_id="longest", **changes, **WITH_PKCE),
            ):
                back = browser.sign_in(page) if "captchaCode" in page.fields else page
                assert ("error" if wish and "sub" in wish else "code") in back.query
                assert back.query["state"] == text["state"]


def test_a_request_that_is_too_long_is_refused_before_it_is_sealed(app: Application, browser: Browser) -> None:
    for name in ("state", "nonce", "login_hint", "ui_locales", "acr_values", "claims"):
        page = browser.send("GET", f"{ISSUER}{AUTHORIZE}?{urlencode({**asked(), name: 'x' * 5000})}")
        assert page.query["error"] == "invalid_request", name
        assert refused(app.call("/oauth2/par", **{**asked(client_id=""), name: "x" * 5000}), "invalid_request"), name
        assert refused(app.call("/oauth2/par", **{**asked(client_id=""), name: "世" * 1366}), "invalid_request"), name
