"""How each adapter is built and started, as its README says."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.examples.programs import EXAMPLES, program, python
from tests.examples.shared_builds import build_step, built_once, built_package
from tests.support.running import free_port

JAVA = ("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-jar", "target/app.jar")
MAVEN = ("mvn", "--quiet", "--batch-mode", "clean", "package")
MAVEN_TOGETHER = ("mvn", "--quiet", "--batch-mode", "--file", "..", "clean", "package")

NPM_CI = ("npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund")

# Debian keeps nginx where only root looks.
SEARCH_PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin"


def missing_tools(needs: tuple[str, ...]) -> list[str]:
    return [tool for tool in needs if not shutil.which(tool, path=SEARCH_PATH)]


@dataclass(frozen=True)
class Adapter:
    name: str
    needs: tuple[str, ...]
    build: tuple[tuple[str, ...], ...]
    run: tuple[str, ...]
    package: str = ""  # what it uses of packages/, if that must be built before
    built_with: str = ""  # those that one build makes have the same

    @property
    def folder(self) -> Path:
        return EXAMPLES / self.name

    @property
    def missing(self) -> list[str]:
        return missing_tools(self.needs)

    def words(self, port: int) -> list[str]:
        return [word.replace("{port}", str(port)) for word in self.run]


ADAPTERS = (
    Adapter("fastapi", (), (), (sys.executable, "-m", "uvicorn", "app:app", "--port", "{port}")),
    Adapter("django", (), (), (sys.executable, "app.py", "runserver", "--noreload", "{port}")),
    Adapter("nginx", ("nginx",), (), ()),
    Adapter("node", ("node", "npm"), (NPM_CI,), ("node", "server.mjs"), "node"),
    Adapter("express", ("node", "npm"), (NPM_CI,), ("node", "server.mjs"), "node"),
    Adapter("nestjs", ("node", "npm"), (NPM_CI, ("npm", "run", "build")), ("node", "dist/main.js"), "node"),
    Adapter("gin", ("go",), (("go", "build", "-o", "target/app", "."),), ("target/app",)),
    Adapter("spring-boot", ("java", "mvn"), (MAVEN_TOGETHER,), JAVA, built_with="spring"),
    Adapter("youlai-boot", ("java", "mvn"), (MAVEN_TOGETHER,), JAVA, built_with="spring"),
)
BY_NAME = {adapter.name: adapter for adapter in ADAPTERS}


@cache
def build(adapter: Adapter) -> None:
    """An adapter is left out where its toolchain or its packages cannot be had; all else is a failure."""
    if adapter.missing:
        pytest.skip(" and ".join(f"{tool} is not installed" for tool in adapter.missing))
    if adapter.package:
        built_package(adapter.package)
    name = adapter.built_with or adapter.name
    with built_once(name, adapter.package or name) as needed:
        for words in adapter.build if needed else ():
            build_step(words, adapter.folder)


@contextmanager
def started(
    adapter: Adapter, gatehouse: str, service_key: str, logs: Path, token_type: str = "at+jwt", **more: str
) -> Iterator[str]:
    """The adapter, built if need be, in front of the Gatehouse at this URL. Yields its own URL."""
    build(adapter)
    port = free_port()
    env = {
        "GATEHOUSE_URL": gatehouse,
        "GATEHOUSE_SERVICE_KEY": service_key,
        "GATEHOUSE_TOKEN_TYPE": token_type,
        "PORT": str(port),
        **more,
    }
    start = nginx_and_sidecar if adapter.name == "nginx" else one_program
    with start(adapter, port, env, logs) as url:
        yield url


@contextmanager
def one_program(adapter: Adapter, port: int, env: dict[str, str], logs: Path) -> Iterator[str]:
    log = logs / f"{adapter.name}-{port}.log"
    with program(adapter.words(port), f"http://127.0.0.1:{port}", log, cwd=adapter.folder, env=env) as url:
        yield url


@contextmanager
def nginx_and_sidecar(adapter: Adapter, port: int, env: dict[str, str], logs: Path) -> Iterator[str]:
    """The example's own files, with other ports than 8000, 8001, 8002 and 8080."""
    sidecar, app = free_port(), free_port()
    home = logs / f"nginx-{port}"
    (home / "temp").mkdir(parents=True)
    home.chmod(0o755)
    shutil.copy(adapter.folder / "auth_request.conf", home)
    conf = (adapter.folder / "nginx.conf").read_text()
    gatehouse = int(env["GATEHOUSE_URL"].rpartition(":")[2])
    for given, ours in ((8000, gatehouse), (8001, sidecar), (8002, app), (8080, port)):
        assert f"127.0.0.1:{given}" in conf
        conf = conf.replace(f"127.0.0.1:{given}", f"127.0.0.1:{ours}")
    (home / "nginx.conf").write_text(conf)
    binary = str(shutil.which("nginx", path=SEARCH_PATH))
    beside = python("-m", "granian", "--interface", "asgi", "--port", str(sidecar), "sidecar:app")
    words = [binary, "-p", str(home), "-c", "nginx.conf", "-e", "stderr", "-g", "daemon off;"]
    sidecar_url, log = f"http://127.0.0.1:{sidecar}", home / "sidecar.log"
    with (
        program(beside, sidecar_url, log, cwd=adapter.folder, env=env),
        program(words, f"http://127.0.0.1:{port}", home / "nginx.log") as url,
    ):
        yield url
