"""One's own passkeys: registering, listing and removing them, and whether the password still logs in beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatehouse.auth.audit import Audit, ClientInfo, Event
from gatehouse.auth.refusals import PasskeyRefused
from gatehouse.stores.database.passkeys import Passkey

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gatehouse.auth.factors.factor_change_proof import OwnerProof, Proof
    from gatehouse.auth.factors.passkey_ceremonies import Ceremonies
    from gatehouse.auth.principal import Principal
    from gatehouse.stores.database.passkeys import Passkeys

NAME_LENGTH = 64
DEFAULT_NAME = "Passkey"
MAX_PASSKEYS = 50


class OwnPasskeys:
    def __init__(
        self,
        *,
        ceremonies: Ceremonies,
        store: Passkeys,
        proof: OwnerProof,
        audit: Audit,
        clock: Callable[[], float],
    ) -> None:
        self._ceremonies = ceremonies
        self._store = store
        self._proof = proof
        self._audit = audit
        self._clock = clock

    async def all(self, user: int) -> Sequence[Passkey]:
        return await self._store.of_user(user)

    async def options(self, principal: Principal, proof: Proof, client: ClientInfo) -> dict[str, Any]:
        await self._proof.require(principal, proof, client)
        user = principal.profile.user
        return self._ceremonies.registration_options(
            user.id, user.username, user.nickname, await self._store.of_user(user.id)
        )

    async def register(
        self, principal: Principal, credential: dict[str, Any], name: str, transports: Sequence[str], client: ClientInfo
    ) -> Passkey:
        """The proof was given for the options: their challenge, which only the same user can answer, carries it."""
        made = await self._ceremonies.verify_registration(credential)
        if made.user != principal.claims.user:
            raise PasskeyRefused("the challenge was issued to another user")
        if len(await self._store.of_user(made.user)) >= MAX_PASSKEYS:
            raise PasskeyRefused("the user has as many as anybody may have")
        shown = "".join(character for character in name if character.isprintable()).strip()[:NAME_LENGTH]
        passkey = Passkey(
            id=0,
            user=made.user,
            handle=made.handle,
            credential=made.credential,
            public=made.public,
            sign_count=made.sign_count,
            transports=",".join(transports)[:128],
            backed_up=made.backed_up,
            name=shown or DEFAULT_NAME,
            created=self._clock(),
            last_used=None,
        )
        number = await self._store.add(passkey)
        self._record(Event.FACTOR_ADDED, principal, client, factor="passkey", passkey=number)
        return next(each for each in await self._store.of_user(made.user) if each.id == number)

    async def remove(self, principal: Principal, passkey: int, proof: Proof, client: ClientInfo) -> None:
        await self._proof.require(principal, proof, client)
        await self._store.delete(principal.claims.user, passkey)
        self._record(Event.FACTOR_REMOVED, principal, client, factor="passkey", passkey=passkey)

    async def set_password_login(self, principal: Principal, proof: Proof, client: ClientInfo, *, on: bool) -> None:
        await self._proof.require(principal, proof, client)
        await self._store.set_password_login(principal.claims.user, on=on)
        self._record(Event.PASSWORD_LOGIN_SET, principal, client, on=on)

    def _record(self, event: Event, principal: Principal, client: ClientInfo, **detail: object) -> None:
        claims = principal.claims
        self._audit.record(event, client, user=claims.user, session=claims.session, detail=detail)
