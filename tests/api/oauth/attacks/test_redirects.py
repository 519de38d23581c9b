"""Where an answer goes: to an address that is registered, character by character, and nowhere else."""

from __future__ import annotations

from urllib.parse import quote, urlencode

import pytest

from tests.api.oauth.application import CALLBACK, Application, public
from tests.api.oauth.attacks.parties import ISSUER, on_our_page, query_of, signed_in, tokens_of
from tests.api.oauth.flow import AUTHORIZE, Browser, asked
from tests.support.inprocess import InProcess

TRICKS = [
    "",
    "https://evil.example/callback",
    "http://app.example/callback",
    "https://app.example",
    "https://app.example/",
    "https://app.example/callback/",
    "https://app.example/callback/../evil",
    "https://app.example/callback/..%2fevil",
    "https://app.example/%2e%2e/callback",
    "https://app.example/./callback",
    "https://app.example//callback",
    "https://app.example/Callback",
    "https://APP.example/callback",
    "HTTPS://app.example/callback",
    "https://app.example/%63allback",
    "https://app%2eexample/callback",
    "https://app.example./callback",
    "https://app.example:443/callback",
    "https://app.example:8443/callback",
    "https://app.example:@evil.example/callback",
    "https://app.example@evil.example/callback",
    "https://user@app.example/callback",
    "https://evil.example#@app.example/callback",
    "https://evil.example\\@app.example/callback",
    "https:\\\\app.example\\callback",
    "https:/app.example/callback",
    "https:app.example/callback",
    "//app.example/callback",
    "/callback",
    "https://app.example.evil.example/callback",
    "https://evil-app.example/callback",
    "https://xn--pp-xia.example/callback",
    "https://аpp.example/callback",
    "https://app。example/callback",
    "https://app.example/callback?",
    "https://app.example/callback?next=https://evil.example",
    "https://app.example/callback&x=y",
    "https://app.example/callback#",
    "https://app.example/callback#fragment",
    "https://app.example/callback%23",
    "https://app.example/callback%00",
    "https://app.example/callback\x00",
    "https://app.example/callback\r\nset-cookie: a=b",
    "https://app.example/callback ",
    " https://app.example/callback",
    "https://app.example/callback\t",
    "https://app.example/callback;x",
    "https://app.example/callback,https://evil.example",
    "https://app.example/callback https://evil.example",
    "javascript:alert(1)//https://app.example/callback",
    "data:text/html,<script>alert(1)</script>",
    "urn:ietf:wg:oauth:2.0:oob",
    "https://app.example/callback" + "x" * 8000,
]  # fmt: skip


@pytest.mark.parametrize("uri", TRICKS)
def test_an_address_that_only_looks_registered_gets_nothing(app: Application, gatehouse: InProcess, uri: str) -> None:
    """Whoever is logged in, so that nothing but the address is in the way; and for errors as for codes."""
    browser = signed_in(gatehouse) if uri == TRICKS[1] else Browser(gatehouse)
    parameters = {**asked(), "redirect_uri": uri}
    assert on_our_page(browser.send("GET", f"{ISSUER}{AUTHORIZE}?{urlencode(parameters)}"))
    assert on_our_page(browser.send("POST", f"{ISSUER}{AUTHORIZE}", parameters))
    parameters["response_type"] = "token"
    assert on_our_page(browser.send("GET", f"{ISSUER}{AUTHORIZE}?{urlencode(parameters)}"))
    pushed = app.call("/oauth2/par", **{name: each for name, each in parameters.items() if name != "client_id"})
    assert (pushed.status, pushed.json["error"]) == (400, "invalid_request")


def test_it_must_be_named_even_if_there_is_one_only(app: Application, browser: Browser) -> None:
    assert on_our_page(browser.authorize(redirect_uri=""))


@pytest.mark.parametrize(
    "more",
    [
        f"redirect_uri={quote(CALLBACK, safe='')}",
        f"redirect_uri={quote('https://evil.example', safe='')}",
        "client_id=app",
        "client_id=hostile",
        "state=other",
        "response_type=code",
        "scope=openid",
    ],
)
def test_a_parameter_that_comes_twice_is_not_chosen_from(
    app: Application, hostile: Application, browser: Browser, more: str
) -> None:
    """Two parsers in a row may take the first and the last."""
    query = urlencode(asked())
    for order in (f"{query}&{more}", f"{more}&{query}"):
        assert on_our_page(browser.send("GET", f"{ISSUER}{AUTHORIZE}?{order}"))
        headers = {"content-type": "application/x-www-form-urlencoded"}
        for path in (AUTHORIZE, "/oauth2/logout"):
            assert on_our_page(browser.send("POST", ISSUER + path, content=order.encode(), headers=headers)), path


def test_the_address_of_one_application_is_not_good_for_another(
    app: Application, hostile: Application, gatehouse: InProcess
) -> None:
    browser = signed_in(gatehouse)
    assert on_our_page(browser.authorize(client_id="hostile"))
    assert on_our_page(browser.authorize(redirect_uri="https://hostile.example/callback"))


LOOPBACK = ("http://127.0.0.1:3000/callback", "http://[::1]:3000/callback", "http://localhost:3000/callback")


@pytest.mark.parametrize(
    "uri", ["http://127.0.0.1:49152/callback", "http://[::1]:1/callback", "http://localhost/callback"]
)
def test_only_the_port_on_loopback_is_free(gatehouse: InProcess, browser: Browser, uri: str) -> None:
    native = f"native-{len(uri)}"
    public(gatehouse, native, redirect_uris=LOOPBACK)
    page = browser.authorize(client_id=native, redirect_uri=uri, code_challenge="A" * 43, code_challenge_method="S256")
    assert "captchaCode" in page.fields
    tricks = [
        uri.replace("/callback", "/other"),
        uri.replace("/callback", "/callback?x=1"),
        uri.replace("/callback", "@evil.example/callback"),
        uri.replace("/callback", ".evil.example/callback"),
        uri.replace("/callback", "\\@evil.example/callback"),
        uri.replace("http:", "https:"),
        "http://127.0.0.1:3000:80/callback",
        "http://127.0.0.1:x/callback",
        "http://127.0.0.1:-1/callback",
        "http://127.0.0.1:123456/callback",
        "http://127.0.0.2:3000/callback",
        "http://127.1:3000/callback",
        "http://2130706433:3000/callback",
        "http://0.0.0.0:3000/callback",
        "http://[::ffff:127.0.0.1]:3000/callback",
        "http://localhost.evil.example:3000/callback",
        "http://LOCALHOST:3000/callback",
        "http://127.0.0.1:3000@evil.example/callback",
        "http://evil.example/?http://127.0.0.1:3000/callback",
    ]
    for trick in tricks:
        assert on_our_page(browser.authorize(client_id=native, redirect_uri=trick)), trick


def test_an_application_with_a_secret_has_no_free_port(gatehouse: InProcess, browser: Browser) -> None:
    Application(gatehouse, "server", redirect_uris=LOOPBACK)
    assert "captchaCode" in browser.authorize(client_id="server", redirect_uri=LOOPBACK[0]).fields
    assert on_our_page(browser.authorize(client_id="server", redirect_uri="http://127.0.0.1:3001/callback"))


# Mix-up


def test_every_answer_says_who_it_is_from(app: Application, gatehouse: InProcess) -> None:
    """An application with several providers notices by `iss` that this is not the one it has asked (RFC 9207)."""
    browser = signed_in(gatehouse)
    discovery = gatehouse.request("GET", "/.well-known/openid-configuration").json
    assert discovery["authorization_response_iss_parameter_supported"] is True
    assert discovery["issuer"] == ISSUER
    for changes in ({}, {"prompt": "none", "max_age": "0"}, {"response_type": "token"}, {"scope": "nothing"}):
        gatehouse.clock.move(1)
        answer = query_of(browser.authorize(**changes).location)
        assert answer["iss"] == [ISSUER]
        assert answer["state"] == ["a state"]
    posted = browser.authorize(response_mode="form_post")
    assert posted.fields["iss"] == ISSUER


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "gatehouse.localhost:1234"},
        {"x-forwarded-host": "evil.example", "x-forwarded-proto": "http"},
        {"forwarded": "host=evil.example;proto=http"},
        {"x-original-url": "/evil", "x-rewrite-url": "/evil"},
    ],
)
def test_no_header_says_who_we_are(app: Application, gatehouse: InProcess, headers: dict[str, str]) -> None:
    browser = signed_in(gatehouse)
    assert "evil" not in gatehouse.request("GET", "/.well-known/openid-configuration", headers=headers).content.decode()
    code = browser.send("GET", f"{ISSUER}{AUTHORIZE}?{urlencode(asked())}", headers=headers)
    assert query_of(code.location)["iss"] == [ISSUER]
    posted = browser.send("POST", f"{ISSUER}{AUTHORIZE}", asked(), headers=headers)
    assert posted.location.startswith(f"{ISSUER}{AUTHORIZE}?")
    page = Browser(gatehouse).send("GET", f"{ISSUER}{AUTHORIZE}?{urlencode(asked())}", headers=headers)
    assert "evil" not in page.text
    tokens = tokens_of(app, browser)
    assert app.read(tokens["id_token"])["iss"] == ISSUER


# Open redirects


@pytest.mark.parametrize(
    "to",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "https://gatehouse.localhost.evil.example/",
        "https://gatehouse.localhost@evil.example/",
        "https://gatehouse.localhost:x@evil.example/",
        "https://gatehouse.localhost\\@evil.example/",
        "https://evil.example/#https://gatehouse.localhost/",
        "http://gatehouse.localhost/",
        "https://gatehouse.localhost:8443/",
        "javascript:alert(1)",
        "data:text/html,x",
        "https:evil.example",
        " https://gatehouse.localhost/",
        "https://gatehouse.localhost/\r\nlocation: https://evil.example",
        "https://GATEHOUSE.localhost/",
    ],
)
def test_no_address_from_outside_is_gone_to(app: Application, gatehouse: InProcess, to: str) -> None:
    """The ticket of a console, and the way on after a login or a logout."""
    browser, nobody = signed_in(gatehouse), Browser(gatehouse)
    for each in (browser, nobody):
        assert on_our_page(each.send("GET", f"{ISSUER}/oauth2/enter?{urlencode({'to': to})}"))
        assert on_our_page(
            each.send(
                "GET", f"{ISSUER}/oauth2/logout?{urlencode({'post_logout_redirect_uri': to, 'client_id': 'app'})}"
            )
        )
    page = nobody.open("/oauth2/enter")
    for going_on in (
        to,
        f"/oauth2/enter?{urlencode({'to': to})}",
        f"/oauth2/authorize/../..{to}",
        f"{to}/oauth2/authorize?",
    ):
        assert on_our_page(nobody.submit(page, "sign-in", next=going_on))
        assert on_our_page(
            nobody.send("GET", f"{ISSUER}/oauth2/company?{urlencode({'next': going_on, 'provider': 'x'})}")
        )
    without_owner = browser.send("GET", f"{ISSUER}/oauth2/logout?{urlencode({'post_logout_redirect_uri': to})}")
    assert "location" not in without_owner.answer.headers


def test_after_a_logout_only_to_an_address_that_is_registered_for_it(
    app: Application, hostile: Application, gatehouse: InProcess
) -> None:
    """Neither that of another application, nor one for logins, nor a longer one."""
    browser = signed_in(gatehouse)
    id_token = tokens_of(app, browser)["id_token"]
    registered = "https://hostile.example/callback"
    for uri in (registered, CALLBACK, f"{registered}/", f"{registered}?x"):
        asked_for = {"id_token_hint": id_token, "post_logout_redirect_uri": uri}
        assert on_our_page(browser.open("/oauth2/logout", **asked_for))
    assert on_our_page(
        browser.open("/oauth2/logout", client_id="hostile", id_token_hint=id_token, post_logout_redirect_uri=registered)
    )
    assert browser.authorize().query["code"], "nobody was logged out by it"


def test_credentials_are_not_posted_on(app: Application, gatehouse: InProcess) -> None:
    """A 307 would repeat the form with the password at the application's address."""
    browser = Browser(gatehouse)
    page = browser.submit(
        browser.authorize(),
        "sign-in",
        follow=False,
        username="admin",
        captchaCode="abcd",
        password="correct horse battery staple",
    )
    assert page.status == 303
    assert page.location.startswith(f"{ISSUER}{AUTHORIZE}?")
    assert browser.send("GET", page.location).status == 303
    assert browser.send("POST", f"{ISSUER}{AUTHORIZE}", asked()).status == 303
