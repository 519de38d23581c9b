"""The application: a table from exact path and method to an endpoint, and the last resort for what fails.

It speaks RSGI, the native interface of the server, because the contract is a handful of fixed paths: a dictionary
finds them, and everything a framework would add on top costs more than the request itself.
"""

from __future__ import annotations

import itertools
import re
import secrets
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from gatehouse import logs
from gatehouse.api.contract.errors import MethodNotAllowed, NoSuchPath
from gatehouse.api.contract.operations import OPERATIONS, PREFIX
from gatehouse.api.endpoints.auth import AuthEndpoints
from gatehouse.api.endpoints.introspection import IntrospectionEndpoint
from gatehouse.api.endpoints.system import SystemEndpoints
from gatehouse.api.endpoints.users import UserEndpoints
from gatehouse.api.http.client_address import is_trusted, peer_address
from gatehouse.api.http.cors import Cors
from gatehouse.api.http.reply import Reply, failure, plain_failure
from gatehouse.api.http.request import Request
from gatehouse.api.pages import Pages
from gatehouse.api.telemetry.metrics import Metrics, OperationMetrics
from gatehouse.auth.refusals import Refused
from gatehouse.settings import SettingsError
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from gatehouse.api.telemetry.tracing import Tracer
    from gatehouse.auth.login.captcha.image import Painter
    from gatehouse.service import Service

    Endpoint = Callable[[Request], Awaitable[Reply]]

log = logs.named("gatehouse.api")

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Route(NamedTuple):
    operation: str
    endpoint: Endpoint
    operation_metrics: OperationMetrics


class App:
    def __init__(self, service: Service, painter: Painter, metrics_folder: Path | None = None) -> None:
        self._service = service
        self.metrics = Metrics(service, metrics_folder)
        self._routes = _routes(service, painter, self.metrics)
        self._elsewhere = self.metrics.operation_metrics("none")
        self._api_prefix = service.settings.base_path + PREFIX
        self._trusted = service.settings.trusted_proxies
        self._cors = Cors(service.settings.cors_origins) if service.settings.cors_origins else None
        self._tracer = _tracer(service.settings.traces)
        self._respond = self._answer_traced if self._tracer else self._answer
        # Unique for the life of the process, and a different one in every process.
        self._id_prefix = secrets.token_hex(6)
        self._numbers = itertools.count(1)

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.run_until_complete(self._service.start())
        self._metrics_writer = loop.create_task(self.metrics.write_forever())

    def __rsgi_del__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._metrics_writer.cancel()
        self.metrics.close()
        if self._tracer is not None:
            self._tracer.close()
        loop.run_until_complete(self._service.stop())

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        started = perf_counter()
        request = Request(scope, protocol, self._request_id(scope), self._trusted)
        methods = self._routes.get(request.path) or self._by_segment(request)
        route = methods.get(request.method) if methods else None
        reply = self._cors.preflight(request, methods or ()) if self._cors is not None else None
        if reply is None:
            reply = await self._respond(request, route, methods)
        headers = [*reply.headers, ("x-request-id", request.id)]
        if self._cors is not None:
            headers += self._cors.headers(request)
        protocol.response_bytes(reply.status, headers, reply.body)
        (route.operation_metrics if route else self._elsewhere).answered(reply.code, perf_counter() - started)

    async def _answer(self, request: Request, route: Route | None, methods: dict[str, Route] | None) -> Reply:
        try:
            if methods is None:
                raise NoSuchPath(request.path)
            if route is None:
                raise MethodNotAllowed(", ".join(methods))
            return await route.endpoint(request)
        except Refused as refusal:
            return self._failure(refusal, request)
        except StoreUnavailable as outage:
            log.warning("store unavailable", request=request.id, path=request.path, problem=str(outage))
            return self._failure(outage, request)
        except Exception as fault:
            # The last resort: whatever was not foreseen is told to the log, and to the caller only that it was.
            log.exception("unforeseen", request=request.id, path=request.path)
            return self._failure(fault, request)

    async def _answer_traced(self, request: Request, route: Route | None, methods: dict[str, Route] | None) -> Reply:
        if self._tracer is None:
            return await self._answer(request, route, methods)
        with self._tracer.span(request, route.operation if route else "none") as span:
            reply = await self._answer(request, route, methods)
            self._tracer.answered(span, reply)
            return reply

    def _by_segment(self, request: Request) -> dict[str, Route] | None:
        """The few paths that end in an id."""
        parent, _, request.segment = request.path.rpartition("/")
        return self._routes.get(f"{parent}/{{id}}")

    def _failure(self, problem: Exception, request: Request) -> Reply:
        path = request.path
        if path.startswith(self._api_prefix) and path[len(self._api_prefix) :][:1] in {"", "/"}:
            return failure(problem, request.language)
        return plain_failure(problem)

    def _request_id(self, scope: Any) -> str:
        """Our own, or the one that a trusted proxy has given the request."""
        if self._trusted:
            given = scope.headers.get("x-request-id")
            if given and _REQUEST_ID.fullmatch(given) and is_trusted(peer_address(scope.client), self._trusted):
                return str(given)
        return f"{self._id_prefix}-{next(self._numbers):x}"


def _tracer(collector: str) -> Tracer | None:
    if not collector:
        return None
    try:
        from gatehouse.api.telemetry.tracing import Tracer  # noqa: PLC0415 - an extra: not everybody has it
    except ImportError:
        raise SettingsError(["GATEHOUSE_TRACES: traces need an extra: pip install 'gatehouse[otel]'"]) from None
    return Tracer(collector)


def _routes(service: Service, painter: Painter, metrics: Metrics) -> dict[str, dict[str, Route]]:
    auth, users = AuthEndpoints(service, painter, metrics), UserEndpoints(service)
    system = SystemEndpoints(service, metrics)
    introspection = IntrospectionEndpoint(service)
    endpoints: dict[str, Endpoint] = {
        "captcha": auth.captcha,
        "login": auth.login,
        "refresh": auth.refresh,
        "logout": auth.logout,
        "me": users.me,
        "sessions": users.sessions,
        "end_session": users.end_session,
        "end_other_sessions": users.end_other_sessions,
        "change_password": users.change_password,
    }
    base = service.settings.base_path
    table: dict[str, dict[str, Route]] = {}
    for operation in OPERATIONS:
        route = Route(operation.name, endpoints[operation.name], metrics.operation_metrics(operation.name))
        table.setdefault(base + operation.path, {})[operation.method] = route
    resources = [
        ("/health/live", "live", system.live),
        ("/health/ready", "ready", system.ready),
        ("/.well-known/jwks.json", "jwks", system.jwks),
        ("/openapi.json", "openapi", system.openapi),
        ("/avatar.svg", "avatar", system.avatar),
        *((("/metrics", "metrics", system.metrics),) if service.settings.metrics == "on" else ()),
        *(Pages(base).routes() if service.settings.pages else ()),
    ]
    for path, name, endpoint in resources:
        route = Route(name, endpoint, metrics.operation_metrics(name))
        table[base + path] = {"GET": route, "HEAD": route}
    route = Route("introspect", introspection.introspect, metrics.operation_metrics("introspect"))
    table[base + "/oauth2/introspect"] = {"POST": route}
    return table
