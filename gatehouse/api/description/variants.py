"""How the two variants of the contract differ: words and examples with which OpenAPI and the API page show both.

A is what older backends and consoles speak, B what vue3-element-admin speaks today.

An example named `A` or `B` is in the body or in the query, where that variant has its values.
"""

from __future__ import annotations

from typing import Any

DESCRIPTIONS = {
    "captcha": "One answer serves both variants. A reads `captchaKey` and `captchaImage`, B reads `captchaId` and "
    "`captchaBase64`; the values are the same. The image is a data URI. A captcha is used up by the first login that "
    "names it, right or wrong.",
    "login": "A names the captcha by `captchaKey`, B by `captchaId`. Each login opens a session of its own. "
    "Who has a second factor types its code into the captcha field in place of the picture's answer, or sends it as "
    "`otpCode` beside it. A user who must have one and has none is answered `A0220` with the header "
    "`Enrolment-Ticket`.",
    "refresh": "A sends the refresh token in a JSON body, B as the query parameter `refreshToken` without a body. "
    "Either way a whole new token set comes back and the old refresh token is replaced.",
    "logout": "A sends `POST`, B sends `DELETE`. From the moment it is answered none of the session's tokens is "
    "accepted.",
    "me": "The same in both variants. `roles` and `perms` are always arrays.",
}

_PERSON = {"username": "admin", "password": ""}
_TOKEN = {"refreshToken": ""}

BODY_EXAMPLES: dict[str, dict[str, dict[str, Any]]] = {
    "login": {
        "A": {**_PERSON, "captchaKey": "", "captchaCode": ""},
        "B": {**_PERSON, "captchaId": "", "captchaCode": ""},
    },
    "refresh": {"A": _TOKEN},
}

QUERY_EXAMPLES: dict[str, dict[str, dict[str, Any]]] = {"refresh": {"B": _TOKEN}}


def examples(values: dict[str, Any]) -> dict[str, Any]:
    """As OpenAPI writes them."""
    return {name: {"summary": f"Variant {name}", "value": value} for name, value in values.items()}
