"""What an application learns about a user: the claims of the scopes it was granted, and those it asked for by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.oauth.definitions import Scope
from gatehouse.auth.oauth.standard_claims import PROFILE_CLAIMS, extra_claims

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gatehouse.auth.oauth.definitions import ClientConfig
    from gatehouse.stores.database.users import Profile

CLAIMS_OF: dict[Scope, tuple[str, ...]] = {
    Scope.PROFILE: ("name", "nickname", "preferred_username", "picture", "gender", "updated_at", *PROFILE_CLAIMS),
    Scope.EMAIL: ("email", "email_verified"),
    Scope.PHONE: ("phone_number", "phone_number_verified"),
    Scope.ADDRESS: ("address",),
    Scope.ROLES: ("roles", "dept"),
}
SCOPE_OF = {name: scope for scope, names in CLAIMS_OF.items() for name in names}
_GENDERS = {1: "male", 2: "female"}


def scopes_of_claims(names: Iterable[str]) -> list[Scope]:
    """For the page that asks for consent: what claims that were asked for by name are part of."""
    return list(dict.fromkeys(SCOPE_OF[name] for name in names))


def user_claims(
    profile: Profile, scopes: Iterable[str], names: Iterable[str], config: ClientConfig, default_picture: str = ""
) -> dict[str, object]:
    """What is empty is left out, as the standard wants it; and so is what the application may not ask for any more."""
    by_name = {name for name in names if SCOPE_OF[name] in config.scopes}
    wanted = {name for scope in scopes for name in CLAIMS_OF.get(Scope(scope), ())} | by_name
    return {name: value for name, value in _known(profile, config, default_picture).items() if name in wanted}


def _known(profile: Profile, config: ClientConfig, default_picture: str) -> dict[str, object]:
    user = profile.user
    claims = {
        "name": user.nickname,
        "nickname": user.nickname,
        "preferred_username": user.username,
        "picture": user.avatar or default_picture,
        "gender": _GENDERS.get(user.gender, ""),
        "email": user.email,
        "email_verified": config.emails_trusted if user.email else "",
        "phone_number": user.mobile,
        # Nobody has checked it here.
        "phone_number_verified": False if user.mobile else "",
        "roles": profile.roles,
        "dept": user.department,
        **extra_claims(user),
    }
    return {name: value for name, value in claims.items() if value not in ("", None)}
