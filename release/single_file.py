"""The server and all it needs in one file that a bare Python starts: `python3 gatehouse-auth-….pyz serve`.

Some dependencies are compiled, so the file is for one version of Python on one platform, and its name says which.
"""

from __future__ import annotations

import platform
import shutil
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

from release.tools import run_tool

# Run by the archive before anything is imported from it.
CHECK = """import platform, sys
here = "Python {{0.major}}.{{0.minor}} on {{1}} {{2}}".format(sys.version_info, platform.system(), platform.machine())
if here != {built!r}:
    sys.exit("This archive is for {built}, and this is " + here + ".")
"""


def build(root: Path, wheel: Path, folder: Path) -> Path:
    version = wheel.name.split("-")[1]
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    target = folder / f"gatehouse-auth-{version}-{python}-{sysconfig.get_platform().replace('-', '_')}.pyz"
    with tempfile.TemporaryDirectory() as scratch:
        site = Path(scratch) / "site-packages"
        _install(root / "requirements" / "run.txt", site)
        with zipfile.ZipFile(wheel) as server:
            server.extractall(site)
        _leave_out_what_names_this_machine(site)
        check = Path(scratch) / "check_python.py"
        check.write_text(CHECK.format(built=_this_python()), encoding="utf-8")
        start = ("--python", "/usr/bin/env python3", "--preamble", check, "--entry-point", "gatehouse.cli:main")
        run_tool("shiv", "--site-packages", site, "--reproducible", *start, "--output-file", target)
    return target


def _this_python() -> str:
    return f"Python {sys.version_info.major}.{sys.version_info.minor} on {platform.system()} {platform.machine()}"


def _install(pins: Path, site: Path) -> None:
    where = ("--python", sys.executable, "--target", site)
    run_tool("uv", "pip", "install", *where, "--no-deps", "--require-hashes", "--requirements", pins)


def _leave_out_what_names_this_machine(site: Path) -> None:
    """Scripts begin with the path of their Python, and RECORD has their hashes."""
    for folder in ("bin", "include", "share", "docs", "examples"):
        shutil.rmtree(site / folder, ignore_errors=True)
    for record in site.glob("*.dist-info/RECORD"):
        record.unlink()
