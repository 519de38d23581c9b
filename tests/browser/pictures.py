"""Takes the pictures in docs/images: login and account in every look and language, and the administration.

`make pictures`. Colours are reduced to a palette, which leaves the looks and takes most of the bytes.
"""

from __future__ import annotations

import asyncio
import io
import itertools
import tempfile
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, Page

from tests.browser.chromium import MISSING, SIZES, executable, launched
from tests.browser.picture_data import ANSWER, NAMES, WIKI, guess, log_in_elsewhere, prepare
from tests.support.running import PASSWORD, Running

IMAGES = Path(__file__).parents[2] / "docs/images"
Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
LANGUAGES = {"en": "en-GB", "zh": "zh-CN"}
SHARPNESS = {"desktop": 1, "phone": 2}
LIMIT = 80_000
# Parts of the administration, and what stands there when each is loaded.
PARTS = {
    "overview": "svg.chart",
    "users": "tbody .open",
    "roles": ".perm-group",
    "applications": "tbody .open",
    "settings": ".findings li",
}
# What an application sends a browser with.
ASKED = {
    "client_id": "wiki",
    "redirect_uri": WIKI,
    "response_type": "code",
    "scope": "openid profile email",
    "nonce": "n",
}


def main() -> None:
    if executable() is None:
        raise SystemExit(f"no pictures: {MISSING}")
    IMAGES.mkdir(parents=True, exist_ok=True)
    settings = {"captcha_test_answer": ANSWER, "limits": "on", "limit_login_address": "1000/minute"}
    with tempfile.TemporaryDirectory() as folder, Running(Path(folder) / "data", **settings) as running:
        asyncio.run(prepare(running))
        log_in_elsewhere(running)
        with launched() as browser:
            for size, theme, language in itertools.product(SIZES, THEMES, LANGUAGES):
                take(browser, running, size, theme, language)
            for language in LANGUAGES:
                take_flow(browser, running, language)
            looks: list[tuple[str, Theme, str]] = [
                ("desktop", "light", "en"),
                ("desktop", "dark", "zh"),
                ("phone", "dark", "en"),
            ]
            for look in looks:
                guess(running)
                log_in_elsewhere(running)  # so that what has just happened is more than failures
                take_administration(browser, running, *look)


def take(browser: Browser, running: Running, size: str, theme: Theme, language: str) -> None:
    context = browser.new_context(
        color_scheme=theme,
        locale=LANGUAGES[language],
        reduced_motion="reduce",
        device_scale_factor=SHARPNESS[size],
        timezone_id="Asia/Shanghai" if language == "zh" else "Europe/London",
        **SIZES[size],
    )
    page = context.new_page()
    page.goto(running.url)
    page.locator("#captcha-image[src]").wait_for()
    page.locator("#username").fill(NAMES[language][0])
    page.locator("#password").fill(PASSWORD)
    page.locator("#captcha").focus()
    save(page, f"login-{size}-{theme}-{language}")
    page.locator("#captcha").fill(ANSWER)
    page.locator("#captcha").press("Enter")
    page.locator(".row.current").wait_for()
    page.locator("#perms dt").first.wait_for()
    save(page, f"account-{size}-{theme}-{language}")
    page.locator("#logout").click()
    page.locator("#notice").wait_for()
    context.close()


def take_flow(browser: Browser, running: Running, language: str) -> None:
    """What somebody sees on the way to an application."""
    context = browser.new_context(
        color_scheme="light", locale=LANGUAGES[language], reduced_motion="reduce", **SIZES["desktop"]
    )
    page = context.new_page()
    page.goto(f"{running.url}/oauth2/authorize?{urlencode(ASKED)}")
    page.locator("#username").fill(NAMES[language][0])
    page.locator("#password").fill(PASSWORD)
    page.locator("#captchaCode").focus()
    save(page, f"flow-sign-in-desktop-light-{language}")
    page.locator("#captchaCode").fill(ANSWER)
    page.locator("#sign-in").click()
    page.locator("#allow").wait_for()
    save(page, f"flow-consent-desktop-light-{language}")
    context.close()


def take_administration(browser: Browser, running: Running, size: str, theme: Theme, language: str) -> None:
    context = browser.new_context(
        color_scheme=theme,
        locale=LANGUAGES[language],
        reduced_motion="reduce",
        device_scale_factor=SHARPNESS[size],
        **SIZES[size],
    )
    page = context.new_page()
    page.goto(running.url)
    page.locator("#captcha-image[src]").wait_for()
    page.locator("#username").fill("admin")
    page.locator("#password").fill(PASSWORD)
    page.locator("#captcha").fill(ANSWER)
    page.locator("#captcha").press("Enter")
    page.locator(".row.current").wait_for()
    for part, sign in PARTS.items():
        page.goto(f"{running.url}/admin#{part}")
        page.locator(sign).first.wait_for()
        page.locator("[aria-busy=true], .waiting").first.wait_for(state="detached")
        save(page, f"admin-{part}-{size}-{theme}-{language}")
    context.close()


def save(page: Page, name: str) -> None:
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = IMAGES / f"{name}.png"
    if name.startswith(("login-desktop", "flow-")):
        # Dithering hides the steps in the sky; where there is no sky it would only make the letters rough.
        picture = picture.quantize(palette=palette(picture, exact=96), dither=Image.Dither.FLOYDSTEINBERG)
    else:
        picture = picture.quantize(palette=palette(picture, exact=256), dither=Image.Dither.NONE)
    picture.save(path, optimize=True)
    weight = path.stat().st_size
    print(f"{weight:>7,} bytes  {path.name}")
    assert weight < LIMIT, f"{path.name} is too heavy"


def palette(picture: Image.Image, exact: int) -> Image.Image:
    """The commonest colours as they are, so that no ground changes its tone, then a median cut of all of them."""
    counted = picture.getcolors(picture.width * picture.height) or []
    commonest: list[Any] = [colour for _, colour in sorted(counted, reverse=True)[:exact]]
    rest = picture.quantize(256, method=Image.Quantize.MEDIANCUT).getpalette() or []
    chosen = Image.new("P", (1, 1))
    chosen.putpalette([*itertools.chain.from_iterable(commonest), *rest][: 256 * 3])
    return chosen


if __name__ == "__main__":
    main()
