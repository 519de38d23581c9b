"""The catalogue of failures: one row each, from what happened to HTTP status, code and message in two languages.

Codes are part of the contract: rows are added, never renamed. Their first letter says whose fault it is: A the
caller's, B ours, C that of something which is not there or cannot be reached. Consoles react to A0230 (log in again)
and A0231 (refresh no more). What the log says and what the caller reads are two things; nothing of an exception's own
text reaches the caller.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from gatehouse.api.contract.needs import need_text
from gatehouse.auth import refusals
from gatehouse.auth.refusals import (
    PASSWORD_MAX,
    PASSWORD_MIN,
    BeyondAuthority,
    EnrolmentRequired,
    FieldInvalid,
    FieldMissing,
    PasskeyRequired,
    PasswordProblem,
    PasswordRefused,
    Refused,
    RetryLater,
)
from gatehouse.stores.errors import Duplicate, InUse, LastAdministrator, Missing, StoreUnavailable, UnstorableValue

SUCCESS = "00000"
STORE_RETRY_AFTER_SECONDS = 2


class NoSuchPath(Refused):
    """There is no such path."""


class MethodNotAllowed(Refused):
    def __init__(self, allowed: str) -> None:
        super().__init__(f"allowed: {allowed}")
        self.allowed = allowed


class BodyUnreadable(Refused):
    """Not JSON or not an object, not the form that it claims to be, or not UTF-8."""


class BodyTooLarge(Refused):
    """More bytes than any request of the contract needs."""


class UnsupportedMediaType(Refused):
    """The media type says that the body is something that this operation does not take."""


class ErrorEntry(NamedTuple):
    status: int
    code: str
    en: str
    zh: str


CATALOGUE: dict[type[Exception], ErrorEntry] = {
    FieldMissing: ErrorEntry(400, "A0410", "{field} is required", "请填写 {field}"),
    FieldInvalid: ErrorEntry(400, "A0421", "{field} is not valid", "{field} 格式不正确"),
    UnstorableValue: ErrorEntry(400, "A0421", "A value has characters that cannot be stored", "参数包含无法存储的字符"),
    refusals.PasswordRefused: ErrorEntry(400, "A0421", "{problem}", "{problem}"),
    BodyUnreadable: ErrorEntry(400, "A0400", "The request body cannot be read", "请求体无法解析"),
    BodyTooLarge: ErrorEntry(413, "A0400", "The request body is too large", "请求体过大"),
    UnsupportedMediaType: ErrorEntry(
        415, "A0400", "The media type of the body is not supported here", "不支持该请求体类型"
    ),
    refusals.CaptchaWrong: ErrorEntry(400, "A0240", "The captcha answer is wrong", "验证码错误"),
    refusals.CaptchaGone: ErrorEntry(
        400, "A0242", "The captcha has expired, get a new one", "验证码已失效，请刷新后重试"
    ),
    refusals.CredentialsWrong: ErrorEntry(400, "A0210", "Wrong username or password", "用户名或密码错误"),
    refusals.CodeRequired: ErrorEntry(
        400,
        "A0220",
        "Type the six digits of your authenticator app, or a recovery code, into the captcha field",
        "请在验证码输入框中填写身份验证器的 6 位动态码或恢复码",
    ),
    refusals.EnrolmentRequired: ErrorEntry(
        400,
        "A0220",
        "Your account must have a second factor: log in at {url} to set it up",
        "您的账号必须启用双重验证，请先在 {url} 登录并完成设置",
    ),
    refusals.PasskeyRequired: ErrorEntry(
        400, "A0220", "Log in with your passkey at {url}", "请在 {url} 使用通行密钥登录"
    ),
    refusals.StrongerLoginRequired: ErrorEntry(
        400,
        "A0220",
        "Your account needs a second factor: log in with your password and a code",
        "您的账号需要双重验证，请使用密码和动态码登录",
    ),
    refusals.CodeProofRequired: ErrorEntry(
        400,
        "A0220",
        "The password alone is not enough: a code of your authenticator app, or a recovery code, is missing (code)",
        "仅有密码还不够，还需要身份验证器的动态码或恢复码（code）",
    ),
    refusals.PasskeyProofRequired: ErrorEntry(
        400,
        "A0220",
        "The password alone is not enough: confirm this with one of your passkeys (credential)",
        "仅有密码还不够，请使用您的通行密钥确认（credential）",
    ),
    refusals.TicketGone: ErrorEntry(
        400, "A0242", "This took too long or was done already, begin again", "操作已超时或已完成，请重新开始"
    ),
    refusals.PasskeyRefused: ErrorEntry(400, "A0210", "The passkey was not accepted", "通行密钥未被接受"),
    refusals.SecondFactorCodeWrong: ErrorEntry(
        400,
        "A0220",
        "The code is wrong or was used already: wait for the next one",
        "动态码错误或已使用，请等待下一个",
    ),
    refusals.EnrolmentVoid: ErrorEntry(
        400, "A0220", "Too many wrong codes: begin again with a new key", "动态码错误次数过多，请用新的密钥重新开始"
    ),
    refusals.OldPasswordWrong: ErrorEntry(400, "A0210", "The old password is wrong", "原密码错误"),
    refusals.ConfirmationDiffers: ErrorEntry(
        400, "A0421", "The new password and its confirmation differ", "两次输入的密码不一致"
    ),
    refusals.NameLocked: ErrorEntry(
        429, "A0211", "Too many failed logins, try again in {wait}", "登录失败次数过多，请在 {wait} 后重试"
    ),
    refusals.TooManyRequests: ErrorEntry(
        429, "A0502", "Too many requests, try again in {wait}", "请求过于频繁，请在 {wait} 后重试"
    ),
    refusals.AccessTokenInvalid: ErrorEntry(401, "A0230", "Please log in", "登录已失效，请重新登录"),
    refusals.RefreshTokenInvalid: ErrorEntry(
        401, "A0231", "The session has ended, please log in again", "会话已结束，请重新登录"
    ),
    refusals.AccessNeedsFactor: ErrorEntry(
        401, "A0230", "Your account now needs a second factor, please log in again", "您的账号现需双重验证，请重新登录"
    ),
    refusals.RefreshNeedsFactor: ErrorEntry(
        401, "A0231", "Your account now needs a second factor, please log in again", "您的账号现需双重验证，请重新登录"
    ),
    refusals.NotAllowed: ErrorEntry(403, "A0301", "Not allowed", "没有访问权限"),
    refusals.CannotGrant: ErrorEntry(
        403,
        "A0301",
        "You cannot grant, change or take away more than you have yourself. {need}",
        "不能授予、修改或收回自己没有的权限。{need}",
    ),
    refusals.CannotManage: ErrorEntry(
        403, "A0301", "This user has more permissions than you. {need}", "该用户的权限高于您。{need}"
    ),
    refusals.OwnAccount: ErrorEntry(
        403, "A0301", "This is not possible with your own account. {need}", "不能对当前账号执行此操作。{need}"
    ),
    LastAdministrator: ErrorEntry(
        403, "A0301", "The last enabled administrator must stay one", "必须保留至少一个启用的管理员"
    ),
    refusals.NoSuchSession: ErrorEntry(404, "C0113", "There is no such session", "没有该会话"),
    refusals.NoSuchFactor: ErrorEntry(
        404, "C0113", "There is no second factor to do this with, begin again", "没有可用的双重验证，请重新开始"
    ),
    refusals.AlreadyEnrolled: ErrorEntry(
        409, "A0440", "You have an authenticator app already, remove it first", "已绑定身份验证器，请先解绑"
    ),
    Missing: ErrorEntry(404, "C0113", "There is no such entry", "该记录不存在"),
    Duplicate: ErrorEntry(409, "A0440", "This name or code is taken already", "名称或编码已存在"),
    InUse: ErrorEntry(
        409, "A0440", "It is still in use, so it cannot be deleted or moved", "仍在使用中，无法执行该操作"
    ),
    NoSuchPath: ErrorEntry(404, "C0113", "There is nothing at this path", "请求的地址不存在"),
    MethodNotAllowed: ErrorEntry(405, "C0113", "This path does not support that method", "不支持该请求方法"),
    refusals.TooBusy: ErrorEntry(503, "B0210", "The service is busy, try again in a moment", "系统繁忙，请稍后再试"),
    StoreUnavailable: ErrorEntry(
        503, "C0300", "The service is not available, try again in a moment", "服务暂不可用，请稍后再试"
    ),
    Exception: ErrorEntry(500, "B0001", "Something went wrong on our side", "系统内部错误"),
}

PASSWORD_PROBLEMS = {
    PasswordProblem.SHORT: (f"Use at least {PASSWORD_MIN} characters", f"密码至少 {PASSWORD_MIN} 个字符"),
    PasswordProblem.LONG: (f"Use at most {PASSWORD_MAX} characters", f"密码最多 {PASSWORD_MAX} 个字符"),
    PasswordProblem.COMMON: (
        "This password is too common. Choose another.",
        "使用该密码的人太多，容易被猜到，请换一个",
    ),
    PasswordProblem.NAME: ("The password must not contain your username", "密码不能包含用户名"),
    PasswordProblem.SAME: ("The new password must differ from the current one", "新密码不能与当前密码相同"),
}


def entry_for(problem: Exception) -> ErrorEntry:
    for kind in type(problem).__mro__:
        if kind in CATALOGUE:
            return CATALOGUE[kind]
    return CATALOGUE[Exception]


def message(problem: Exception, entry: ErrorEntry, language: str) -> str:
    text = entry.zh if language == "zh" else entry.en
    if isinstance(problem, FieldMissing | FieldInvalid):
        return text.format(field=problem.field)
    if isinstance(problem, PasskeyRequired):
        return text.format(url=problem.login_url)
    if isinstance(problem, EnrolmentRequired):
        return text.format(url=problem.enrolment_url)
    if isinstance(problem, BeyondAuthority):
        return text.format(need=need_text(problem, language))
    if isinstance(problem, PasswordRefused):
        return PASSWORD_PROBLEMS[problem.problem][language == "zh"]
    if "{wait}" in text and isinstance(problem, RetryLater):
        text = text.format(wait=_wait_text(problem.seconds, language))
    return text


def headers_for(problem: Exception, entry: ErrorEntry) -> list[tuple[str, str]]:
    headers = []
    if entry.status == 401:
        headers.append(("www-authenticate", "Bearer"))
    if isinstance(problem, EnrolmentRequired):
        headers.append(("enrolment-ticket", problem.ticket))
    if isinstance(problem, RetryLater):
        headers.append(("retry-after", str(max(1, math.ceil(problem.seconds)))))
    elif isinstance(problem, StoreUnavailable):
        headers.append(("retry-after", str(STORE_RETRY_AFTER_SECONDS)))
    if isinstance(problem, MethodNotAllowed):
        headers.append(("allow", problem.allowed))
    return headers


def _wait_text(seconds: float, language: str) -> str:
    whole = max(1, math.ceil(seconds))
    if whole < 120:
        return f"{whole} 秒" if language == "zh" else f"{whole} second{'s' * (whole > 1)}"
    minutes = math.ceil(whole / 60)
    return f"{minutes} 分钟" if language == "zh" else f"{minutes} minutes"
