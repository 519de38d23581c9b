"""From a path and a method to an endpoint. `operation_declaration.py` says how an operation is declared.

Paths without parameters are one lookup in a dictionary. The others, such as `users/{id}/form`, are found by walking a
tree of segments; a literal segment goes before a parameter. `app.py` dispatches, and checks the perms.
"""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from gatehouse.api.description.openapi_endpoint import OpenApiEndpoint
from gatehouse.api.http.request import BODY_LIMIT
from gatehouse.api.login.captcha import CaptchaEndpoint, CaptchaPictures
from gatehouse.api.login.provider_redirects import ProviderRedirectEndpoints
from gatehouse.api.oauth.flow_endpoints import flow_endpoints
from gatehouse.api.oauth.token_endpoints import TokenEndpoints
from gatehouse.api.oauth.userinfo import UserinfoEndpoint
from gatehouse.api.operation_declaration import PATH_VALUE, operations_of
from gatehouse.api.operation_table import endpoint_classes
from gatehouse.api.other_services.ended_session_events import EndedSessionsEndpoints
from gatehouse.api.other_services.health import HealthEndpoints
from gatehouse.api.other_services.introspection import IntrospectionEndpoint
from gatehouse.api.other_services.published_keys import PublishedKeyEndpoints
from gatehouse.api.pages import Pages
from gatehouse.api.pages.avatar import AvatarEndpoint
from gatehouse.api.resource_declaration import resources_of
from gatehouse.api.telemetry.metrics_endpoint import MetricsEndpoint

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from gatehouse.api.http.response import Response
    from gatehouse.api.operation_declaration import Operation
    from gatehouse.api.telemetry.metrics import Metrics, OperationMetrics
    from gatehouse.auth.login.captcha.image import CaptchaRenderer
    from gatehouse.composition import Service

    Endpoint = Callable[..., Awaitable[Response]]

Methods = dict[str, "Route"]

PATH_MAX = 1024

_VALUE = re.compile(PATH_VALUE)
_NAME = re.compile(r"{(\w+)}")

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
    return tuple(_NAME.findall(path)) if "{" in path else ()


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
    routes = Routes()
    base = service.settings.base_path
    pictures = CaptchaPictures(service, renderer, metrics)
    for endpoints in (CaptchaEndpoint(pictures), *(each(service) for each in endpoint_classes(service.settings))):
        for operation in operations_of(type(endpoints)):
            route = _route(operation, getattr(endpoints, operation.name), metrics)
            for path in (operation.path, *operation.older_paths):
                routes.add(base + path, operation.method, route)
    for path, method, name, endpoint in _resources(service, metrics, pictures):
        route = Route(name, endpoint, metrics.operation_metrics(name), parameters=parameter_names(path))
        routes.add(base + path, method, route)
    return routes


def _route(operation: Operation, endpoint: Endpoint, metrics: Metrics) -> Route:
    return Route(
        operation.name,
        endpoint,
        metrics.operation_metrics(operation.name),
        requires_token=not (operation.public or operation.checks_token_itself),
        perms=(operation.perm, *operation.or_perms) if operation.perm else (),
        parameters=parameter_names(operation.path),
        body_limit=BODY_LIMIT + operation.upload_limit if operation.body else 0,
    )


def _resources(
    service: Service, metrics: Metrics, pictures: CaptchaPictures
) -> Iterator[tuple[str, str, str, Endpoint]]:
    """Path, method, name and endpoint of what is served outside `/api/v1`."""
    pages = Pages(service.settings, service.identity.sources)
    for endpoints in (
        HealthEndpoints(service),
        PublishedKeyEndpoints(service),
        IntrospectionEndpoint(service),
        TokenEndpoints(service),
        UserinfoEndpoint(service),
        EndedSessionsEndpoints(service),
        ProviderRedirectEndpoints(service),
        OpenApiEndpoint(service),
        AvatarEndpoint(),
        *flow_endpoints(service, pages, pictures),
        *((MetricsEndpoint(metrics),) if service.settings.metrics == "on" else ()),
    ):
        for resource in resources_of(type(endpoints)):
            for path, method in product(resource.paths, resource.methods):
                yield path, method, resource.name, getattr(endpoints, resource.name)
    for path, name, endpoint in (*pages.assets(), *(pages.routes() if service.settings.pages else ())):
        for method in ("GET", "HEAD"):
            yield path, method, name, endpoint
