"""What stands before and behind every operation: request id, key, address, scope, rate limit, errors, log, metrics."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from siteglass.access.keys import Caller, Keys
from siteglass.access.limits import Claims, Policy, RateLimiter, limit_headers
from siteglass.access.networks import is_among, read_address
from siteglass.access.request_counts import RequestCounts
from siteglass.errors import Forbidden, Internal, SiteglassError, TooManyRequests, Unavailable
from siteglass.index.names import Names
from siteglass.leads import sandbox as test_mode
from siteglass.leads.language_model import LanguageModel
from siteglass.platform.backends import Backends
from siteglass.platform.logs import log_fault, new_request_id
from siteglass.platform.metrics import tell_answer
from siteglass.privacy.subject_requests import FrontDoor
from siteglass.query.cursor import CursorSealer
from siteglass.suppression.hidden import Hidden
from siteglass.web.responses import error_answer

log = logging.getLogger("siteglass.api")

CLIENT_GONE = 499


@dataclass(frozen=True, slots=True)
class Service:
    """What the routes work with; made once per worker."""

    backends: Backends
    names: Names
    sealer: CursorSealer
    keys: Keys
    counts: RequestCounts
    limiter: RateLimiter
    claims: Claims
    hidden: Hidden
    door: FrontDoor
    language_model: LanguageModel | None = None
    """Asked about sentences that the rules cannot read; None: nobody is."""

    def names_for(self, caller: Caller) -> Names:
        """The index that a caller searches."""
        return test_mode.names_of(self.names.prefix) if caller.test else self.names


@dataclass(slots=True)
class Call:
    """One request: its id, and what every answer to it carries, whatever becomes of it."""

    request_id: str
    headers: dict[str, str] = field(default_factory=dict)
    key_id: int | None = None
    """Of the caller, once it is found: from then on the request counts as one of this key."""


Operation = Callable[[Service, Request, Caller, Call], Awaitable[Response]]
OpenOperation = Callable[[Service, Request, Call], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]


def guarded(name: str, scope: str, operation: Operation) -> Endpoint:
    """An endpoint that runs the operation for a caller whose key, address, scope and rate allow it, in this order."""

    async def for_caller(service: Service, request: Request, call: Call) -> Response:
        caller = await service.keys.find(request.headers.get("x-api-key", ""))
        call.key_id = caller.key_id
        if caller.test:
            call.headers[test_mode.HEADER] = "true"
        _check_address(caller, request)
        if scope not in caller.scopes:
            raise Forbidden(scope)
        await _take(service, caller, call, cost=1)
        return await operation(service, request, caller, call)

    return answered(name, for_caller)


def _check_address(caller: Caller, request: Request) -> None:
    """Raise Forbidden if the key is bound to networks and the call comes from elsewhere."""
    if caller.networks is None:
        return
    # Behind a proxy that is trusted (setting trusted_proxies) this is the address that the proxy saw.
    address = read_address(request.client.host) if request.client else None
    if not is_among(address, caller.networks):
        # What is no address may be a text of the caller's: not repeated.
        raise Forbidden(address="an unknown address" if address is None else str(address))


async def take_rest(service: Service, caller: Caller, call: Call, cost: int) -> None:
    """Take what an operation costs beyond the unit that every call has taken, once its body is read."""
    plan, own = _policies(caller)
    # A cost counts as at most the burst, and one unit of it is gone.
    rest = min(cost, plan.burst, own.burst) - 1
    if rest > 0:
        await _take(service, caller, call, rest, taken=1)


def _policies(caller: Caller) -> tuple[Policy, Policy]:
    """The limits of the account and of the key itself, which those it was rotated from share."""
    plan = Policy(caller.rate_per_s, caller.burst)
    return plan, Policy(caller.key_rate_per_s or caller.rate_per_s, caller.key_burst or caller.burst)


async def _take(service: Service, caller: Caller, call: Call, cost: int, taken: int = 0) -> None:
    """Take from the rate limit of account and key; raises TooManyRequests.

    Who tries again pays the units `taken` before once more, so they are part of the wait.
    """
    plan, own = _policies(caller)
    verdict = await service.limiter.take(str(caller.account_id), str(caller.family_id), plan, own, cost)
    call.headers.update(limit_headers(verdict))
    if not verdict.allowed:
        again_us = taken * max(plan.interval_us, own.interval_us)
        retry_after_s = max(1, math.ceil(verdict.retry_after_s + again_us / 1e6))
        call.headers["Retry-After"] = str(retry_after_s)
        raise TooManyRequests(retry_after_s)


def answered(name: str, work: OpenOperation) -> Endpoint:
    """An endpoint that answers every error in our own form, with a request id, a log line and metrics."""

    async def endpoint(request: Request) -> Response:
        started = time.perf_counter()
        call = Call(new_request_id())
        service: Service = request.app.state.service
        try:
            response = await work(service, request, call)
        except SiteglassError as error:
            if isinstance(error, Unavailable):
                log.warning("unavailable", extra={"request_id": call.request_id, "reason": error.reason})
            response = error_answer(error)
        except ClientDisconnect:
            response = Response(status_code=CLIENT_GONE)
        except Exception as error:
            log_fault(call.request_id, error)
            response = error_answer(Internal())
        response.headers.update({**call.headers, "X-Request-Id": call.request_id})
        if call.key_id is not None:
            service.counts.count(call.key_id, name, response.status_code)
        tell_answer(log, name, call.request_id, response.status_code, started)
        return response

    return endpoint
