"""The directory of whoever is logged in at the browser is away: nobody is let in unchecked, and nobody is kept in."""

from __future__ import annotations

from pathlib import Path

from gatehouse.management.authority import OPERATOR
from gatehouse.management.identity_sources import SourceDraft
from tests.api.oauth.application import Application
from tests.api.oauth.conftest import ISSUER
from tests.api.oauth.flow import Browser
from tests.support.inprocess import InProcess
from tests.support.slapd import PASSWORD, Slapd, slapd
from tests.support.sources import add_directory, add_roles

__all__ = ["slapd"]

SESSION = "__Host-gatehouse_session"


def lose(gatehouse: InProcess) -> None:
    """Nobody answers there, and what was known of its people is too old."""
    [source] = gatehouse.service.identity.sources.directories
    config = {name: getattr(source.config, name) for name in source.config.__struct_fields__}
    config |= {"urls": ("ldap://127.0.0.1:9",), "recheck_seconds": 0, "stale_seconds": 0}
    draft = SourceDraft(config=type(source.config)(**config))
    gatehouse.run(gatehouse.service.management.source_changes.edit(OPERATOR, source.name, draft))
    gatehouse.clock.move(1)


def test_who_is_logged_in_can_log_out_and_somebody_else_log_in(tmp_path: Path, slapd: Slapd) -> None:
    with InProcess(tmp_path / "data", issuer=ISSUER) as gatehouse:
        add_roles(gatehouse, "STAFF", "AUDITOR")
        add_directory(gatehouse, slapd)
        app = Application(gatehouse)
        hers, left_open, shared = Browser(gatehouse), Browser(gatehouse), Browser(gatehouse)
        for browser in (hers, left_open, shared):
            back = browser.sign_in(browser.authorize(), "carol", PASSWORD)
        hint = app.exchange(back.query["code"], code_verifier="").json["id_token"]
        gatehouse.clock.move(1)
        form = left_open.authorize(prompt="login")
        lose(gatehouse)
        assert hers.authorize().status == 503
        assert "log-out" in hers.open("/oauth2/logout").buttons
        assert "logged-out" in hers.submit(hers.open("/oauth2/logout"), "log-out").texts
        assert "captchaCode" in hers.authorize().fields
        assert "logged-out" in shared.open("/oauth2/logout", id_token_hint=hint).texts
        assert not shared.is_logged_in
        assert "code" in left_open.sign_in(form).query, "the administrator is known here"
