"""Who the caller is at directories and providers: linked and unlinked after a fresh proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.actor import actor_of
from gatehouse.api.http.response import Response, success
from gatehouse.api.login.login_cookies import LoginCookies
from gatehouse.api.operation_declaration import Limit, Operation
from gatehouse.api.own_account.factor_change_proof import PROOF_REFUSALS, ProofBody, proof_of
from gatehouse.api.time_format import iso_time
from gatehouse.auth.login.company_login import CompanyLoginFailed
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.stores.errors import InUse, Missing

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


class OwnIdentityData(Struct):
    """Times are ISO 8601 in UTC; `lastUsed` is null until it has logged its owner in."""

    id: int
    source: str
    title: str
    name: Annotated[str, Meta(description="The login name there.")]
    linked: str
    lastUsed: str | None


class LinkData(Struct):
    url: Annotated[str, Meta(description="To open in this browser. It comes back to the account page.")]


class OwnIdentityEndpoints:
    def __init__(self, service: Service) -> None:
        self._sources = service.identity.sources
        self._identities = service.stores.sources
        self._changes = service.management.source_changes
        self._proof = service.factors.owner_proof
        self._company = service.login.company
        self._logout = service.login.provider_logout
        self._cookies = LoginCookies(service.settings.public_url)

    @Operation(
        "GET",
        "/api/v1/users/me/identities",
        "Who the caller is at directories and providers",
        data=list[OwnIdentityData],
    )
    async def own_identities(self, request: Request, principal: Principal) -> Response:
        sources = {row.id: row for row in await self._changes.all()}
        found = [
            OwnIdentityData(
                each.id,
                sources[each.source].name,
                sources[each.source].title,
                each.name,
                iso_time(each.linked),
                None if each.seen is None else iso_time(each.seen),
            )
            for each in await self._identities.identities_of(principal.claims.user)
            if each.source in sources
        ]
        return success(found, request.language)

    @Operation(
        "POST",
        "/api/v1/users/me/identities/{source}",
        "Begin to link an account at the provider of this name, after a fresh proof",
        body=ProofBody,
        data=LinkData,
        limits=(Limit.LOGIN_NAME,),
        refusals=(*PROOF_REFUSALS, Missing, SourceUnavailable),
        description="The answer sets a cookie, so that it is this browser that must bring the provider's answer: "
        "call it from a page of the service's own origin.",
    )
    async def link_identity(self, request: Request, principal: Principal) -> Response:
        proof = proof_of(await request.fields(ProofBody))
        await self._proof.require(principal, proof, request.client)
        source = self._sources.provider(request.parameters["source"])
        if source is None:
            raise Missing("there is no such provider")
        try:
            departure = await self._company.begin_link(source, principal)
        except CompanyLoginFailed as failed:
            raise SourceUnavailable(f"{source.name}: {failed}") from None
        answer = success(LinkData(departure.url), request.language)
        answer.headers = [*answer.headers, *self._cookies.begin(departure, request)]
        return answer

    @Operation(
        "DELETE",
        "/api/v1/users/me/identities/{id}",
        "Unlink an account at a provider, after a fresh proof; other sessions that it has opened end",
        body=ProofBody,
        limits=(Limit.LOGIN_NAME,),
        refusals=(*PROOF_REFUSALS, Missing, InUse),
    )
    async def unlink_identity(self, request: Request, principal: Principal) -> Response:
        number, user = request.path_id(), principal.claims.user
        proof = proof_of(await request.fields(ProofBody))
        await self._proof.require(principal, proof, request.client)
        identity = next((each for each in await self._identities.identities_of(user) if each.id == number), None)
        await self._changes.unlink(actor_of(request, principal), user, number)
        if identity is not None:
            await self._logout.end_sessions_of(identity, request.client, except_session=principal.claims.session)
        return success(language=request.language)
