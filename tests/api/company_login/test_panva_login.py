"""A served Gatehouse and panva's oidc-provider: login, and logout in both directions."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from gatehouse.identity_sources.definitions import Mapping, ProviderConfig
from tests.api.company_login.real_provider import BACK_CHANNEL, CALLBACK, LOGGED_OUT, Served
from tests.support import html_forms
from tests.support.engines import NotInstalled
from tests.support.panva_provider import PanvaProvider
from tests.support.waiting import wait_until

pytestmark = pytest.mark.full

SECRET = "s e:c/r+e%t"


@pytest.fixture
def served(tmp_path_factory: pytest.TempPathFactory) -> Served:
    return Served(tmp_path_factory.mktemp("panva") / "data")


@pytest.fixture
def panva(served: Served) -> Iterator[PanvaProvider]:
    client = {
        "client_id": "gatehouse",
        "client_secret": SECRET,
        "redirect_uris": [served.url + CALLBACK],
        "post_logout_redirect_uris": [served.url + LOGGED_OUT],
        "backchannel_logout_uri": served.url + BACK_CHANNEL,
        "backchannel_logout_session_required": True,
        "id_token_signed_response_alg": "ES256",
    }
    try:
        provider = PanvaProvider(client)
    except NotInstalled as missing:
        pytest.skip(str(missing))
    provider.start()
    yield provider
    provider.remove()


def test_login_and_logout(panva: PanvaProvider, served: Served) -> None:
    mapping = Mapping(groups="groups", roles={"staff": ("STAFF",)})
    served.add_provider(ProviderConfig(issuer=panva.issuer, client_id="gatehouse", mapping=mapping), SECRET)
    with served, html_forms.browser() as browser:

        def log_in(url: str) -> str:
            return panva.log_in(browser, url, served.url + CALLBACK, "caroline")

        tokens = served.login(browser, log_in)
        me = served.me(browser, tokens).json()["data"]
        assert (me["username"], me["nickname"], me["roles"]) == ("caroline", "Person caroline", ["STAFF"])
        second = served.login(browser, log_in)  # nobody asks for a password again
        there = served.log_out(browser, tokens)
        assert served.me(browser, second).status_code == 200
        assert panva.log_out(browser, there, served.url + LOGGED_OUT) == served.url + LOGGED_OUT
        assert browser.get(served.url + LOGGED_OUT).headers["location"] == f"{served.url}/"
        # Its session there was that of both, and it has told us of its end.
        wait_until(lambda: _is_out(served, browser, second), "the second session ends")


def _is_out(served: Served, browser: httpx.Client, tokens: dict[str, str]) -> bool:
    return served.me(browser, tokens).status_code == 401
