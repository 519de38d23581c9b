"""What a source is configured by. Stored as JSON in accounts; secrets are kept apart from it, sealed."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class SourceKind(StrEnum):
    DIRECTORY = "directory"
    OPENID = "openid"
    DINGTALK = "dingtalk"
    FEISHU = "feishu"


class Mapping(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """From attributes or claims to a profile, and from groups to roles. Empty: the usual name for the kind of source.

    A department is found by the table, else by its code or name; where neither fits it is `default_department`.
    """

    username: str = ""
    nickname: str = ""
    email: str = ""
    mobile: str = ""
    department: str = ""
    groups: str = ""  # the claim that has them; a directory has its own settings for them
    roles: dict[str, tuple[str, ...]] = {}  # by group: the codes of roles
    default_roles: tuple[str, ...] = ()  # of everybody who comes from here
    departments: dict[str, int] = {}  # by value: the id of a department
    default_department: int = 1


class DirectoryConfig(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Empty values are those that are usual for the vendor; `directory/vendor_defaults.py` has them."""

    urls: tuple[str, ...] = ()  # tried in turn: ldaps://host:636 or ldap://host:389
    base: str = ""
    bind_dn: str = ""
    vendor: str = "openldap"  # or "ad"
    allow_plain: bool = False  # ldap:// without StartTLS
    ca_file: str = ""  # empty: the system's
    user_filter: str = ""  # who may log in; whoever no longer matches is disabled
    name_attributes: tuple[str, ...] = ()  # what a login name is compared with
    subject_attribute: str = ""
    group_base: str = ""
    group_filter: str = ""  # "{dn}" stands for that of the person; empty for AD: nested groups by its own rule
    nested_groups: bool = True
    timeout: float = 5.0  # seconds, for everything that one login asks
    connections: int = 8  # at most, in each worker
    create_users: bool = True
    recheck_seconds: int = 60  # a refresh asks again about somebody who was asked about longer ago
    stale_seconds: int = 86400  # how long refreshes go on while no server answers
    mapping: Mapping = Mapping()


class ProviderConfig(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    issuer: str = ""
    client_id: str = ""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    icon: str = ""  # the name of one of ours, or a URL
    client_auth: str = "client_secret_basic"  # or "client_secret_post", or "none" for a public client
    userinfo: bool = False  # ask it as well; its claims are added to those of the ID token
    trust_factors: bool = False  # a second factor that the provider vouches for counts here
    factor_acrs: tuple[str, ...] = ()  # values of `acr` that mean a second factor was shown
    prompt: str = ""
    logout: bool = True  # our logout goes on to the provider's
    create_users: bool = True
    ca_file: str = ""
    timeout: float = 5.0
    base_url: str = ""  # of DingTalk or Feishu, where it is not the usual one
    tenant: str = ""  # corpId of DingTalk or tenant_key of Feishu: people of other companies are refused
    mapping: Mapping = Mapping()


Config = DirectoryConfig | ProviderConfig

# What is kept sealed, by kind of source.
SECRET_FIELDS = {
    SourceKind.DIRECTORY: "bind_password",
    SourceKind.OPENID: "client_secret",
    SourceKind.DINGTALK: "client_secret",
    SourceKind.FEISHU: "client_secret",
}


def config_type(kind: SourceKind) -> type[DirectoryConfig] | type[ProviderConfig]:
    return DirectoryConfig if kind is SourceKind.DIRECTORY else ProviderConfig
