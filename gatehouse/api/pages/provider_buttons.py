"""The buttons of logins with a company account: part of a page from its first byte, so nothing moves when they come.

An icon is one of ours by its name, or a `data:` image. The policy of the pages loads none from another host: anything
else is drawn as the first letter of the title.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gatehouse.auth.identity.sources import Source

PLACE = "<!--providers-->"

# In a box of 24 by 24.
_DRAWINGS = {
    "building": '<path d="M4.5 20.5v-16h9v16M13.5 9.5h6v11M2.5 20.5h19M7.5 8h3M7.5 12h3M7.5 16h3M16.5 13.5v3"/>',
    "globe": '<circle cx="12" cy="12" r="8.5"/><path d="M3.5 12h17M12 3.5c5 5.5 5 11.5 0 17c-5-5.5-5-11.5 0-17"/>',
    "key": '<circle cx="8" cy="12" r="4.5"/><path d="M12.5 12h9M18 12v3.5M21.5 12v2.5"/>',
    "openid": '<rect x="3" y="5" width="18" height="14" rx="2"/><circle cx="8.5" cy="10.5" r="2"/>'
    '<path d="M5.5 16c.3-1.7 1.4-2.5 3-2.5s2.7.8 3 2.5M14.5 10h3.5M14.5 14h3.5"/>',
    "people": '<circle cx="9" cy="8" r="3.5"/><path d="M2.5 19.5c.5-3.6 3-5.5 6.5-5.5s6 1.9 6.5 5.5'
    'M16 5a3.3 3.3 0 0 1 0 6.3M18 14.4c2 .7 3.2 2.4 3.5 5.1"/>',
    "shield": '<path d="M12 3l7.5 2.5V11c0 5-3 8.3-7.5 10-4.5-1.7-7.5-5-7.5-10V5.5zM8.5 12l2.5 2.5 4.5-5"/>',
}


class ProviderButton(NamedTuple):
    name: str
    title: str
    icon: str


def provider_buttons(providers: Iterable[Source]) -> tuple[ProviderButton, ...]:
    return tuple(ProviderButton(each.name, each.title, each.provider_config.icon) for each in providers)


def insert_buttons(
    markup: str, buttons: tuple[ProviderButton, ...], words: Mapping[str, str], url_of: Callable[[str], str]
) -> str:
    """In their place; what is for buttons alone (`data-providers`) is hidden where there are none."""
    if not buttons:
        return markup.replace(" data-providers", " hidden").replace(PLACE, "")
    return markup.replace(PLACE, "".join(_link(button, words["login.with"], url_of) for button in buttons))


def _link(button: ProviderButton, label: str, url_of: Callable[[str], str]) -> str:
    title = html.escape(button.title)
    url = html.escape(url_of(quote(button.name, safe="")))
    text = label.replace("{title}", html.escape(button.title, quote=False))
    return (
        f'<a class="quiet lined" href="{url}" data-provider="{html.escape(button.name)}">{_icon(button)}'
        f'<span data-t="login.with" data-title="{title}">{text}</span></a>'
    )


def _icon(button: ProviderButton) -> str:
    if drawing := _DRAWINGS.get(button.icon):
        return f'<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">{drawing}</svg>'
    if button.icon.startswith("data:image/"):
        return f'<img src="{html.escape(button.icon)}" alt="" width="20" height="20">'
    return f'<span class="letter" aria-hidden="true">{html.escape(button.title[:1].upper(), quote=False)}</span>'
