"""The plain pages of a login for applications: made for each request, in the reader's language, and never kept.

They work without scripts. The policy is that of our other pages, except that forms may be sent. Chromium applies it to
all redirects that follow a form, those of the application to further hosts of its own included; so it names schemes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.error_catalogue import entry_for, headers_for, text_for
from gatehouse.api.http.response import Response
from gatehouse.api.pages.file_response import CONTENT_SECURITY, MEDIA_TYPES, SECURITY_HEADERS
from gatehouse.api.pages.pages import variant_of
from gatehouse.api.pages.provider_buttons import insert_buttons, provider_buttons
from gatehouse.api.pages.value_filling import fill_values
from gatehouse.messages import languages, section

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gatehouse.api.http.request import Request
    from gatehouse.api.pages import Pages
    from gatehouse.auth.identity.sources import Sources

# An application may open us in a window of its own and wait for it: that window must still know its opener.
_LEFT_OUT = {"content-security-policy", "cross-origin-opener-policy"}
_HEADERS = [
    ("content-type", MEDIA_TYPES[".html"]),
    ("cache-control", "no-store"),
    *(header for header in SECURITY_HEADERS if header[0] not in _LEFT_OUT),
]


class FlowPage:
    """What one request is answered with. `locales`: the languages that the application asks for."""

    def __init__(self, pages: FlowPages, request: Request, locales: str = "") -> None:
        self._pages = pages
        language, self._theme = variant_of(request)
        wanted = (each.partition("-")[0].lower() for each in locales.split())
        self.language = next((each for each in wanted if each in languages()), language)
        self._words = section("pages", self.language)

    def say(self, name: str, key: str, **given: str) -> dict[str, str]:
        """The values by which a page says one of its sentences."""
        text = self._words[key]
        for value, what in given.items():
            text = text.replace(f"{{{value}}}", what)
        return {name: key, f"{name}_text": text}

    def tell(self, name: str, refusal: Exception) -> dict[str, str]:
        """The same with the sentence of a refusal."""
        return {name: "", f"{name}_text": text_for(refusal, entry_for(refusal), self.language)}

    def words(self, key: str) -> str:
        return self._words[key]

    def show(
        self,
        name: str,
        values: Mapping[str, str],
        *,
        status: int = 200,
        target: str = "",
        parts: Mapping[str, str] | None = None,
        provider_url: Callable[[str], str] | None = None,
        headers: Sequence[tuple[str, str]] = (),
    ) -> Response:
        """`target`: where its form leads in the end. `parts`: markup of ours, by its place."""
        markup = fill_values(self._pages.template(name, self.language, self._theme), values)
        for place, part in (parts or {}).items():
            markup = markup.replace(f"<!--{place}-->", part)
        if provider_url is not None:
            buttons = provider_buttons(self._pages.sources.providers)
            markup = insert_buttons(markup, buttons, self._words, provider_url)
        security = ("content-security-policy", CONTENT_SECURITY.replace("form-action 'none'", _form_action(target)))
        return Response(status, markup.encode(), [*_HEADERS, security, *headers])

    def problem(self, key: str, back: str = "") -> Response:
        return self.show("problem", {**self.say("problem", key), "back": back}, status=400)

    def failure(self, refusal: Exception) -> Response:
        entry = entry_for(refusal)
        answer = self.show("problem", self.tell("problem", refusal), status=entry.status)
        answer.headers += [header for header in headers_for(refusal, entry) if header[0] == "retry-after"]
        answer.code = entry.code
        return answer


class FlowPages:
    def __init__(self, pages: Pages, sources: Sources) -> None:
        self.template = pages.flow_template
        self.sources = sources

    def page(self, request: Request, locales: str = "") -> FlowPage:
        return FlowPage(self, request, locales)


def _form_action(target: str) -> str:
    return f"form-action 'self' https: {target.partition(':')[0]}:" if target else "form-action 'self'"
