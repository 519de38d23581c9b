"""What the rules of login ask of the management of accounts: users who come from a source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from gatehouse.auth.refusals import CredentialsWrong

if TYPE_CHECKING:
    from gatehouse.auth.audit import ClientInfo, LoginFailure
    from gatehouse.auth.identity.sources import Source
    from gatehouse.identity_sources.person import Person
    from gatehouse.stores.database.identity_sources import Identity


class NotAdmitted(CredentialsWrong):
    """The source knows the person, and still nobody is logged in: no user is made, or the name is taken."""

    def __init__(self, failure: LoginFailure) -> None:
        super().__init__(failure.value)
        self.failure = failure


class People(Protocol):
    async def arrive(self, source: Source, person: Person, client: ClientInfo) -> int:
        """The user of a person whom the source has just authenticated, made or brought up to date; `NotAdmitted`."""

    async def confirm(self, source: Source, identity: Identity, person: Person) -> None:
        """The person is still there: bring the user up to date."""

    async def gone(self, source: Source, identity: Identity, client: ClientInfo) -> None:
        """The person is gone or disabled at the source: disable the user and end its sessions."""
