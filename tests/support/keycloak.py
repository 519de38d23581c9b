"""Keycloak as a provider: installed once into a folder of the user's cache, one server for a test run.

The distribution comes from Maven Central by `mvn`, and its checksum is compared. Tests that use the fixture `keycloak`
stand in files with `keycloak` in their names: one process runs all of these, so they may stop and start it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
import shutil
import subprocess
import tarfile
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from tests.support.engines import NotInstalled, Server
from tests.support.html_forms import follow, submit
from tests.support.waiting import wait_until

VERSION = "26.7.3"
ARTIFACT = f"org.keycloak:keycloak-quarkus-dist:{VERSION}:tar.gz"
SHA256 = "77657f30b7e90d70f727712ce1c967f430fd6a5e9f458d32d8c6df0635345f47"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
MINUTES_TO_DOWNLOAD = 10
REALM = "company"
ADMIN, ADMIN_PASSWORD = "admin", "of servers on the loopback alone"
RECIPE = 1  # raise it when what `_prepare` does has changed
DATABASE = "database.mv.db"
JAVA = ("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m")


class Client(NamedTuple):
    id: str
    secret: str


def installed() -> Path:
    """The folder of the distribution, which the first call on a machine downloads and prepares, for a minute or two."""
    _check_java()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gatehouse-tests"
    cache.mkdir(parents=True, exist_ok=True)
    home = cache / f"keycloak-{VERSION}-{RECIPE}"
    with (cache / "keycloak.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            with tempfile.TemporaryDirectory(dir=cache) as folder:
                prepared = _prepare(Path(folder))
                prepared.rename(home)
    return home


def _check_java() -> None:
    if not shutil.which("java") or not shutil.which("mvn"):
        raise NotInstalled("Keycloak needs Java 17 and Maven (apt install openjdk-17-jre-headless maven)")
    said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr
    version = re.search(r'version "(\d+)', said)
    if version is None or int(version[1]) < 17:
        raise NotInstalled("Keycloak needs Java 17 or newer")


def _prepare(folder: Path) -> Path:
    words = ["mvn", "--quiet", "--batch-mode", COPY, f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={folder}"]
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=60 * MINUTES_TO_DOWNLOAD, check=False
    )
    archive = folder / f"keycloak-quarkus-dist-{VERSION}.tar.gz"
    if done.returncode or not archive.exists():
        raise NotInstalled(f"Maven cannot download Keycloak {VERSION}")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert digest == SHA256, f"{archive.name} has another checksum: {digest}"
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    home = folder / f"keycloak-{VERSION}"
    # What the options of a build decide is decided once; every start is shorter then.
    subprocess.run([*_java(home), "build", "--db=dev-file", "--cache=local"], check=True, capture_output=True)
    # So is the schema of its database, which takes as long as the rest of a start.
    first = KeycloakServer(home)
    try:
        first.start()
        first.create_realm()
        first.stop()
        shutil.copy(first.folder / DATABASE, home)
    finally:
        first.remove()
    return home


def _java(home: Path) -> list[str]:
    """What its own kc.sh starts, without the shell, so that a signal reaches the server."""
    entry = ["-cp", str(home / "lib/quarkus-run.jar"), "io.quarkus.bootstrap.runner.QuarkusEntryPoint"]
    return [*JAVA, f"-Dkc.home.dir={home}", *entry]


class KeycloakServer(Server):
    """With a realm of its own. What it is told survives `stop` and `start`."""

    def __init__(self, home: Path | None = None) -> None:
        self._home = home or installed()
        super().__init__()
        if (self._home / DATABASE).exists():
            shutil.copy(self._home / DATABASE, self.folder)
        self.url = f"http://127.0.0.1:{self.port}"
        self.issuer = f"{self.url}/realms/{REALM}"
        self._token, self._token_ends = "", 0.0
        self._api = httpx.Client(timeout=60)

    def command(self) -> list[str]:
        return [
            *_java(self._home), "start", "--optimized", "--http-enabled=true", "--http-host=127.0.0.1",
            f"--http-port={self.port}", "--hostname-strict=false",
            f"--db-url=jdbc:h2:file:{self.folder}/database;NON_KEYWORDS=VALUE",
        ]  # fmt: skip

    def launch(self) -> None:
        names = {"KC_BOOTSTRAP_ADMIN_USERNAME": ADMIN, "KC_BOOTSTRAP_ADMIN_PASSWORD": ADMIN_PASSWORD}
        os.environ.update(names)
        try:
            super().launch()
        finally:
            for name in names:
                del os.environ[name]

    def start(self) -> None:
        """With twice the usual patience: the first start on a machine makes the schema, on a busy one for minutes."""
        self.launch()
        with suppress(AssertionError):
            wait_until(self._has_started)
        wait_until(self._has_started, lambda: f"Keycloak starts:\n{(self.folder / 'log').read_text()}")

    def answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/realms/master", timeout=10).is_success
        except httpx.TransportError:
            return False

    def remove(self) -> None:
        self._api.close()
        super().remove()

    def create_realm(self) -> None:
        self.admin("POST", "", {"realm": REALM, "enabled": True, "sslRequired": "none"}, realm="")

    def create_client(
        self, redirect_uris: list[str], *, after_logout: str = "", backchannel_url: str = "", public: bool = False
    ) -> Client:
        """Its ID tokens have `groups` and `realm_access.roles`."""
        client = Client(f"client-{secrets.token_hex(4)}", "" if public else secrets.token_urlsafe())
        attributes = {
            "post.logout.redirect.uris": after_logout,
            "backchannel.logout.url": backchannel_url,
            "backchannel.logout.session.required": "true",
        }
        self.admin(
            "POST",
            "/clients",
            {
                "clientId": client.id,
                "secret": client.secret,
                "publicClient": public,
                "redirectUris": redirect_uris,
                "attributes": {name: value for name, value in attributes.items() if value},
                "protocolMappers": [
                    _mapper("groups", "oidc-group-membership-mapper", **{"full.path": "false"}),
                    _mapper("realm_access.roles", "oidc-usermodel-realm-role-mapper", multivalued="true"),
                ],
            },
        )
        return client

    def create_user(
        self, name: str, password: str, *, groups: tuple[str, ...] = (), roles: tuple[str, ...] = ()
    ) -> str:
        """Returns the id, which is the `sub` of the tokens."""
        for group in groups:
            self.admin("POST", "/groups", {"name": group}, allowed=409)
        for role in roles:
            self.admin("POST", "/roles", {"name": role}, allowed=409)
        self.admin(
            "POST",
            "/users",
            {
                "username": name,
                "enabled": True,
                "email": f"{name}@example.org",
                "emailVerified": True,
                "firstName": name.capitalize(),
                "lastName": "Person",
                "groups": list(groups),
                "credentials": [{"type": "password", "value": password}],
            },
        )
        user = str(self.admin("GET", f"/users?username={name}&exact=true")[0]["id"])
        found = [self.admin("GET", f"/roles/{role}") for role in roles]
        self.admin("POST", f"/users/{user}/role-mappings/realm", found)
        return user

    def change_user(self, user: str, **values: Any) -> None:
        self.admin("PUT", f"/users/{user}", values)

    def leave_group(self, user: str, group: str) -> None:
        [found] = [each for each in self.admin("GET", f"/users/{user}/groups") if each["name"] == group]
        self.admin("DELETE", f"/users/{user}/groups/{found['id']}")

    def log_out_user(self, user: str) -> None:
        """As an administrator does: it ends every session, and tells the clients that have a back-channel address."""
        self.admin("POST", f"/users/{user}/logout")

    def rotate_keys(self) -> None:
        """A new key signs from now on; the old ones still verify."""
        realm = self.admin("GET", "")
        self.admin(
            "POST",
            "/components",
            {
                "name": f"key-{secrets.token_hex(4)}",
                "providerId": "rsa-generated",
                "providerType": "org.keycloak.keys.KeyProvider",
                "parentId": realm["id"],
                "config": {"priority": [str(int(time.time()))], "algorithm": ["RS256"]},
            },
        )

    def log_in(self, browser: httpx.Client, url: str, callback: str, name: str, password: str) -> str:
        """Through its form, as a person does; returns where the browser is sent. Wrong passwords fail the test."""
        page = follow(browser, browser.get(url), callback)
        if not page.is_redirect:
            page = follow(browser, submit(browser, page, username=name, password=password), callback)
        assert page.is_redirect, page.text
        return str(page.headers["location"])

    def log_out(self, browser: httpx.Client, url: str, callback: str) -> str:
        """The way of our logout; with an ID token it asks no question."""
        answer = follow(browser, browser.get(url), callback)
        assert answer.is_redirect, answer.text
        return str(answer.headers["location"])

    def admin(self, method: str, path: str, body: Any = None, *, realm: str = f"/{REALM}", allowed: int = 0) -> Any:
        headers = {"Authorization": f"Bearer {self._admin_token()}"}
        answer = self._api.request(method, f"{self.url}/admin/realms{realm}{path}", json=body, headers=headers)
        assert answer.is_success or answer.status_code == allowed, f"{method} {path}: {answer.text}"
        return answer.json() if answer.content else None

    def _admin_token(self) -> str:
        if time.monotonic() > self._token_ends:
            form = {"grant_type": "password", "client_id": "admin-cli", "username": ADMIN, "password": ADMIN_PASSWORD}
            answer = self._api.post(f"{self.url}/realms/master/protocol/openid-connect/token", data=form)
            self._token, self._token_ends = answer.json()["access_token"], time.monotonic() + 30
        return self._token


def _mapper(claim: str, kind: str, **config: str) -> dict[str, Any]:
    return {
        "name": claim,
        "protocol": "openid-connect",
        "protocolMapper": kind,
        "config": {"claim.name": claim, "id.token.claim": "true", "userinfo.token.claim": "true", **config},
    }
