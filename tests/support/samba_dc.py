"""samba as a domain controller of Active Directory, where the machine has it and the tests run as root.

Its LDAP ports are fixed, so it gets an address of the loopback of its own. Provisioning takes twelve seconds: all tests
of a run share one (`shared.py`), and what they add has names of their own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.certificates import Authority
from tests.support.engines import NotInstalled, Server

BASE = "DC=ad,DC=example,DC=org"
USERS = f"CN=Users,{BASE}"
PASSWORD = "Correct-horse-1"
SERVICE = f"CN=gatehouse,{USERS}"
_ADMIN = f"CN=Administrator,{USERS}"
_USUAL = 0x200 | 0x10000  # a normal account, whose password does not expire
_PATH = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"

_AGE_PASSWORD = """
import sys
import ldb
from samba.auth import system_session
from samba.param import LoadParm
from samba.samdb import SamDB

parameters = LoadParm()
parameters.load(sys.argv[1])
database = SamDB(session_info=system_session(), lp=parameters)
change = ldb.Message(ldb.Dn(database, sys.argv[2]))
change["pwdLastSet"] = ldb.MessageElement("132000000000000000", ldb.FLAG_MOD_REPLACE, "pwdLastSet")
database.modify(change, controls=["local_oid:1.3.6.1.4.1.7165.4.3.12:0"])
"""


class SambaDC:
    """A domain controller that runs, whoever has started it."""

    def __init__(self, address: str, ca_file: str, configuration: str) -> None:
        self.address = address
        self.ca_file = ca_file
        self.configuration = configuration

    def settings(self, **others: Any) -> dict[str, Any]:
        """Of a `DirectoryConfig` that uses it."""
        return {
            "urls": (f"ldaps://{self.address}:636",),
            "base": BASE,
            "bind_dn": SERVICE,
            "vendor": "ad",
            "ca_file": self.ca_file,
            **others,
        }

    def add_person(self, name: str, control: int = _USUAL, **attributes: str) -> str:
        """Returns its DN."""
        dn = f"CN={name},{USERS}"
        usual = {
            "objectClass": "user",
            "sAMAccountName": name,
            "userPrincipalName": f"{name}@ad.example.org",
            "userAccountControl": str(control),
        }
        values = [(key, value.encode()) for key, value in (usual | attributes).items()]
        with self.administrator() as connection:
            connection.add_s(dn, [*values, ("unicodePwd", f'"{PASSWORD}"'.encode("utf-16-le"))])
        return dn

    def add_group(self, name: str, *members: str) -> str:
        dn = f"CN={name},{USERS}"
        values = [("objectClass", b"group"), ("sAMAccountName", name.encode())]
        with self.administrator() as connection:
            connection.add_s(dn, [*values, ("member", [member.encode() for member in members])])
        return dn

    def change(self, dn: str, **attributes: str) -> None:
        import ldap  # noqa: PLC0415 - an extra

        with self.administrator() as connection:
            connection.modify_s(dn, [(ldap.MOD_REPLACE, key, value.encode()) for key, value in attributes.items()])

    def age_password(self, dn: str) -> None:
        """As if it had been set in 2019. No client may say so; samba's own Python changes it in the database."""
        tool = Path(_programs()[1]).read_text(encoding="utf-8")
        python = tool.partition("\n")[0].removeprefix("#!").split()
        subprocess.run([*python, "-c", _AGE_PASSWORD, self.configuration, dn], check=True, capture_output=True)

    def delete(self, dn: str) -> None:
        with self.administrator() as connection:
            connection.delete_s(dn)

    @contextmanager
    def administrator(self) -> Iterator[Any]:
        import ldap  # noqa: PLC0415 - an extra

        connection = ldap.initialize(f"ldaps://{self.address}")
        connection.set_option(ldap.OPT_X_TLS_CACERTFILE, self.ca_file)
        connection.set_option(ldap.OPT_X_TLS_NEWCTX, 0)
        connection.simple_bind_s(_ADMIN, PASSWORD)
        try:
            yield connection
        finally:
            connection.unbind_s()


class SambaServer(Server, SambaDC):
    def __init__(self) -> None:
        self._samba, tool = _programs()
        Server.__init__(self)
        authority = Authority(self.folder)
        SambaDC.__init__(self, _free_address(), str(authority.file), f"{self.folder}/dc/etc/smb.conf")
        certificate, key = authority.certificate(self.address)
        key.chmod(0o600)  # samba refuses one that others may read
        self._options = [
            f"--option={option}"
            for option in (
                f"interfaces={self.address}/8", "bind interfaces only=yes", "server services=ldap",
                f"pid directory={self.folder}", f"ncalrpc dir={self.folder}/ncalrpc",
                f"tls certfile={certificate}", f"tls keyfile={key}", f"tls cafile={authority.file}",
            )
        ]  # fmt: skip
        done = subprocess.run(
            [
                tool, "domain", "provision", f"--targetdir={self.folder}/dc", "--realm=AD.EXAMPLE.ORG",
                "--domain=EXAMPLE", f"--adminpass={PASSWORD}", "--server-role=dc", "--dns-backend=NONE",
                "--host-name=dc1", f"--host-ip={self.address}", *self._options[:2],
            ],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            self.remove()
            raise NotInstalled(f"samba cannot be provisioned here: {done.stderr[-300:]}")

    def command(self) -> list[str]:
        return [
            self._samba, "--foreground", "--no-process-group", "--model=single", "--debug-stdout",
            f"--configfile={self.configuration}", *self._options,
        ]  # fmt: skip

    def answers(self) -> bool:
        try:
            socket.create_connection((self.address, 636), timeout=1).close()
        except OSError:
            return False
        return True

    def start(self) -> None:
        super().start()
        self.add_person("gatehouse")

    def described(self) -> str:
        """For `from_description`, in another process."""
        return json.dumps([self.address, self.ca_file, self.configuration])


def from_description(text: str) -> SambaDC:
    return SambaDC(*json.loads(text))


def _programs() -> tuple[str, str]:
    server, tool = shutil.which("samba", path=_PATH), shutil.which("samba-tool", path=_PATH)
    if not server or not tool:
        raise NotInstalled("samba's domain controller is not installed (apt install samba-ad-dc samba-ad-provision)")
    if os.geteuid() != 0:
        raise NotInstalled("samba's domain controller needs root: its ports are below 1024")
    if importlib.util.find_spec("ldap") is None:
        raise NotInstalled("python-ldap is not installed (pip install 'gatehouse[ldap]')")
    return server, tool


def _free_address() -> str:
    while True:
        address = f"127.{random.randrange(1, 255)}.{random.randrange(1, 255)}.{random.randrange(2, 255)}"
        with socket.socket() as sock:
            if sock.connect_ex((address, 389)) != 0:
                return address
