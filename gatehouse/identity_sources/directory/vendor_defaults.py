"""What is usual for a vendor's directory, and a directory's settings with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gatehouse.identity_sources.definitions import DirectoryConfig

_BIT_AND = "1.2.840.113556.1.4.803"
_IN_CHAIN = "1.2.840.113556.1.4.1941"  # AD follows nested groups itself


class Layout(NamedTuple):
    """Where people and groups are in a directory, and how they are recognised."""

    base: str
    user_filter: str
    name_attributes: tuple[str, ...]
    subject_attribute: str
    group_base: str
    group_filter: str  # "{dn}" and "{name}" stand for those of the person, "{primary}" for AD's primary group
    follow_groups: bool  # search upward for the groups of a group


def layout(config: DirectoryConfig) -> Layout:
    usual = _VENDORS.get(config.vendor, _VENDORS["openldap"])
    # AD's own rule finds nested groups in one search.
    chain = config.vendor == "ad" and not config.group_filter and config.nested_groups
    return Layout(
        base=config.base,
        user_filter=in_parentheses(config.user_filter or usual.user_filter),
        name_attributes=config.name_attributes or usual.name_attributes,
        subject_attribute=config.subject_attribute or usual.subject_attribute,
        group_base=config.group_base or config.base,
        group_filter=_AD_NESTED if chain else in_parentheses(config.group_filter or usual.group_filter),
        follow_groups=config.nested_groups and not chain,
    )


def in_parentheses(search_filter: str) -> str:
    return search_filter if search_filter.startswith("(") else f"({search_filter})"


class _Usual(NamedTuple):
    user_filter: str
    name_attributes: tuple[str, ...]
    subject_attribute: str
    group_filter: str


_AD_NESTED = f"(|(member:{_IN_CHAIN}:={{dn}}){{primary}})"
_VENDORS = {
    "openldap": _Usual(
        "(objectClass=person)", ("uid",), "entryUUID", "(|(member={dn})(uniqueMember={dn})(memberUid={name}))"
    ),
    "ad": _Usual(
        # Bit 2 of userAccountControl: the account is disabled.
        f"(&(objectCategory=person)(objectClass=user)(!(userAccountControl:{_BIT_AND}:=2)))",
        ("sAMAccountName", "userPrincipalName"),
        "objectGUID",
        "(|(member={dn}){primary})",
    ),
}
