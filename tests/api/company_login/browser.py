"""A browser that goes to a provider and comes back, over a service in this process; and that provider as a source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from gatehouse.auth.audit import Event
from gatehouse.identity_sources.definitions import ProviderConfig, SourceKind
from gatehouse.management.authority import OPERATOR
from gatehouse.management.identity_sources import SourceDraft
from gatehouse.stores.database.audit_trail import AuditEntry
from tests.identity_sources.provider.hostile_provider import CLIENT_ID, SECRET, HostileProvider, sign
from tests.support.inprocess import Answer, InProcess

EXCHANGE = "/api/v1/auth/qr-code/login"
CODE = "/api/v1/auth/company-login/code"
IDENTITIES = "/api/v1/users/me/identities"
AGENT = "Firefox"
CAROLINE = {"preferred_username": "caroline", "name": "Caroline", "email": "caroline@corp.example"}


class Company(NamedTuple):
    """The service, and the provider `corp`."""

    service: InProcess
    provider: HostileProvider

    def add(self, name: str = "corp", **config: Any) -> None:
        given = {"issuer": self.provider.url, "client_id": CLIENT_ID, **config}
        draft = SourceDraft(title="Corp", config=ProviderConfig(**given), secret=SECRET)
        changes = self.service.service.management.source_changes
        self.service.run(changes.add(OPERATOR, name, SourceKind.OPENID, draft))

    def configure(self, **config: Any) -> None:
        given = {"issuer": self.provider.url, "client_id": CLIENT_ID, **config}
        changes = self.service.service.management.source_changes
        self.service.run(changes.edit(OPERATOR, "corp", SourceDraft(config=ProviderConfig(**given))))

    @property
    def url(self) -> str:
        return self.service.settings.public_url


class Browser:
    """Keeps cookies as browsers do: those of `/login/` go to `/login/` alone."""

    def __init__(self, company: Company, address: str = "127.0.0.1", agent: str = AGENT) -> None:
        self.company = company
        self.address = address
        self.agent = agent
        self.cookies: dict[str, str] = {}

    def request(self, method: str, path: str, **options: Any) -> Answer:
        headers = {"user-agent": self.agent, **options.pop("headers", {})}
        if self.cookies and path.startswith("/login/"):
            headers["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        answer = self.company.service.request(method, path, address=self.address, headers=headers, **options)
        for cookie in answer.cookies:
            name, _, value = cookie.partition(";")[0].partition("=")
            if "Max-Age=0" in cookie:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        return answer

    def open(self, url: str, **options: Any) -> Answer:
        """A URL of the service."""
        assert url.startswith(self.company.url), url
        parts = urlsplit(url)
        return self.request("GET", parts.path, raw_query=parts.query, **options)

    # The steps of a login

    def depart(self, to: str = "", name: str = "corp") -> str:
        """The provider's URL that the browser is sent to."""
        answer = self.request("GET", f"/login/{name}", query={"to": to} if to else {})
        assert answer.status == 302, answer.content
        return answer.headers["location"]

    def answer_of(self, url: str, query: dict[str, Any] | None = None, **claims: Any) -> dict[str, str]:
        """The provider logs Caroline in, or whom the claims say, and sends the browser back with this."""
        provider = self.company.provider
        asked = query_of(url)
        provider.callback = asked["redirect_uri"]
        provider.id_token = sign(provider.claims(**{"nonce": asked["nonce"], **CAROLINE, **claims}))
        answer = {"code": asked["code_challenge"], "state": asked["state"], **(query or {})}
        return {name: value for name, value in answer.items() if isinstance(value, str)}

    def come_back(self, query: dict[str, str], name: str = "corp") -> Answer:
        return self.request("GET", f"/login/{name}/callback", query=query)

    def arrive(self, to: str = "", **claims: Any) -> str:
        """Where a login sends the browser in the end."""
        answer = self.come_back(self.answer_of(self.depart(to), **claims))
        assert answer.status == 302, answer.content
        return answer.headers["location"]

    def exchange(self, location: str) -> Answer:
        return self.request("POST", EXCHANGE, body={"ticket": query_of(location)["ticket"]})

    def login(self, **claims: Any) -> dict[str, Any]:
        """The token set of a login."""
        return self.exchange(self.arrive(**claims)).data


def query_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def problem_of(answer: Answer | str) -> str:
    location = answer if isinstance(answer, str) else answer.headers["location"]
    return query_of(location).get("problem", "")


def recorded(company: Company, event: Event) -> Sequence[AuditEntry]:
    """At the end of a test: the trail is closed."""
    service = company.service.service
    company.service.run(service.audit.stop())
    return company.service.run(service.stores.audit_trail.read(newest=100, events=[event.value]))
