"""Each file of a release, in an empty folder or environment: it is installed, started and used."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gatehouse.version import __version__
from release import checksums, distributions
from release import git as repository
from release.__main__ import build_python
from release.versions import ROOT
from tests.support.conversation import ME, bearer, login
from tests.support.running import ANSWER, PASSWORD, Running

pytestmark = pytest.mark.full

UV = Path(sys.executable).parent / "uv"
PINS = ROOT / "requirements" / "dev.txt"  # what the server and the client need in versions that were tested


def run(*words: str | Path, **options: object) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What `make release` builds in Python, once."""
    folder = tmp_path_factory.mktemp("dist")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", repository.commit_time(ROOT))
        build_python(__version__, folder)
        checksums.write(folder)
        yield folder


class Environment:
    """A virtual environment with what is installed into it and nothing else."""

    def __init__(self, folder: Path) -> None:
        run(UV, "venv", "--quiet", "--python", sys.executable, folder)
        self.bin = folder / "bin"

    def install(self, what: str) -> None:
        run(UV, "pip", "install", "--quiet", "--python", self.bin / "python", "-c", PINS, what)

    def packages(self) -> set[str]:
        listed = run(UV, "pip", "list", "--quiet", "--python", self.bin / "python", "--format", "json")
        return {package["name"] for package in json.loads(listed)}

    def python(self, program: str, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
        command = [str(self.bin / "python"), "-c", program, *words]
        return subprocess.run(command, cwd=folder, env=bare(), capture_output=True, text=True, check=False)


def bare(env: dict[str, str] | None = None) -> dict[str, str]:
    """Without what would lead a Python to the packages of this one."""
    unwanted = {"PYTHONPATH", "VIRTUAL_ENV", "SOURCE_DATE_EPOCH"}
    return {name: value for name, value in (os.environ if env is None else env).items() if name not in unwanted}


def wheel(artifacts: Path, name: str, extras: str = "") -> str:
    [path] = artifacts.glob(f"gatehouse_{name}-*.whl")
    return f"{path}{extras}"


@pytest.fixture(scope="module")
def server(artifacts: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    environment = Environment(tmp_path_factory.mktemp("server") / "env")
    environment.install(wheel(artifacts, "auth", "[postgres,redis]"))
    return environment


def started(folder: Path, *command: str | Path) -> Running:
    service = Running(folder / "data")
    service.command = [*map(str, command), "serve"]
    service.env = bare(service.env)
    service.folder = folder
    return service


@pytest.fixture(scope="module")
def served(server: Environment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with started(tmp_path_factory.mktemp("served"), server.bin / "gatehouse") as service:
        yield service


def test_the_server_serves_from_an_empty_folder(server: Environment, served: Running) -> None:
    """Fonts, pages, migrations, scripts and the list of passwords all come from the wheel."""
    with served.client() as client:
        assert client.get(ME, headers=bearer(login(client))).status_code == 200
        assert "<form" in client.get("/").text
        assert client.get("/docs").status_code == 200
    refused = subprocess.run(
        [server.bin / "gatehouse", "user", "password", "admin", "--password-stdin"],
        input="password1\n", env=served.env, cwd=served.folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (refused.returncode, "commonest" in refused.stderr) == (2, True)
    assert __version__ in run(server.bin / "gatehouse", "--version")


def test_nothing_else_is_in_the_server(server: Environment) -> None:
    assert not {"gatehouse-client", "hatchling", "httpx", "pytest"} & server.packages()
    [site] = (server.bin.parent / "lib").glob("python*/site-packages")
    assert not {"tests", "benchmarks", "packages", "release"} & {path.name for path in site.iterdir()}
    assert not {"client", "verify"} & {path.name for path in (site / "gatehouse").iterdir()}


VERIFY = """
import sys
from gatehouse.verify import TokenInvalid, Verifier
url, token = sys.argv[1:]
verifier = Verifier(f"{url}/.well-known/jwks.json", issuer=url)
print(*verifier.check(token).roles)
try:
    verifier.check(token[:-4] + "AAAA")
except TokenInvalid:
    print("refused")
"""
CLIENT = """
import sys
from gatehouse.client import Client
url, password, answer = sys.argv[1:]
with Client(url) as client:
    client.login("admin", password, client.captcha(), answer=answer)
    print(client.me().username)
"""


def test_the_client_library_alone_verifies_tokens_and_logs_in(artifacts: Path, served: Running, tmp_path: Path) -> None:
    environment = Environment(tmp_path / "env")
    environment.install(wheel(artifacts, "client"))
    assert environment.packages() <= {
        "gatehouse-client",
        "pyjwt",
        "cryptography",
        "cffi",
        "pycparser",
        "typing-extensions",
    }
    with served.client() as client:
        token = login(client)["accessToken"]
    verified = environment.python(VERIFY, served.url, token, folder=tmp_path)
    assert verified.stdout.split() == ["ADMIN", "refused"], verified.stderr
    without_httpx = environment.python(CLIENT, served.url, PASSWORD, ANSWER, folder=tmp_path)
    assert "gatehouse.client needs httpx: install gatehouse-client[httpx]" in without_httpx.stderr
    environment.install(wheel(artifacts, "client", "[httpx]"))
    logged_in = environment.python(CLIENT, served.url, PASSWORD, ANSWER, folder=tmp_path)
    assert logged_in.stdout == "admin\n", logged_in.stderr


@pytest.mark.parametrize("order", [("auth", "client"), ("client", "auth")])
def test_both_are_installed_side_by_side_and_one_stays_without_the_other(
    artifacts: Path, tmp_path: Path, order: tuple[str, str]
) -> None:
    environment = Environment(tmp_path / "env")
    for name in order:
        environment.install(wheel(artifacts, name))
    both = environment.python("import gatehouse.cli, gatehouse.verify", folder=tmp_path)
    assert both.returncode == 0, both.stderr
    first, last = order
    run(UV, "pip", "uninstall", "--quiet", "--python", environment.bin / "python", f"gatehouse-{last}")
    stays = environment.python(f"import gatehouse.{'cli' if first == 'auth' else 'verify'}", folder=tmp_path)
    assert stays.returncode == 0, stays.stderr


def test_the_single_file_runs_on_a_bare_python(artifacts: Path, tmp_path: Path) -> None:
    [archive] = artifacts.glob("*.pyz")
    assert f"-{__version__}-cp{sys.version_info.major}{sys.version_info.minor}-" in archive.name
    service = started(tmp_path, str(vars(sys)["_base_executable"]), archive)
    service.env |= {"HOME": str(tmp_path), "SHIV_ROOT": str(tmp_path / "unpacked")}
    with service, service.client() as client:
        assert client.get(ME, headers=bearer(login(client))).status_code == 200
    assert f"Gatehouse {__version__}" in service.output()


def test_the_single_file_says_which_python_it_is_for(artifacts: Path) -> None:
    [archive] = artifacts.glob("*.pyz")
    check = zipfile.ZipFile(archive).read("site-packages/bin/check_python.py").decode()
    assert run(sys.executable, "-c", check) == ""
    other = check.replace(f"Python {sys.version_info.major}.", "Python 9.")
    done = subprocess.run([sys.executable, "-c", other], capture_output=True, text=True, check=False)
    assert (done.returncode, "This archive is for Python 9." in done.stderr) == (1, True)


def test_a_second_build_is_the_same_bytes(artifacts: Path, tmp_path: Path) -> None:
    distributions.build(ROOT, tmp_path)
    again = checksums.sums(tmp_path)
    assert len(again) == 4
    assert again.items() <= checksums.sums(artifacts).items()


@pytest.mark.parametrize("name", ["auth", "client"])
def test_the_sdist_builds_the_wheel(artifacts: Path, tmp_path: Path, name: str) -> None:
    [sdist] = artifacts.glob(f"gatehouse_{name}-*.tar.gz")
    with tarfile.open(sdist) as archive:
        safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # not in 3.11.2
        archive.extractall(tmp_path, **safely)
    [source] = tmp_path.iterdir()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=source)
    [built] = tmp_path.glob("*.whl")
    assert built.read_bytes() == (artifacts / built.name).read_bytes()


def test_the_list_of_components_has_every_pin_with_its_hashes(artifacts: Path) -> None:
    [path] = artifacts.glob("*.cdx.json")
    bill = json.loads(path.read_text())
    assert bill["bomFormat"] == "CycloneDX"
    assert (bill["metadata"]["component"]["name"], bill["metadata"]["component"]["version"]) == (
        "gatehouse-auth",
        __version__,
    )
    pinned = re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / "requirements/run.txt").read_text(), re.MULTILINE)
    assert {(component["name"], component["version"]) for component in bill["components"]} == set(pinned)
    assert all(component["externalReferences"][0]["hashes"] for component in bill["components"])


def test_the_checksums_are_those_of_the_files(artifacts: Path) -> None:
    checked = run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=artifacts)
    assert len(checked.splitlines()) == len(list(artifacts.iterdir())) - 1
