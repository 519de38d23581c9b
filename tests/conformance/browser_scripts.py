"""What the suite's own browser (HtmlUnit, no modules) does on our pages: plain forms, by the ids of their elements."""

from __future__ import annotations

from typing import Any

from tests.support.running import ANSWER

USERNAME, PASSWORD = "person", "tulip rain lamp"

Script = dict[str, Any]

LOGOUT = "oidcc-rp-initiated-logout-"
SECONDS = 10


def scripts(issuer: str) -> dict[str, Any]:
    """`browser` is for all modules; modules that end at a page of ours have one of their own, which shows that page."""
    authorize, logout = f"{issuer}/oauth2/authorize*", f"{issuer}/oauth2/logout*"
    ours = f"{issuer}/oauth2/*"

    def page(match: str, *commands: list[Any]) -> Script:
        return {"match": match, "tasks": [{"task": "look", "match": ours, "commands": list(commands)}]}

    def sign_in(*first: list[Any]) -> Script:
        form = [
            ["text", "id", "username", USERNAME, "optional"],
            ["text", "id", "password", PASSWORD, "optional"],
            ["text", "id", "captchaCode", ANSWER, "optional"],
            ["click", "id", "sign-in", "optional"],  # with a session there is no form, but perhaps the consent
        ]
        allow = [["click", "id", "allow", "optional"]]
        back = [["wait", "id", "submission_complete", SECONDS]]
        return {
            "match": authorize,
            "tasks": [
                {"task": "sign in", "match": ours, "optional": True, "commands": [*first, *form]},
                {"task": "consent", "match": ours, "optional": True, "commands": allow},
                {"task": "back at the client", "match": "*/test/*/callback*", "commands": back},
            ],
        }

    back_after_logout = {
        "match": logout,
        "tasks": [{"task": "back at the client", "match": "*/test/*/post_logout_redirect*"}],
    }
    confirmed = {
        "match": logout,
        "tasks": [
            {"task": "confirm", "match": ours, "commands": [["click", "id", "log-out"]]},
            {"task": "look", "match": ours, "commands": [_shown("logged-out")]},
        ],
    }
    again = [sign_in(_shown("sign-in", optional=True))]
    wrong_redirect = [page(authorize, _shown("problem", "redirect_uri"))]
    wrong_address = [sign_in(), page(logout, _shown("problem", "post_logout_redirect_uri"))]
    asked = [sign_in(), page(logout, _shown("log-out"))]  # nobody says whose address it is: none is gone to
    own = {
        "oidcc-prompt-login": again,
        "oidcc-max-age-1": again,
        "oidcc-ensure-registered-redirect-uri": wrong_redirect,
        "oidcc-ensure-request-object-with-redirect-uri": wrong_redirect,
        "oidcc-redirect-uri-query-added": wrong_redirect,
        f"{LOGOUT}bad-post-logout-redirect-uri": wrong_address,
        f"{LOGOUT}query-added-to-post-logout-redirect-uri": wrong_address,
        f"{LOGOUT}no-id-token-hint": asked,
        f"{LOGOUT}modified-id-token-hint": asked,
        f"{LOGOUT}bad-id-token-hint": asked,
        f"{LOGOUT}no-params": [sign_in(), confirmed],
        f"{LOGOUT}only-state": [sign_in(), confirmed],
        f"{LOGOUT}no-post-logout-redirect-uri": [sign_in(), page(logout, _shown("logged-out"))],
    }
    override = {name: {"browser": browser} for name, browser in own.items()}
    return {"browser": [sign_in(), back_after_logout], "override": override}


def _shown(element: str, text: str = ".+", *, optional: bool = False) -> list[Any]:
    """Waits for the element, and gives its page to the suite for somebody to look at."""
    action = "update-image-placeholder" + ("-optional" if optional else "")
    return ["wait", "id", element, SECONDS, text, action]
