"""What somebody lacks for a change that `management/authority.py` refuses, and who or what can give it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.refusals import Need

if TYPE_CHECKING:
    from gatehouse.auth.refusals import BeyondAuthority

# A sentence with more names is not read.
NAMES_MAX = 8

_EN = {
    Need.PERMS: """\
Missing: {missing}. Who has it can add it to one of your roles, in /admin under Roles; \
on the command line: gatehouse role allow {role} {missing}""",
    Need.ROLE: """\
Missing: the role {missing}. An administrator can grant it to you, in /admin under Users; \
on the command line: gatehouse user grant NAME {missing}""",
    Need.ROOT: """\
Missing: the role ROOT. Who holds it can do this; on the command line: gatehouse user, gatehouse role""",
    Need.ADMINISTRATOR: """\
It takes an administrator: the role ROOT, or ADMIN with all permissions of these pages; \
on the command line: gatehouse role edit, gatehouse dept edit""",
    Need.DEPARTMENT: """\
It concerns a department outside your own, those below it and your data scope. An administrator can do this; \
on the command line: gatehouse user edit, gatehouse dept edit""",
    Need.SOMEBODY_ELSE: """\
Password and second factor are changed in /account, the rest by another administrator; \
on the command line: gatehouse user edit, gatehouse user grant""",
}
_ZH = {
    Need.PERMS: """\
缺少权限：{missing}。可由拥有该权限的人在 /admin 的“角色”页中添加到您的角色，\
或执行命令：gatehouse role allow {role} {missing}""",
    Need.ROLE: """\
缺少角色：{missing}。可由管理员在 /admin 的“用户”页中授予，或执行命令：gatehouse user grant NAME {missing}""",
    Need.ROOT: "缺少角色：ROOT。可由持有该角色的人操作，或使用命令：gatehouse user、gatehouse role",
    Need.ADMINISTRATOR: """\
需要管理员（ROOT，或拥有全部管理权限的 ADMIN），或使用命令：gatehouse role edit、gatehouse dept edit""",
    Need.DEPARTMENT: """\
涉及的部门不在您的部门、下级部门或数据权限范围内。可由管理员操作，\
或使用命令：gatehouse user edit、gatehouse dept edit""",
    Need.SOMEBODY_ELSE: """\
密码和双重验证请在 /account 修改，其余由其他管理员操作，或使用命令：gatehouse user edit、gatehouse user grant""",
}


def need_text(problem: BeyondAuthority, language: str) -> str:
    more = ["…"] if len(problem.missing) > NAMES_MAX else []
    missing = " ".join([*problem.missing[:NAMES_MAX], *more])
    return (_ZH if language == "zh" else _EN)[problem.need].format(missing=missing, role=problem.role)
