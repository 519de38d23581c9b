"""Why a directory refuses a bind: a wrong password, or an account that may not log in now.

Tags of `PasswordResult.refused`, by what Active Directory writes into the text of the error and by the password policy
of OpenLDAP and 389.
"""

from __future__ import annotations

import re
from contextlib import suppress

import ldap
from ldap.controls.ppolicy import PasswordPolicyControl
from pyasn1.error import PyAsn1Error

from gatehouse.identity_sources.directory.failures import details_of

# AD's "data" codes (hexadecimal) that only a right password gets.
_AFTER_RIGHT_PASSWORD = {
    "530": "not_now",  # outside of the hours for logins
    "531": "not_now",  # from another workstation
    "532": "expired",
    "533": "disabled",
    "701": "expired",  # the account
    "773": "must_change",
}
_LOCKED = "775"
_POLICY_EXPIRED, _POLICY_LOCKED, _POLICY_MUST_CHANGE = 0, 1, 2

# The entry cannot be bound to, whatever the password is.
REFUSALS = (
    ldap.INVALID_CREDENTIALS,
    ldap.INAPPROPRIATE_AUTH,
    ldap.NO_SUCH_OBJECT,
    ldap.UNWILLING_TO_PERFORM,
    ldap.CONSTRAINT_VIOLATION,
    ldap.INVALID_DN_SYNTAX,
)


def refusal(error: ldap.LDAPError) -> tuple[bool, str]:
    """Whether the password is right, and the tag; of one of REFUSALS."""
    details = details_of(error)
    if code := re.search(r"AcceptSecurityContext error, data ([0-9a-f]+)", str(details.get("info", ""))):
        tag = _AFTER_RIGHT_PASSWORD.get(code[1], "")
        return bool(tag), tag or ("locked" if code[1] == _LOCKED else "")
    problem = _policy_problem(details.get("ctrls"))
    if problem == _POLICY_EXPIRED:
        return True, "expired"
    if problem == _POLICY_LOCKED or isinstance(error, ldap.CONSTRAINT_VIOLATION):  # the second is what 389 says
        return False, "locked"
    if isinstance(error, ldap.UNWILLING_TO_PERFORM):
        return False, "disabled"
    return False, ""


def policy_tag(problem: int | None) -> str:
    """Of a bind that succeeded."""
    return (
        {_POLICY_EXPIRED: "expired", _POLICY_MUST_CHANGE: "must_change"}.get(problem, "") if problem is not None else ""
    )


def _policy_problem(controls: object) -> int | None:
    for oid, _, value in controls if isinstance(controls, list) else ():
        if oid == PasswordPolicyControl.controlType:
            control = PasswordPolicyControl()
            with suppress(PyAsn1Error):
                control.decodeControlValue(value)
            return control.error  # type: ignore[no-any-return]
    return None
