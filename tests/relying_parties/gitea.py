"""Gitea, a whole application that people know, built once from the Go proxy into a folder of the user's cache.

A build keeps two cores busy for five minutes, so no test begins one: `make gitea` does. Its scripts and style sheets
are not in what the proxy has; every page that is needed here works without them.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

from playwright.sync_api import Page

from tests.relying_parties.parties import Party
from tests.support.engines import NotInstalled

VERSION = "v1.26.0"
MODULE = "code.gitea.io/gitea"


def home() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gatehouse-tests"
    return cache / f"gitea-{VERSION}"


def build() -> None:
    """The program, and what it reads at run time beside it. Go compares the checksums."""
    if home().exists():
        return
    unfinished = home().with_name(f"{home().name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    download = ["go", "mod", "download", "-json", f"{MODULE}@{VERSION}"]
    told = subprocess.run(download, check=True, stdout=subprocess.PIPE, cwd="/")
    source = Path(json.loads(told.stdout)["Dir"])
    for folder in ("options", "public", "templates"):
        shutil.copytree(source / folder, unfinished / folder, copy_function=shutil.copyfile)
    words = ["go", "build", "-tags", "sqlite sqlite_unlock_notify", "-ldflags=-s -w", "-o", str(unfinished / "gitea")]
    subprocess.run([*words, "."], check=True, cwd=source)
    unfinished.rename(home())


class Gitea(Party):
    """Without PKCE and without a nonce. It hears of no logout at the provider: back-channel logout is not in it."""

    recipe = "gitea"

    def __init__(self) -> None:
        if not (home() / "gitea").exists():
            raise NotInstalled("Gitea is not built; with Go on the PATH `make gitea` builds it")
        super().__init__()

    def configure(self) -> None:
        ini, _, shell = self.registration.text.partition("# in a shell")
        (self.folder / "app.ini").write_text(
            f"""
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {self.port}
ROOT_URL = {self.url}/
STATIC_ROOT_PATH = {home()}
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
[security]
INSTALL_LOCK = true
[log]
LEVEL = warn
MODE = console
{ini}"""
        )
        self._run("migrate")
        _, _, pasted = shell.partition("\n")
        program, *words = shlex.split(pasted.replace("\\\n", ""))
        assert program == "gitea"
        self._run(*words)

    def _words(self, *words: str) -> list[str]:
        here = ["--config", str(self.folder / "app.ini"), "--work-path", str(self.folder)]
        return [str(home() / "gitea"), *here, *words]

    def _run(self, *words: str) -> None:
        done = subprocess.run(self._words(*words), capture_output=True, text=True, cwd=self.folder, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def command(self) -> list[str]:
        return self._words("web")

    def open(self, page: Page) -> None:
        page.goto(f"{self.url}/user/login")
        page.get_by_role("link", name="Sign in with gatehouse").click()

    def log_out(self, page: Page) -> None:
        page.goto(f"{self.url}/user/logout")  # the menu that has the link opens by script


if __name__ == "__main__":
    build()
