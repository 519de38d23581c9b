"""A browser without scripts at our pages, on its way into an application, over a service in this process."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from tests.api.oauth.application import CALLBACK
from tests.support.inprocess import Answer, InProcess
from tests.support.running import ANSWER, PASSWORD

AGENT = "Firefox"
AUTHORIZE = "/oauth2/authorize"


class Page(NamedTuple):
    """What a browser shows: its address, the first form, links by id, texts by id."""

    url: str
    answer: Answer
    action: str
    fields: dict[str, str]
    buttons: dict[str, tuple[str, str]]
    links: dict[str, str]
    texts: dict[str, str]

    @property
    def status(self) -> int:
        return self.answer.status

    @property
    def text(self) -> str:
        return self.answer.content.decode()

    @property
    def location(self) -> str:
        assert self.status in {302, 303}, self.text
        return self.answer.headers["location"]

    @property
    def query(self) -> dict[str, str]:
        """Of the address that it leads to."""
        return {name: values[0] for name, values in parse_qs(urlsplit(self.location).query).items()}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.action = ""
        self.fields: dict[str, str] = {}
        self.buttons: dict[str, tuple[str, str]] = {}
        self.links: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self._ids: list[str] = []
        self._forms = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._forms += 1
            self.action = self.action or values.get("action", "")
        if self._forms == 1 and tag == "input" and values.get("name"):
            self.fields[values["name"]] = values.get("value", "")
        if tag == "button":
            self.buttons[values.get("id", "")] = values.get("name", ""), values.get("value", "")
        if tag == "a":
            self.links[values.get("id", "") or values.get("data-provider", "")] = values.get("href", "")
        if tag not in {"input", "meta", "link", "img", "path", "circle", "rect"}:
            self._ids.append("" if "hidden" in values else values.get("id", ""))

    def handle_endtag(self, tag: str) -> None:
        if self._ids and tag not in {"path", "circle", "rect"}:
            self._ids.pop()

    def handle_data(self, data: str) -> None:
        for name in self._ids:
            if name:
                self.texts[name] = self.texts.get(name, "") + data


class Browser:
    """Keeps cookies as browsers do: all of ours here are for the whole host."""

    def __init__(self, service: InProcess, address: str = "127.0.0.1", language: str = "") -> None:
        self.service = service
        self.address = address
        self.language = language
        self.cookies: dict[str, str] = {}

    @property
    def url(self) -> str:
        return self.service.settings.public_url

    @property
    def is_logged_in(self) -> bool:
        return any(name.endswith("gatehouse_session") for name in self.cookies)

    def send(self, method: str, url: str, form: dict[str, str] | None = None, **options: Any) -> Page:
        assert url.startswith(self.url), url
        parts = urlsplit(url)
        headers = {"user-agent": AGENT, **options.pop("headers", {})}
        if self.language:
            headers["accept-language"] = self.language
        if self.cookies:
            headers["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if form is not None:
            headers["content-type"] = "application/x-www-form-urlencoded"
            options["content"] = urlencode(form).encode()
        answer = self.service.request(
            method, parts.path, raw_query=parts.query, address=self.address, headers=headers, **options
        )
        for cookie in answer.cookies:
            name, _, value = cookie.partition(";")[0].partition("=")
            if "Max-Age=0" in cookie:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        reader = _Reader()
        if answer.headers.get("content-type", "").startswith("text/html"):
            reader.feed(answer.content.decode())
        return Page(url, answer, reader.action, reader.fields, reader.buttons, reader.links, reader.texts)

    def follow(self, page: Page) -> Page:
        """Redirects, as far as they lead to us."""
        while page.status in {302, 303} and page.location.startswith(self.url):
            page = self.send("GET", page.location)
        return page

    def open(self, path: str, **query: str) -> Page:
        return self.follow(self.send("GET", f"{self.url}{path}{'?' if query else ''}{urlencode(query)}"))

    def authorize(self, **changes: str) -> Page:
        return self.open(AUTHORIZE, **asked(**changes))

    def submit(self, page: Page, button: str = "", *, follow: bool = True, **values: str) -> Page:
        assert page.action, f"no form at {page.url}:\n{page.text}"
        form = {**page.fields, **values}
        if button:
            name, value = page.buttons[button]
            form |= {name: value} if name else {}
        sent = self.send("POST", urljoin(page.url, page.action), form)
        return self.follow(sent) if follow else sent

    def sign_in(self, page: Page, username: str = "admin", password: str = PASSWORD, captcha: str = ANSWER) -> Page:
        assert "captchaCode" in page.fields, page.text
        return self.submit(page, "sign-in", username=username, password=password, captchaCode=captcha)


def asked(**changes: str) -> dict[str, str]:
    """An authorization request; a change to an empty text leaves the parameter out."""
    parameters = {
        "client_id": "app",
        "redirect_uri": CALLBACK,
        "response_type": "code",
        "scope": "openid",
        "state": "a state",
        "nonce": "a nonce",
        **changes,
    }
    return {name: value for name, value in parameters.items() if value}
