"""From a code or a refresh token to tokens (RFC 6749, 4.1.3 and 6; OpenID Connect Core, 3.1.3 and 12).

All that can be refused is refused before the code or the refresh token is used up. From then on only the stores can
fail; a refresh that gets no answer may be repeated within the grace window, a code may not.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.audit import Audit, Event, GrantEndReason, RefreshFailure, RefreshOutcome
from gatehouse.auth.oauth.definitions import Scope
from gatehouse.auth.oauth.errors import OAuthRefusal
from gatehouse.auth.oauth.id_tokens import TokenFacts, at_hash
from gatehouse.auth.oauth.scope_claims import user_claims
from gatehouse.auth.refusals import RefreshTokenInvalid
from gatehouse.common.base64url import base64url
from gatehouse.stores.database.grants import StoredGrant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gatehouse.auth.audit import ClientInfo
    from gatehouse.auth.authentication import Authenticator
    from gatehouse.auth.identity.directory_recheck import DirectoryRecheck
    from gatehouse.auth.keys.key_ring import Signer
    from gatehouse.auth.keys.key_rotation import KeyRotation
    from gatehouse.auth.oauth.application_tokens import ApplicationTokens
    from gatehouse.auth.oauth.authorization_codes import AuthorizationCodes, CodeContent
    from gatehouse.auth.oauth.clients import Client
    from gatehouse.auth.oauth.grants import Grants
    from gatehouse.auth.oauth.id_tokens import IdTokens
    from gatehouse.auth.sealed_tickets.sealed_tickets import Ticket
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.auth.sessions.tokens import RefreshTokens
    from gatehouse.stores.database.users import Profile
    from gatehouse.stores.state.protocol import Session

_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}", re.ASCII)


class TokenAnswer(NamedTuple):
    access: str
    expires_in: int
    scopes: tuple[str, ...]
    refresh: str = ""
    id_token: str = ""


def check_code(content: CodeContent, client: Client, form: Mapping[str, str]) -> None:
    """Whether this client may use the code, from the same address and by the same hands that asked for it."""
    if content.client != client.id:
        raise _invalid_grant("the code was issued to another client")
    redirect_uri = form.get("redirect_uri", "")
    # OAuth 2.1 leaves it out, because PKCE does more.
    if redirect_uri != content.redirect_uri and (redirect_uri or not content.challenge):
        raise _invalid_grant("redirect_uri is not the one of the authorization request")
    verifier = form.get("code_verifier", "")
    if bool(verifier) != bool(content.challenge):
        # One without the other: somebody has taken the challenge out of the request, or has put their own code here.
        raise _invalid_grant("code_verifier is there if and only if the request had a code_challenge")
    if verifier and not (_VERIFIER.fullmatch(verifier) and hmac.compare_digest(_s256(verifier), content.challenge)):
        raise _invalid_grant("code_verifier does not fit the code_challenge")


def _s256(verifier: str) -> str:
    return base64url(hashlib.sha256(verifier.encode()).digest())


def _invalid_grant(description: str) -> OAuthRefusal:
    return OAuthRefusal("invalid_grant", description)


class TokenExchange:
    def __init__(
        self,
        *,
        codes: AuthorizationCodes,
        grants: Grants,
        sessions: Sessions,
        authenticator: Authenticator,
        directory_recheck: DirectoryRecheck,
        keys: KeyRotation,
        access_tokens: ApplicationTokens,
        id_tokens: IdTokens,
        refresh_tokens: RefreshTokens,
        audit: Audit,
        clock: Callable[[], float],
        access_ttl: int,
    ) -> None:
        """`refresh_tokens`: those of applications, made with a key of their own."""
        self._codes = codes
        self._grants = grants
        self._sessions = sessions
        self._authenticator = authenticator
        self._directory_recheck = directory_recheck
        self._keys = keys
        self._access_tokens = access_tokens
        self._id_tokens = id_tokens
        self._refresh_tokens = refresh_tokens
        self._audit = audit
        self._clock = clock
        self._access_ttl = access_ttl

    async def code(self, form: Mapping[str, str], client: Client, who: ClientInfo) -> TokenAnswer:
        ticket = self._codes.read(form.get("code", ""))
        if ticket is None:
            raise _invalid_grant("the code is not one of ours")
        content = ticket.content
        check_code(content, client, form)
        signer = await self._signer(client)
        session, profile = await self._admitted(content.session, client, who)
        scopes = client.still_allowed(content.scopes)
        grant = StoredGrant(
            id=content.grant,
            session=session.id,
            user=session.user,
            client=client.id,
            scopes=" ".join(scopes),
            created=self._clock(),
            claims=" ".join(content.claims),
        )
        await self._use(ticket, grant, client, session, who)
        refresh = self._refresh_tokens.make(grant.id, 1) if Scope.OFFLINE_ACCESS in scopes else ""
        facts = self._facts(client, grant, session, profile, scopes)
        more = {"nonce": content.nonce, **self._id_token_claims(facts, content.id_token_claims)}
        return self._answer(facts, signer, refresh, more)

    async def refresh(self, form: Mapping[str, str], client: Client, who: ClientInfo) -> TokenAnswer:
        known = self._refresh_tokens.decode(form.get("refresh_token", ""))
        grant = await self._grants.find(known[0], client.id) if known else None
        if known is None or grant is None:
            raise self._refresh_failed(RefreshFailure.NOT_OURS, client, who)
        granted = client.still_allowed(grant.scopes.split())
        if Scope.OFFLINE_ACCESS not in granted:
            raise _invalid_grant("this client may not refresh any more")
        scopes = _narrowed(granted, form.get("scope", ""))
        await self._directory_recheck.check(grant.user, who)
        signer = await self._signer(client)
        session, profile = await self._admitted(grant.session, client, who)
        try:
            rotation = await self._grants.rotate(grant, known[1], client, who)
        except RefreshTokenInvalid as refusal:
            raise self._refresh_failed(refusal.reason, client, who, grant) from None
        outcome = RefreshOutcome.ROTATED if rotation.did_rotate else RefreshOutcome.REPEATED
        detail = {"client": client.client_id}
        self._audit.record(Event.REFRESH, who, user=grant.user, session=grant.session, reason=outcome, detail=detail)
        facts = self._facts(client, grant, session, profile, scopes)
        refresh = self._refresh_tokens.make(grant.id, rotation.session.generation)
        return self._answer(facts, signer, refresh, self._id_token_claims(facts))

    async def revoke(self, token: str, client: Client, who: ClientInfo) -> None:
        """Ends the grant of an access or a refresh token. What is not (any more) one of ours is revoked already."""
        known = self._refresh_tokens.decode(token)
        claims = None if known else await self._access_tokens.read(token, self._clock())
        grant_id = known[0] if known else claims.grant if claims else ""
        if not grant_id:
            return
        grant = await self._grants.find(grant_id, client.id)
        if grant is not None:
            await self._grants.end(grant.id, client.client_id, GrantEndReason.REVOKED, who)

    async def _use(
        self, ticket: Ticket[CodeContent], grant: StoredGrant, client: Client, session: Session, who: ClientInfo
    ) -> None:
        """Use the code up and open its grant, or refuse.

        The session may end and the code may come again while we are at it. Both are asked once the grant is stored.
        """
        if not await self._codes.use(ticket):
            if await self._codes.mark_reused(ticket):
                await self._grants.end(grant.id, client.client_id, GrantEndReason.CODE_REUSED, who)
            raise _invalid_grant("the code has expired or was used before")
        await self._grants.open(grant, client, session, who)
        if await self._codes.was_reused(ticket):
            await self._grants.end(grant.id, client.client_id, GrantEndReason.CODE_REUSED, who)
            raise _invalid_grant("the code was used twice")

    async def _admitted(self, session_id: str, client: Client, who: ClientInfo) -> tuple[Session, Profile]:
        """The session, whose person still uses it, and the user as it is now; by the rules of our own refresh."""
        session = await self._sessions.touch(session_id)
        profile = await self._authenticator.user_of(session, who) if session else None
        if session is None or profile is None:
            raise _invalid_grant("the login has ended")
        if not client.admits(profile.roles):
            raise _invalid_grant("this user may not use this application")
        return session, profile

    async def _signer(self, client: Client) -> Signer:
        return await self._keys.ensure(client.config.id_token_alg)

    def _facts(
        self, client: Client, grant: StoredGrant, session: Session, profile: Profile, scopes: tuple[str, ...]
    ) -> TokenFacts:
        now = self._clock()
        return TokenFacts(client, grant.id, session, profile, scopes, now, min(now + self._access_ttl, session.ends))

    def _id_token_claims(self, facts: TokenFacts, names: tuple[str, ...] = ()) -> dict[str, object]:
        """None of a scope, which userinfo has, unless the application cannot ask there."""
        config = facts.client.config
        return user_claims(facts.profile, facts.scopes if config.claims_in_id_token else (), names, config)

    def _answer(self, facts: TokenFacts, signer: Signer, refresh: str, more: Mapping[str, object]) -> TokenAnswer:
        access = self._access_tokens.make(facts)
        id_token = ""
        if Scope.OPENID in facts.scopes:
            id_token = self._id_tokens.make(signer, facts, {**more, "at_hash": at_hash(access)})
        return TokenAnswer(access, int(facts.expires) - int(facts.issued), facts.scopes, refresh, id_token)

    def _refresh_failed(
        self, reason: RefreshFailure, client: Client, who: ClientInfo, grant: StoredGrant | None = None
    ) -> OAuthRefusal:
        user, session = (grant.user, grant.session) if grant else (None, None)
        detail = {"client": client.client_id}
        self._audit.record(Event.REFRESH_FAILED, who, user=user, session=session, reason=reason, detail=detail)
        return _invalid_grant("the refresh token is not valid any more")


def _narrowed(granted: tuple[str, ...], asked: str) -> tuple[str, ...]:
    """Fewer scopes for this access token, never more (RFC 6749, 6). Unknown ones are passed over, as at authorize."""
    wanted = {scope for scope in asked.split() if scope in tuple(Scope)}
    if not wanted <= set(granted) or (asked.split() and not wanted):
        raise OAuthRefusal("invalid_scope", "scope has one that was not granted, or none that there is")
    return tuple(scope for scope in granted if scope in wanted or not wanted)
