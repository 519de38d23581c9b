"""From a path and a method to an endpoint. To add an operation, start at the table in `contract/operations.py`.

Paths without parameters are one lookup in a dictionary. The others, such as `users/{id}/form`, are found by walking a
tree of segments; a literal segment goes before a parameter. `app.py` dispatches, and checks the perms.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from gatehouse.api.contract.operation import PATH_VALUE
from gatehouse.api.contract.operations import operations
from gatehouse.api.endpoints.auth import AuthEndpoints
from gatehouse.api.endpoints.console import console_endpoints
from gatehouse.api.endpoints.ended_sessions import EndedSessionsEndpoints
from gatehouse.api.endpoints.factors import FactorEndpoints
from gatehouse.api.endpoints.introspection import IntrospectionEndpoint
from gatehouse.api.endpoints.passkeys import PasskeyEndpoints
from gatehouse.api.endpoints.password_links import PasswordLinkEndpoints
from gatehouse.api.endpoints.qr_login import QrEndpoints
from gatehouse.api.endpoints.system import SystemEndpoints
from gatehouse.api.endpoints.users import CurrentUserEndpoints
from gatehouse.api.http.request import BODY_LIMIT
from gatehouse.api.pages import Pages

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.contract.operation import Operation
    from gatehouse.api.http.response import Response
    from gatehouse.api.telemetry.collector import Metrics, OperationMetrics
    from gatehouse.auth.login.captcha.image import CaptchaRenderer
    from gatehouse.composition import Service

    Endpoint = Callable[..., Awaitable[Response]]

Methods = dict[str, "Route"]

PATH_MAX = 1024

_VALUE = re.compile(PATH_VALUE)

# Keys of the tree that no segment of a path can be.
_PARAMETER = "/"
_METHODS = "//"


class Route(NamedTuple):
    operation: str
    endpoint: Endpoint
    operation_metrics: OperationMetrics
    # Whether the bearer is checked first; the endpoint is then called with the request and the principal.
    requires_token: bool = False
    perms: tuple[str, ...] = ()  # any of them allows the operation (`App` checks); none: every principal may
    parameters: tuple[str, ...] = ()  # their names, in the order of the path
    body_limit: int = 0  # bytes; 0 if the operation takes no body


class Routes:
    def __init__(self) -> None:
        self._exact: dict[str, Methods] = {}
        self._tree: dict[str, Any] = {}
        self.exact = self._exact.get

    def add(self, path: str, method: str, route: Route) -> None:
        if parameter_names(path) != route.parameters:
            raise ValueError(f"{path} does not have the parameters {route.parameters}")
        if not route.parameters:
            self._exact.setdefault(path, {})[method] = route
            return
        node = self._tree
        for segment in path.split("/"):
            node = node.setdefault(_PARAMETER if segment.startswith("{") else segment, {})
        node.setdefault(_METHODS, {})[method] = route

    def match(self, path: str) -> tuple[Methods, list[str]] | None:
        """The methods of a path with parameters, and the values of the parameters."""
        if len(path) > PATH_MAX:
            return None
        values: list[str] = []
        methods = _walk(self._tree, path.split("/"), 0, values)
        return (methods, values) if methods else None


def parameter_names(path: str) -> tuple[str, ...]:
    return tuple(re.findall(r"{(\w+)}", path))


def _walk(node: dict[str, Any], segments: list[str], depth: int, values: list[str]) -> Methods | None:
    if depth == len(segments):
        found: Methods | None = node.get(_METHODS)
        return found
    literal = node.get(segments[depth])
    if literal is not None and (found := _walk(literal, segments, depth + 1, values)):
        return found
    parameter = node.get(_PARAMETER) if _VALUE.fullmatch(segments[depth]) else None
    if parameter is None:
        return None
    values.append(segments[depth])
    found = _walk(parameter, segments, depth + 1, values)
    if found is None:
        values.pop()
    return found


def build_routes(service: Service, renderer: CaptchaRenderer, metrics: Metrics) -> Routes:
    auth, own = AuthEndpoints(service, renderer, metrics), CurrentUserEndpoints(service)
    endpoints: dict[str, Endpoint] = {
        "captcha": auth.captcha,
        "login": auth.login,
        "refresh": auth.refresh,
        "logout": auth.logout,
        "me": own.me,
        "sessions": own.sessions,
        "end_session": own.end_session,
        "end_other_sessions": own.end_other_sessions,
        "change_password": own.change_password,
        **FactorEndpoints(service).endpoints(),
        **PasskeyEndpoints(service).endpoints(),
        **QrEndpoints(service).endpoints(),
        **PasswordLinkEndpoints(service).endpoints(),
        **(console_endpoints(service) if service.settings.console else {}),
    }
    routes = Routes()
    base = service.settings.base_path
    for operation in operations(service.settings):
        route = _route(operation, endpoints[operation.name], metrics)
        for path in (operation.path, *operation.older_paths):
            routes.add(base + path, operation.method, route)
    _add_resources(routes, service, metrics)
    return routes


def _route(operation: Operation, endpoint: Endpoint, metrics: Metrics) -> Route:
    perms = (operation.perm, *operation.or_perms) if operation.perm else ()
    # Logout checks the bearer by itself: it needs the session alone, and works while the accounts are unavailable.
    requires_token = operation.requires_token and operation.name != "logout"
    counted = metrics.operation_metrics(operation.name)
    body_limit = BODY_LIMIT + operation.upload_limit if operation.body else 0
    return Route(operation.name, endpoint, counted, requires_token, perms, parameter_names(operation.path), body_limit)


def _add_resources(routes: Routes, service: Service, metrics: Metrics) -> None:
    """Routes outside `/api/v1`."""
    base = service.settings.base_path
    system = SystemEndpoints(service, metrics)
    resources = [
        ("/health/live", "live", system.live),
        ("/health/ready", "ready", system.ready),
        ("/.well-known/jwks.json", "jwks", system.jwks),
        ("/.well-known/oauth-authorization-server", "metadata", system.metadata),
        ("/.well-known/openid-configuration", "metadata", system.metadata),  # where most libraries look first
        ("/openapi.json", "openapi", system.openapi),
        ("/avatar.svg", "avatar", system.avatar),
        *((("/metrics", "metrics", system.metrics),) if service.settings.metrics == "on" else ()),
        *(Pages(service.settings).routes() if service.settings.pages else ()),
    ]
    for path, name, endpoint in resources:
        for method in ("GET", "HEAD"):
            routes.add(base + path, method, Route(name, endpoint, metrics.operation_metrics(name)))
    introspect = IntrospectionEndpoint(service).introspect
    route = Route("introspect", introspect, metrics.operation_metrics("introspect"))
    routes.add(base + "/oauth2/introspect", "POST", route)
    ended = EndedSessionsEndpoints(service)
    for method, path, name, endpoint in (
        ("GET", "/events/ended-sessions/stream", "ended_sessions", ended.stream),
        ("POST", "/events/poll", "poll_events", ended.poll),
    ):
        routes.add(base + path, method, Route(name, endpoint, metrics.operation_metrics(name)))
