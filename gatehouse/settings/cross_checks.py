"""Rules between settings: which values are refused together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.settings.errors import SettingsError

if TYPE_CHECKING:
    from gatehouse.settings.settings import Settings


def check_together(settings: Settings) -> None:
    """Raises `SettingsError`. The switches for tests weaken the login, so they work on this machine alone."""
    problems = []
    # An issuer that is not loopback means that a proxy on this machine passes on requests from outside.
    if not settings.listens_on_loopback or not settings.known_on_loopback:
        where = "it is refused unless HOST and the host of ISSUER are loopback"
        if settings.captcha_test_answer:
            problems.append(f"GATEHOUSE_CAPTCHA_TEST_ANSWER is for tests: {where}")
        if not settings.limits:
            problems.append(f"GATEHOUSE_LIMITS=off is for tests: {where}")
    if settings.second_factor == "off" and settings.second_factor_roles:
        problems.append("GATEHOUSE_SECOND_FACTOR=off contradicts GATEHOUSE_SECOND_FACTOR_ROLES: set one")
    if settings.secret_previous and not settings.secret:
        problems.append("GATEHOUSE_SECRET_PREVIOUS is set without GATEHOUSE_SECRET")
    if settings.secret and settings.secret_file:
        problems.append("GATEHOUSE_SECRET and GATEHOUSE_SECRET_FILE are both set: set one")
    if problems:
        raise SettingsError(problems)
