"""What would be published of `packages/`, installed in an empty folder as its README says, and tried with the table."""

from __future__ import annotations

import filecmp
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.examples.adapters import BY_NAME, JAVA, MAVEN, build, missing_tools
from tests.examples.issuer import assert_answers_of_the_table, running_issuer
from tests.examples.programs import program
from tests.examples.shared_builds import PACKAGES, build_step, built_package, exclusive
from tests.support.running import free_port
from tests.test_docs import shell_blocks

pytestmark = pytest.mark.full

VERSION = json.loads((PACKAGES / "node" / "package.json").read_text())["version"]
STARTER = f"gatehouse-spring-boot-starter-{VERSION}.jar"
NEEDS = {"node": ("node", "npm"), "go": ("go",), "spring": ("java", "mvn")}
BUILD = {"node": (), "go": ("go", "build", "-o", "app", "."), "spring": MAVEN}
RUN = {"node": ("node", "server.mjs"), "go": ("./app",), "spring": (*JAVA[:-1], "target/billing-1.jar")}


@pytest.fixture(scope="module", params=NEEDS)
def package(request: pytest.FixtureRequest) -> str:
    missing = missing_tools(NEEDS[request.param])
    if missing:
        pytest.skip(" and ".join(f"{tool} is not installed" for tool in missing))
    return str(request.param)


def files_of_readme(package: str) -> dict[str, str]:
    """Each block of code that has the name of a file before it."""
    readme = (PACKAGES / package / "README.md").read_text(encoding="utf-8")
    return dict(re.findall(r"`([\w./]+)`:\n\n```\w+\n(.*?)```", readme, re.DOTALL))


def own_go_cache(folder: Path) -> dict[str, str]:
    """Go never fetches a version twice, so a test needs a cache of its own; other modules come from the usual one."""
    given = subprocess.run(["go", "env", "GOMODCACHE", "GOPROXY"], capture_output=True, text=True, check=True).stdout
    usual, proxy = given.split()
    return {
        "GOMODCACHE": str(folder / "modules"),
        "GOPROXY": f"file://{usual}/cache/download,{proxy}",
        "GOFLAGS": f"{os.environ.get('GOFLAGS', '')} -modcacherw".strip(),
    }


def test_a_stranger_follows_the_readme(package: str, tmp_path: Path) -> None:
    dist = built_package(package)
    service = tmp_path / "service"
    env = {**os.environ, **(own_go_cache(tmp_path) if package == "go" else {})}
    for name, content in files_of_readme(package).items():
        (service / name).parent.mkdir(parents=True, exist_ok=True)
        (service / name).write_text(content, encoding="utf-8")
    install = shell_blocks(PACKAGES / package / "README.md")[0].replace("/path/to/dist", str(dist))
    with exclusive(package):
        build_step(("bash", "-euc", install), service, env)
        if BUILD[package]:
            build_step(BUILD[package], service, env)
    if package == "spring":
        installed = starter_in(service / "target" / "billing-1.jar")
        assert installed == (dist / STARTER).read_bytes(), "another checkout has installed its own"
    if package == "go":
        modules = build_step(("go", "list", "-m", "all"), service, env)
        assert "gin-gonic" not in modules, "gin is for those who use it"

    port = free_port()
    with running_issuer(tmp_path) as issuer:
        settings = {"GATEHOUSE_URL": issuer.url, "GATEHOUSE_SERVICE_KEY": "ghs_any"}
        ports = {"PORT": str(port), "SERVER_PORT": str(port)}
        url, log = f"http://127.0.0.1:{port}", tmp_path / "service.log"
        with program([*RUN[package]], url, log, cwd=service, env={**env, **settings, **ports}):
            assert_answers_of_the_table(issuer, url)


def starter_in(application: Path) -> bytes:
    with zipfile.ZipFile(application) as jar:
        return jar.read(f"BOOT-INF/lib/{STARTER}")


def test_two_builds_of_the_starter_give_the_same_bytes() -> None:
    """The example has a build of its own."""
    example = BY_NAME["spring-boot"]
    build(example)
    assert starter_in(example.folder / "target" / "app.jar") == (built_package("spring") / STARTER).read_bytes()


@pytest.mark.parametrize("package", ["node", "go"], indirect=True)
def test_two_builds_give_the_same_bytes(package: str, tmp_path: Path) -> None:
    first, second = built_package(package), tmp_path / "dist"
    copy = tmp_path / "elsewhere" / "packages"
    shutil.copytree(PACKAGES, copy, ignore=shutil.ignore_patterns("node_modules", "target", "dist", "LICENSE"))
    shutil.copy(PACKAGES.parent / "LICENSE", copy.parent)
    with exclusive(package):
        build_step((sys.executable, "build.py", "--only", package, "--into", str(second)), copy)
    built = [file.relative_to(second) for file in second.rglob("*") if file.is_file()]
    assert len(built) == {"node": 1, "go": 8}[package]
    for file in built:
        assert filecmp.cmp(first / file, second / file, shallow=False), file
