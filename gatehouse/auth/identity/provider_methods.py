"""How a login with a provider was proven: what of the provider's word counts here.

A provider is taken at its word only if its source says so (`trust_factors`), and then only for a second factor: it
must say so itself (`mfa`), or name methods of two kinds, or a class of login that the source lists. What it says
otherwise is kept as reported, and counts for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.sessions.amr import Method, method_at, reported, reported_acr

if TYPE_CHECKING:
    from gatehouse.identity_sources.clients import ProviderLogin
    from gatehouse.identity_sources.definitions import ProviderConfig

# Of RFC 8176, by what somebody shows: knowledge, possession, oneself.
KINDS = (
    frozenset({"pwd", "pin", "kba"}),
    frozenset({"otp", "hwk", "swk", "sc", "sms", "tel", "pop"}),
    frozenset({"fpt", "face", "iris", "retina", "vbm"}),
)
KNOWN = frozenset().union(*KINDS, {Method.VOUCHED.value})
# They stand in the row of every session.
MAX_METHODS, MAX_LENGTH, MAX_ACR_LENGTH = 10, 32, 128


def vouches_for_second_factor(config: ProviderConfig, login: ProviderLogin) -> bool:
    if not config.trust_factors:
        return False
    kinds = sum(not kind.isdisjoint(login.amr) for kind in KINDS)
    return Method.VOUCHED in login.amr or kinds > 1 or bool(login.acr and login.acr in config.factor_acrs)


def provider_methods(source: str, config: ProviderConfig, login: ProviderLogin) -> tuple[str, ...]:
    """The proof of a session, see `amr.py`."""
    counts = vouches_for_second_factor(config, login)
    named = list(dict.fromkeys(method for method in login.amr if _is_usable(method, MAX_LENGTH)))[:MAX_METHODS]
    vouched = [Method.VOUCHED.value] if counts and Method.VOUCHED not in named else []
    acr = [reported_acr(login.acr)] if _is_usable(login.acr, MAX_ACR_LENGTH) else []
    taken = (method if counts and method in KNOWN else reported(method) for method in named)
    return (method_at(Method.PROVIDER, source), *taken, *vouched, *acr)


def _is_usable(text: str, longest: int) -> bool:
    return 0 < len(text) <= longest and text.isascii()
