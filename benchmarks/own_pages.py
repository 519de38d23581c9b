"""What the pages cost a reader: bytes of each, first paint, and the users page of /admin with many users.

    python -m benchmarks.own_pages [--users 50000] [--rounds 7]

Chromium and the service share the machine; nothing is cached. Times are those that the browser measures: first paint
from the start of the navigation, the list and each search until its rows are on the page.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page
from rich.console import Console
from rich.table import Table

from benchmarks.user_page import populate
from tests.browser.chromium import MISSING, SIZES, executable, launched
from tests.browser.test_weight import LIMITS, weigh
from tests.browser.visits import log_in
from tests.support.running import Running

# From the moment the words are typed: 250 ms of it are the pause after which the page begins to search.
SEARCH = """async ([words, total]) => {
  const box = document.querySelector("#view input[type=search]");
  const start = performance.now();
  box.value = words;
  box.dispatchEvent(new Event("input", { bubbles: true }));
  const place = document.querySelector(".feet span");
  while (!place.textContent.endsWith(total)) await new Promise(requestAnimationFrame);
  return performance.now() - start;
}"""
LISTED = """() => new Promise((done) => {
  const look = () => document.querySelector("tbody .open") ? done(performance.now()) : requestAnimationFrame(look);
  look();
})"""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def log_in_as_administrator(browser: Browser, running: Running) -> Page:
    page = browser.new_context(locale="en-GB", **SIZES["desktop"]).new_page()
    page.goto(running.url)
    log_in(page)
    page.locator(".row.current").wait_for()
    return page


def opened(page: Page, running: Running, path: str) -> tuple[float, float]:
    """First contentful paint and the moment at which the users stand there, in ms, with an empty cache."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.goto("about:blank")
    page.goto(running.url + path, wait_until="commit")
    listed = float(page.evaluate(LISTED)) if "users" in path else 0.0
    page.wait_for_load_state("networkidle")
    return float(page.evaluate(PAINTED)), listed


def searched(page: Page, words: str, total: str) -> float:
    page.evaluate(SEARCH, ["", "50,001"])
    return float(page.evaluate(SEARCH, [words, total]))


def middle(times: list[float]) -> str:
    return f"{statistics.median(times):.0f} ms (worst {max(times):.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    if executable() is None:
        raise SystemExit(f"no figures: {MISSING}")
    console = Console()
    with tempfile.TemporaryDirectory() as folder, Running(Path(folder) / "data") as running:
        asyncio.run(populate(running, given.users))
        with launched() as browser:
            console.print(weights(browser, running, given.rounds))
            console.print(users_page(browser, running, given.rounds))


def weights(browser: Browser, running: Running, rounds: int) -> Table:
    table = Table("page", "bytes on the wire", "files", "first contentful paint")
    for path in LIMITS:
        page = log_in_as_administrator(browser, running) if path != "/" else browser.new_page()
        fetched = weigh(page.context, page, running.url + path)
        paints = [opened(page, running, path)[0] for _ in range(rounds)]
        table.add_row(path, f"{sum(fetched.values()):,}", str(len(fetched)), middle(paints))
        page.context.close()
    return table


def users_page(browser: Browser, running: Running, rounds: int) -> Table:
    table = Table("users page", "time")
    page = log_in_as_administrator(browser, running)
    times = [opened(page, running, "/admin#users") for _ in range(rounds)]
    table.add_row("first contentful paint", middle([paint for paint, _ in times]))
    table.add_row("20 users shown", middle([listed for _, listed in times]))
    for name, words, total in (
        ("search: one hit", "user49123", "of 1"),
        ("search: many hits", "nick", "of 50,000"),
        ("search: a mobile number", "13800012345", "of 1"),
    ):
        table.add_row(name, middle([searched(page, words, total) for _ in range(rounds)]))
    return table


if __name__ == "__main__":
    main()
