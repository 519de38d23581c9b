"""Fuzzing: bytes that nobody thought of, at everything that reads what strangers send.

A short run is part of the suite. `make fuzz` runs for as long as FUZZ_SECONDS says, with new inputs each time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gatehouse.api.http.client_address import client_address, peer_address
from gatehouse.api.http.response import language_of
from gatehouse.auth.login.captcha import Challenges
from gatehouse.auth.sessions.tokens import RefreshTokens
from gatehouse.common.parsing import networks
from gatehouse.common.user_agent import browser
from tests.support.inprocess import InProcess
from tests.support.selection import cases

SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
EXAMPLES = cases(150)
quick = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
    phases=(Phase.generate, Phase.shrink),
)

NOW = 1_900_000_000.0
PATHS = ["/api/v1/auth/login", "/api/v1/auth/refresh-token", "/api/v1/users/me", "/api/v1/users/me/password",
         "/api/v1/users/me/sessions/x", "/api/v1/auth/logout", "/oauth2/introspect", "/api/v1/", "/"]  # fmt: skip
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
field_names = st.sampled_from(["username", "password", "captchaId", "captchaKey", "captchaCode", "refreshToken", "x"])
header_text = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=200)


def keep_on(check: object) -> None:
    """Once, or again and again until the time is up."""
    ends = time.monotonic() + SECONDS
    check()  # type: ignore[operator]
    while time.monotonic() < ends:
        check()  # type: ignore[operator]


@pytest.fixture(scope="module")
def gatehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    with InProcess(tmp_path_factory.mktemp("fuzz") / "data", hash_queue=10_000) as running:
        yield running


def test_requests(gatehouse: InProcess) -> None:
    @quick
    @given(
        method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]),
        path=st.sampled_from(PATHS) | st.text(max_size=60).map(lambda text: "/" + text),
        query=st.dictionaries(st.sampled_from(["refreshToken", "x"]), st.text(max_size=60), max_size=2),
        body=st.none() | json_values | st.dictionaries(field_names, json_values, max_size=5),
        headers=st.dictionaries(
            st.sampled_from(
                ["authorization", "accept-language", "user-agent", "x-forwarded-for", "forwarded", "origin"]
            ),
            header_text,
            max_size=4,
        ),
    )
    def check(method: str, path: str, query: dict[str, str], body: object, headers: dict[str, str]) -> None:
        answer = gatehouse.request(method, path, query=query, body=body, headers=headers)
        assert answer.status < 500
        if path.startswith("/api/v1/"):
            assert set(answer.json) <= {"code", "msg", "data"}

    keep_on(check)


def test_bodies_as_bytes(gatehouse: InProcess) -> None:
    seed = (
        b'{"username":"admin","password":"x","captchaId":"00000000-0000-0000-0000-000000000000","captchaCode":"abcd"}'
    )

    @quick
    @given(st.binary(max_size=300) | st.tuples(st.integers(0, len(seed)), st.binary(max_size=6)).map(
        lambda cut: seed[: cut[0]] + cut[1] + seed[cut[0] + len(cut[1]) :]
    ))  # fmt: skip
    def check(body: bytes) -> None:
        answer = gatehouse.request("POST", "/api/v1/auth/login", content=body)
        assert answer.status in {400, 413, 415}

    keep_on(check)


FORM_FIELDS = {"username": "admin", "password": "x", "verifyCodeKey": "00000000-0000-0000-0000-000000000000"}
FORM_SEEDS = [
    ("application/x-www-form-urlencoded", "&".join(f"{name}={value}" for name, value in FORM_FIELDS.items()).encode()),
    (
        "multipart/form-data; boundary=seam",
        b"".join(
            f'--seam\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in FORM_FIELDS.items()
        )
        + b"--seam--\r\n",
    ),
]


@pytest.mark.parametrize("seed", FORM_SEEDS, ids=lambda seed: seed[0].partition(";")[0])
def test_forms_as_bytes(gatehouse: InProcess, seed: tuple[str, bytes]) -> None:
    media_type, good = seed

    @quick
    @given(
        media_type=st.just(media_type) | header_text.map(lambda text: f"{media_type}{text}"),
        body=st.binary(max_size=300)
        | st.tuples(st.integers(0, len(good)), st.binary(max_size=6), st.integers(0, 6)).map(
            lambda cut: good[: cut[0]] + cut[1] + good[cut[0] + cut[2] :]
        ),
    )
    def check(media_type: str, body: bytes) -> None:
        answer = gatehouse.request("POST", "/api/v1/auth/login", content=body, headers={"content-type": media_type})
        assert answer.status in {400, 413, 415}
        assert set(answer.json) == {"code", "msg"}

    keep_on(check)


def test_access_tokens(gatehouse: InProcess) -> None:
    good = gatehouse.login().data["accessToken"]

    @quick
    @given(
        st.text(max_size=300)
        | st.tuples(st.integers(0, len(good) - 2), st.text(min_size=1, max_size=4)).map(
            lambda cut: good[: cut[0]] + cut[1] + good[cut[0] + len(cut[1]) :]
        )
    )
    def check(token: str) -> None:
        answer = gatehouse.me(token)
        assert answer.code == "A0230" or token.strip() == good

    keep_on(check)


def test_refresh_tokens() -> None:
    tokens = RefreshTokens(bytes(32))
    good = tokens.make("17-AAAAAAAAAAAAAAAAAAAAAA", 3)

    @quick
    @given(
        st.text(max_size=200)
        | st.tuples(st.integers(0, len(good)), st.text(max_size=3)).map(
            lambda cut: good[: cut[0]] + cut[1] + good[cut[0] + len(cut[1]) :]
        )
    )
    def check(token: str) -> None:
        assert tokens.decode(token) == (("17-AAAAAAAAAAAAAAAAAAAAAA", 3) if token == good else None)

    keep_on(check)


def test_captcha_ids() -> None:
    challenges = Challenges(bytes(32), 120)
    good = challenges.issue(NOW)

    @quick
    @given(st.text(max_size=60) | st.uuids().map(str) | st.text("0123456789abcdefABCDEF-{} ", min_size=30, max_size=40))
    def check(text: str) -> None:
        opened = challenges.decode(text, NOW)
        assert opened is None or opened.fingerprint == good.fingerprint

    keep_on(check)


def test_headers_that_say_where_from() -> None:
    trusted = networks("10.0.0.0/8, ::1")

    @quick
    @given(header_text, st.lists(header_text, max_size=3), st.lists(header_text, max_size=3))
    def check(client: str, forwarded_for: list[str], forwarded: list[str]) -> None:
        peer = peer_address(client)
        for start in (peer, "10.0.0.1"):
            assert isinstance(client_address(start, trusted, forwarded_for, forwarded), str)
        assert language_of(client) in {"en", "zh"}
        assert len(browser(client)) < 60

    keep_on(check)
