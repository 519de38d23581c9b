"""An application's server: takes a code that its user has brought, and calls us with it. No browser is needed.

Its user is logged in in a session of ours, and the code is made as the authorize page makes it.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any
from urllib.parse import urlencode

import jwt
import msgspec

from gatehouse.auth.audit import ClientInfo
from gatehouse.auth.oauth.authorization_codes import CodeContent
from gatehouse.auth.oauth.clients import Client
from gatehouse.auth.oauth.definitions import ClientAuth, ClientConfig
from gatehouse.auth.oauth.grants import new_grant_id
from gatehouse.management.authority import Actor
from gatehouse.management.oauth_clients import ClientDraft
from gatehouse.stores.state.protocol import Session
from tests.support.inprocess import Answer, InProcess

CALLBACK = "https://app.example/callback"
FORM = "application/x-www-form-urlencoded"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
# ES256: a key for RS256 would be made in each test.
USUAL = {"redirect_uris": (CALLBACK,), "id_token_alg": "ES256"}
SCOPES = ("openid", "profile", "email", "roles", "offline_access")


class Application:
    """Registers itself. `nodes` are several services over the same stores, whichever is called."""

    def __init__(self, gatehouse: InProcess, client_id: str = "app", **config: Any) -> None:
        self.gatehouse = gatehouse
        self.client_id = client_id
        draft = ClientDraft(name=client_id, config=ClientConfig(**{**USUAL, **config}))
        changes = gatehouse.service.management.client_changes
        self.secret = gatehouse.run(changes.add(Actor(None), client_id, draft)) or ""

    @property
    def client(self) -> Client:
        found = self.gatehouse.run(self.gatehouse.service.oauth.clients.find(self.client_id))
        assert found is not None
        return found

    def edit(self, **changes: Any) -> None:
        config = msgspec.structs.replace(self.client.config, **changes)
        self.change(config=config)

    def change(self, **draft: Any) -> None:
        changes = self.gatehouse.service.management.client_changes
        self.gatehouse.run(changes.edit(Actor(None), self.client_id, ClientDraft(**draft)))

    # What happens in the browser

    def session(self, user: int = 1, methods: tuple[str, ...] = ("pwd",)) -> Session:
        session, _ = self.gatehouse.run(self.gatehouse.service.sessions.open(user, ClientInfo(), methods))
        return session

    def code(self, session: Session | None = None, **changes: Any) -> str:
        session = session or self.session()
        content = CodeContent(
            **{
                "client": self.client.id,
                "redirect_uri": CALLBACK,
                "challenge": CHALLENGE,
                "nonce": "a nonce",
                "scopes": SCOPES,
                "session": session.id,
                "grant": new_grant_id(session.user),
                **changes,
            }
        )
        return self.gatehouse.service.oauth.codes.make(content)

    # What its server calls

    async def post(
        self, path: str, form: dict[str, str], headers: dict[str, str] | None = None, node: InProcess | None = None
    ) -> Answer:
        """With the credentials of the application, unless the form or the headers have some."""
        sent = {"content-type": FORM, **(headers or {})}
        if "authorization" not in sent and "client_id" not in form and "client_assertion" not in form:
            if self.secret:
                sent["authorization"] = basic(self.client_id, self.secret)
            else:
                form = {"client_id": self.client_id, **form}
        return await (node or self.gatehouse).send("POST", path, content=urlencode(form).encode(), headers=sent)

    def call(self, path: str, headers: dict[str, str] | None = None, /, **form: str) -> Answer:
        return self.gatehouse.run(self.post(path, form, headers))

    def token(self, headers: dict[str, str] | None = None, /, **form: str) -> Answer:
        return self.call("/oauth2/token", headers, **form)

    def exchange(self, code: str, **changes: str) -> Answer:
        form = {"redirect_uri": CALLBACK, "code_verifier": VERIFIER, **changes}
        form = {name: value for name, value in form.items() if value}
        return self.token(grant_type="authorization_code", code=code, **form)

    def refresh(self, token: str, **form: str) -> Answer:
        return self.token(grant_type="refresh_token", refresh_token=token, **form)

    def tokens(self, session: Session | None = None, **changes: Any) -> dict[str, Any]:
        """All of a login."""
        answer = self.exchange(self.code(session, **changes))
        assert answer.status == 200, answer.content
        return answer.json

    def userinfo(self, token: str) -> Answer:
        return self.gatehouse.request("GET", "/oauth2/userinfo", token=token)

    def introspect(self, token: str) -> dict[str, Any]:
        return self.call("/oauth2/introspect", token=token).json

    def revoke(self, token: str) -> Answer:
        return self.call("/oauth2/revoke", token=token)

    def read(self, token: str, audience: str = "") -> dict[str, Any]:
        """The claims of a token that a published key has signed, as a relying party verifies it."""
        kid = jwt.get_unverified_header(token)["kid"]
        jwks = self.gatehouse.request("GET", "/.well-known/jwks.json").json["keys"]
        [key] = [jwk for jwk in jwks if jwk["kid"] == kid]
        options: Any = {"verify_exp": False, "verify_iat": False}
        return jwt.decode(
            token, jwt.PyJWK(key).key, algorithms=[key["alg"]], audience=audience or self.client_id, options=options
        )


def public(gatehouse: InProcess, client_id: str = "spa", **config: Any) -> Application:
    return Application(gatehouse, client_id, auth=ClientAuth.NONE, **config)


def basic(client_id: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()


def at_hash(token: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()[:16]).decode().rstrip("=")
