"""The endpoint `/mcp`: one POST is one message of the protocol, and any worker answers it.

The tools are those of `sgl mcp`. They call the operations of the service in this process, with the key and address of
the caller. So checks, limits and charges are those of any other client, and there is no second way to pay.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from contextvars import ContextVar

import httpx
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message

from siteglass.errors import BadRequest, Forbidden, Problem, Unauthorized
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings
from siteglass.web.address import origin_of, public_url
from siteglass.web.agents.sessions import AgentSessions
from siteglass.web.guard import Call, Guard
from siteglass.web.requests import read_bytes
from siteglass.web.responses import SAFE_HEADERS
from siteglass_client.async_client import AsyncSiteglass
from siteglass_client.calls import MAX_LEAD_CREDITS
from siteglass_client.mcp.server import make_server
from siteglass_client.mcp.tools import Tools

PATH = "/mcp"
CEILING_HEADER = "X-Session-Max-Credits"
DEADLINE_S = 45.0
"""Of a call; less than proxies wait."""

_NOTED = """
INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, key_id, details)
VALUES ('key', $1::bigint::text, 'agent.session', $2, $1, jsonb_build_object('max_credits', $3::integer))
"""


class AgentEndpoint:
    """One per worker. `running` is entered while the service runs."""

    def __init__(self, settings: Settings, guard: Guard, postgres: Postgres) -> None:
        self._guard = guard
        self._postgres = postgres
        self._max_body_bytes = settings.max_body_bytes
        self._session_credits = settings.agent_session_credits
        self._origin = origin_of(public_url(settings))
        self._sessions = AgentSessions(settings.redis_url, settings.redis_prefix)
        self._tools: ContextVar[Tools] = ContextVar("tools")
        server = make_server(self._tools.get, deadline_s=DEADLINE_S)
        # Our own check of the origin follows; the host is whatever the proxies in front of the service accept.
        anywhere = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(
            json_response=True,
            stateless_http=True,
            max_request_body_size=settings.max_body_bytes,
            transport_security=anywhere,
        )
        self._manager = server.session_manager

    @property
    def route(self) -> Route:
        """Streams of server messages are not offered: the path takes POST only."""
        answer = self._guard.endpoint("mcp", self._answer, may_be_traced=True)
        return Route(PATH, answer, methods=["POST"], include_in_schema=False)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Accept messages, then end the connection to Redis."""
        async with self._manager.run():
            yield
        await self._sessions.close()

    async def _answer(self, request: Request, call: Call) -> Response:
        origin = request.headers.get("origin")
        if origin is not None and origin != self._origin:
            raise Forbidden(origin=True)
        key = _presented_key(request)
        try:
            caller = await self._guard.admit(request, call, key)
        except Unauthorized:
            raise Unauthorized(bearer=True) from None
        await self._guard.take(caller, call, cost=1)
        body = await read_bytes(request, self._max_body_bytes)
        ceiling = self._ceiling(request)
        address = request.client or ("", 0)
        # The service's own refusals are final, so nothing is tried twice.
        client = AsyncSiteglass(
            key,
            f"http://{request.url.netloc}",
            deadline_s=DEADLINE_S,
            max_attempts=1,
            transport=httpx.ASGITransport(request.app, raise_app_exceptions=False, client=(address[0], address[1])),
        )
        async with client:
            session = await self._sessions.open(caller, ceiling, client._send)
            if session.needs_audit:
                await self._postgres.fetch(_NOTED, caller.key_id, caller.account_id, ceiling)
                await session.note_audited()
            self._tools.set(Tools(client, session, DEADLINE_S))
            return await self._exchange(request, body)

    def _ceiling(self, request: Request) -> int:
        """The credits of each kind that the session may spend."""
        given = request.headers.get(CEILING_HEADER)
        if given is None:
            return self._session_credits
        if not (given.isascii() and given.isdigit() and len(given) < 10 and int(given) <= MAX_LEAD_CREDITS):
            raise BadRequest([Problem(CEILING_HEADER, f"expected a number from 0 to {MAX_LEAD_CREDITS}")])
        return int(given)

    async def _exchange(self, request: Request, body: bytes) -> Response:
        """What the protocol's package answers. A response is bounded by the tokens of the tools."""
        status, headers, content = 500, {}, bytearray()

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers.update({name.decode("latin-1"): value.decode("latin-1") for name, value in message["headers"]})
            else:
                content.extend(message.get("body", b""))

        await self._manager.handle_request(request.scope, receive, send)
        headers.pop("content-length", None)
        return Response(bytes(content), status, {**SAFE_HEADERS, **headers})


def _presented_key(request: Request) -> str:
    """The key as bearer token, which programs of agents send, or in the header of the API."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else request.headers.get("x-api-key", "")
