"""One LDAP session with one server: bind, search, and pages of a search.

libldap works on a socket of our own that never blocks (`link.py`), so each call here only waits in the event loop.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import ldap
from ldap.controls.libldap import SimplePagedResultsControl
from ldap.controls.ppolicy import PasswordPolicyControl
from pyasn1.error import PyAsn1Error

from gatehouse.identity_sources.directory.failures import ConnectionBroken, failure
from gatehouse.identity_sources.directory.link import Link, ServerAddress, connect, resolve

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Callable, Iterable

# libldap must not connect by itself, which would be past our TLS. Nothing can listen at this address.
_NOWHERE = "ldapi://%2Fdev%2Fnull"


class Entry(NamedTuple):
    dn: str
    attributes: dict[str, list[bytes]]  # names in lower case


class Connection:
    def __init__(self, server: ServerAddress, link: Link) -> None:
        self.server = server
        self.link = link
        self._is_closed = False
        self._last_used = time.monotonic()
        self._descriptor = link.handed_over.fileno()
        self._ldap = ldap.initialize(_NOWHERE, fileno=link.handed_over.detach())
        self._ldap.set_option(ldap.OPT_REFERRALS, 0)
        self._ldap.set_option(ldap.OPT_DEREF, ldap.DEREF_NEVER)

    @classmethod
    async def open(cls, server: ServerAddress, context: ssl.SSLContext | None) -> Connection:
        sock = await connect(server, await resolve(server))
        return cls(server, await Link.open(server, sock, context))

    def idle_seconds(self) -> float:
        return time.monotonic() - self._last_used

    @property
    def is_open(self) -> bool:
        return self.link.is_open

    def close(self) -> None:
        """At once; several times do no harm."""
        self.link.close()
        if not self._is_closed:
            self._is_closed = True
            self._ldap.unbind_ext()  # libldap closes its end of the pair

    async def bind(self, dn: str, password: str) -> int | None:
        """Raises an `LDAPError` if the server refuses. Returns the problem that the password policy has all the same,
        as a number of draft-behera-ldap-password-policy."""
        controls = await self._result(
            lambda: self._ldap.simple_bind(dn, password, serverctrls=[PasswordPolicyControl()]), ldap.RES_BIND
        )
        return next((control.error for control in controls[1] if isinstance(control, PasswordPolicyControl)), None)

    async def search(
        self,
        base: str,
        search_filter: str,
        attributes: Iterable[str],
        *,
        limit: int = 0,
        scope: int = ldap.SCOPE_SUBTREE,
    ) -> list[Entry]:
        """At most `limit` entries; more of them are a failure. Referrals are left out."""
        try:
            found, _ = await self._result(
                lambda: self._ldap.search_ext(base, scope, search_filter, list(attributes), sizelimit=limit),
                ldap.RES_SEARCH_RESULT,
            )
        except ldap.LDAPError as error:
            raise failure(error, self.server.url, "search") from None
        return _entries(found)

    async def pages(
        self, base: str, search_filter: str, attributes: Iterable[str], *, size: int, seconds: float
    ) -> AsyncIterator[list[Entry]]:
        """RFC 2696. Each page may take so many seconds."""
        control = SimplePagedResultsControl(criticality=True, size=size, cookie="")
        wanted = list(attributes)
        while True:
            try:
                async with asyncio.timeout(seconds):
                    found, controls = await self._result(
                        lambda: self._ldap.search_ext(
                            base, ldap.SCOPE_SUBTREE, search_filter, wanted, serverctrls=[control]
                        ),
                        ldap.RES_SEARCH_RESULT,
                    )
            except ldap.LDAPError as error:
                raise failure(error, self.server.url, "search") from None
            except TimeoutError:
                raise ConnectionBroken(f"{self.server.url}: no answer within {seconds:g} s") from None
            yield _entries(found)
            cookies = [each.cookie for each in controls if isinstance(each, SimplePagedResultsControl)]
            if not cookies or not cookies[0]:
                return
            control.cookie = cookies[0]

    async def _result(self, send: Callable[[], int], expected: int) -> tuple[list[Any], list[Any]]:
        """The data and the controls of the answer. Whatever else arrives is not one."""
        self.link.begin_operation()
        self._last_used = time.monotonic()
        number = send()
        while True:
            try:
                kind, data, _, controls, _, _ = self._ldap.result4(number, 1, 0)
            except (ValueError, TypeError, PyAsn1Error) as error:  # what cannot be decoded
                raise ConnectionBroken(f"{self.server.url}: the answer makes no sense: {error!r}") from None
            if kind == expected:
                return data or [], controls or []
            if kind is not None:
                raise ConnectionBroken(f"{self.server.url}: the answer is of the wrong kind ({kind})")
            await self._readable()

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = loop.create_future()
        loop.add_reader(self._descriptor, _set, ready)
        try:
            await ready
        finally:
            loop.remove_reader(self._descriptor)


def _set(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _entries(found: list[Any]) -> list[Entry]:
    """A referral has None for a DN."""
    return [
        Entry(dn, {name.lower(): values for name, values in attributes.items()})
        for dn, attributes, *_ in found
        if dn is not None
    ]
