"""OpenLDAP's server for the tests, where the machine has it: people, groups, nested groups, password policy.

It listens with and without TLS; its certificate is that of an authority of the test's own (`ca_file`). Everybody's
password is PASSWORD. Tests may add and change entries as the administrator of the directory.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.certificates import Authority
from tests.support.engines import Server
from tests.support.running import free_port

BASE = "dc=example,dc=org"
PEOPLE = f"ou=people,{BASE}"
GROUPS = f"ou=groups,{BASE}"
SERVICE = f"cn=gatehouse,{BASE}"  # the service account
LIMITED = f"cn=limited,{BASE}"  # another, which is given three entries of a search
ADMIN = f"cn=admin,{BASE}"
PASSWORD = "correct horse battery"
_STRICT = f"cn=strict,ou=policies,{BASE}"

_PATH = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin:/usr/lib/openldap"
_SCHEMAS = ("core", "cosine", "nis", "inetorgperson")
_MODULES = ("back_mdb", "ppolicy", "memberof")


class Slapd(Server):
    def __init__(self, program: str, tool: str, *, names: tuple[str, ...] = ("127.0.0.1", "localhost")) -> None:
        super().__init__()
        self.tls_port = free_port()
        self._program = program
        self.authority = Authority(self.folder)
        self.ca_file = str(self.authority.file)
        (self.folder / "data").mkdir()
        self.present(*self.authority.certificate(*names))
        (self.folder / "seed.ldif").write_text(_seed())
        subprocess.run(
            [tool, "-q", "-f", self.folder / "slapd.conf", "-l", self.folder / "seed.ldif"],
            check=True,
            capture_output=True,
        )

    @property
    def url(self) -> str:
        return f"ldap://127.0.0.1:{self.port}"

    @property
    def tls_url(self) -> str:
        return f"ldaps://127.0.0.1:{self.tls_port}"

    def settings(self, **others: Any) -> dict[str, Any]:
        """Of a `DirectoryConfig` that uses it, over TLS."""
        return {
            "urls": (self.tls_url,),
            "base": BASE,
            "bind_dn": SERVICE,
            "ca_file": self.ca_file,
            "group_base": GROUPS,
            **others,
        }

    def present(self, certificate: Path, key: Path) -> None:
        """From the next start on it has this certificate."""
        (self.folder / "slapd.conf").write_text(_configuration(self.folder, certificate, key))

    def command(self) -> list[str]:
        return [self._program, "-f", str(self.folder / "slapd.conf"), "-h", f"{self.url} {self.tls_url}", "-d", "0"]

    def answers(self) -> bool:
        try:
            for port in (self.port, self.tls_port):
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            return False
        return True

    def add(self, dn: str, **attributes: str | bytes | list[str]) -> None:
        with self._administrator() as connection:
            connection.add_s(dn, [(name, _encoded(value)) for name, value in attributes.items()])

    def add_person(self, uid: str, **attributes: str | bytes | list[str]) -> str:
        """Returns its DN."""
        import ldap.dn  # noqa: PLC0415 - an extra

        dn = f"uid={ldap.dn.escape_dn_chars(uid)},{PEOPLE}"
        usual = {"objectClass": "inetOrgPerson", "cn": uid, "sn": uid, "uid": uid, "userPassword": PASSWORD}
        self.add(dn, **(usual | attributes))
        return dn

    def change(self, dn: str, **attributes: str | bytes | list[str] | None) -> None:
        """Replace attributes; None removes one."""
        import ldap  # noqa: PLC0415 - an extra

        with self._administrator() as connection:
            changes = [
                (ldap.MOD_REPLACE, name, None if value is None else _encoded(value))
                for name, value in attributes.items()
            ]
            connection.modify_s(dn, changes)

    def delete(self, dn: str) -> None:
        with self._administrator() as connection:
            connection.delete_s(dn)

    @contextmanager
    def _administrator(self) -> Iterator[Any]:
        import ldap  # noqa: PLC0415 - an extra

        connection = ldap.initialize(self.url)
        connection.simple_bind_s(ADMIN, PASSWORD)
        try:
            yield connection
        finally:
            connection.unbind_s()


def _encoded(value: str | bytes | list[str]) -> list[bytes]:
    values = value if isinstance(value, list) else [value]
    return [each if isinstance(each, bytes) else each.encode() for each in values]


def _configuration(folder: Path, certificate: Path, key: Path) -> str:
    schemas = "\n".join(f"include /etc/ldap/schema/{schema}.schema" for schema in _SCHEMAS)
    modules = "\n".join(f"moduleload {module}" for module in _MODULES)
    return f"""
{schemas}
modulepath /usr/lib/ldap
{modules}
pidfile {folder}/pid
# A DN with an empty password is taken for anonymous, as many directories do: the trap that clients must know.
allow bind_anon_dn
TLSCertificateFile {certificate}
TLSCertificateKeyFile {key}
sizelimit 500
database mdb
maxsize 67108864
suffix {BASE}
rootdn {ADMIN}
rootpw "{PASSWORD}"
directory {folder}/data
dbnosync
index objectClass,uid,cn,mail,member,uniqueMember,memberUid,entryUUID eq
limits dn.exact="{SERVICE}" size.prtotal=unlimited
limits dn.exact="{LIMITED}" size.prtotal=3
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="{SERVICE}" read by dn.exact="{LIMITED}" read by anonymous auth by * none
overlay ppolicy
ppolicy_default "cn=usual,ou=policies,{BASE}"
ppolicy_use_lockout
overlay memberof
memberof-dangling ignore
"""


def _seed() -> str:
    def entry(dn: str, *lines: str) -> str:
        return "\n".join((f"dn: {dn}", *lines, ""))

    def person(uid: str, *lines: str) -> str:
        # Not `uid=` in the DN: a client must search for it, as the DN cannot be made from the name.
        return entry(
            f"cn={uid} of sales\\, Ltd,{PEOPLE}",
            "objectClass: inetOrgPerson",
            f"cn: {uid} of sales, Ltd",
            f"sn: {uid}",
            f"uid: {uid}",
            f"userPassword: {PASSWORD}",
            *lines,
        )

    def group(cn: str, *members: str) -> str:
        return entry(
            f"cn={cn},{GROUPS}", "objectClass: groupOfNames", f"cn: {cn}", *(f"member: {each}" for each in members)
        )

    return "\n".join((
        entry(BASE, "objectClass: dcObject", "objectClass: organization", "o: example", "dc: example"),
        *(
            entry(f"ou={ou},{BASE}", "objectClass: organizationalUnit", f"ou: {ou}")
            for ou in ("people", "groups", "policies")
        ),
        *(
            entry(dn, "objectClass: organizationalRole", "objectClass: simpleSecurityObject", f"cn: {cn}",
                  f"userPassword: {PASSWORD}")
            for dn, cn in ((SERVICE, "gatehouse"), (LIMITED, "limited"))
        ),
        entry(f"cn=usual,ou=policies,{BASE}", "objectClass: device", "objectClass: pwdPolicy", "cn: usual",
              "pwdAttribute: userPassword", "pwdLockout: TRUE", "pwdMaxFailure: 20", "pwdMustChange: TRUE"),
        entry(_STRICT, "objectClass: device", "objectClass: pwdPolicy", "cn: strict",
              "pwdAttribute: userPassword", "pwdLockout: TRUE", "pwdMaxFailure: 2", "pwdMaxAge: 60",
              "pwdMustChange: TRUE"),
        person("carol", "mail: carol@example.org", "displayName: Carol", "mobile: +86 13800138000",
               "departmentNumber: 42"),
        person("dave", "mail: dave@example.org"),
        person("zhāng", "displayName: 张三"),
        # Their passwords are right, and yet: too old, to be changed first, to be locked after two wrong ones.
        person("olga", f"pwdPolicySubentry: {_STRICT}", "pwdChangedTime: 20200101000000Z"),
        person("mona", "pwdReset: TRUE"),
        person("lars", f"pwdPolicySubentry: {_STRICT}"),
        group("staff", dn_of("carol"), dn_of("dave")),
        # carol is an admin by way of two groups that contain each other.
        group("operators", dn_of("carol"), f"cn=admins,{GROUPS}"),
        group("admins", f"cn=operators,{GROUPS}"),
        entry(f"cn=posix,{GROUPS}", "objectClass: posixGroup", "cn: posix", "gidNumber: 1000", "memberUid: dave"),
    ))  # fmt: skip


def dn_of(uid: str) -> str:
    """Of somebody who is there from the start: carol, dave, zhāng, olga, mona, lars."""
    return f"cn={uid} of sales\\2C Ltd,{PEOPLE}"


def programs() -> tuple[str, str] | None:
    server, tool = shutil.which("slapd", path=_PATH), shutil.which("slapadd", path=_PATH)
    return (server, tool) if server and tool else None


def new_slapd(**options: Any) -> Slapd:
    """Not started yet; skips the test where it cannot run."""
    found = programs()
    if found is None:
        pytest.skip("OpenLDAP's server is not installed (apt install slapd)")
    if importlib.util.find_spec("ldap") is None:
        pytest.skip("python-ldap is not installed (pip install 'gatehouse[ldap]')")
    return Slapd(*found, **options)


@pytest.fixture(scope="module")
def slapd() -> Iterator[Slapd]:
    """One for the tests of a file; what they add has names of their own."""
    server = new_slapd()
    server.start()
    yield server
    server.remove()
