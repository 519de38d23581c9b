"""A client of the contract: captcha, login, current user, logout, with tokens that renew themselves.

    with Client("https://login.example.com") as client:
        captcha = client.captcha()
        client.login("ada", password, captcha, answer=ask_a_person(captcha.png))
        print(client.me().nickname)

`AsyncClient` is the same with `await`. Whatever the service refuses is raised as a `GatehouseError`.
Needs httpx and httpcore, the extra `httpx` of gatehouse-client.
"""

try:
    import httpx as _httpx  # noqa: F401 - said here once, in place of an error from somewhere below
except ModuleNotFoundError:
    raise ModuleNotFoundError("gatehouse.client needs httpx: install gatehouse-client[httpx]", name="httpx") from None

from gatehouse.client.aio import AsyncClient
from gatehouse.client.errors import (
    CaptchaGone,
    CaptchaWrong,
    CredentialsWrong,
    GatehouseError,
    MustWait,
    NotAllowed,
    NotLoggedIn,
    SecondFactorNeeded,
    SessionEnded,
    Unavailable,
    Unreachable,
)
from gatehouse.client.requests_and_answers import Captcha, Tokens, User, Variant
from gatehouse.client.sync import Client

__all__ = [
    "AsyncClient",
    "Captcha",
    "CaptchaGone",
    "CaptchaWrong",
    "Client",
    "CredentialsWrong",
    "GatehouseError",
    "MustWait",
    "NotAllowed",
    "NotLoggedIn",
    "SecondFactorNeeded",
    "SessionEnded",
    "Tokens",
    "Unavailable",
    "Unreachable",
    "User",
    "Variant",
]
