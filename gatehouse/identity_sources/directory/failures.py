"""What libldap reports, as the failures that callers know."""

from __future__ import annotations

import ldap

from gatehouse.identity_sources.errors import SourceUnavailable


class ConnectionBroken(SourceUnavailable):
    """This connection or its server cannot be used; another one may answer."""

    def __init__(self, problem: str, step: str = "connect") -> None:
        super().__init__(problem, step)


# The server answers, but is not able to serve anybody.
_BROKEN = (
    ldap.SERVER_DOWN,
    ldap.CONNECT_ERROR,
    ldap.DECODING_ERROR,
    ldap.PROTOCOL_ERROR,
    ldap.BUSY,
    ldap.UNAVAILABLE,
    ldap.TIMEOUT,
    ldap.OPERATIONS_ERROR,
    ldap.LOCAL_ERROR,
    ldap.NO_MEMORY,
)


def failure(error: ldap.LDAPError, server: str, step: str = "") -> SourceUnavailable:
    problem = f"{server}: {described(error)}"
    if isinstance(error, ldap.SIZELIMIT_EXCEEDED):
        # OpenLDAP gives 500 entries, all pages together.
        problem += (
            ": raise the size limit of the service account (OpenLDAP: limits dn.exact=... size.prtotal=unlimited)"
        )
    return ConnectionBroken(problem) if isinstance(error, _BROKEN) else SourceUnavailable(problem, step)


def described(error: ldap.LDAPError) -> str:
    """For operators: the meaning of the result code, its number, and what the server adds."""
    details = details_of(error)
    code, info = details.get("result"), str(details.get("info", "")).strip().rstrip("\0")
    text = str(details.get("desc") or type(error).__name__)
    return text + (f" (result code {code})" if code is not None else "") + (f": {info}" if info else "")


def details_of(error: ldap.LDAPError) -> dict[str, object]:
    return error.args[0] if error.args and isinstance(error.args[0], dict) else {}
