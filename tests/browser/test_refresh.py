"""Tokens are renewed behind the scenes: one refresh at a time over all tabs, and nobody is logged out by it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Visiting
from tests.browser.visits import Visit, arrived, come_back, spoil_access_token, step_away, tokens
from tests.support.conversation import REFRESH
from tests.support.running import Running

pytestmark = pytest.mark.full

NO_LOCKS = 'Object.defineProperty(Navigator.prototype, "locks", { value: undefined });'


def two_tabs(visit: Visit) -> tuple[Page, Page]:
    first = visit.logged_in(remember=True)
    second = visit.page("/account")
    arrived(second)
    return first, second


def reload_at_once(*pages: Page) -> None:
    for page in pages:
        page.evaluate("() => { window.before = true; setTimeout(() => location.reload()); }")
    for page in pages:
        page.wait_for_function("() => !window.before")
        arrived(page)


@pytest.fixture(scope="module")
def brief(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("brief") / "data", access_ttl=2) as running:
        yield running


def test_two_tabs_outlive_many_access_tokens(visiting: Visiting, brief: Running, size: dict[str, Any]) -> None:
    visit = visiting(brief, **size)
    first, second = two_tabs(visit)
    key = "Object.keys(localStorage).find((key) => key.startsWith('gatehouse.tokens'))"
    for _ in range(3):
        before = tokens(first)["access"]
        first.wait_for_function(f"(old) => JSON.parse(localStorage.getItem({key})).access !== old", arg=before)
    sent = [request.post_data for request in visit.refreshes]
    assert len(sent) >= 3
    assert len(set(sent)) == len(sent), "a refresh token was sent twice"
    reload_at_once(first, second)


@pytest.mark.parametrize("lost", ["no answer", "503"])
def test_a_refresh_whose_answer_is_lost_is_repeated_and_logs_nobody_out(desk: Visit, lost: str) -> None:
    page = desk.logged_in()
    answers = []

    def lose_first(route: Route) -> None:
        answer = route.fetch()
        answers.append(answer.status)
        if len(answers) > 1:
            route.fulfill(response=answer)
        elif lost == "503":
            route.fulfill(status=503, json={"code": "C0300", "data": None, "msg": "a store is not available"})
        else:
            route.abort()

    page.route("**/auth/refresh-token", lose_first)
    spoil_access_token(page)
    page.reload()
    arrived(page)
    assert answers == [200, 200]
    desk.complaints.clear()  # of the request that failed


def test_without_locks_both_tabs_may_refresh_and_stay_logged_in(desk: Visit) -> None:
    desk.context.add_init_script(NO_LOCKS)
    first, second = two_tabs(desk)
    assert first.evaluate("navigator.locks === undefined")
    for _ in range(3):
        spoil_access_token(first)
        reload_at_once(first, second)
    assert tokens(first) == tokens(second)


def test_a_duplicated_tab_learns_of_new_tokens(desk: Visit) -> None:
    """Not remembered: each tab has a copy, and an old copy would be taken for theft after the grace."""
    first = desk.logged_in()
    with desk.context.expect_page() as opened:
        first.evaluate("() => void window.open('account')")
    second = opened.value
    arrived(second)
    assert tokens(second) == tokens(first)
    spoil_access_token(first)
    first.reload()
    arrived(first)
    renewed = tokens(first)
    second.wait_for_function(
        "(access) => Object.values(sessionStorage).some((text) => text.includes(access))", arg=renewed["access"]
    )
    assert tokens(second) == renewed


def test_a_session_that_was_ended_leads_to_the_login_page(desk: Visit, running: Running) -> None:
    page = desk.logged_in()
    held = tokens(page)
    step_away(page)
    with running.client() as client:
        assert client.post(REFRESH, json={"refreshToken": held["refresh"]}).status_code == 200
        successor = client.post(REFRESH, json={"refreshToken": held["refresh"]}).json()["data"]
        client.delete("/api/v1/auth/logout", headers={"Authorization": f"Bearer {successor['accessToken']}"})
    come_back(page, running.url)
    expect(page.locator("#notice")).to_have_text("Your session has ended. Please log in again.")
    assert page.evaluate("Object.keys(sessionStorage).length") == 0
