"""The buttons of company logins in a page: as the operator has set them, and never more than text."""

from __future__ import annotations

import pytest

from gatehouse.api.pages.provider_buttons import PLACE, ProviderButton, insert_buttons

PAGE = f'<div id="company" data-providers>{PLACE}</div>'
WORDS = {"login.with": "Log in with {title}"}
URL = "https://gatehouse.example/base"


def markup(*buttons: ProviderButton) -> str:
    return insert_buttons(PAGE, buttons, WORDS, f"{URL}/login/{{}}".format)


def test_without_a_provider_their_place_is_hidden() -> None:
    assert markup() == '<div id="company" hidden></div>'


def test_each_leads_to_its_login_at_the_address_of_the_service() -> None:
    text = markup(ProviderButton("one", "One", ""), ProviderButton("two", "Two", ""))
    assert text.index(f'href="{URL}/login/one"') < text.index(f'href="{URL}/login/two"')
    assert "Log in with One<" in text
    assert "hidden" not in text.replace("aria-hidden", "")


def test_a_title_is_text() -> None:
    text = markup(ProviderButton("x", '"><script>alert(1)</script>', '"><script>'))
    assert "<script" not in text
    assert 'data-title="&quot;&gt;&lt;script' in text


@pytest.mark.parametrize(
    ("icon", "drawn"),
    [
        ("building", "<svg"),
        ("data:image/png;base64,AAAA", '<img src="data:image/png;base64,AAAA" alt=""'),
        ("https://elsewhere.example/icon.png", '<span class="letter" aria-hidden="true">钉</span>'),
        ("", '<span class="letter" aria-hidden="true">钉</span>'),
    ],
)
def test_an_icon_is_ours_or_in_the_page_or_a_letter(icon: str, drawn: str) -> None:
    text = markup(ProviderButton("x", "钉钉", icon))
    assert drawn in text
    assert "elsewhere" not in text
