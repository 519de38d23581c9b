"""Takes the pictures in docs/images: login and account in every look and language, and the administration.

`make pictures`. Colours are reduced to a palette, which leaves the looks and takes most of the bytes.
"""

from __future__ import annotations

import io
import itertools
import tempfile
from pathlib import Path

import httpx
from PIL import Image
from playwright.sync_api import Browser, Page

from tests.browser.chromium import MISSING, SIZES, executable, launched
from tests.support.conversation import login
from tests.support.running import ANSWER, PASSWORD, Running

IMAGES = Path(__file__).parents[2] / "docs/images"
THEMES = ("light", "dark")
LANGUAGES = {"en": "en-GB", "zh": "zh-CN"}
SHARPNESS = {"desktop": 1, "phone": 2}
LIMIT = 80_000

NAMES = {"en": ("ann.lee", "Ann Lee"), "zh": ("lin.yue", "林悦")}
PERMS = ("sys:user:query", "sys:user:add", "sys:user:edit", "sys:user:import", "sys:dept:query", "sys:dept:edit")
AGENTS = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0",
)


def main() -> None:
    if executable() is None:
        raise SystemExit(f"no pictures: {MISSING}")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, Running(Path(folder) / "data") as running, launched() as browser:
        add_people(running)
        for size, theme, language in itertools.product(SIZES, THEMES, LANGUAGES):
            take(browser, running, size, theme, language)
        for size, theme in (("desktop", "light"), ("phone", "dark")):
            take_administration(browser, running, size, theme)


def add_people(running: Running) -> None:
    """Somebody to look at, who is logged in at two other places as well."""
    running.cli("role", "add", "EDITOR", "--name", "Editor")
    running.cli("role", "allow", "EDITOR", *PERMS)
    for username, nickname in NAMES.values():
        options = ("--nickname", nickname, "--role", "EDITOR", "--password-stdin")
        done = running.cli("user", "add", username, *options, stdin=PASSWORD + "\n")
        assert done.returncode == 0, done.stderr
        for agent in AGENTS:
            with httpx.Client(base_url=running.url, headers={"User-Agent": agent}) as client:
                login(client, username=username)


def take(browser: Browser, running: Running, size: str, theme: str, language: str) -> None:
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
    keep(page, f"login-{size}-{theme}-{language}")
    page.locator("#captcha").fill(ANSWER)
    page.locator("#captcha").press("Enter")
    page.locator(".row.current").wait_for()
    page.locator("#perms dt").first.wait_for()
    keep(page, f"account-{size}-{theme}-{language}")
    page.locator("#logout").click()
    page.locator("#notice").wait_for()
    context.close()


def take_administration(browser: Browser, running: Running, size: str, theme: str) -> None:
    context = browser.new_context(
        color_scheme=theme, locale="en-GB", reduced_motion="reduce", device_scale_factor=SHARPNESS[size], **SIZES[size]
    )
    page = context.new_page()
    page.goto(running.url)
    page.locator("#captcha-image[src]").wait_for()
    page.locator("#username").fill("admin")
    page.locator("#password").fill(PASSWORD)
    page.locator("#captcha").fill(ANSWER)
    page.locator("#captcha").press("Enter")
    page.locator(".row.current").wait_for()
    page.goto(f"{running.url}/admin#users")
    page.locator("tbody .open").first.wait_for()
    keep(page, f"admin-{size}-{theme}-en")
    context.close()


def keep(page: Page, name: str) -> None:
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = IMAGES / f"{name}.png"
    if name.startswith("login-desktop"):
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
    commonest = [colour for _, colour in sorted(counted, reverse=True)[:exact]]
    rest = picture.quantize(256, method=Image.Quantize.MEDIANCUT).getpalette() or []
    chosen = Image.new("P", (1, 1))
    chosen.putpalette([*itertools.chain.from_iterable(commonest), *rest][: 256 * 3])
    return chosen


if __name__ == "__main__":
    main()
