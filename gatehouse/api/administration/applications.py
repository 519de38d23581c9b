"""Applications for the administration page: what people log in to with their account here, and what to paste there.

A secret is in one answer, that of the request which makes it. Only administrators change an application
(`management/oauth_clients.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct

from gatehouse.api.actor import actor_of
from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.api.time_format import iso_time
from gatehouse.auth import refusals
from gatehouse.auth.oauth.clients import read_config
from gatehouse.auth.oauth.definitions import ClientAuth, ClientConfig, Pkce, Scope
from gatehouse.auth.refusals import ApplicationFieldInvalid
from gatehouse.management.client_recipes import OTHER, RECIPES, config_for, instructions
from gatehouse.management.oauth_clients import KEEP_SECONDS, MAX_KEEP_SECONDS, ClientDraft
from gatehouse.messages import in_language
from gatehouse.stores.errors import Duplicate, Missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.stores.database.oauth_clients import ClientSecret, StoredClient

Name = Annotated[str, Meta(max_length=64)]
Address = Annotated[str, Meta(max_length=1024)]
Addresses = Annotated[list[Address], Meta(max_length=20)]
RoleCodes = Annotated[
    list[Annotated[str, Meta(max_length=64)]],
    Meta(max_length=100, description="Who may use it: holders of one of these; empty: everybody."),
]
KeepSeconds = Annotated[
    int, Meta(ge=0, le=MAX_KEEP_SECONDS, description="How long the secret before it stays valid; without it a week.")
]


class SecretData(Struct):
    """`hint` has the last characters. `expires` is null for the newest one."""

    hint: str
    created: str
    expires: str | None


class ApplicationData(Struct, rename="camel"):
    """`users` are logged in there. The other fields are those of `POST`."""

    client_id: str
    name: str
    enabled: bool
    users: int
    created: str
    changed: str
    secrets: list[SecretData]
    auth: ClientAuth
    redirect_uris: list[str]
    post_logout_redirect_uris: list[str]
    backchannel_logout_uri: str
    scopes: list[Scope]
    roles: list[str]
    first_party: bool
    pkce: Pkce
    id_token_alg: str
    claims_in_id_token: bool
    emails_trusted: bool
    audience: str
    jwks: str
    url: str
    allow_http: bool
    recipe: str


class RecipeTitle(Struct):
    recipe: str
    title: str


class ApplicationsData(Struct):
    applications: list[ApplicationData]
    recipes: list[RecipeTitle]
    issuer: str


class ApplicationBody(Struct, rename="camel", kw_only=True):
    """What is left out stays as it is; of a new one it is what the recipe says, or else what is usual."""

    name: Name | None = None
    enabled: bool | None = None
    auth: ClientAuth | None = None
    redirect_uris: Addresses | None = None
    post_logout_redirect_uris: Addresses | None = None
    backchannel_logout_uri: Address | None = None
    scopes: list[Scope] | None = None
    roles: RoleCodes | None = None
    first_party: Annotated[bool, Meta(description="False: people are asked for consent.")] | None = None
    pkce: Pkce | None = None
    id_token_alg: Annotated[str, Meta(max_length=16, examples=["RS256", "ES256"])] | None = None
    claims_in_id_token: bool | None = None
    emails_trusted: bool | None = None
    audience: Annotated[str, Meta(max_length=255)] | None = None
    jwks: Annotated[str, Meta(max_length=16_384, description="JSON: public keys for `private_key_jwt`.")] | None = None
    url: Annotated[Address, Meta(description="Where people open it.")] | None = None
    allow_http: bool | None = None
    recipe: Annotated[str, Meta(max_length=32, examples=["grafana"])] | None = None


class NewApplicationBody(ApplicationBody, rename="camel", kw_only=True):
    """With a `recipe`, `url` is enough."""

    client_id: Annotated[str, Meta(min_length=1, max_length=64, examples=["grafana"])]


class SecretBody(Struct):
    keepSeconds: KeepSeconds | None = None


class RecipeQuery(Struct):
    recipe: Annotated[str, Meta(max_length=32, description="Of another program than the application's own.")] = ""


class RecipeData(Struct):
    """`text` is to be pasted, `where` says where."""

    recipe: str
    title: str
    where: str
    text: str


class NewSecretData(Struct):
    """`secret` is null for an application that has none; `oldUntil` if the one before it has ended."""

    secret: str | None
    oldUntil: str | None
    recipe: RecipeData


class LoggedOutData(Struct):
    users: Annotated[int, Meta(description="How many were logged in there, and are not any more.")]


class ApplicationEndpoints:
    def __init__(self, service: Service) -> None:
        self._store = service.stores.oauth_clients
        self._changes = service.management.client_changes
        self._issuer = service.settings.public_url

    @Operation(
        "GET",
        "/api/v1/applications",
        "Applications that people log in to with their account here, without their secrets",
        perm="sys:app:list",
        data=ApplicationsData,
    )
    async def applications(self, request: Request, _principal: Principal) -> Response:
        shown = await self._shown(await self._changes.all())
        recipes = [RecipeTitle(key, recipe.title) for key, recipe in RECIPES.items()]
        return success(ApplicationsData(shown, recipes, self._issuer), request.language)

    @Operation(
        "POST",
        "/api/v1/applications",
        "Add an application; its secret is in this answer alone",
        perm="sys:app:create",
        body=NewApplicationBody,
        data=NewSecretData,
        refusals=(refusals.CannotGrant, Duplicate),
    )
    async def add_application(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(NewApplicationBody)
        try:
            config = _changed(config_for(body.recipe or OTHER, body.url or ""), body)
            draft = ClientDraft(name=body.name or UNSET, enabled=body.enabled is not False, config=config)
            secret = await self._changes.add(actor_of(request, principal), body.client_id, draft)
        except ApplicationFieldInvalid as problem:
            raise _as_in_the_request(problem) from None
        recipe = self._recipe(body.client_id, config, request.language, secret)
        return success(NewSecretData(secret, None, recipe), request.language)

    @Operation(
        "GET",
        "/api/v1/applications/{clientId}",
        "One application",
        perm="sys:app:list",
        or_perms=("sys:app:update",),
        data=ApplicationData,
        refusals=(Missing,),
    )
    async def application(self, request: Request, _principal: Principal) -> Response:
        row = await self._changes.by_client_id(request.parameters["clientId"])
        [shown] = await self._shown([row])
        return success(shown, request.language)

    @Operation(
        "PUT",
        "/api/v1/applications/{clientId}",
        "Change an application; one that is disabled loses what it was granted",
        perm="sys:app:update",
        body=ApplicationBody,
        data=LoggedOutData,
        refusals=(refusals.CannotGrant, Missing),
    )
    async def edit_application(self, request: Request, principal: Principal) -> Response:
        client_id, body = request.parameters["clientId"], await request.fields(ApplicationBody)
        before = read_config(await self._changes.by_client_id(client_id))
        try:
            config = _changed(before, body)
            draft = ClientDraft(
                name=body.name or UNSET,
                enabled=UNSET if body.enabled is None else body.enabled,
                config=UNSET if config == before else config,
                before=before,
            )
            users = await self._changes.edit(actor_of(request, principal), client_id, draft)
        except ApplicationFieldInvalid as problem:
            raise _as_in_the_request(problem) from None
        return success(LoggedOutData(users), request.language)

    @Operation(
        "DELETE",
        "/api/v1/applications/{clientId}",
        "Remove an application with its secrets and what it was granted",
        perm="sys:app:delete",
        data=LoggedOutData,
        refusals=(refusals.CannotGrant, Missing),
    )
    async def remove_application(self, request: Request, principal: Principal) -> Response:
        users = await self._changes.remove(actor_of(request, principal), request.parameters["clientId"])
        return success(LoggedOutData(users), request.language)

    @Operation(
        "POST",
        "/api/v1/applications/{clientId}/secret",
        "A new secret, which is in this answer alone; the one before it stays valid for a while",
        perm="sys:app:update",
        body=SecretBody,
        data=NewSecretData,
        refusals=(refusals.CannotGrant, Missing),
    )
    async def new_application_secret(self, request: Request, principal: Principal) -> Response:
        client_id, body = request.parameters["clientId"], await request.fields(SecretBody)
        keep = KEEP_SECONDS if body.keepSeconds is None else body.keepSeconds
        made = await self._changes.new_secret(actor_of(request, principal), client_id, keep)
        config = read_config(await self._changes.by_client_id(client_id))
        recipe = self._recipe(client_id, config, request.language, made.text)
        old_until = None if made.old_until is None else iso_time(made.old_until)
        return success(NewSecretData(made.text, old_until, recipe), request.language)

    @Operation(
        "GET",
        "/api/v1/applications/{clientId}/recipe",
        "What to paste into an application, but for its secret",
        perm="sys:app:list",
        or_perms=("sys:app:update",),
        query=RecipeQuery,
        data=RecipeData,
        refusals=(Missing,),
    )
    async def application_recipe(self, request: Request, _principal: Principal) -> Response:
        client_id, query = request.parameters["clientId"], request.query_as(RecipeQuery)
        config = read_config(await self._changes.by_client_id(client_id))
        if query.recipe:
            config = msgspec.structs.replace(config, recipe=query.recipe)
        config_for(config.recipe or OTHER, config.url)  # refuses a program whose address is not known
        return success(self._recipe(client_id, config, request.language), request.language)

    async def _shown(self, rows: Sequence[StoredClient]) -> list[ApplicationData]:
        users, secrets = await self._store.users_by_client(), await self._changes.valid_secrets()
        return [_data(row, users.get(row.id, 0), secrets.get(row.id, ())) for row in rows]

    def _recipe(self, client_id: str, config: ClientConfig, language: str, secret: str | None = None) -> RecipeData:
        recipe, title, where, text = instructions(client_id, config, self._issuer, secret)
        return RecipeData(recipe, title, in_language(where, language), text)


def _data(row: StoredClient, users: int, secrets: Sequence[ClientSecret]) -> ApplicationData:
    config = read_config(row)
    fields: dict[str, Any] = {name: getattr(config, name) for name in config.__struct_fields__}
    shown = [
        SecretData(each.hint, iso_time(each.created), iso_time(each.expires) if each.expires else None)
        for each in secrets
    ]
    return ApplicationData(
        client_id=row.client_id,
        name=row.name,
        enabled=row.enabled,
        users=users,
        created=iso_time(row.created),
        changed=iso_time(row.changed),
        secrets=shown,
        **fields,
    )


def _changed(config: ClientConfig, body: ApplicationBody) -> ClientConfig:
    given = {name: getattr(body, name) for name in ClientConfig.__struct_fields__}
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    if values["auth"] not in {None, ClientAuth.PRIVATE_KEY_JWT} and values["jwks"] is None:
        values["jwks"] = ""
    return msgspec.structs.replace(config, **{name: value for name, value in values.items() if value is not None})


def _as_in_the_request(problem: ApplicationFieldInvalid) -> ApplicationFieldInvalid:
    name = re.sub("_(.)", lambda found: found[1].upper(), problem.field)
    return ApplicationFieldInvalid(name, problem.problem)
