"""The files under deploy/, read as those for whom they are would read them. No engine runs here; see the docs."""

from __future__ import annotations

import os
import re
import shutil
import ssl
import subprocess
import sysconfig
from pathlib import Path

import httpx
import kubernetes_validate
import pytest
import yaml

from gatehouse.common.parsing import networks
from gatehouse.settings import descriptions
from tests.support.conversation import login
from tests.support.running import TLS, Running, free_port
from tests.support.waiting import PATIENCE, wait_until

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
    known = {setting.variable for setting in descriptions()}
    for path in DEPLOY.rglob("*"):
        if path.is_file():
            named = set(re.findall(r"\bGATEHOUSE_[A-Z_]+\b", path.read_text())) - {"GATEHOUSE_PORT"}
            assert named <= known, path


def test_nothing_secret_has_a_value() -> None:
    secret = yaml.safe_load((DEPLOY / "kubernetes" / "secret.yaml").read_text())
    assert set(secret["stringData"].values()) == {""}
    assert "GATEHOUSE_SECRET=\n" in (DEPLOY / "env.example").read_text()


@pytest.fixture
def nginx() -> str:
    # Debian keeps it where only root looks.
    found = shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.skip("nginx is not installed")
    return found


def answers(client: httpx.Client) -> bool:
    try:
        client.get("/")
    except httpx.TransportError:
        return False
    return True


@pytest.mark.full
def test_the_site_of_nginx_ends_tls_and_keeps_tokens_out_of_the_log(nginx: str, tmp_path: Path) -> None:
    certificate, key, log = tmp_path / "certificate.pem", tmp_path / "key.pem", tmp_path / "access.log"
    subject = ("-subj", "/CN=login.example.com", "-addext", "subjectAltName=DNS:login.example.com,IP:127.0.0.1")
    made = ran(
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-keyout", key, "-out", certificate, *subject,
    )  # fmt: skip
    assert made == ""
    plain, secure = free_port(), free_port()
    with Running(tmp_path / "data", trusted_proxies="127.0.0.1", issuer="https://login.localhost") as service:
        site = (DEPLOY / "nginx-site.conf").read_text()
        for there, here in {
            "/etc/letsencrypt/live/login.example.com/fullchain.pem": certificate,
            "/etc/letsencrypt/live/login.example.com/privkey.pem": key,
            "/var/log/nginx/gatehouse.log": log,
            "127.0.0.1:8000": f"127.0.0.1:{service.port}",
            "listen [::]:80;": "",
            "listen [::]:443 ssl http2;": "",
            "listen 80;": f"listen 127.0.0.1:{plain};",
            "listen 443 ssl http2;": f"listen 127.0.0.1:{secure} ssl http2;",
        }.items():
            assert there in site
            site = site.replace(there, str(here))
        conf = tmp_path / "nginx.conf"
        folders = "".join(f"{kind}_temp_path {tmp_path}/{kind};\n" for kind in ("client_body", "proxy"))
        conf.write_text(f"daemon off;\npid {tmp_path}/nginx.pid;\nevents {{}}\nhttp {{\n{folders}{site}}}\n")
        proxy = subprocess.Popen([nginx, "-p", tmp_path, "-c", conf, "-e", "stderr"])
        trust = ssl.create_default_context(cafile=str(certificate))
        trust.check_hostname = False
        try:
            claimed = {"X-Forwarded-For": "203.0.113.9"}
            with httpx.Client(
                base_url=f"https://127.0.0.1:{secure}", verify=trust, headers=claimed, timeout=PATIENCE
            ) as client:
                wait_until(lambda: answers(client), "nginx")
                assert client.get("/").status_code == 200
                tokens = login(client)
                renewed = client.post(f"/api/v1/auth/refresh-token?refreshToken={tokens['refreshToken']}")
                assert renewed.json()["code"] == "00000"
                assert "strict-transport-security" in renewed.headers
                assert client.get("/health/live").status_code == 404
                assert client.get("/metrics").status_code == 404
            there = f"http://127.0.0.1:{plain}/account"
            moved = httpx.get(there, headers={"Host": "login.example.com"}, timeout=PATIENCE)
            assert (moved.status_code, moved.headers["location"]) == (301, "https://login.example.com/account")
        finally:
            proxy.terminate()
            proxy.wait(PATIENCE)
        assert "203.0.113.9" not in service.cli("audit", "--event", "login").stdout, "what a client claims is dropped"
    assert "/api/v1/auth/refresh-token 200" in log.read_text()
    assert tokens["refreshToken"] not in log.read_text()


@pytest.mark.parametrize("name", ["nginx.conf", "nginx-site.conf"])
def test_a_refresh_token_reaches_no_log_of_nginx_while_gatehouse_is_down(nginx: str, name: str, tmp_path: Path) -> None:
    port, nobody = free_port(), free_port()
    text = (DEPLOY / name).read_text()
    text = re.sub(r"(?m)^ *(ssl_\w+|pid) .*;\n", "", text)
    text = re.sub(r"server (gatehouse-\d|127\.0\.0\.1):8000", f"server 127.0.0.1:{nobody}", text)
    text = re.sub(r"listen (8080|443 ssl http2);", f"listen 127.0.0.1:{port};", text)
    text = re.sub(r"listen (80|\[::\].*);", f"listen unix:{tmp_path}/unused.sock;", text, count=1)
    text = re.sub(r"listen \[::\].*;", "", text)
    text = re.sub(r"/dev/stdout|/var/log/nginx/gatehouse.log", str(tmp_path / "access.log"), text)
    if "events {" not in text:
        text = f"events {{}}\nhttp {{\n{text}}}\n"
    folders = "".join(f"{kind}_temp_path {tmp_path}/{kind};\n" for kind in ("client_body", "proxy"))
    text = text.replace("http {\n", f"http {{\n{folders}", 1)
    conf = tmp_path / "nginx.conf"
    conf.write_text(f"daemon off;\npid {tmp_path}/nginx.pid;\n{text}")
    errors = tmp_path / "error.log"
    proxy = subprocess.Popen([nginx, "-p", tmp_path, "-c", conf, "-e", errors])
    token = "1.7-AAAAAAAAAAAAAAAAAAAAAA.1.live-refresh-token"
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE, verify=TLS) as client:
            wait_until(lambda: answers(client), "nginx")
            answer = client.post(f"/api/v1/auth/refresh-token?refreshToken={token}")
            client.put(f"/api/v1/users/7/password/reset?password={token}")
            client.patch(f"/api/v1/users/7/password?password={token}")
            sheet = client.post("/api/v1/users/import", content=b"x" * 2_000_000)
            large = client.post("/api/v1/users", content=b"x" * 2_000_000)
    finally:
        proxy.terminate()
        proxy.wait(PATIENCE)
    assert (answer.status_code, large.status_code) == (502, 413)
    assert sheet.status_code != 413
    assert "refused" in errors.read_text(), "errors of other paths are logged"
    assert token not in errors.read_text() + (tmp_path / "access.log").read_text()


def test_no_manifest_trusts_a_wide_network_and_a_policy_guards_the_pods() -> None:
    settings = yaml.safe_load((DEPLOY / "kubernetes" / "settings.yaml").read_text())["data"]
    assert all(network.prefixlen >= 16 for network in networks(settings["GATEHOUSE_TRUSTED_PROXIES"]))
    policy = yaml.safe_load((DEPLOY / "kubernetes" / "network-policy.yaml").read_text())["spec"]
    pods = yaml.safe_load((DEPLOY / "kubernetes" / "deployment.yaml").read_text())["spec"]["template"]
    assert policy["podSelector"]["matchLabels"].items() <= pods["metadata"]["labels"].items()
    assert all(rule["from"] for rule in policy["ingress"])
    guarded = {port["port"] for rule in policy["ingress"] for port in rule["ports"]}
    assert guarded == {port["containerPort"] for port in pods["spec"]["containers"][0]["ports"]}


def test_the_unit_filters_system_calls() -> None:
    assert "\nSystemCallFilter=@system-service\n" in (DEPLOY / "gatehouse.service").read_text()
