"""Whether a worker lives and can answer, and what it counts: /healthz, /readyz and /metrics."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from siteglass.errors import Unavailable
from siteglass.web.guard import Call, Guard
from siteglass.web.operations import HEALTHZ, METRICS, READYZ, StatusResponse
from siteglass.web.responses import json_response

ReadinessCheck = Callable[[], Awaitable[str | None]]
"""Returns why the worker is not ready, or None."""


def health_routes(guard: Guard, checks: Sequence[ReadinessCheck]) -> list[Route]:
    """The routes that load balancers and monitoring ask."""

    async def healthz(_request: Request, _call: Call) -> Response:
        return json_response(StatusResponse(status="ok"))

    async def readyz(_request: Request, _call: Call) -> Response:
        for check in checks:
            if (reason := await check()) is not None:
                raise Unavailable(f"not ready: {reason}")
        return json_response(StatusResponse(status="ready"))

    async def metrics(_request: Request, _call: Call) -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    return [guard.open_route(HEALTHZ, healthz), guard.open_route(READYZ, readyz), guard.open_route(METRICS, metrics)]
