"""Whether a worker lives and can answer: /healthz and /readyz."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from siteglass.errors import Unavailable
from siteglass.web.guard import Call, Guard
from siteglass.web.operations import HEALTHZ, READYZ, StatusResponse
from siteglass.web.responses import json_response

ReadinessCheck = Callable[[], Awaitable[str | None]]
"""Returns why the worker is not ready, or None."""


def health_routes(guard: Guard, checks: Sequence[ReadinessCheck]) -> list[Route]:
    """The routes that load balancers ask."""

    async def healthz(_request: Request, _call: Call) -> Response:
        return json_response(StatusResponse(status="ok"))

    async def readyz(_request: Request, _call: Call) -> Response:
        for check in checks:
            if (reason := await check()) is not None:
                raise Unavailable(f"not ready: {reason}")
        return json_response(StatusResponse(status="ready"))

    return [guard.open_route(HEALTHZ, healthz), guard.open_route(READYZ, readyz)]
