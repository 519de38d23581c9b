"""What the login page costs: few bytes, no foreign host, and no script before the first paint."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import Visiting
from tests.support.running import Running

LIMIT = 60_000


def test_the_login_page_weighs_less_than_60_kb(visiting: Visiting, running: Running) -> None:
    context = visiting(running).context
    context.unroute_all()
    page = context.new_page()
    session = context.new_cdp_session(page)
    urls: dict[str, str] = {}
    sizes: dict[str, int] = {}
    session.on("Network.responseReceived", lambda event: urls.update({event["requestId"]: event["response"]["url"]}))
    session.on(
        "Network.loadingFinished", lambda event: sizes.update({event["requestId"]: int(event["encodedDataLength"])})
    )
    session.send("Network.enable")
    page.goto(running.url + "/")
    expect(page.locator("#captcha-image[src]")).to_be_visible()
    page.wait_for_load_state("networkidle")
    weights = {urls[request]: size for request, size in sizes.items() if request in urls}
    fetched = {url: size for url, size in weights.items() if url.startswith("http") and not url.endswith("/captcha")}
    assert any(url.endswith("login.js") for url in fetched)
    assert 0 < sum(fetched.values()) < LIMIT, fetched


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
