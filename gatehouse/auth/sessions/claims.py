"""What an access token says about its user, and what is left out when that is too much for a header line.

A token never says more than the user has. What does not fit is left out whole, and always so that the service which
reads the token allows less: perms first, then data scopes, then roles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gatehouse.stores.database.roles import DataScope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatehouse.stores.database.users import Profile, RoleDataScope


class ClaimSet(NamedTuple):
    """Which claims a token has beside those that every token has."""

    perms: bool = False
    youlai: bool = False


def profile_claims(profile: Profile, claim_set: ClaimSet) -> dict[str, Any]:
    user = profile.user
    claims: dict[str, Any] = {
        "preferred_username": user.username,
        "dept": user.department,
        "roles": profile.roles,
    }
    if claim_set.youlai:
        claims |= {
            "userId": user.id,
            "deptId": user.department,
            "username": user.username,
            "authorities": [f"ROLE_{code}" for code in profile.roles],
            "dataScopes": data_scope_claims(profile.data_scopes),
        }
    if claim_set.perms:
        claims["perms"] = profile.perms
    return claims


def data_scope_claims(scopes: tuple[RoleDataScope, ...]) -> list[dict[str, Any]]:
    """Never empty: those backends show every row to a user whose token holds no data scope."""
    return [_data_scope_claim(scope) for scope in scopes] or [_claim("", DataScope.OWN)]


def _data_scope_claim(scope: RoleDataScope) -> dict[str, Any]:
    if scope.scope == DataScope.CHOSEN and scope.departments:
        return _claim(scope.role, scope.scope, scope.departments)
    if scope.scope in {DataScope.ALL, DataScope.DEPARTMENT_AND_BELOW, DataScope.DEPARTMENT}:
        return _claim(scope.role, scope.scope)
    # Own rows, an unknown scope, or no chosen department: an empty list might be read as no condition.
    return _claim(scope.role, DataScope.OWN)


def _claim(role: str, scope: int, departments: tuple[int, ...] = ()) -> dict[str, Any]:
    return {"roleCode": role, "dataScope": int(scope), "customDeptIds": departments}


def reductions(claims: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The claims, then smaller and smaller versions; leaving a part out can only reduce what they allow."""
    yield claims
    claims = {name: value for name, value in claims.items() if name != "perms"}
    yield claims
    if "dataScopes" in claims:
        claims = {**claims, "dataScopes": data_scope_claims(())}
        yield claims
    yield {**claims, "roles": [], **({"authorities": []} if "authorities" in claims else {})}
