"""A browser without scripts: cookies, redirects, and the first form of a page."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import NamedTuple

import httpx


class Form(NamedTuple):
    action: str
    fields: dict[str, str]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(values.get("action", ""), {}))
        elif tag == "input" and self.forms and values.get("name"):
            self.forms[-1].fields[values["name"]] = values.get("value", "")


def browser() -> httpx.Client:
    """As browsers do, it sends cookies that are `Secure` to the loopback without TLS."""

    def let_cookies_go(_: httpx.Response) -> None:
        for cookie in client.cookies.jar:
            cookie.secure = False

    client = httpx.Client(timeout=60, event_hooks={"response": [let_cookies_go]})
    return client


def submit(client: httpx.Client, page: httpx.Response, **values: str) -> httpx.Response:
    """What comes back when the first form of the page is sent with these values."""
    reader = _Reader()
    reader.feed(page.text)
    assert reader.forms, f"no form at {page.url}:\n{page.text}"
    form = reader.forms[0]
    return client.post(page.url.join(form.action), data={**form.fields, **values})


def follow(client: httpx.Client, answer: httpx.Response, until: str) -> httpx.Response:
    """Follows redirects as a browser does, up to the one that leads to an address that begins with `until`."""
    while answer.is_redirect and not answer.headers["location"].startswith(until):
        answer = client.get(answer.url.join(answer.headers["location"]))
    return answer
