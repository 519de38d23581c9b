"""Keycloak in front of an application, and Gatehouse behind Keycloak: a login and a logout pass through both."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.relying_parties.conftest import ready, register
from tests.relying_parties.journeys import (
    assert_is_asked_to_log_in,
    assert_is_in,
    fill_in,
    log_out_here,
    wait_until_out,
)
from tests.relying_parties.parties import OpenidClient, Party, Registration
from tests.support.keycloak import REALM, KeycloakServer
from tests.support.running import Running

pytestmark = pytest.mark.full

ALIAS = "gatehouse"


class BehindKeycloak(OpenidClient):
    """An application that knows Keycloak alone."""

    scope = "openid profile email"  # with offline_access Keycloak keeps no session that could end

    def open(self, page: Page) -> None:
        super().open(page)
        page.get_by_role("link", name="Gatehouse").click()


@pytest.fixture(scope="module")
def party(keycloak: KeycloakServer, running: Running) -> Iterator[Party]:
    _broker(keycloak, running)

    def at_keycloak(party: Party) -> Registration:
        client = keycloak.create_client(
            [f"{party.url}/callback"], after_logout=f"{party.url}/", backchannel_url=f"{party.url}/backchannel-logout"
        )
        return Registration(keycloak.issuer, client.id, client.secret, "")

    with ready(BehindKeycloak, at_keycloak) as party:
        yield party


def _broker(keycloak: KeycloakServer, running: Running) -> None:
    """As an administrator does it there: the address of discovery, id and secret; all else is found."""
    endpoint = f"{keycloak.url}/realms/{REALM}/broker/{ALIAS}/endpoint"
    registration = register(
        running, "keycloak", "--redirect-uri", endpoint, "--post-logout-uri", f"{endpoint}/logout_response",
        "--backchannel-uri", f"{keycloak.issuer}/protocol/openid-connect/logout/backchannel-logout",
    )  # fmt: skip
    found = keycloak.admin(
        "POST",
        "/identity-provider/import-config",
        {"providerId": "oidc", "fromUrl": f"{running.url}/.well-known/openid-configuration"},
    )
    own = {
        "clientId": registration.client_id,
        "clientSecret": registration.secret,
        "defaultScope": "openid profile email",
        "pkceEnabled": "true",
        "pkceMethod": "S256",
        "backchannelSupported": "false",  # a logout goes through the browser
    }
    provider = {"alias": ALIAS, "displayName": "Gatehouse", "providerId": "oidc", "enabled": True}
    keycloak.admin("POST", "/identity-provider/instances", {**provider, "config": {**found, **own}})


def log_in(page: Page, party: Party, person: str) -> None:
    party.open(page)
    fill_in(page, person)
    assert_is_in(page, party, person)


def test_a_login_and_a_logout_in_the_application(page: Page, party: Party, running: Running, person: str) -> None:
    log_in(page, party, person)
    party.log_out(page)
    expect(page.get_by_role("link", name="Gatehouse")).to_be_visible()  # the application asks Keycloak again
    assert_is_asked_to_log_in(page, party, running)


def test_a_logout_here_goes_through_keycloak_into_the_application(
    page: Page, party: Party, running: Running, person: str
) -> None:
    log_in(page, party, person)
    log_out_here(page, running)
    wait_until_out(page, party)
    assert_is_asked_to_log_in(page, party, running)
