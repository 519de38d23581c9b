"""What the pages cost: few bytes, no foreign host, and no script before the first paint."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import Visiting
from tests.browser.visits import Visit
from tests.support.running import Running

pytestmark = pytest.mark.full

# What a first visit may fetch, in bytes on the wire, without the answers of the API.
LIMITS = {
    "/": 60_000,
    "/account": 70_000,
    "/admin": 95_000,
    "/docs": 90_000,
    "/enter": 40_000,
    "/qr": 45_000,
    "/set-password": 40_000,
}


def weigh(context: BrowserContext, page: Page, url: str) -> dict[str, int]:
    """Bytes on the wire by address, of everything that is not the API's."""
    session = context.new_cdp_session(page)
    urls: dict[str, str] = {}
    sizes: dict[str, int] = {}
    session.on("Network.responseReceived", lambda event: urls.update({event["requestId"]: event["response"]["url"]}))
    session.on(
        "Network.loadingFinished", lambda event: sizes.update({event["requestId"]: int(event["encodedDataLength"])})
    )
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.goto(url)
    page.wait_for_load_state("networkidle")
    weights = {urls[request]: size for request, size in sizes.items() if request in urls}
    return {url: size for url, size in weights.items() if url.startswith("http") and "/api/v1/" not in url}


@pytest.mark.parametrize("path", LIMITS)
def test_a_page_is_light(desk: Visit, running: Running, path: str) -> None:
    page = desk.logged_in() if path != "/" else desk.context.new_page()
    desk.context.unroute_all()
    fetched = weigh(desk.context, page, running.url + path)
    print(path, sum(fetched.values()), len(fetched))
    assert any(url.endswith(".js") for url in fetched)
    assert all(url.startswith(running.url) for url in fetched)
    assert 0 < sum(fetched.values()) < LIMITS[path], fetched


def test_the_first_paint_waits_for_no_script(visiting: Visiting, running: Running) -> None:
    page = visiting(running).context.new_page()
    # Scripts never arrive, and the form is there all the same.
    page.route("**/*.js", lambda route: None)
    page.goto(running.url + "/", wait_until="commit")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    expect(page.get_by_label("Username")).to_be_visible()
    assert page.evaluate(
        "new Promise(done => new PerformanceObserver(list => done(list.getEntries().length > 0))"
        ".observe({ type: 'paint', buffered: true }))"
    )
    page.unroute_all(behavior="ignoreErrors")
