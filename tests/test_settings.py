"""Settings: what is refused together, which files are believed, and which variables are ignored."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gatehouse.settings import SettingsError, load


@pytest.mark.parametrize("issuer", ["https://login.example.com", "http://10.0.0.5:8000", "http://[2001:db8::1]"])
@pytest.mark.parametrize(("switch", "value"), [("captcha_test_answer", "abcd"), ("limits", "off")])
def test_test_switches_are_refused_behind_a_proxy_on_the_same_host(issuer: str, switch: str, value: str) -> None:
    with pytest.raises(SettingsError, match="is for tests"):
        load({switch: value, "issuer": issuer}, environ={})


@pytest.mark.parametrize(
    "issuer", ["", "http://localhost:8000", "http://x.localhost", "http://127.0.0.9", "http://[::1]"]
)
def test_test_switches_are_for_this_machine(issuer: str) -> None:
    assert load({"limits": "off", "issuer": issuer}, environ={}).limits is False


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gatehouse.toml").write_text("port = 9000\n")
    return tmp_path


def test_the_settings_file_of_the_current_folder_is_read(folder: Path) -> None:
    assert folder == Path.cwd()
    assert load(environ={}).port == 9000


def test_a_settings_file_that_anybody_can_write_is_refused_unless_it_is_named(folder: Path) -> None:
    file = folder / "gatehouse.toml"
    file.chmod(0o666)
    with pytest.raises(SettingsError, match="others can write it"):
        load(environ={})
    assert load(environ={}, config=file).port == 9000


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_settings_file_of_somebody_else_is_refused_also_by_root(folder: Path) -> None:
    os.chown(folder / "gatehouse.toml", 12345, 12345)
    with pytest.raises(SettingsError, match="others can write it"):
        load(environ={})


def test_a_variable_that_is_no_setting_is_ignored_and_known() -> None:
    given = {"GATEHOUSE_TRUSTED_PROXYS": "10.0.0.1", "GATEHOUSE_DB_SERVICE_HOST": "10.0.0.2", "GATEHOUSE_PORT": "9000"}
    settings = load(environ={**given, "GATEHOUSE_CONFIG": "", "PATH": "/bin"})
    assert settings.port == 9000
    assert settings.unknown_variables == {
        "GATEHOUSE_DB_SERVICE_HOST": "",
        "GATEHOUSE_TRUSTED_PROXYS": "GATEHOUSE_TRUSTED_PROXIES",
    }
