"""Requests of people whom the data is about, over HTTP: how often they may ask, and the order of steps."""

from __future__ import annotations

import asyncio
import math
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from siteglass.access.limits import Policy, RateLimiter, Verdict, caller_limit_headers
from siteglass.errors import BadRequest, Problem, TooManyRequests
from siteglass.index.index import Index
from siteglass.privacy.limits import (
    CONFIRMATIONS_PER_HOUR,
    MAILS_IN_ALL_PER_HOUR,
    MAILS_PER_HOUR,
    MAILS_PER_SITE_AND_DOMAIN_PER_HOUR,
    MAILS_PER_SITE_PER_HOUR,
    REQUESTS_PER_HOUR,
)
from siteglass.privacy.operations import OPT_OUT, OPT_OUT_CONFIRM
from siteglass.privacy.page import OptOutPage
from siteglass.privacy.requests import contact, read_ask, read_confirm
from siteglass.privacy.responses import completed_response, pending_response
from siteglass.privacy.subject_requests import SubjectRequests
from siteglass.suppression.values import Kind, Value
from siteglass.web.address import household
from siteglass.web.guard import Call, Guard
from siteglass.web.requests import read_json
from siteglass.web.responses import json_response

BODY_DEADLINE_S = 5.0


class PrivacyEndpoints:
    """Opt-out and access requests. They need no key: people whom the data is about have none."""

    def __init__(self, index: Index, door: SubjectRequests, limiter: RateLimiter) -> None:
        self._index = index
        self._door = door
        self._limiter = limiter

    def routes(self, guard: Guard) -> list[Route]:
        """The operations and the page that calls them."""
        page = OptOutPage(self._index.settings)
        return [
            guard.open_route(OPT_OUT, self.ask),
            guard.open_route(OPT_OUT_CONFIRM, self.confirm),
            *page.routes(guard),
        ]

    async def ask(self, request: Request, call: Call) -> Response:
        """A request, answered with a ticket."""
        # Read first: a typing error is not to cost one of the few requests an hour.
        purpose, value = read_ask(await self._read_body(request, call), contact(self._index.settings))
        await self._take_ask(request, call, value)
        pending = await self._door.ask(purpose, value, self._index.clock.now_ms() // 1000)
        return json_response(pending_response(pending), 202)

    async def confirm(self, request: Request, call: Call) -> Response:
        """A request that is proven, and carried out."""
        ticket, code, purpose = read_confirm(await self._read_body(request, call))
        await self._take(request, call, "opt-out-try", CONFIRMATIONS_PER_HOUR, ticket, CONFIRMATIONS_PER_HOUR)
        return json_response(completed_response(await self._door.confirm(self._index, ticket, code, purpose)))

    async def _read_body(self, request: Request, call: Call) -> dict[str, Any]:
        """The body as a JSON object. Anybody may send one, so it has a deadline."""
        try:
            async with asyncio.timeout(BODY_DEADLINE_S):
                return await read_json(request, self._index.settings.max_body_bytes)
        except TimeoutError:
            call.headers["Connection"] = "close"  # or the rest could still drip in
            raise BadRequest([Problem("body", f"expected all of it within {BODY_DEADLINE_S:g} s")]) from None

    async def _take_ask(self, request: Request, call: Call, value: Value) -> None:
        """One request of this caller, and one for this address, so that nobody is flooded with mails."""
        mailed = value.kind is Kind.EMAIL  # to a domain none is sent
        own, bucket = f"{_from(request)} {value.text}", self._door.sealer.bucket
        await self._take(
            request, call, "opt-out-ask", REQUESTS_PER_HOUR, own, MAILS_PER_HOUR if mailed else REQUESTS_PER_HOUR
        )
        if mailed:
            host = request.client.host if request.client else ""
            site, domain = household(host, 48), value.text.rpartition("@")[2]
            verdict = await self._limiter.take(
                f"opt-out-mails-from-{bucket(site)}",
                f"opt-out-mails-from-{bucket(f'{site} {domain}')}",
                _hourly(MAILS_PER_SITE_PER_HOUR),
                _hourly(MAILS_PER_SITE_AND_DOMAIN_PER_HOUR),
            )
            _require(verdict)
            # Last, so that requests refused to one caller take nothing from what others have.
            name = f"opt-out-mails-for-{bucket(value.text)}"
            in_all = _hourly(MAILS_IN_ALL_PER_HOUR)
            _require(await self._limiter.take(name, name, in_all, in_all))

    async def _take(self, request: Request, call: Call, what: str, units: int, other: str, other_units: int) -> None:
        """Take from the limit of the caller and from that of what the request is about; raises TooManyRequests."""
        bucket = self._door.sealer.bucket
        verdict = await self._limiter.take(
            f"{what}-from-{bucket(_from(request))}",
            f"{what}-for-{bucket(other)}",
            _hourly(units),
            _hourly(other_units),
        )
        call.headers.update(caller_limit_headers(verdict))
        _require(verdict)


def _hourly(units: int) -> Policy:
    return Policy(units / 3600, units)


def _from(request: Request) -> str:
    return household(request.client.host if request.client else "")


def _require(verdict: Verdict) -> None:
    if not verdict.allowed:
        raise TooManyRequests(max(1, math.ceil(verdict.retry_after_s)))
