"""The application: finds the route, checks bearer and perm, calls the endpoint; the catch-all error handler.

It implements RSGI, the native interface of the server. Most paths are static, so they are looked up in a dictionary;
what a framework would add on top costs more than our whole share of the request.
"""

from __future__ import annotations

import itertools
import re
import secrets
from time import perf_counter
from typing import TYPE_CHECKING

from gatehouse.api.error_catalogue import MethodNotAllowed, NoSuchPath
from gatehouse.api.http.client_address import is_trusted, peer_address
from gatehouse.api.http.cors import Cors
from gatehouse.api.http.request import Request
from gatehouse.api.http.response import Headers, Response, Stream, failure, plain_failure
from gatehouse.api.http.rsgi import ProtocolClosed
from gatehouse.api.operation_declaration import PREFIX
from gatehouse.api.routes import Methods, Route, build_routes
from gatehouse.api.telemetry.metrics import Metrics
from gatehouse.auth.audit import Event
from gatehouse.auth.refusals import BeyondAuthority, NotAllowed, Refused
from gatehouse.common import logs
from gatehouse.common.logs import log
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.settings import SettingsError
from gatehouse.stores.errors import Duplicate, InUse, Missing, StoreUnavailable, UnstorableValue

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

    from gatehouse.api.http.rsgi import HTTPProtocol, Scope
    from gatehouse.api.telemetry.tracing import Tracer
    from gatehouse.auth.login.captcha.image import CaptchaRenderer
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


HSTS = "max-age=31536000"
# The longest piece of client input in a log line.
LOGGED_LENGTH = 200
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class App:
    def __init__(self, service: Service, renderer: CaptchaRenderer, metrics_folder: Path | None = None) -> None:
        self._service = service
        self.metrics = Metrics(service, metrics_folder)
        self._authenticate = service.authenticator.authenticate
        self._routes = build_routes(service, renderer, self.metrics)
        self._unrouted_metrics = self.metrics.operation_metrics("none")
        self._api_prefix = service.settings.base_path + PREFIX
        self._trusted = service.settings.trusted_proxies
        self._cors = Cors(service.settings.cors_origins) if service.settings.cors_origins else None
        # HSTS without includeSubDomains: subdomains may belong to other services.
        https = service.settings.issuer.startswith("https://")
        self._hsts_headers = [("strict-transport-security", HSTS)] if https else []
        self._tracer = _tracer(service.settings.traces)
        self._respond = self._dispatch_traced if self._tracer else self._dispatch
        # Unique for the life of the process, and a different one in every process.
        self._id_prefix = secrets.token_hex(6)
        self._request_counter = itertools.count(1)

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.run_until_complete(self._service.start())
        self._metrics_writer = loop.create_task(self.metrics.write_forever())

    def __rsgi_del__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._metrics_writer.cancel()
        self.metrics.close()
        if self._tracer is not None:
            self._tracer.close()
        loop.run_until_complete(self._service.stop())
        logs.flush()

    async def __rsgi__(self, scope: Scope, protocol: HTTPProtocol) -> None:
        started = perf_counter()
        request = Request(scope, protocol, self._request_id(scope), self._trusted)
        methods = self._routes.exact(request.path) or self._with_parameters(request)
        route = methods.get(request.method) if methods else None
        response = self._cors.preflight(request, methods or ()) if self._cors is not None else None
        if response is None:
            response = await self._respond(request, route, methods)
        headers = [*response.headers, *self._hsts_headers, ("x-request-id", request.id)]
        if self._cors is not None:
            headers += self._cors.headers(request)
        if request.has_unread_body and not await request.discard_body():
            headers.append(("connection", "close"))
        if response.__class__ is Stream:
            await self._stream(response, headers, protocol)
        else:
            protocol.response_bytes(response.status, headers, response.body)
        (route.operation_metrics if route else self._unrouted_metrics).record_response(
            response.code, perf_counter() - started
        )

    async def _dispatch(self, request: Request, route: Route | None, methods: Methods | None) -> Response:
        principal: Principal | None = None
        try:
            if methods is None:
                raise NoSuchPath(request.path)
            if route is None:
                raise MethodNotAllowed(", ".join(methods))
            if not route.requires_token:
                return await route.endpoint(request)
            principal = await self._authorize(request, route)
            if route.body_limit:
                # A body may take seconds, and a caller who is disabled meanwhile must not act any more.
                await request.body(route.body_limit)
                principal = await self._authorize(request, route)
            return await route.endpoint(request, principal)
        except BeyondAuthority as refusal:
            self._record_escalation(refusal, request, principal)
            return self._failure(refusal, request)
        except (Refused, Missing, Duplicate, InUse, UnstorableValue, SourceUnavailable) as refusal:
            return self._failure(refusal, request)
        except StoreUnavailable as outage:
            log.warning("store unavailable", request=request.id, path=request.path[:LOGGED_LENGTH], problem=str(outage))
            return self._failure(outage, request)
        except Exception as fault:  # noqa: BLE001 - the last resort: all of it to the log, and nothing to the caller
            log.exception("unexpected error", request=request.id, path=request.path[:LOGGED_LENGTH])
            return self._failure(fault, request)

    def _record_escalation(self, refusal: BeyondAuthority, request: Request, principal: Principal | None) -> None:
        """Somebody tried to reach for more than they hold: an operator may want to know."""
        detail = {"path": request.path[:LOGGED_LENGTH], "method": request.method, "refused": str(refusal)}
        actor = principal.claims.user if principal else None
        self._service.audit.record(Event.ESCALATION_REFUSED, request.client, actor=actor, detail=detail)

    async def _authorize(self, request: Request, route: Route) -> Principal:
        principal = await self._authenticate(request.bearer())
        if route.perms:
            _check_perm(principal, route)
        return principal

    async def _dispatch_traced(self, request: Request, route: Route | None, methods: Methods | None) -> Response:
        if self._tracer is None:
            return await self._dispatch(request, route, methods)
        with self._tracer.span(request, route.operation if route else "none") as span:
            response = await self._dispatch(request, route, methods)
            self._tracer.record_response(span, response)
            return response

    async def _stream(self, response: Stream, headers: Headers, protocol: HTTPProtocol) -> None:
        try:
            await response.send(protocol.response_stream(response.status, headers), protocol)
        except (StoreUnavailable, UnstorableValue) as problem:
            # The head is sent already, so all that is left is to end the stream.
            log.warning("store unavailable", problem=str(problem))
        except ProtocolClosed:
            pass  # the client has disconnected

    def _with_parameters(self, request: Request) -> Methods | None:
        found = self._routes.match(request.path)
        if found is None:
            return None
        methods, values = found
        if request.method in methods:
            request.parameters = dict(zip(methods[request.method].parameters, values, strict=True))
        return methods

    def _failure(self, problem: Exception, request: Request) -> Response:
        path = request.path
        if path.startswith(self._api_prefix) and path[len(self._api_prefix) :][:1] in {"", "/"}:
            return failure(problem, request.language)
        return plain_failure(problem)

    def _request_id(self, scope: Scope) -> str:
        """Our own, or the one that a trusted proxy has given the request."""
        if self._trusted:
            given = scope.headers.get("x-request-id")
            if given and _REQUEST_ID.fullmatch(given) and is_trusted(peer_address(scope.client), self._trusted):
                return str(given)
        return f"{self._id_prefix}-{next(self._request_counter):x}"


def _check_perm(principal: Principal, route: Route) -> None:
    """Refuse a caller without the perm of the operation. `profile.perms` has every name of a perm (`perms.expand`)."""
    held = principal.profile.perms
    if not any(perm in held for perm in route.perms):
        raise NotAllowed(f"{route.operation} needs {route.perms[0]}")


def _tracer(collector: str) -> Tracer | None:
    if not collector:
        return None
    try:
        from gatehouse.api.telemetry.tracing import Tracer  # noqa: PLC0415 - an extra: not everybody has it
    except ImportError:
        raise SettingsError(["GATEHOUSE_TRACES: traces need an extra: install Gatehouse with [otel]"]) from None
    return Tracer(collector)
