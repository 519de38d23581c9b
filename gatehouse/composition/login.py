"""Builds what turns a login into tokens and a token into a principal."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.authenticator import Authenticator
from gatehouse.auth.keys.sealing import derive
from gatehouse.auth.login.captcha import Challenges
from gatehouse.auth.login.captcha_check import CaptchaCheck
from gatehouse.auth.login.login import Login
from gatehouse.auth.login.login_history import LoginHistory
from gatehouse.auth.passwords.decoy_hashes import DecoyHashes
from gatehouse.auth.sessions.claims import ClaimSet
from gatehouse.auth.sessions.profile_cache import Profiles
from gatehouse.auth.sessions.tokens import AccessTokens, RefreshTokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.auth.factors.factor_policy import SessionPolicy
    from gatehouse.auth.login.second_factor import SecondFactor
    from gatehouse.composition.core import Core

REFRESH_PURPOSE = "refresh tokens"
CAPTCHA_PURPOSE = "captcha"


class LoginServices(NamedTuple):
    challenges: Challenges
    access: AccessTokens
    refresh: RefreshTokens
    login_history: LoginHistory
    authenticator: Authenticator


def open_login(core: Core, second_factor: SecondFactor, session_policy: SessionPolicy) -> LoginServices:
    challenges = _open_challenges(core)
    access = _open_access_tokens(core)
    refresh = RefreshTokens(*_derive_each(core.ring.secrets, REFRESH_PURPOSE))
    login_history = LoginHistory(
        store=core.stores.login_places,
        trail=core.stores.trail,
        sessions=core.sessions,
        audit=core.audit,
        clock=core.clock,
    )
    authenticator = Authenticator(
        login=_open_password_login(core, challenges, second_factor),
        login_history=login_history,
        sessions=core.sessions,
        profiles=Profiles(core.stores.users, core.clock),
        access=access,
        refresh=refresh,
        throttle=core.throttle,
        audit=core.audit,
        clock=core.clock,
        access_ttl=core.settings.access_ttl,
        session_policy=session_policy,
    )
    return LoginServices(challenges, access, refresh, login_history, authenticator)


def rekey(secrets: Sequence[bytes], refresh: RefreshTokens, challenges: Challenges) -> None:
    """The first of these master secrets encrypts and signs from now on; each of them decrypts and verifies."""
    refresh.rekey(*_derive_each(secrets, REFRESH_PURPOSE))
    challenges.rekey(*_derive_each(secrets, CAPTCHA_PURPOSE))


def _open_password_login(core: Core, challenges: Challenges, second_factor: SecondFactor) -> Login:
    captcha_check = CaptchaCheck(
        state=core.state,
        users=core.stores.users,
        challenges=challenges,
        throttle=core.throttle,
        audit=core.audit,
        clock=core.clock,
        exempt=core.settings.captcha_exempt_addresses,
    )
    return Login(
        users=core.stores.users,
        hashes=core.hashes,
        captcha_check=captcha_check,
        throttle=core.throttle,
        sessions=core.sessions,
        audit=core.audit,
        clock=core.clock,
        decoy_hashes=DecoyHashes(core.stores.users, derive(core.ring.secrets[0], "stand-ins"), core.clock),
        second_factor=second_factor,
    )


def _open_access_tokens(core: Core) -> AccessTokens:
    settings = core.settings
    return AccessTokens(
        core.ring,
        settings.public_url,
        settings.audience,
        token_type=settings.token_type,
        claim_set=ClaimSet(perms=settings.token_perms, youlai=settings.token_claims == "youlai"),
    )


def _open_challenges(core: Core) -> Challenges:
    keys = _derive_each(core.ring.secrets, CAPTCHA_PURPOSE)
    answer = core.settings.captcha_test_answer or None
    challenges = Challenges(keys[0], core.settings.captcha_ttl, fixed_answer=answer)
    challenges.rekey(*keys)
    return challenges


def _derive_each(secrets: Sequence[bytes], purpose: str) -> list[bytes]:
    return [derive(secret, purpose) for secret in secrets]
