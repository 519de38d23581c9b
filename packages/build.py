"""Builds what would be published of the packages, the same bytes each time.

    python3 packages/build.py [--into dist] [--only node|go|spring]

- npm: `gatehouse-verify-VERSION.tgz`
- Go: `go/`, a module proxy in a folder, with the modules `verify` and `verify/ginguard`
- Maven: `gatehouse-spring-boot-starter-VERSION.jar`, with its `-sources.jar` and `.pom`

A package whose toolchain is not installed is left out, and a line says so.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGES = Path(__file__).parent
LICENSE = PACKAGES.parent / "LICENSE"
GO_MODULE = "gatehouse.example/verify"
GO_FILES = {".go", ".mod", ".sum", ".md"}
STARTER = "gatehouse-spring-boot-starter"
# In place of the time of the build, which would make each archive differ from the one before.
TIMESTAMP = "2026-01-01T00:00:00Z"
ZIP_TIME = (2026, 1, 1, 0, 0, 0)
TOOLS = {"node": ("node", "npm"), "go": (), "spring": ("java", "mvn")}


def main() -> None:
    parser = argparse.ArgumentParser(description="Build what would be published of the packages.")
    parser.add_argument("--into", type=Path, default=PACKAGES.parent / "dist")
    parser.add_argument("--only", action="append", choices=TOOLS)
    options = parser.parse_args()
    into = options.into.resolve()
    into.mkdir(parents=True, exist_ok=True)
    for name in options.only or TOOLS:
        missing = [tool for tool in TOOLS[name] if not shutil.which(tool)]
        if missing:
            say(f"packages/{name}: LEFT OUT, {' and '.join(missing)} not installed")
            continue
        for file in BUILDERS[name](into, version()):
            say(f"packages/{name}: {file.relative_to(into)}")


def version() -> str:
    """The one version of all packages."""
    given = str(json.loads((PACKAGES / "node" / "package.json").read_text())["version"])
    pom = (PACKAGES / "spring" / "pom.xml").read_text()
    if re.search(r"<version>(.*?)</version>", pom)[1] != given:  # type: ignore[index]
        sys.exit("packages/node/package.json and packages/spring/pom.xml have different versions")
    if f"{GO_MODULE} v{given}\n" not in (PACKAGES / "go" / "ginguard" / "go.mod").read_text():
        sys.exit(f"packages/go/ginguard/go.mod does not require {GO_MODULE} v{given}")
    return given


def build_node(into: Path, version: str) -> list[Path]:
    folder = PACKAGES / "node"
    shutil.rmtree(folder / "dist", ignore_errors=True)
    shutil.copy(LICENSE, folder)
    run(folder, "npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund")
    run(folder, "npm", "run", "build")
    run(folder, "npm", "pack", "--pack-destination", str(into))
    return [into / f"gatehouse-verify-{version}.tgz"]


def build_go(into: Path, version: str) -> list[Path]:
    """Without the toolchain: a published module is its sources."""
    folder = PACKAGES / "go"
    guard = folder / "ginguard"
    shutil.rmtree(into / "go", ignore_errors=True)
    return [
        module_zip(into / "go", GO_MODULE, version, folder),
        module_zip(into / "go", f"{GO_MODULE}/ginguard", version, guard),
    ]


def module_zip(proxy: Path, module: str, version: str, folder: Path) -> Path:
    """In the layout of a module proxy, so that `GOPROXY=file://` finds it."""
    place = proxy / module / "@v"
    place.mkdir(parents=True)
    (place / "list").write_text(f"v{version}\n")
    (place / f"v{version}.info").write_text(json.dumps({"Version": f"v{version}", "Time": TIMESTAMP}) + "\n")
    shutil.copyfile(folder / "go.mod", place / f"v{version}.mod")
    files = [file for file in sorted(folder.iterdir()) if file.suffix in GO_FILES]
    archive = place / f"v{version}.zip"
    with zipfile.ZipFile(archive, "w") as written:
        for file in [LICENSE, *files]:
            entry = zipfile.ZipInfo(f"{module}@v{version}/{file.name}", ZIP_TIME)
            entry.external_attr = 0o644 << 16
            written.writestr(entry, file.read_bytes())  # not compressed: versions of zlib differ
    return archive


def build_spring(into: Path, version: str) -> list[Path]:
    folder = PACKAGES / "spring"
    shutil.rmtree(folder / "target", ignore_errors=True)
    run(folder, "mvn", "--quiet", "--batch-mode", "package")
    built = [into / f"{STARTER}-{version}{ending}" for ending in (".jar", "-sources.jar")]
    for file in built:
        shutil.copyfile(folder / "target" / file.name, file)
    pom = into / f"{STARTER}-{version}.pom"
    shutil.copyfile(folder / "pom.xml", pom)
    return [*built, pom]


def run(folder: Path, *words: str) -> None:
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"packages/{folder.name}: {' '.join(words)} failed:\n{done.stdout}{done.stderr}")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


BUILDERS = {"node": build_node, "go": build_go, "spring": build_spring}

if __name__ == "__main__":
    main()
