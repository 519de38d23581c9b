"""What becomes of an authorization request: a function of the request, of who is logged in, and of what they allowed.

The steps come in this order, and each leads back here: sign in, consent, code. `prompt=none` asks nobody: what would
need a page is refused.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.oauth.id_tokens import TWO_FACTORS, acr_of
from gatehouse.auth.oauth.scope_claims import scopes_of_claims
from gatehouse.auth.sessions.amr import unpack_methods

if TYPE_CHECKING:
    from collections.abc import Collection

    from gatehouse.auth.oauth.authorization_requests import AuthorizationRequest
    from gatehouse.auth.oauth.clients import Client
    from gatehouse.stores.database.consents import Consent
    from gatehouse.stores.state.protocol import Session


class Step(StrEnum):
    SIGN_IN = "sign in"
    CONSENT = "consent"
    CODE = "code"


class Refusal(NamedTuple):
    """By the codes of RFC 6749 and OpenID Connect."""

    error: str
    description: str


class Person(NamedTuple):
    """Who is logged in at this browser."""

    session: Session
    roles: Collection[str]
    has_factor: bool  # an app or a passkey, whether this session has shown it or not


def decide(
    request: AuthorizationRequest, client: Client, person: Person | None, consent: Consent | None
) -> Step | Refusal:
    """`consent`: what the person has allowed this client before."""
    asks_nobody = "none" in request.prompt
    if person is None or _must_sign_in(request, person):
        return Refusal("login_required", "nobody is logged in, or not so recently") if asks_nobody else Step.SIGN_IN
    if request.subject and request.subject != str(person.session.user):
        # Whoever has just signed in is another one: asking again would go in a circle.
        if asks_nobody or _is_fresh(request, person):
            return Refusal("login_required", "somebody else is logged in")
        return Step.SIGN_IN
    if refusal := _refusal(request, client, person):
        return refusal
    if _must_consent(request, client, consent):
        return Refusal("consent_required", "the person was not asked yet") if asks_nobody else Step.CONSENT
    return Step.CODE


def _refusal(request: AuthorizationRequest, client: Client, person: Person) -> Refusal | None:
    """What no page of ours can change."""
    if request.required_acr is not None and _acr(person) not in request.required_acr:
        return Refusal("unmet_authentication_requirements", "this login cannot have an acr that is asked for")
    if not client.admits(person.roles):
        return Refusal("access_denied", "this person may not use this application")
    return None


def _is_fresh(request: AuthorizationRequest, person: Person) -> bool:
    """Whether the login is one of this very request."""
    return person.session.opened >= request.at


def _must_sign_in(request: AuthorizationRequest, person: Person) -> bool:
    if _is_fresh(request, person):
        return False
    too_old = request.max_age is not None and person.session.opened < request.at - request.max_age
    return "login" in request.prompt or too_old or _wants_factor(request, person)


def _wants_factor(request: AuthorizationRequest, person: Person) -> bool:
    """`acr_values` is a wish: who has no second factor goes on without, and the answer says so. An essential claim must
    be met, so it counts with `prompt=none` as well.
    """
    if request.required_acr is None and "none" in request.prompt:
        return False
    wanted = request.acr_values if request.required_acr is None else request.required_acr
    return person.has_factor and TWO_FACTORS in wanted and _acr(person) not in wanted


def _acr(person: Person) -> str:
    return acr_of(unpack_methods(person.session.proof))


def scopes_to_allow(request: AuthorizationRequest) -> tuple[str, ...]:
    """Those that it asks for, and those of claims that it asks for by name."""
    by_name = scopes_of_claims((*request.claims, *request.id_token_claims))
    return tuple(dict.fromkeys((*request.scopes, *by_name)))


def _must_consent(request: AuthorizationRequest, client: Client, consent: Consent | None) -> bool:
    is_asked_for = "consent" in request.prompt
    if client.config.first_party and not is_asked_for:
        return False
    if consent is None or (is_asked_for and consent.given < request.at):
        return True
    return not set(scopes_to_allow(request)) <= set(consent.scopes)
