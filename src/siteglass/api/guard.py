"""What stands before and behind every operation: request id, the caller's key, errors, log line and metrics."""

from __future__ import annotations

import hmac
import logging
import time
import traceback
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from siteglass import metrics
from siteglass.api.responses import error_answer
from siteglass.backends import Backends
from siteglass.errors import Internal, SiteglassError, Unauthorized, Unavailable
from siteglass.index.names import Names
from siteglass.query.cursor import CursorSealer

log = logging.getLogger("siteglass.api")

CLIENT_GONE = 499


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls."""

    account: str


@dataclass(frozen=True, slots=True)
class Service:
    """What the routes work with; made once per worker."""

    backends: Backends
    names: Names
    sealer: CursorSealer


Operation = Callable[[Service, Request, Caller], Awaitable[Response]]
OpenOperation = Callable[[Service, Request], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]


def _caller(service: Service, request: Request) -> Caller:
    given = request.headers.get("x-api-key", "")
    if not given or not hmac.compare_digest(given.encode(), service.backends.settings.api_key.encode()):
        raise Unauthorized
    return Caller(account="0")


def guarded(name: str, operation: Operation) -> Endpoint:
    """An endpoint that runs the operation for a known caller."""

    async def for_caller(service: Service, request: Request) -> Response:
        return await operation(service, request, _caller(service, request))

    return answered(name, for_caller)


def answered(name: str, work: OpenOperation) -> Endpoint:
    """An endpoint that answers every error in our own form, with a request id, a log line and metrics."""

    async def endpoint(request: Request) -> Response:
        started = time.perf_counter()
        request_id = str(uuid.uuid4())
        service: Service = request.app.state.service
        try:
            response = await work(service, request)
        except SiteglassError as error:
            if isinstance(error, Unavailable):
                log.warning("unavailable", extra={"request_id": request_id, "reason": error.reason})
            response = error_answer(error)
        except ClientDisconnect:
            response = Response(status_code=CLIENT_GONE)
        except Exception as error:
            log_fault(request_id, error)
            response = error_answer(Internal())
        response.headers["X-Request-Id"] = request_id
        seconds = time.perf_counter() - started
        metrics.REQUESTS.labels(name, response.status_code).inc()
        metrics.REQUEST_SECONDS.labels(name).observe(seconds)
        fields = {
            "request_id": request_id,
            "operation": name,
            "status": response.status_code,
            "ms": round(seconds * 1e3, 2),
        }
        log.info("answered", extra=fields)
        return response

    return endpoint


def log_fault(request_id: str, error: BaseException) -> None:
    """A fault of ours: its kind and place. Not its message, which may quote an address."""
    frames = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    log.error("fault", extra={"request_id": request_id, "kind": type(error).__name__, "frames": frames[-8:]})
