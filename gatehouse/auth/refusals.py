"""The refusals of the rules. Those of the stores are in `stores/errors.py`, those of HTTP itself in `api/http/`.

`api/error_catalogue.py` gives each its status and code, `messages/` its sentences.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.auth.audit import RefreshFailure
    from gatehouse.messages import Message
    from gatehouse.stores.database.users import User

PASSWORD_MIN = 8
PASSWORD_MAX = 1024


class Refused(Exception):
    """Base of all refusals. The text is for the log, never for the caller."""


class RetryLater(Refused):
    """Refused for now: the caller may retry in `seconds`."""

    def __init__(self, seconds: float, why: str = "") -> None:
        super().__init__(why)
        self.seconds = seconds


class FieldMissing(Refused):
    """A required field is absent or empty."""

    def __init__(self, field: str) -> None:
        super().__init__(f"{field} is missing")
        self.field = field


class FieldInvalid(Refused):
    """A field has the wrong type, length or form, or contradicts another."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field = field


class AccountFieldInvalid(FieldInvalid, ValueError):
    """A field of an account, role, department or menu that breaks a rule of `management/`: the caller's mistake."""


class ApplicationFieldInvalid(AccountFieldInvalid):
    """A field of an application; `problem` says what is wrong with it to whoever registers one."""

    def __init__(self, field: str, problem: Message) -> None:
        super().__init__(field, str(problem))
        self.problem = problem


class PasswordProblem(StrEnum):
    """Why a password is refused, for an operator; `messages/` has the sentences for the caller."""

    SHORT = f"a password has at least {PASSWORD_MIN} characters"
    LONG = f"a password has at most {PASSWORD_MAX} characters"
    COMMON = "this password is among the commonest: everyone tries it first"
    NAME = "a password must not contain the username"
    SAME = "the new password must differ from the current one"


class PasswordRefused(Refused):
    """A new password that the policy does not accept."""

    def __init__(self, problem: PasswordProblem) -> None:
        super().__init__(problem.value)
        self.problem = problem


class CaptchaWrong(Refused):
    """The answer is not what the picture shows."""


class CaptchaGone(Refused):
    """The captcha has expired, was used before, or never existed."""


class CredentialsWrong(Refused):
    """Unknown name, wrong password or disabled user: the caller cannot tell which."""


class DirectoryPasswordExpired(CredentialsWrong):
    """The right password, which the directory accepts no more: it must be changed there."""


class PasswordElsewhere(Refused):
    """A password that a directory keeps: it is changed there and not here."""


class PasswordShown(NamedTuple):
    """Whose password was right, and by which method it was checked (`amr.py`)."""

    user: User
    method: str


class CodeRequired(Refused):
    """Password and captcha were right, but a code is missing or wrong. `shown` is for our own pages, never told."""

    shown: PasswordShown | None = None


class EnrolmentRequired(CodeRequired):
    """The user must have a second factor and has none. `ticket` opens nothing but the enrolment at `enrolment_url`."""

    def __init__(self, ticket: str, enrolment_url: str) -> None:
        super().__init__("this user must enrol")
        self.ticket = ticket
        self.enrolment_url = enrolment_url


class PasskeyRequired(CodeRequired):
    """The user needs a second factor and has passkeys only: these log in on the page at `login_url`."""

    def __init__(self, login_url: str) -> None:
        super().__init__("this user has passkeys only")
        self.login_url = login_url


class StrongerLoginRequired(CodeRequired):
    """A login without a password, such as by QR code, that lacks the second factor which the user must show."""


class CodeProofRequired(CodeRequired):
    """A change of one's own factors with the password alone, where an authenticator app is on."""


class PasskeyProofRequired(CodeRequired):
    """A change of one's own factors with the password alone, where passkeys are the only second factor."""


class RecentLoginRequired(CodeRequired):
    """A sensitive change by somebody without a password, whose login with a provider is too long ago."""


class TicketGone(Refused):
    """A ticket or challenge that is forged, expired or used, or whose account has changed."""


class PasskeyRefused(Refused):
    """A passkey that is not registered, was made for another site, or did not sign what it was asked to."""


class SecondFactorCodeWrong(Refused):
    """A code that is wrong or was used before, where the caller is known."""


class EnrolmentVoid(SecondFactorCodeWrong):
    """The last wrong code that an enrolment takes."""


class AlreadyEnrolled(Refused):
    """There is an authenticator already; remove it before adding another."""


class NoSuchFactor(Refused):
    """Nothing is enrolled, or no enrolment is under way."""


class OldPasswordWrong(Refused):
    """A password change with a wrong current password."""


class ConfirmationDiffers(Refused):
    """The new password was typed twice, and differently."""


class NameLocked(RetryLater):
    """Too many failed logins under this name, whether it exists or not."""


class TooManyRequests(RetryLater):
    """A limit by address, or of all together, is used up."""


class AccessTokenInvalid(Refused):
    """Missing, malformed, forged, expired or revoked: the caller gets the same answer for each."""


class RefreshTokenInvalid(Refused):
    """The refresh token is forged, expired, revoked or reused; `reason` says which."""

    def __init__(self, reason: RefreshFailure) -> None:
        super().__init__(reason.value)
        self.reason = reason


class AccessNeedsFactor(AccessTokenInvalid):
    """A second factor is required by now, and the session, which has ended with this, was opened without one."""


class RefreshNeedsFactor(RefreshTokenInvalid):
    """As `AccessNeedsFactor`, at a refresh."""


class NoSuchSession(Refused):
    """There is no such session, or none that the caller may end."""


class NotAllowed(Refused):
    """The caller is known, and may not do this."""


class Need(StrEnum):
    """What the caller would need; `messages/` has the sentences."""

    PERMS = "perms"
    ROLE = "role"
    ROOT = "ROOT"
    ADMINISTRATOR = "administrator"
    DEPARTMENT = "department"
    SOMEBODY_ELSE = "somebody else"


class BeyondAuthority(NotAllowed):
    """A change that `management/authority.py` refuses, which is the only place that raises it. It is recorded."""

    def __init__(self, why: str, need: Need, missing: Sequence[str] = (), role: str = "") -> None:
        super().__init__(why)
        self.need = need
        self.missing = tuple(missing)
        self.role = role  # one of the caller's own, to which missing perms could be added


class CannotGrant(BeyondAuthority):
    """The caller would grant, change or take a role, a menu or a perm that the caller does not have."""


class CannotManage(BeyondAuthority):
    """The change is to a user who has more than the caller."""


class OwnAccount(BeyondAuthority):
    """A change that is not allowed on the caller's own account."""


class TooBusy(RetryLater):
    """The queue is full."""
