"""The admin API over HTTP: for programs of people who run the service, from the networks of the setting."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from siteglass import __version__
from siteglass.access.accounts import AccountError
from siteglass.access.networks import Network, is_among, read_networks
from siteglass.admin.operations import API, OPERATIONS, Act, Desk, perform
from siteglass.admin.operators import DESK_ROLES, actor_of, bearer_of
from siteglass.admin.requests import read_given
from siteglass.errors import Forbidden
from siteglass.openapi.document import assemble
from siteglass.openapi.schemas import components
from siteglass.platform.addresses import read_address
from siteglass.settings import Settings, SettingsError, variable
from siteglass.web.guard import Call, Guard
from siteglass.web.operations import Operation
from siteglass.web.parameters import read_no_parameters
from siteglass.web.requests import read_json
from siteglass.web.responses import ProblemDetail, json_response

DOCUMENT = API + "/openapi.json"
MAX_TOKEN_CHARS = 100


class BoundRoute(Route):
    """A route for callers from some networks: for others there is nothing at its path, whatever the method."""

    def __init__(
        self,
        path: str,
        endpoint: Callable[[Request], Awaitable[Response]],
        methods: list[str],
        networks: Sequence[Network],
    ) -> None:
        super().__init__(path, endpoint, methods=methods, include_in_schema=False)
        self._networks = networks

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        # After a trusted proxy (setting trusted_proxies) this is the address that the proxy saw.
        client = scope.get("client")
        if not is_among(read_address(client[0]) if client else None, self._networks):
            return Match.NONE, {}
        return super().matches(scope)


def read_console_networks(settings: Settings) -> Sequence[Network]:
    """The networks that the console is reached from; none: it is not served. Raises SettingsError."""
    if not settings.console_networks:
        return ()
    if not settings.dashboard_secrets:
        raise SettingsError(
            f"{variable('console_networks')} is set, but {variable('dashboard_secrets')} is not: people enter the "
            "console with their sign-in of the dashboard."
        )
    try:
        return read_networks(settings.console_networks)
    except AccountError as error:
        raise SettingsError(f"{variable('console_networks')}: {error}") from None


def admin_routes(settings: Settings, guard: Guard, desk_of: Callable[[Request], Desk]) -> list[Route]:
    """The operations and their document; nothing where the console is not served."""
    networks = read_console_networks(settings)
    if not networks:
        return []

    def route(operation: Operation) -> Route:
        async def handle(request: Request, _call: Call) -> Response:
            desk = desk_of(request)
            person_id = await _require_role(desk, request, operation.scope)
            act = await _read(request, operation, settings.max_body_bytes, actor_of(person_id))
            return json_response(await perform(operation, desk, act))

        name = f"admin.{operation.name}"
        return BoundRoute(
            operation.path, guard.endpoint(name, handle, may_be_traced=True), [operation.method], networks
        )

    async def openapi(request: Request, _call: Call) -> Response:
        await _require_role(desk_of(request), request, "support")
        read_no_parameters(request.query_params)
        return json_response(document(settings))

    document_route = BoundRoute(DOCUMENT, guard.endpoint("admin.openapi", openapi), ["GET"], networks)
    return [document_route, *map(route, OPERATIONS)]


async def _require_role(desk: Desk, request: Request, role: str) -> int:
    """The number of the person whose token was sent; raises Forbidden unless they may do this."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and len(token) <= MAX_TOKEN_CHARS:
        found = await bearer_of(desk.postgres, token)
        if found is not None and DESK_ROLES.index(found[1]) >= DESK_ROLES.index(role):
            return found[0]
    raise Forbidden(desk=role)


async def _read(request: Request, operation: Operation, max_bytes: int, actor: str) -> Act:
    """What was sent, as the operation declares it; raises BadRequest."""
    body = where = None
    if operation.body is not None:
        body = read_given(operation.body, await read_json(request, max_bytes), as_text=False)
    asked = request.query_params
    if operation.method == "POST" or operation.parameters is None or request.path_params:
        read_no_parameters(asked)
    if operation.parameters is not None:
        where = read_given(operation.parameters, {**asked, **request.path_params}, as_text=True)
    return Act(actor, where, body)


@functools.cache
def document(settings: Settings) -> dict[str, Any]:
    """OpenAPI 3.1 of the admin API."""
    bodies = [operation.body for operation in OPERATIONS if operation.body]
    responses = [body for operation in OPERATIONS for body in operation.success.bodies]
    return assemble(
        list(OPERATIONS),
        settings,
        {
            "title": "Siteglass admin",
            "summary": "What people who run the service do: accounts, credits, reports, and the state of the service.",
            "version": __version__,
            "description": "For people with the role support or operator, from the networks of the setting "
            f"`{variable('console_networks')}`. They make a token in the console, on the page /admin/operators.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        {"Console": "Support reads; an operator also acts. The audit log names the person of each act."},
        {"Operator": {"type": "http", "scheme": "bearer", "description": "A token of the console, for 12 hours."}},
        components((*bodies, *responses, ProblemDetail)),
    )
