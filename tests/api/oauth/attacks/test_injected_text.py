"""Text from outside in our pages, headers and logs: it stays text."""

from __future__ import annotations

import html
import io
from collections.abc import Callable
from contextlib import redirect_stderr
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatehouse.common import logs
from tests.api.oauth.application import CALLBACK, FORM, VERIFIER, Application
from tests.api.oauth.attacks.parties import (
    ISSUER,
    WITH_PKCE,
    code_of,
    query_of,
    refused,
    signed_in,
    tokens_of,
)
from tests.api.oauth.flow import AUTHORIZE, Browser, Page, asked
from tests.support.inprocess import InProcess
from tests.support.running import PASSWORD
from tests.support.selection import cases

MARKUP = [  # as long as a name may be
    '"><script>alert(1)</script></title><svg/onload=alert(1)>',
    "javascript:alert(1)//' onfocus='alert(1)' autofocus='",
    "</form><form action=https://evil.example><!--fields-->{next}",
]


class Skeleton(HTMLParser):
    """The elements of a page with the names of their attributes: what text must not change."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.addresses: list[str] = []
        assert page.answer.headers["content-type"] == "text/html; charset=utf-8"
        self.feed(page.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        self.addresses += [value or "" for name, value in attrs if name in {"href", "src", "action", "formaction"}]


def is_text(shown: Callable[[str], Page], payload: str) -> bool:
    """Whether a page with the payload is built as one with a word in its place."""
    page = Skeleton(shown(payload))
    assert page.elements == Skeleton(shown("word")).elements
    assert not [address for address in page.addresses if address.startswith(("javascript:", "https://evil"))]
    return True


def with_text(call: Callable[..., Page], name: str, *given: Any, **more: str) -> Callable[[str], Page]:
    return lambda text: call(*given, **{**more, name: text})


@pytest.mark.parametrize("payload", MARKUP)
def test_parameters_are_text_on_our_pages(app: Application, gatehouse: InProcess, payload: str) -> None:
    nobody = Browser(gatehouse)
    nobody.authorize()
    for name in ("state", "login_hint", "ui_locales", "nonce", "acr_values", "client_id", "redirect_uri"):
        assert is_text(with_text(nobody.authorize, name), payload), name
    assert nobody.authorize(login_hint=payload).fields["username"] == payload
    for name in ("post_logout_redirect_uri", "client_id", "state", "id_token_hint", "logout_hint"):
        assert is_text(with_text(nobody.open, name, "/oauth2/logout", client_id="app"), payload), name
    for path, name in (
        ("enter", "to"),
        ("enter", "provider"),
        ("continue", "id"),
        ("continue", "problem"),
        ("company", "next"),
        ("company", "provider"),
    ):
        assert is_text(with_text(nobody.open, name, f"/oauth2/{path}"), payload), path


@pytest.mark.parametrize("payload", MARKUP)
def test_what_somebody_types_is_text(app: Application, browser: Browser, payload: str) -> None:
    page = browser.authorize()
    for name in ("username", "password", "next", "captchaCode", "captchaId", "form", "credential"):
        typed = {"username": "x", "password": "y", "captchaCode": "z"}
        assert is_text(with_text(browser.submit, name, page, **typed), payload), name
    answer = browser.submit(page, username=payload, password="y", captchaCode="abcd")
    assert answer.fields["username"] == payload


@pytest.mark.parametrize("payload", MARKUP)
def test_state_is_text_in_a_form_that_is_posted_on(app: Application, gatehouse: InProcess, payload: str) -> None:
    browser = signed_in(gatehouse)
    for scope in ("openid", "nothing"):
        asks = {"response_mode": "form_post", "scope": scope}
        assert is_text(with_text(browser.authorize, "state", **asks), payload)
        page = browser.authorize(state=payload, **asks)
        assert (page.action, page.fields["state"]) == (CALLBACK, payload)


@pytest.mark.parametrize("payload", MARKUP)
def test_the_name_of_an_application_is_text(gatehouse: InProcess, payload: str) -> None:
    client_id = f"named-{MARKUP.index(payload)}"
    app, browser, nobody = (
        Application(gatehouse, client_id, first_party=False),
        signed_in(gatehouse),
        Browser(gatehouse),
    )
    nobody.authorize(client_id=client_id, **WITH_PKCE)
    for each in (browser, nobody):

        def named(text: str, browser: Browser = each) -> Page:
            app.change(name=text)
            page = browser.authorize(client_id=client_id, **WITH_PKCE)
            assert html.escape(text) in page.text
            return page

        assert is_text(named, payload)


# Headers


@pytest.mark.parametrize(
    "text",
    ["\r\nset-cookie: a=b", "\nlocation: https://evil.example", "\r", "\0", "\x0b\x0c\x85\u2028", "ü€🙂", "%0d%0a"],
)
def test_no_line_is_added_to_a_header(app: Application, gatehouse: InProcess, text: str) -> None:
    browser = signed_in(gatehouse)
    answers = [
        browser.send("GET", f"{ISSUER}{AUTHORIZE}?{urlencode(asked(state=text))}"),
        browser.send("GET", f"{ISSUER}{AUTHORIZE}?{urlencode(asked(state=text, scope='x' + text))}"),
        browser.send("POST", f"{ISSUER}{AUTHORIZE}", asked(state=text)),
        browser.send("POST", f"{ISSUER}/oauth2/logout", {"state": text, "ui_locales": text, text: text}),
    ]
    for answer in answers:
        for name, value in answer.answer.headers.items():
            assert f"{name}{value}".isprintable(), name
            assert f"{name}{value}".isascii(), name
        assert "a=b" not in answer.answer.cookies
    assert query_of(answers[0].location)["state"] == [text]


def test_state_adds_nothing_to_an_answer(app: Application, gatehouse: InProcess) -> None:
    """The application must not read a code or an issuer that the attacker has put into the request."""
    state = "x&code=evil&iss=https://evil.example&error=y#code=evil"
    for changes in ({}, {"scope": "nothing"}):
        answer = query_of(signed_in(gatehouse).authorize(state=state, **changes).location)
        assert {name: len(values) for name, values in answer.items()} == dict.fromkeys(answer, 1)
        assert (answer["state"], answer["iss"], answer.get("code") == ["evil"]) == ([state], [ISSUER], False)


# One name, one value


@pytest.mark.parametrize(
    "more",
    [
        "code=other",
        "redirect_uri=https://evil.example",
        "grant_type=refresh_token",
        "client_id=hostile",
        "code_verifier=x",
    ],
)
def test_a_field_that_comes_twice_is_not_chosen_from(app: Application, gatehouse: InProcess, more: str) -> None:
    code = code_of(signed_in(gatehouse))
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": VERIFIER}
    form |= {"client_id": "app", "client_secret": app.secret}
    for body in (f"{urlencode(form)}&{more}", f"{more}&{urlencode(form)}"):
        answer = gatehouse.request("POST", "/oauth2/token", content=body.encode(), headers={"content-type": FORM})
        assert refused(answer, "invalid_request")
    assert app.exchange(code).status == 200, "and was not used up by it"


def test_parameters_in_the_query_are_none_of_the_form(app: Application, gatehouse: InProcess) -> None:
    code = code_of(signed_in(gatehouse))
    query = {"code": code, "redirect_uri": CALLBACK, "code_verifier": VERIFIER, "grant_type": "authorization_code"}
    form = urlencode({"client_id": "app", "client_secret": app.secret}).encode()
    answer = gatehouse.request("POST", "/oauth2/token", query=query, content=form, headers={"content-type": FORM})
    assert refused(answer, "invalid_request")


@pytest.mark.parametrize(
    "media_type", ["application/json", "text/plain", "", "application/xml", f"{FORM}; charset=utf-16"]
)
def test_only_a_form_is_read(app: Application, gatehouse: InProcess, media_type: str) -> None:
    """A page of another site can send the others without asking first."""
    body = urlencode({"client_id": "app", "client_secret": app.secret, "grant_type": "refresh_token"}).encode()
    for path in ("token", "par", "revoke", "introspect"):
        answer = gatehouse.request("POST", f"/oauth2/{path}", content=body, headers={"content-type": media_type})
        assert answer.status in {400, 401, 415}
        assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "path", ["authorize", "token", "par", "revoke", "introspect", "userinfo", "logout", "sign-in", "consent"]
)
def test_a_body_of_any_size_is_bounded(app: Application, gatehouse: InProcess, path: str) -> None:
    for body in (
        b"a=" + b"x" * 70_000,
        b"a=" + b"x" * 60_000,
        b"client_id=app&post_logout_redirect_uri=" + b"x" * 60_000,
        b"post_logout_redirect_uri=" + b"x" * 60_000,
        b"&".join(b"a%d=b" % number for number in range(100)),
        b"\xff\xfe=%ff",
        b"=" * 999,
    ):
        answer = gatehouse.request("POST", f"/oauth2/{path}", content=body, headers={"content-type": FORM})
        assert 300 <= answer.status < 500
        assert len(answer.headers.get("location", "")) < 8192


@pytest.mark.parametrize(
    "query", ["x=%ff", "&".join(f"a{n}=b" for n in range(99)), "client_id=app&state=%ED%A0%80", "%00=1"]
)
def test_a_query_that_cannot_be_read_is_refused(app: Application, browser: Browser, query: str) -> None:
    for path in ("authorize", "logout"):
        page = browser.send("GET", f"{ISSUER}/oauth2/{path}?{query}")
        assert page.status in {200, 400}
        assert "location" not in page.answer.headers


texts = st.text(max_size=80) | st.sampled_from(
    ["openid", "code", "none", "login", "S256", CALLBACK, "app", "hostile", "0", *MARKUP]
)
NAMES = [
    "client_id", "redirect_uri", "response_type", "scope", "state", "nonce", "prompt", "max_age", "code_challenge",
    "code_challenge_method", "response_mode", "login_hint", "ui_locales", "acr_values", "claims", "id_token_hint",
    "request", "request_uri", "display", "resource",
]  # fmt: skip


@settings(max_examples=cases(300))
@given(changes=st.dictionaries(st.sampled_from(NAMES), texts, max_size=5))
def test_whatever_is_asked_the_browser_goes_nowhere_else(
    app: Application, hostile: Application, gatehouse: InProcess, changes: dict[str, str]
) -> None:
    query = urlencode({**asked(), **changes}, errors="replace")
    page = Browser(gatehouse).send("GET", f"{ISSUER}{AUTHORIZE}?{query}")
    assert page.status in {200, 303, 400}, page.text
    if page.status == 303:
        to = urlsplit(page.location)
        assert f"{to.scheme}://{to.netloc}{to.path}" in {CALLBACK, "https://hostile.example/callback"}
        assert query_of(page.location)["iss"] == [ISSUER]


# Where secrets would stay


def test_no_secret_is_in_a_log(app: Application, gatehouse: InProcess) -> None:
    written = io.StringIO()
    with redirect_stderr(written):
        logs.configure("debug", "json")
        nobody = Browser(gatehouse)
        page = nobody.sign_in(nobody.authorize(**WITH_PKCE, scope="openid offline_access"))
        tokens = app.exchange(page.query["code"]).json
        app.exchange(page.query["code"], code_verifier="wrong" * 10)
        app.refresh(tokens["refresh_token"] + "x")
        app.token(client_id="app", client_secret=app.secret + "x", grant_type="x")
        nobody.open("/oauth2/logout", id_token_hint=tokens["id_token"])
    secrets = [
        page.query["code"],
        app.secret,
        PASSWORD,
        VERIFIER,
        *(tokens[name] for name in ("access_token", "refresh_token", "id_token")),
    ]
    for secret in (*secrets, *nobody.cookies.values()):
        assert secret not in written.getvalue()


def test_nothing_is_kept_by_caches_or_sent_as_a_referer(app: Application, gatehouse: InProcess) -> None:
    """Codes, tickets and tokens stay out of histories, caches and the next page's Referer."""
    browser = signed_in(gatehouse)
    answers: list[Any] = [
        browser.authorize().answer,
        browser.authorize(response_mode="form_post").answer,
        browser.send("GET", f"{ISSUER}/oauth2/enter").answer,
        browser.open("/oauth2/logout").answer,
        browser.authorize(redirect_uri="x").answer,
        Browser(gatehouse).authorize().answer,
    ]
    for answer in answers:
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
    tokens = tokens_of(app, browser)
    for answer in (app.refresh(tokens["refresh_token"]), app.userinfo(tokens["access_token"]), app.exchange("x")):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
