"""Whether a pinned dependency has a known vulnerability: `pip-audit`, and what its answer means.

A vulnerability fails. A package that the service does not know, or a service that cannot be reached, is named and is no
failure: a machine without a network must be able to run the other checks.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, NamedTuple

# What pip-audit and its HTTP library say when the network is to blame.
NO_NETWORK = re.compile(r"requests\.exceptions\.|could not connect|connection|timed out", re.IGNORECASE)

PIP_AUDIT = Path(sysconfig.get_path("scripts")) / "pip-audit"


class Verdict(NamedTuple):
    vulnerable: list[str]
    unknown: list[str]
    audited: int
    unreachable: str = ""

    def __str__(self) -> str:
        if self.unreachable:
            return f"NOT AUDITED: the service that knows of vulnerabilities cannot be asked: {self.unreachable}"
        if not self.audited:
            return f"NOT AUDITED: the service that knows of vulnerabilities knows none of {len(self.unknown)} packages"
        lines = [f"{self.audited} packages audited, {len(self.vulnerable)} known vulnerabilities", *self.vulnerable]
        if self.unknown:
            lines.append(f"not known to the service: {', '.join(self.unknown)}")
        return "\n".join(lines)


def audit(requirements: list[Path], *options: str) -> Verdict:
    """Of files with hashes, so nothing is resolved or installed."""
    files = [word for path in requirements for word in ("--requirement", str(path))]
    how = ("--require-hashes", "--disable-pip", "--format", "json", "--progress-spinner", "off")
    done = subprocess.run([PIP_AUDIT, *files, *how, *options], capture_output=True, text=True, check=False)
    try:
        return judge(json.loads(done.stdout)["dependencies"])
    except json.JSONDecodeError:
        if not NO_NETWORK.search(done.stderr):
            raise RuntimeError(f"pip-audit ended with {done.returncode}:\n{done.stderr}") from None
        return Verdict([], [], 0, unreachable=done.stderr.strip().splitlines()[-1])


def judge(dependencies: list[dict[str, Any]]) -> Verdict:
    # Both files name what the service needs.
    by_name = {dependency["name"]: dependency for dependency in dependencies}
    known = [dependency for dependency in by_name.values() if "skip_reason" not in dependency]
    vulnerable = [
        f"{dependency['name']} {dependency['version']}: {found['id']}, fixed in {', '.join(found['fix_versions'])}"
        for dependency in known
        for found in dependency["vulns"]
    ]
    unknown = sorted(set(by_name) - {dependency["name"] for dependency in known})
    return Verdict(vulnerable, unknown, len(known))


if __name__ == "__main__":
    verdict = audit([Path(name) for name in sys.argv[1:]])
    print(verdict)
    sys.exit(bool(verdict.vulnerable))
