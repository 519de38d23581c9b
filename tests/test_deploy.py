"""The files under deploy/, read as those for whom they are would read them. No engine runs here; see the docs."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from gatehouse.settings import described

DEPLOY = Path(__file__).parents[1] / "deploy"
TOOLS = Path(sysconfig.get_path("scripts"))
MANIFESTS = sorted(path for path in (DEPLOY / "kubernetes").glob("*.yaml") if path.name != "kustomization.yaml")


def ran(*words: str | Path) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_the_linter_has_nothing_to_say_about_the_dockerfile() -> None:
    assert ran(TOOLS / "hadolint", DEPLOY / "Dockerfile") == ""


def test_the_compose_file_follows_the_specification() -> None:
    assert ran(TOOLS / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml") == ""


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_kubernetes_knows_every_field(path: Path) -> None:
    for document in yaml.safe_load_all(path.read_text()):
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)


def test_every_manifest_is_applied() -> None:
    listed = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())["resources"]
    assert sorted(listed) == [path.name for path in MANIFESTS]


def test_pods_get_no_settings_from_services() -> None:
    """A Service named gatehouse would set GATEHOUSE_PORT to an address, and the service would refuse to start."""
    for name in ("deployment", "migrate"):
        manifest = yaml.safe_load((DEPLOY / "kubernetes" / f"{name}.yaml").read_text())
        assert manifest["spec"]["template"]["spec"]["enableServiceLinks"] is False


def test_every_setting_that_is_named_exists() -> None:
    known = {setting.variable for setting in described()}
    for path in DEPLOY.rglob("*"):
        if path.is_file():
            named = set(re.findall(r"\bGATEHOUSE_[A-Z_]+\b", path.read_text())) - {"GATEHOUSE_PORT"}
            assert named <= known, path


def test_nothing_secret_has_a_value() -> None:
    secret = yaml.safe_load((DEPLOY / "kubernetes" / "secret.yaml").read_text())
    assert set(secret["stringData"].values()) == {""}
    assert "GATEHOUSE_SECRET=\n" in (DEPLOY / "env.example").read_text()
