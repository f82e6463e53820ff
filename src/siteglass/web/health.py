"""Whether a worker lives and can answer: /healthz and /readyz."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from siteglass.errors import Unavailable
from siteglass.platform.metrics import READY
from siteglass.web.guard import Call, Guard
from siteglass.web.operations import HEALTHZ, READYZ, StatusResponse
from siteglass.web.responses import json_response

ReadinessCheck = Callable[[], Awaitable[str | None]]
"""Returns why the worker is not ready, or None."""


REPORT_EVERY_S = 10.0


async def _why_not_ready(checks: Sequence[ReadinessCheck]) -> str | None:
    for check in checks:
        try:
            reason = await check()
        except Unavailable as error:
            reason = error.reason
        if reason is not None:
            return reason
    return None


async def report_readiness(checks: Sequence[ReadinessCheck]) -> None:
    """Set the metric of readiness; a job of every worker, because load balancers may ask another one, or none."""
    READY.set(await _why_not_ready(checks) is None)


def health_routes(guard: Guard, checks: Sequence[ReadinessCheck]) -> list[Route]:
    """The routes that load balancers ask."""

    async def healthz(_request: Request, _call: Call) -> Response:
        return json_response(StatusResponse(status="ok"))

    async def readyz(_request: Request, _call: Call) -> Response:
        if (reason := await _why_not_ready(checks)) is not None:
            raise Unavailable(f"not ready: {reason}")
        return json_response(StatusResponse(status="ready"))

    return [guard.open_route(HEALTHZ, healthz), guard.open_route(READYZ, readyz)]
