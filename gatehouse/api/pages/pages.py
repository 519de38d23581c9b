"""The pages and what they are made of, read once at start and then served from memory.

A page is kept in every language and theme, from the first request for it. The service and not a script chooses one for
each request, so the first paint is right: the language by a cookie that the page's switch sets, or else by the
browser's setting; the theme by a cookie, or else by the style sheet, which asks the browser. A page that has a button
for each company login is made anew when these have changed.

Assets live under a folder named by the content of them all. They may be kept for ever, and the modules among them,
which name each other by relative paths, always come from one and the same release.
"""

from __future__ import annotations

import hashlib
import html
import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import msgspec

from gatehouse.api.http.response import Response
from gatehouse.api.pages.file_response import StaticFile
from gatehouse.api.pages.provider_buttons import insert_buttons, provider_buttons
from gatehouse.api.pages.settings_filling import insert_links
from gatehouse.api.pages.text_filling import fill
from gatehouse.messages import languages, section

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from gatehouse.api.http.request import Request
    from gatehouse.api.pages.provider_buttons import ProviderButton
    from gatehouse.auth.identity.sources import Sources
    from gatehouse.settings import Settings

    Endpoint = Callable[[Request], Awaitable[Response]]
    Variant = tuple[str, str]  # language and theme

PAGES = {
    "/": "login.html",
    "/account": "account.html",
    "/admin": "admin.html",
    "/docs": "docs.html",
    "/enter": "enter.html",
    "/qr": "qr.html",
    "/set-password": "set-password.html",
}
# The plain pages of a login for applications: made anew for each request, from these (`api/oauth/flow_pages.py`).
FLOW_LAYOUT = "flow.html"
FLOW_PAGES = ("sign-in", "factor", "consent", "logout", "logged-out", "problem", "post")
# Words of parts that few readers open, by their section: the pages fetch them with the part.
PART_WORDS = {"sources": "pages_sources", "applications": "pages_applications"}
THEMES = ("auto", "light", "dark")

IMMUTABLE = "public, max-age=31536000, immutable"
REVALIDATE = "private, no-cache"

_LANGUAGE = re.compile(r"(?:^|;\s*)gatehouse_language=(\w+)(?:;|$)")
_THEME = re.compile(r"(?:^|;\s*)gatehouse_theme=(light|dark)(?:;|$)")


class Pages:
    def __init__(self, settings: Settings, sources: Sources) -> None:
        self._base_path = settings.base_path
        static = sorted((resources.files(__package__) / "static").iterdir(), key=lambda file: file.name)
        files = {file.name: file.read_bytes() for file in static}
        flow = (FLOW_LAYOUT, *map("flow-{}.html".format, FLOW_PAGES))
        markup = {name: files.pop(name).decode() for name in (*PAGES.values(), *flow)}
        markup = {name: insert_links(text, settings) for name, text in markup.items()}
        files |= {f"words/{each}.json": msgspec.json.encode(section("pages", each)) for each in languages()}
        for part, name in PART_WORDS.items():
            files |= {f"words/{each}-{part}.json": msgspec.json.encode(section(name, each)) for each in languages()}
        folder = _digest(files)
        self._assets = {
            f"/assets/{folder}/{name}": StaticFile(body, _suffix(name), cache=IMMUTABLE) for name, body in files.items()
        }
        self._pages = {
            path: _Page(markup[name], f"assets/{folder}", sources, settings.public_url) for path, name in PAGES.items()
        }
        self._flow_markup = {name: _flow_page(markup, name) for name in FLOW_PAGES}
        self._flow_assets = f"../assets/{folder}"
        self.flow_template = cache(self._flow_template)

    def _flow_template(self, name: str, language: str, theme: str) -> str:
        return _variant(self._flow_markup[name], language, theme, self._flow_assets)

    def routes(self) -> Iterator[tuple[str, str, Endpoint]]:
        """Path, name and endpoint of each."""
        for path, page in self._pages.items():
            yield path, "page", _page_endpoint(page)
        if self._base_path:
            yield "", "page", self._with_slash

    def assets(self) -> Iterator[tuple[str, str, Endpoint]]:
        for path, file in self._assets.items():
            yield path, "asset", _asset_endpoint(file)

    async def _with_slash(self, _request: Request) -> Response:
        """The pages name everything by relative paths, so the first of them has to end in a slash."""
        return Response(
            308, b"", [("location", self._base_path.rpartition("/")[2] + "/"), ("cache-control", "no-store")]
        )


class _Page:
    """Its variants, with the buttons of the providers that there are now."""

    def __init__(self, markup: str, assets: str, sources: Sources, public_url: str) -> None:
        self._markup = markup
        self._assets = assets
        self._sources = sources
        self._public_url = public_url
        self._buttons: tuple[ProviderButton, ...] = ()
        self._files: dict[Variant, StaticFile] = {}

    def file(self, variant: Variant) -> StaticFile:
        buttons = provider_buttons(self._sources.providers)
        if buttons != self._buttons:
            self._buttons, self._files = buttons, {}
        if variant not in self._files:
            markup, words = _variant(self._markup, *variant, self._assets), section("pages", variant[0])
            text = insert_buttons(markup, buttons, words, f"{self._public_url}/login/{{}}".format)
            self._files[variant] = StaticFile(text.encode(), ".html", cache=REVALIDATE, vary="accept-language, cookie")
        return self._files[variant]


def _flow_page(markup: Mapping[str, str], name: str) -> str:
    head, _, main = markup[f"flow-{name}.html"].partition("<!--main-->\n")
    return markup[FLOW_LAYOUT].replace("<!--head-->\n", head).replace("<!--main-->\n", main)


def _digest(files: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, body in files.items():
        digest.update(f"{name} {len(body)} ".encode() + body)
    return digest.hexdigest()[:12]


def _variant(markup: str, language: str, theme: str, assets: str) -> str:
    tag = section("language", language)["tag"]
    markup = markup.replace('<html lang="en">', f'<html lang="{tag}" data-theme="{theme}">')
    markup = markup.replace('id="language">', f'id="language">{_language_names(language)}')
    markup = markup.replace("assets/words/en.json", f"assets/words/{language}.json")
    markup = markup.replace('"assets/', f'"{assets}/')
    return fill(markup, section("pages", language))


def _language_names(language: str) -> str:
    """For the switch: every language in its own words, of which only the next one is shown."""
    following = languages().index(language) + 1
    shown = languages()[following % len(languages())]
    return "".join(
        f'<span lang="{section("language", each)["tag"]}"{"" if each == shown else " hidden"}>'
        f"{html.escape(section('language', each)['name'])}</span>"
        for each in languages()
    )


def _suffix(name: str) -> str:
    return "." + name.rpartition(".")[2]


def variant_of(request: Request) -> Variant:
    cookies = request.header("cookie") or ""
    wanted, theme = _LANGUAGE.search(cookies), _THEME.search(cookies)
    language = wanted[1] if wanted and wanted[1] in languages() else request.language
    return language, theme[1] if theme else "auto"


def _page_endpoint(named: _Page) -> Endpoint:
    async def page(request: Request) -> Response:
        return named.file(variant_of(request)).response_to(request)

    return page


def _asset_endpoint(file: StaticFile) -> Endpoint:
    async def asset(request: Request) -> Response:
        return file.response_to(request)

    return asset
