"""The pages and what they are made of, read once at start and then served from memory.

A page is kept ready in every language and theme. The service and not a script chooses one for each request, so the
first paint is right: the language by a cookie that the page's switch sets, or else by the browser's setting;
the theme by a cookie, or else by the style sheet, which asks the browser.

Assets live under a folder named by the content of them all. They may be kept for ever, and the modules among them,
which name each other by relative paths, always come from one and the same release.
"""

from __future__ import annotations

import hashlib
import re
from importlib import resources
from typing import TYPE_CHECKING

import msgspec

from gatehouse.api.http.response import Response
from gatehouse.api.pages.files import StaticFile
from gatehouse.api.pages.links import insert_links
from gatehouse.api.pages.words import fill

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from importlib.resources.abc import Traversable

    from gatehouse.api.http.request import Request
    from gatehouse.settings import Settings

    Endpoint = Callable[[Request], Awaitable[Response]]

PAGES = {
    "/": "login.html",
    "/account": "account.html",
    "/admin": "admin.html",
    "/docs": "docs.html",
    "/qr": "qr.html",
    "/set-password": "set-password.html",
}
LANGUAGES = {"en": "en", "zh": "zh-CN"}
THEMES = ("auto", "light", "dark")

IMMUTABLE = "public, max-age=31536000, immutable"
REVALIDATE = "private, no-cache"

_LANGUAGE = re.compile(r"(?:^|;\s*)gatehouse_language=(en|zh)(?:;|$)")
_THEME = re.compile(r"(?:^|;\s*)gatehouse_theme=(light|dark)(?:;|$)")


class Pages:
    def __init__(self, settings: Settings) -> None:
        self._base_path = settings.base_path
        files = dict(_files(resources.files(__package__) / "static"))
        markup = {name: files.pop(name).decode() for name in PAGES.values()}
        markup = {name: insert_links(text, settings) for name, text in markup.items()}
        words = {language: msgspec.json.decode(files[f"words/{language}.json"]) for language in LANGUAGES}
        folder = _digest(files)
        self._assets = {
            f"/assets/{folder}/{name}": StaticFile(body, _suffix(name), cache=IMMUTABLE) for name, body in files.items()
        }
        self._pages = {
            path: {
                (language, theme): _page(markup[name], language, words[language], theme, folder)
                for language in LANGUAGES
                for theme in THEMES
            }
            for path, name in PAGES.items()
        }

    def routes(self) -> Iterator[tuple[str, str, Endpoint]]:
        """Path, name and endpoint of each."""
        for path, variants in self._pages.items():
            yield path, "page", _page_endpoint(variants)
        for path, file in self._assets.items():
            yield path, "asset", _asset_endpoint(file)
        if self._base_path:
            yield "", "page", self._with_slash

    async def _with_slash(self, _request: Request) -> Response:
        """The pages name everything by relative paths, so the first of them has to end in a slash."""
        return Response(
            308, b"", [("location", self._base_path.rpartition("/")[2] + "/"), ("cache-control", "no-store")]
        )


def _files(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name, entry.read_bytes()


def _digest(files: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, body in files.items():
        digest.update(f"{name} {len(body)} ".encode() + body)
    return digest.hexdigest()[:12]


def _page(markup: str, language: str, words: dict[str, str], theme: str, folder: str) -> StaticFile:
    markup = markup.replace('<html lang="en">', f'<html lang="{LANGUAGES[language]}" data-theme="{theme}">')
    markup = markup.replace("assets/words/en.json", f"assets/words/{language}.json")
    markup = markup.replace('"assets/', f'"assets/{folder}/')
    return StaticFile(fill(markup, words).encode(), ".html", cache=REVALIDATE, vary="accept-language, cookie")


def _suffix(name: str) -> str:
    return "." + name.rpartition(".")[2]


def _page_endpoint(variants: dict[tuple[str, str], StaticFile]) -> Endpoint:
    async def page(request: Request) -> Response:
        cookies = request.header("cookie") or ""
        language, theme = _LANGUAGE.search(cookies), _THEME.search(cookies)
        chosen = language[1] if language else request.language, theme[1] if theme else "auto"
        return variants[chosen].response_to(request)

    return page


def _asset_endpoint(file: StaticFile) -> Endpoint:
    async def asset(request: Request) -> Response:
        return file.response_to(request)

    return asset
