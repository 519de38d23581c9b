"""One version everywhere: server, client library, packages of other languages, manifests and docs."""

from __future__ import annotations

from pathlib import Path

import pytest

from release.errors import Refused
from release.versions import ROOT, agreed_version, places, set_version


def test_every_file_of_this_tree_says_the_same_version() -> None:
    assert agreed_version() in (ROOT / "gatehouse/version.py").read_text()


def test_a_version_is_set_everywhere_and_one_that_differs_is_named(tmp_path: Path) -> None:
    for name in {place.file for place in places()}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    set_version("9.8.7", tmp_path)
    assert agreed_version(tmp_path) == "9.8.7"
    assert {place.version for place in places(tmp_path)} == {"9.8.7"}
    client = tmp_path / "packages/python/pyproject.toml"
    client.write_text(client.read_text().replace("9.8.7", "9.8.8"))
    with pytest.raises(Refused, match=r"says 9\.8\.7, but packages/python/pyproject\.toml says 9\.8\.8"):
        agreed_version(tmp_path)
    client.write_text(client.read_text().replace('version = "9.8.8"', ""))
    with pytest.raises(Refused, match=r"packages/python/pyproject\.toml says no version"):
        agreed_version(tmp_path)
