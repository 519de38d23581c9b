"""Settings: what is refused together, which files are believed, and which variables are ignored."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from gatehouse.identity_sources.definitions import DirectoryConfig, Mapping, ProviderConfig
from gatehouse.identity_sources.environment import DefinedSource, read_sources
from gatehouse.identity_sources.field_texts import field_types
from gatehouse.settings import SettingsError, effective_settings, load


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


def read(**variables: str) -> tuple[list[DefinedSource], list[str]]:
    problems: list[str] = []
    environ = {f"GATEHOUSE_SOURCE_{name}": text for name, text in variables.items()}
    return list(read_sources(load(environ=environ).source_variables, problems)), problems


def test_variables_define_a_source_of_identity(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hush, hush\n")
    [source], problems = read(
        HEAD_OFFICE_KIND="directory",
        HEAD_OFFICE_URLS="ldaps://a.example.org, ldaps://b.example.org",
        HEAD_OFFICE_BASE="dc=example,dc=org",
        HEAD_OFFICE_SECRET_FILE=str(secret),
        HEAD_OFFICE_ROLES=r"CN=Admins,OU=a\;b,DC=example=ADMIN,OPS; clerks = CLERK ;",
        HEAD_OFFICE_DEFAULT_DEPARTMENT="3",
        HEAD_OFFICE_DEPARTMENT="ou",
        HEAD_OFFICE_DEPARTMENTS="Sales=4;R&D=5",
        HEAD_OFFICE_CREATE_USERS="off",
        HEAD_OFFICE_TIMEOUT="2.5",
        HEAD_OFFICE_TITLE="",
    )
    assert problems == []
    assert (source.name, source.kind, source.secret, source.title) == ("head-office", "directory", "hush, hush", "")
    assert source.config == DirectoryConfig(
        urls=("ldaps://a.example.org", "ldaps://b.example.org"),
        base="dc=example,dc=org",
        create_users=False,
        timeout=2.5,
        mapping=Mapping(
            department="ou",
            roles={r"CN=Admins,OU=a\;b,DC=example": ("ADMIN", "OPS"), "clerks": ("CLERK",)},
            departments={"Sales": 4, "R&D": 5},
            default_department=3,
        ),
    )
    assert source.variable("bind_dn") == "GATEHOUSE_SOURCE_HEAD_OFFICE_BIND_DN"


def test_a_variable_of_a_source_that_is_wrong_is_named_and_no_secret_is_shown(tmp_path: Path) -> None:
    sources, problems = read(
        CORP_KIND="directory",
        CORP_TIMEOUT="long",
        CORP_ROLES="ADMIN",
        CORP_COLOUR="red",
        CORP_ISSUER="https://sso.example.org",
        CORP_SECRET="hush, hush",
        CORP_SECRET_FILE=str(tmp_path / "none"),
        SSO_CLIENT_ID="gatehouse",
        SSO_KIND="saml",
    )
    assert sources == []
    wrong = {problem.partition(":")[0].removeprefix("GATEHOUSE_SOURCE_") for problem in problems}
    assert wrong == {"CORP_TIMEOUT", "CORP_ROLES", "CORP_COLOUR", "CORP_ISSUER", "CORP_SECRET_FILE", "SSO_KIND"}
    assert "hush" not in "".join(problems)


def test_variables_of_sources_are_not_taken_for_misspelled_settings() -> None:
    settings = load(environ={"GATEHOUSE_SOURCE_CORP_SECRET": "hush", "GATEHOUSE_SOURCES": "x"})
    assert settings.unknown_variables.keys() == {"GATEHOUSE_SOURCES"}
    assert "hush" not in repr(settings)
    assert "hush" not in repr(list(effective_settings(settings, "en")))


def test_every_field_of_a_source_is_documented() -> None:
    page = (Path(__file__).parents[1] / "docs/settings.md").read_text().partition("## Sources of identity")[2]
    fields = {name for config in (DirectoryConfig, ProviderConfig) for name in field_types(config)}
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE))
    assert documented == {name.upper() for name in fields} | {"KIND", "TITLE", "SORT", "SECRET", "SECRET_FILE"}
