"""Applications of others that log people in with OpenID Connect, each in a process of its own on the loopback.

They are called `localhost`, the provider is called 127.0.0.1: to a browser these are two sites, as in real life.
Those that Gatehouse has a recipe for are configured with the text that it shows. Every page needs a login, shows the
name of the user, and has a link "Log out".
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import NamedTuple

import httpx
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm
from playwright.sync_api import Page

from tests.examples.adapters import JAVA, MAVEN, SEARCH_PATH
from tests.examples.shared_builds import build_step
from tests.support.engines import NotInstalled, Server

FOLDER = Path(__file__).parent


class Registration(NamedTuple):
    """What the provider says of it when it is registered."""

    issuer: str
    client_id: str
    secret: str
    text: str  # to paste


class Party(Server):
    """It has its address before it is registered, and is started afterwards."""

    recipe: str
    registration: Registration

    def __init__(self) -> None:
        super().__init__()
        self.url = f"http://localhost:{self.port}"

    def options(self) -> list[str]:
        """Of `gatehouse client add`."""
        return ["--for", self.recipe, "--url", self.url]

    def configure(self) -> None:
        """Writes what it reads at the start."""

    def settings(self) -> dict[str, str]:
        """Its environment, beside that of the tests."""
        return {}

    def launch(self) -> None:
        self.configure()
        settings = self.settings()
        os.environ.update(settings)
        try:
            super().launch()
        finally:
            for name in settings:
                del os.environ[name]

    def answers(self) -> bool:
        try:
            httpx.get(f"http://127.0.0.1:{self.port}/", timeout=10)
        except httpx.TransportError:
            return False
        return True

    def remove(self) -> None:
        self.stop()  # Apache's workers would outlive a parent that is killed
        super().remove()

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def open(self, page: Page) -> None:
        """As somebody who has no session there: the provider's page follows."""
        page.goto(self.url)

    def come_back(self, page: Page) -> None:
        """What is left to do between the provider's last page and the application."""

    def log_out(self, page: Page) -> None:
        page.get_by_role("link", name="Log out").click()


class NodeParty(Party):
    program: str
    callback: str
    scope = "openid profile email"

    def __init__(self) -> None:
        if not shutil.which("node") or not (FOLDER / "node/node_modules/.package-lock.json").exists():
            raise NotInstalled(f"{self.program} is not installed; with npm on the PATH `make test-all` installs it")
        super().__init__()

    def options(self) -> list[str]:
        return [
            "--redirect-uri", f"{self.url}{self.callback}", "--post-logout-uri", f"{self.url}/",
            "--backchannel-uri", f"{self.url}/backchannel-logout",
        ]  # fmt: skip

    def command(self) -> list[str]:
        return ["node", str(FOLDER / "node" / f"{self.program}.mjs")]

    def settings(self) -> dict[str, str]:
        issuer, client_id, secret, _ = self.registration
        told = {"issuer": issuer, "url": self.url, "clientId": client_id, "scope": self.scope, **self.proof(secret)}
        return {"PARTY": json.dumps(told)}

    def proof(self, secret: str) -> dict[str, object]:
        return {"clientSecret": secret}


class OpenidClient(NodeParty):
    """PKCE and a nonce, the secret in the form, userinfo, refresh tokens."""

    program = "openid-client"
    callback = "/callback"
    scope = "openid profile email offline_access"


class StrictOpenidClient(OpenidClient):
    """A key of its own instead of a secret, pushed requests, the answer as a form, ES256."""

    def __init__(self) -> None:
        super().__init__()
        key = ec.generate_private_key(ec.SECP256R1())
        self._key = ECAlgorithm.to_jwk(key, as_dict=True) | {"kid": "one"}
        self._public = ECAlgorithm.to_jwk(key.public_key(), as_dict=True) | {"kid": "one"}

    def options(self) -> list[str]:
        file = self.folder / "jwks.json"
        file.write_text(json.dumps({"keys": [self._public]}))
        own = ["--auth", "private_key_jwt", "--jwks-file", str(file), "--id-token-alg", "ES256", "--pkce", "required"]
        return [*super().options(), *own]

    def proof(self, secret: str) -> dict[str, object]:
        return {"key": self._key}

    def come_back(self, page: Page) -> None:
        page.get_by_role("button", name="Continue").click()  # with scripts the form goes off by itself


class OidcClientTs(NodeParty):
    """A page that calls the provider from the browser, without a secret and without a server of its own."""

    program = "oidc-client-ts"
    scope = "openid profile offline_access"

    def options(self) -> list[str]:
        return ["--auth", "none", "--redirect-uri", f"{self.url}/", "--post-logout-uri", f"{self.url}/"]


class NextAuth(NodeParty):
    """PKCE, the secret by HTTP Basic, the profile from the ID token: it never asks userinfo."""

    program = "next-auth"
    callback = "/api/auth/callback/gatehouse"

    def options(self) -> list[str]:
        return [*super().options(), "--claims-in-id-token"]

    def open(self, page: Page) -> None:
        super().open(page)
        page.get_by_role("button", name="Sign in with Gatehouse").click()


class SpringSecurity(Party):
    recipe = "spring"

    def __init__(self) -> None:
        if not shutil.which("java") or not shutil.which("mvn"):
            raise NotInstalled("Spring Security needs Java 17 and Maven (apt install openjdk-17-jdk-headless maven)")
        build_step(MAVEN, FOLDER / "spring")
        super().__init__()

    def configure(self) -> None:
        yaml, _, _ = self.registration.text.partition("\n// ")
        (self.folder / "application.yml").write_text(yaml)  # Spring looks for it where it is started

    def command(self) -> list[str]:
        words = [*JAVA[:-1], str(FOLDER / "spring" / JAVA[-1])]
        return [*words, "--server.address=127.0.0.1", f"--server.port={self.port}"]

    def log_out(self, page: Page) -> None:
        super().log_out(page)
        page.get_by_role("button", name="Log Out").click()  # Spring's own question


class ApacheModule(Party):
    """mod_auth_openidc as Debian has it, in front of a page that Apache fills in."""

    recipe = "apache"
    modules = ("mpm_event", "authn_core", "authz_core", "authz_user", "dir", "include", "mime", "auth_openidc")

    def __init__(self) -> None:
        program = shutil.which("apache2", path=SEARCH_PATH)
        self._modules = Path("/usr/lib/apache2/modules")
        if not program or not (self._modules / "mod_auth_openidc.so").exists():
            raise NotInstalled("no Apache with mod_auth_openidc (apt install apache2-bin libapache2-mod-auth-openidc)")
        self._program = program
        super().__init__()

    def command(self) -> list[str]:
        return [self._program, "-DFOREGROUND", "-d", str(self.folder), "-f", "apache.conf"]

    def configure(self) -> None:
        text = self.registration.text
        log_out = text.partition("# Log out: ")[2].strip()
        pages = self.folder / "pages"
        pages.mkdir(exist_ok=True)
        (pages / "index.shtml").write_text(
            f'<h1 id="user"><!--#echo var="REMOTE_USER" --></h1><a href="{log_out}">Log out</a>'
        )
        loaded = (f"LoadModule {name}_module {self._modules}/mod_{name}.so" for name in self.modules)
        own = f"""
ServerName localhost
Listen 127.0.0.1:{self.port}
PidFile {self.folder}/pid
ErrorLog /dev/stderr
LogLevel auth_openidc:info
DocumentRoot {pages}
DirectoryIndex index.shtml
TypesConfig /dev/null
AddType text/html .shtml
AddOutputFilter INCLUDES .shtml
<Directory {pages}>
  Options +Includes
</Directory>
"""
        (self.folder / "apache.conf").write_text("\n".join(loaded) + own + text)
        self.folder.chmod(0o755)  # its workers are not root
