"""The checks of applications: whether what they are sent is safe on the way, and what of them has gone out of date."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from gatehouse.auth.oauth.clients import read_config
from gatehouse.auth.oauth.definitions import ClientAuth
from gatehouse.doctor.findings import fail, ok, warn
from gatehouse.management.client_checks import is_plain
from gatehouse.messages import message

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from gatehouse.auth.oauth.definitions import ClientConfig
    from gatehouse.composition.service import Service
    from gatehouse.doctor.findings import Finding
    from gatehouse.stores.database.oauth_clients import ClientSecret

SOON_SECONDS = 2 * 86_400


async def check_clients(service: Service) -> AsyncIterator[Finding]:
    """The enabled ones."""
    rows = [row for row in await service.management.client_changes.all() if row.enabled]
    if not rows:
        return
    url = service.settings.public_url
    if is_plain(url):
        found = message("findings.applications_without_tls", clients=len(rows), url=url)
        yield fail("applications", found, message("advice.issuer_tls"))
    else:
        yield ok("applications", message("findings.applications", clients=len(rows)))
    known = {role.code for role in await service.stores.roles.all()}
    secrets = await service.management.client_changes.valid_secrets()
    for row in rows:
        config = read_config(row)
        for each in (
            *_check_config(row.client_id, config, known),
            *_check_secrets(row.client_id, config, secrets.get(row.id, ()), service.clock()),
        ):
            yield each


def _check_config(client: str, config: ClientConfig, known: set[str]) -> Iterator[Finding]:
    addresses = (*config.redirect_uris, *config.post_logout_redirect_uris, config.backchannel_logout_uri)
    if plain := [address for address in addresses if is_plain(address)]:
        found = message("findings.application_plain", client=client, url=plain[0])
        yield warn("applications", found, message("advice.application_plain"))
    if missing := sorted(set(config.roles) - known):
        found = message("findings.application_roles", client=client, roles=", ".join(missing))
        yield fail("applications", found, message("advice.application_roles", client=client))
    if config.backchannel_logout_uri and find_spec("httpx") is None:
        yield fail(
            "applications", message("findings.application_not_told", client=client), message("advice.source_extra")
        )


def _check_secrets(client: str, config: ClientConfig, secrets: Sequence[ClientSecret], now: float) -> Iterator[Finding]:
    if config.auth is not ClientAuth.SECRET:
        return
    if not secrets:
        found = message("findings.application_no_secret", client=client)
        yield fail("applications", found, message("advice.application_no_secret", client=client))
    for each in secrets:
        if each.expires is not None and each.expires < now + SOON_SECONDS:
            hours = max(1, round((each.expires - now) / 3600))
            found = message("findings.application_secret_ends", client=client, hint=each.hint, hours=hours)
            yield warn("applications", found, message("advice.application_secret_ends"))
