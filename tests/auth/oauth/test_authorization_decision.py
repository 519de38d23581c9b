"""What becomes of an authorization request: pure functions, so each case is one call."""

from __future__ import annotations

from typing import Any

import pytest

from gatehouse.auth.oauth.authorization_decision import Person, Refusal, Step, decide
from gatehouse.auth.oauth.authorization_requests import AuthorizationRequest
from gatehouse.auth.oauth.clients import Client
from gatehouse.auth.oauth.definitions import ClientConfig
from gatehouse.stores.database.consents import Consent
from gatehouse.stores.state.protocol import Session

NOW = 1_900_000_000.0
HOUR = 3600.0


def request(**changes: Any) -> AuthorizationRequest:
    given = {"redirect_uri": "https://app/cb", "state": "", "response_mode": "query", "client": 1, "at": NOW}
    return AuthorizationRequest(**{**given, "scopes": ("openid",), **changes})


def client(**config: Any) -> Client:
    return Client(1, "app", "App", ClientConfig(**config))


def person(opened: float = NOW - HOUR, proof: str = "pwd", *, has_factor: bool = False) -> Person:
    session = Session("7-x", 7, 1, opened, opened, NOW + HOUR, NOW + 2 * HOUR, "", "", proof)
    return Person(session, ["USER"], has_factor)


def step(asked: AuthorizationRequest, who: Person | None = None, **more: Any) -> Step | str:
    decided = decide(asked, more.get("client", client()), who, more.get("consent"))
    return decided.error if isinstance(decided, Refusal) else decided


def test_nobody_is_logged_in() -> None:
    assert step(request()) is Step.SIGN_IN
    assert step(request(prompt=("none",))) == "login_required"


def test_somebody_is() -> None:
    assert step(request(), person()) is Step.CODE
    assert step(request(prompt=("none",)), person()) is Step.CODE


def test_prompt_login_wants_a_login_of_this_very_request() -> None:
    assert step(request(prompt=("login",)), person(NOW - 0.001)) is Step.SIGN_IN
    assert step(request(prompt=("login",)), person(NOW)) is Step.CODE


@pytest.mark.parametrize(
    ("max_age", "opened", "expected"),
    [(3600, NOW - HOUR, Step.CODE), (3599, NOW - HOUR, Step.SIGN_IN), (0, NOW - 1, Step.SIGN_IN), (0, NOW, Step.CODE)],
)
def test_max_age_wants_a_login_that_is_no_older(max_age: int, opened: float, expected: Step) -> None:
    assert step(request(max_age=max_age), person(opened)) is expected
    silent = step(request(max_age=max_age, prompt=("none",)), person(opened))
    assert silent == ("login_required" if expected is Step.SIGN_IN else Step.CODE)


@pytest.mark.parametrize(
    ("acr_values", "proof", "has_factor", "expected"),
    [
        (("2",), "pwd", True, Step.SIGN_IN),
        (("2",), "pwd", False, Step.CODE),
        (("2",), "pwd+otp", True, Step.CODE),
        (("2",), "hwk", True, Step.CODE),
        (("1", "2"), "pwd", True, Step.CODE),
        (("urn:other",), "pwd", True, Step.CODE),
        ((), "pwd", True, Step.CODE),
    ],
)
def test_acr_values_ask_for_a_second_factor_of_those_who_have_one(
    acr_values: tuple[str, ...], proof: str, has_factor: bool, expected: Step
) -> None:
    asked = request(acr_values=acr_values)
    assert step(asked, person(proof=proof, has_factor=has_factor)) is expected
    assert step(asked, person(NOW, proof, has_factor=has_factor)) is Step.CODE, "not in a circle"
    silent = request(acr_values=acr_values, prompt=("none",))
    assert step(silent, person(proof=proof, has_factor=has_factor)) is Step.CODE, "a wish"


def test_a_hint_that_names_somebody_else_asks_for_that_one_once() -> None:
    assert step(request(subject="7"), person()) is Step.CODE
    assert step(request(subject="8"), person()) is Step.SIGN_IN
    assert step(request(subject="8"), person(NOW)) == "login_required"
    assert step(request(subject="8", prompt=("none",)), person()) == "login_required"


def test_who_has_none_of_the_roles_may_not() -> None:
    assert step(request(), person(), client=client(roles=("ADMIN",))) == "access_denied"
    assert step(request(), person(), client=client(roles=("ADMIN", "USER"))) is Step.CODE


def test_consent_is_asked_for_where_the_application_is_not_the_companys_own() -> None:
    foreign, asked = client(first_party=False), request(scopes=("openid", "email"))
    assert step(asked, person(), client=foreign) is Step.CONSENT
    assert step(request(prompt=("none",)), person(), client=foreign) == "consent_required"
    assert step(asked, person(), client=foreign, consent=Consent(("openid",), NOW - HOUR)) is Step.CONSENT
    assert step(asked, person(), client=foreign, consent=Consent(("openid", "email"), NOW - HOUR)) is Step.CODE


def test_claims_by_name_need_consent_as_their_scope_does() -> None:
    foreign, asked = client(first_party=False), request(claims=("email",))
    assert step(asked, person(), client=foreign, consent=Consent(("openid",), NOW)) is Step.CONSENT
    assert step(asked, person(), client=foreign, consent=Consent(("openid", "email"), NOW)) is Step.CODE


def test_prompt_consent_asks_everybody_each_time() -> None:
    asked = request(prompt=("consent",))
    assert step(asked, person()) is Step.CONSENT
    assert step(asked, person(), consent=Consent(("openid",), NOW - 1)) is Step.CONSENT
    assert step(asked, person(), consent=Consent(("openid",), NOW)) is Step.CODE
