"""The guard around a whole ASGI application, spoken to by an ASGI client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from gatehouse.verify import PermsUnknown, Verifier
from gatehouse.verify.asgi import Guarded
from tests.verify.issuer import ISSUER, Issuer, Key


async def hello(scope: Any, receive: Any, send: Any) -> None:
    """Says who came."""
    principal = scope.get("principal")
    body = str(principal.user_id if principal else "anybody").encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with Issuer() as issuer:
        yield issuer


async def ask(app: Any, path: str = "/", headers: Any = None) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://there") as client:
        return await client.get(path, headers=headers or {})


async def test_three_answers(issuer: Issuer) -> None:
    app = Guarded(hello, Verifier(issuer.url, ISSUER), role="ADMIN", public={"/health"})
    nobody = await ask(app)
    assert (nobody.status_code, nobody.json()["code"]) == (401, "A0230")
    assert nobody.headers["www-authenticate"] == "Bearer"
    forged = await ask(app, headers={"Authorization": f"Bearer {issuer.token(Key('forged'))}"})
    assert (forged.status_code, forged.headers["www-authenticate"]) == (401, 'Bearer error="invalid_token"')
    editor = await ask(app, headers={"Authorization": f"Bearer {issuer.token()}"})
    assert (editor.status_code, editor.json()["code"]) == (403, "A0301")
    admin = await ask(app, headers={"Authorization": f"bearer {issuer.token(roles=['ADMIN'])}"})
    assert (admin.status_code, admin.text) == (200, "7")
    assert (await ask(app, "/health")).text == "anybody"


@pytest.mark.parametrize("scheme", ["Basic", "Token", ""])
async def test_other_schemes_are_no_token(issuer: Issuer, scheme: str) -> None:
    app = Guarded(hello, Verifier(issuer.url, ISSUER))
    assert (await ask(app, headers={"Authorization": f"{scheme} {issuer.token()}".strip()})).status_code == 401


async def test_two_tokens_are_none(issuer: Issuer) -> None:
    app = Guarded(hello, Verifier(issuer.url, ISSUER))
    value = f"Bearer {issuer.token()}"
    assert (await ask(app, headers=[("Authorization", value)])).status_code == 200
    assert (await ask(app, headers=[("Authorization", value), ("Authorization", value)])).status_code == 401


async def test_in_doubt_nobody_is_let_in(issuer: Issuer) -> None:
    app = Guarded(hello, Verifier(issuer.url, ISSUER))
    issuer.away()
    answer = await ask(app, headers={"Authorization": f"Bearer {issuer.token()}"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")


async def test_websockets_are_guarded_too(issuer: Issuer) -> None:
    app = Guarded(hello, Verifier(issuer.url, ISSUER))
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await app({"type": "websocket", "path": "/", "headers": []}, None, send)  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close", "code": 1008, "reason": "Please log in"}]


async def test_start_and_stop_pass_through(issuer: Issuer) -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    await Guarded(app, Verifier(issuer.url, ISSUER))({"type": "lifespan"}, None, None)  # type: ignore[arg-type]
    assert seen == ["lifespan"]


def test_a_perm_without_introspection_is_refused_when_the_program_starts(issuer: Issuer) -> None:
    with pytest.raises(PermsUnknown):
        Guarded(hello, Verifier(issuer.url, ISSUER), perm="sys:user:add")
