"""Verifies a passkey's answer to a challenge: whose passkey it is, and that it is not a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatehouse.auth.audit import Audit, ClientInfo, Event
from gatehouse.auth.factors.passkey_ceremonies import is_clone
from gatehouse.auth.refusals import PasskeyRefused
from gatehouse.common.base64url import from_base64url

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.factors.passkey_ceremonies import Ceremonies
    from gatehouse.stores.database.passkeys import Passkey, Passkeys


class PasskeyVerifier:
    """Each challenge can be answered once."""

    def __init__(self, *, ceremonies: Ceremonies, passkeys: Passkeys, audit: Audit, clock: Callable[[], float]) -> None:
        self._ceremonies = ceremonies
        self._passkeys = passkeys
        self._audit = audit
        self._clock = clock

    async def verify(self, credential: dict[str, Any], client: ClientInfo) -> Passkey:
        ticket = await self._ceremonies.use_login_challenge(credential)
        passkey = await self._find(credential)
        if passkey is None:
            raise PasskeyRefused("not registered here")
        asserted = await self._ceremonies.verify_assertion(credential, ticket, passkey)
        if is_clone(passkey.sign_count, asserted.sign_count):
            counters = {"stored": passkey.sign_count, "presented": asserted.sign_count, "passkey": passkey.id}
            self._audit.record(Event.PASSKEY_CLONED, client, user=passkey.user, detail=counters)
            raise PasskeyRefused("the counter did not rise")
        now = self._clock()
        if not await self._passkeys.record_use(passkey, asserted.sign_count, now, backed_up=asserted.backed_up):
            raise PasskeyRefused("removed, or used elsewhere in this moment")
        return passkey

    async def _find(self, credential: dict[str, Any]) -> Passkey | None:
        try:
            return await self._passkeys.by_credential(from_base64url(credential["rawId"]))
        except ValueError:
            return None
