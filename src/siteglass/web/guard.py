"""What runs before and after every operation: request ID, trace, key, network, scope, limit, errors, log, metrics."""

from __future__ import annotations

import hashlib
import logging
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from siteglass.access.keys import Caller, Keys
from siteglass.access.limits import Policy, RateLimiter, limit_headers, stranger_limit_headers
from siteglass.access.networks import is_among
from siteglass.access.request_counts import RequestCounts
from siteglass.errors import AccountSuspended, Forbidden, Internal, SiteglassError, TooManyRequests, Unavailable
from siteglass.platform.addresses import read_address
from siteglass.platform.logs import log_fault, new_request_id
from siteglass.platform.metrics import record_response
from siteglass.platform.tracing import TRACEPARENT, RequestTrace, Tracing, span
from siteglass.web.address import household
from siteglass.web.deprecations import Deprecation, announce, deprecations_of
from siteglass.web.operations import Operation
from siteglass.web.requests import BODY_KEY
from siteglass.web.responses import error_response

log = logging.getLogger("siteglass.api")

CLIENT_GONE = 499
SANDBOX_HEADER = "X-Test-Mode"
# Of an address: keys that a worker sees for the first time, which are looked up in PostgreSQL.
STRANGERS = Policy(rate_per_s=100, burst=1_000)


@dataclass(slots=True)
class Call:
    """One request: its id, and the headers of its response, whatever becomes of it."""

    request_id: str
    headers: dict[str, str] = field(default_factory=dict)
    caller: Caller | None = None
    """Once it is found: from then on the request counts as one of its key."""


Handler = Callable[[Request, Caller, Call], Awaitable[Response]]
OpenHandler = Callable[[Request, Call], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]


class Guard:
    """Makes routes of operations. One per worker."""

    def __init__(self, keys: Keys, counts: RequestCounts, limiter: RateLimiter, tracing: Tracing) -> None:
        self._keys = keys
        self._counts = counts
        self._limiter = limiter
        self._tracing = tracing

    def route(self, operation: Operation, live: Handler, sandbox: Handler | None = None) -> Route:
        """A route for callers whose key, address, scope, account and rate allow it, checked in this order.

        Callers with a test key get the `sandbox` handler where there is one. No other code asks which kind they are.
        """

        async def for_caller(request: Request, call: Call) -> Response:
            caller = await self.admit(request, call, request.headers.get("x-api-key", ""))
            if operation.scope not in caller.scopes:
                raise Forbidden(operation.scope)
            # The scope of what an account did and paid, which it may always read.
            if caller.suspended is not None and operation.scope != "account":
                raise AccountSuspended(caller.suspended)
            await self.take(caller, call, cost=1)
            handler = sandbox if caller.test and sandbox is not None else live
            return await handler(request, caller, call)

        return self.open_route(operation, for_caller)

    async def admit(self, request: Request, call: Call, key: str) -> Caller:
        """The caller of a key, if it may be used from where the request comes."""
        with span("guard.key"):
            caller = await self._keys.find(key, lambda: self._admit_stranger(request, call))
        call.caller = caller
        if caller.test:
            call.headers[SANDBOX_HEADER] = "true"
        _check_address(caller, request)
        return caller

    def open_route(self, operation: Operation, handler: OpenHandler) -> Route:
        """A route that asks for no key."""
        endpoint = self.endpoint(
            operation.name,
            handler,
            # Probes, docs and opt-outs are not.
            may_be_traced=bool(operation.scope),
            deprecations=deprecations_of(operation.name),
        )
        return Route(operation.path, endpoint, methods=[operation.method])

    def endpoint(
        self,
        name: str,
        handler: OpenHandler,
        *,
        may_be_traced: bool = False,
        deprecations: tuple[Deprecation, ...] = (),
    ) -> Endpoint:
        """An endpoint that renders every error in our own form, with a request id, a log line and metrics."""

        async def endpoint(request: Request) -> Response:
            started = time.perf_counter()
            call = Call(new_request_id())
            trace = self._tracing.begin(name, request.headers.get(TRACEPARENT)) if may_be_traced else RequestTrace()
            with trace:
                response = await _answer(handler, request, call)
                response.headers.update({**call.headers, "X-Request-Id": call.request_id})
                if deprecations:
                    announce(response, deprecations, {*request.query_params, *request.scope.get(BODY_KEY, ())})
                if traceparent := trace.traceparent:
                    response.headers[TRACEPARENT] = traceparent
                caller, status = call.caller, response.status_code
                whose: dict[str, int] = {}
                if caller is not None:
                    self._counts.count(caller.key_id, name, status)
                    whose = {"account_id": caller.account_id, "key_id": caller.key_id}
                trace.describe(status, request_id=call.request_id, **whose)
            record_response(log, name, call.request_id, status, started, **whose, **trace.log_fields())
            return response

        return endpoint

    async def _admit_stranger(self, request: Request, call: Call) -> None:
        """Take one from the limit of an address for keys that are not known here; raises TooManyRequests."""
        caller = household(request.client.host if request.client else "")
        name = f"stranger-{hashlib.sha256(caller.encode()).hexdigest()[:32]}"
        verdict = await self._limiter.take(name, name, STRANGERS, STRANGERS)
        if not verdict.allowed:
            call.headers.update(stranger_limit_headers(verdict))
            raise TooManyRequests(max(1, math.ceil(verdict.retry_after_s)))

    async def take_rest(self, caller: Caller, call: Call, cost: int) -> None:
        """Take what an operation costs beyond the unit that every call has taken, once its body is read."""
        plan, own = _policies(caller)
        # A cost counts as at most the burst, and one unit of it is gone.
        rest = min(cost, plan.burst, own.burst) - 1
        if rest > 0:
            await self.take(caller, call, rest, taken=1)

    async def take(self, caller: Caller, call: Call, cost: int, taken: int = 0) -> None:
        """Take from the rate limit of account and key; raises TooManyRequests.

        A caller that retries pays the units `taken` before once more, so they are part of the wait.
        """
        plan, own = _policies(caller)
        with span("guard.limits"):
            verdict = await self._limiter.take(str(caller.account_id), str(caller.family_id), plan, own, cost)
        call.headers.update(limit_headers(verdict))
        if not verdict.allowed:
            again_us = taken * max(plan.interval_us, own.interval_us)
            retry_after_s = max(1, math.ceil(verdict.retry_after_s + again_us / 1e6))
            call.headers["Retry-After"] = str(retry_after_s)
            raise TooManyRequests(retry_after_s)


async def _answer(handler: OpenHandler, request: Request, call: Call) -> Response:
    """What the handler returns, or the error that it raises as a response."""
    try:
        return await handler(request, call)
    except SiteglassError as error:
        if isinstance(error, Unavailable):
            log.warning("unavailable", extra={"request_id": call.request_id, "reason": error.reason})
        return error_response(error)
    except ClientDisconnect:
        return Response(status_code=CLIENT_GONE)
    except Exception as error:
        log_fault(call.request_id, error)
        return error_response(Internal())


def _check_address(caller: Caller, request: Request) -> None:
    """Raise Forbidden if the key is bound to networks and the call comes from elsewhere."""
    if caller.networks is None:
        return
    # After a trusted proxy (setting trusted_proxies) this is the address that the proxy saw.
    address = read_address(request.client.host) if request.client else None
    if not is_among(address, caller.networks):
        # What is not an address may be a text of the caller's, so it is not repeated.
        raise Forbidden(address="an unknown address" if address is None else str(address))


def _policies(caller: Caller) -> tuple[Policy, Policy]:
    """The limits of the account and of the key itself, which those it was rotated from share."""
    plan = Policy(caller.rate_per_s, caller.burst)
    return plan, Policy(caller.key_rate_per_s or caller.rate_per_s, caller.key_burst or caller.burst)
