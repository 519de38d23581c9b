"""What a provider says about itself (OpenID Connect Discovery 1.0)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gatehouse.common.jwk import ALGORITHMS
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.identity_sources.provider.http_client import check_url, shown

if TYPE_CHECKING:
    from gatehouse.identity_sources.provider.http_client import HttpClient

STEP = "discovery"
PATH = "/.well-known/openid-configuration"


class Metadata(msgspec.Struct, frozen=True):
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    end_session_endpoint: str | None = None
    authorization_response_iss_parameter_supported: bool = False
    id_token_signing_alg_values_supported: tuple[str, ...] | None = None


async def discover(http: HttpClient, issuer: str) -> Metadata:
    url = check_url(issuer, "issuer", STEP).rstrip("/") + PATH
    answer = await http.get(url, STEP)
    if answer.status != 200:
        raise SourceUnavailable(f"{url} answers {answer.status}: is the issuer spelled as the provider does?", STEP)
    try:
        metadata = msgspec.convert(answer.body, Metadata)
    except msgspec.ValidationError as problem:
        raise SourceUnavailable(f"{url} describes no OpenID provider: {problem}", STEP) from None
    _check(metadata, url, issuer)
    return metadata


def _check(metadata: Metadata, url: str, issuer: str) -> None:
    # Else any provider could speak for any other.
    if metadata.issuer != issuer:
        raise SourceUnavailable(f"{url} says that its issuer is {shown(metadata.issuer)}: configure exactly that", STEP)
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint", "end_session_endpoint"):
        address = getattr(metadata, name)
        if address is not None:
            # A provider elsewhere must not send us to what listens on this machine alone.
            check_url(address, f"{name} in {url}", STEP, plain=not issuer.startswith("https:"))
    algorithms = metadata.id_token_signing_alg_values_supported
    if algorithms is not None and not ALGORITHMS.intersection(algorithms):
        signs = shown(", ".join(algorithms))
        raise SourceUnavailable(f"{url} signs ID tokens by {signs}: let it sign with a key pair, such as RS256", STEP)
