"""A provider that is stopped, slow, has a wrong certificate or answers garbage: what the person sees, what the log
says, that local logins go on, and that nobody is let in.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.api.company_login.browser import Browser, Company, problem_of
from tests.identity_sources.provider.hostile_provider import DISCOVERY, KEYS, TOKEN
from tests.identity_sources.provider.loopback_server import Reply, json_reply


def slow(company: Company) -> None:
    company.configure(timeout=0.2)
    company.provider.hold.clear()


def garbage(company: Company) -> None:
    company.provider.routes[DISCOVERY] = lambda _: Reply(b"<html>", content_type="text/html")


def failing(company: Company) -> None:
    company.provider.routes[DISCOVERY] = lambda _: json_reply({}, 500)


@pytest.mark.parametrize("fault", [slow, garbage, failing])
def test_before_the_browser_is_sent(
    company: Company, browser: Browser, capsys: pytest.CaptureFixture[str], fault: Callable[[Company], None]
) -> None:
    fault(company)
    assert browser.depart() == f"{company.url}/?problem=unavailable&provider=corp"
    assert browser.cookies == {}
    logged = capsys.readouterr()
    assert "a provider cannot be asked" in logged.out + logged.err
    assert company.service.service.identity.sources.counts == {("corp", "unavailable"): 1}
    assert company.service.login().status == 200
    company.provider.hold.set()


def no_token(company: Company) -> None:
    company.provider.routes[TOKEN] = lambda _: Reply(b"garbage")


def no_keys(company: Company) -> None:
    company.provider.routes[KEYS] = lambda _: json_reply({}, 503)


def wrong_secret(company: Company) -> None:
    company.provider.routes[TOKEN] = lambda _: json_reply({"error": "invalid_client"}, 401)


def held(company: Company) -> None:
    company.provider.hold.clear()


@pytest.mark.parametrize("fault", [no_token, no_keys, wrong_secret, held])
def test_after_the_browser_has_come_back(company: Company, browser: Browser, fault: Callable[[Company], None]) -> None:
    company.configure(timeout=0.3)
    answer = browser.answer_of(browser.depart())
    fault(company)
    assert problem_of(browser.come_back(answer)) == "unavailable"
    company.provider.hold.set()
    counts = company.service.service.audit.counts
    assert not {event for event, _ in counts} & {"login", "user.added"}
    assert company.service.login().status == 200


@pytest.mark.parametrize("error", ["server_error", "temporarily_unavailable"])
def test_a_provider_that_says_so_itself(company: Company, browser: Browser, error: str) -> None:
    answer = browser.answer_of(browser.depart(), {"code": None, "error": error})
    assert problem_of(browser.come_back(answer)) == "unavailable"
    assert company.service.service.identity.sources.counts == {("corp", "unavailable"): 1}


def test_a_provider_comes_back(company: Company, browser: Browser) -> None:
    discovery = company.provider.routes.pop(DISCOVERY)
    assert problem_of(browser.depart()) == "unavailable"
    company.provider.routes[DISCOVERY] = discovery
    company.service.clock.move(60)
    assert browser.login()


def test_a_source_that_cannot_be_opened(company: Company, browser: Browser) -> None:
    company.configure(ca_file="/nowhere/ca.pem")
    assert problem_of(browser.depart()) == "unavailable"
    assert company.service.login().status == 200
