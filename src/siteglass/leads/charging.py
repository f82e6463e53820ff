"""What stands around an operation that is charged: find and spell, then charge, and only then answer.

Nothing can fail between the charge and the answer but the way out; for that there is Idempotency-Key: the charge stores
the answer, and whoever sends the same again gets it again.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from siteglass.access.keys import Caller
from siteglass.billing.answers import Answer, Keep, compress
from siteglass.billing.credits import Bill, Receipt, charge, find_answer, quote
from siteglass.errors import BadRequest, IdempotencyInProgress, IdempotencyMismatch, Problem, Unavailable
from siteglass.leads import replay
from siteglass.leads import sandbox as test_mode
from siteglass.web.guard import Call, Operation, Service
from siteglass.web.requests import read_json
from siteglass.web.responses import answer, credit_headers, spelled_answer

KEY_HEADER = "Idempotency-Key"
MAX_KEY_CHARS = 255
# Bare, or quoted as a structured field: both mean the same key.
_KEY = re.compile(r'"(?P<quoted>[\x21\x23-\x5b\x5d-\x7e]{1,255})"|(?P<bare>[\x21\x23-\x7e]{1,255})')


@dataclass(frozen=True, slots=True)
class Offer:
    """An answer that is ready and not yet paid for."""

    bill: Bill
    body: bytes
    told: dict[str, int]
    """What a dry run tells beside the price."""
    dry_run: bool
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retry:
    """What makes a request the same as an earlier one."""

    key: str
    fingerprint: bytes


Work = Callable[[Service, Request, Caller, Call, dict[str, Any]], Awaitable[Offer]]


def charged(work: Work, *, may_be_empty: bool = False) -> Operation:
    """The operation that finds an answer, charges for it and gives it, once per Idempotency-Key."""

    async def operation(service: Service, request: Request, caller: Caller, call: Call) -> Response:
        body = await read_json(request, service.backends.settings.max_body_bytes, may_be_empty=may_be_empty)
        retry = _retry(request, body)
        if retry is None or caller.test:  # what costs nothing need not be kept: the same again is found again
            return await _paid(service, caller, call, await _found(work, service, request, caller, call, body))
        try:
            return await _once(work, service, request, caller, call, body, retry)
        except Unavailable as error:
            # An earlier attempt may have been charged: nothing may be claimed about that.
            raise Unavailable(error.reason, while_charging=True, can_retry=True) from error

    return operation


async def _once(
    work: Work, service: Service, request: Request, caller: Caller, call: Call, body: dict[str, Any], retry: Retry
) -> Response:
    """The answer to this key: the first one again, or one that is found and charged now."""
    async with service.claims.held(caller.account_id, retry.key, call.request_id) as alone:
        # Only now: who looks first and claims then may hold the claim of one that was answered in between.
        before = await _answered_before(service, caller, retry)
        if before is not None:
            return before
        if not alone:
            raise IdempotencyInProgress
        offer = await _found(work, service, request, caller, call, body)
        return await _paid(service, caller, call, offer, retry)


def _retry(request: Request, body: dict[str, Any]) -> Retry | None:
    """The key, and a print of method, path and body; how the JSON is written does not matter."""
    given = request.headers.get(KEY_HEADER)
    if given is None:
        return None
    found = _KEY.fullmatch(given)
    if found is None:
        expected = f"expected 1 to {MAX_KEY_CHARS} visible ASCII characters, such as a UUID, bare or in double quotes"
        raise BadRequest([Problem(KEY_HEADER, expected)])
    try:
        canonical = orjson.dumps(body, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # what can be read so deep cannot be written
        raise BadRequest([Problem("body", "expected values that are not nested in hundreds of others")]) from None
    print_ = hashlib.sha256(b"\n".join((request.method.encode(), request.url.path.encode(), canonical))).digest()
    return Retry(found["quoted"] or found["bare"], print_)


async def _found(
    work: Work, service: Service, request: Request, caller: Caller, call: Call, body: dict[str, Any]
) -> Offer:
    """The answer, within the part of the deadline that is not the charge's."""
    settings = service.backends.settings
    try:
        async with asyncio.timeout((settings.request_timeout_ms - settings.charge_timeout_ms) / 1000):
            return await work(service, request, caller, call, body)
    except TimeoutError as error:
        raise Unavailable("the answer was not found within the deadline of the request") from error


async def _paid(service: Service, caller: Caller, call: Call, offer: Offer, retry: Retry | None = None) -> Response:
    settings, postgres = service.backends.settings, service.backends.postgres
    if caller.test and not offer.dry_run:
        return spelled_answer(offer.body, headers={**offer.headers, **credit_headers(test_mode.receipt(offer.bill))})
    if offer.dry_run:
        price = (
            test_mode.receipt(replace(offer.bill, max_lead=None))
            if caller.test
            else await quote(postgres, caller, offer.bill, timeout_ms=settings.postgres_timeout_ms)
        )
        nothing_used = Receipt(0, 0, price.balances)
        told = {"dry_run": True, "api_credits": price.api, "lead_credits": price.lead, **offer.told}
        return answer(told, headers={**offer.headers, **credit_headers(nothing_used)})
    keep = None
    if retry is not None:
        headers = orjson.dumps(offer.headers).decode()
        keep = Keep(retry.key, retry.fingerprint, headers, compress(offer.body))
    receipt = await charge(postgres, caller, call.request_id, offer.bill, keep, timeout_ms=settings.charge_timeout_ms)
    if receipt is not None:
        return spelled_answer(offer.body, headers={**offer.headers, **credit_headers(receipt)})
    before = None if retry is None else await _answered_before(service, caller, retry)
    if before is None:
        raise Unavailable("an answer that was kept is gone")
    return before


async def _answered_before(service: Service, caller: Caller, retry: Retry) -> Response | None:
    """The answer that was given first, byte for byte but for what was suppressed since.

    Raises IdempotencyMismatch if it was to another request.
    """
    timeout_ms = service.backends.settings.postgres_timeout_ms
    found = await find_answer(service.backends.postgres, caller, retry.key, timeout_ms=timeout_ms)
    if found is None:
        return None
    kept, receipt = found
    if kept.fingerprint != retry.fingerprint:
        raise IdempotencyMismatch
    return await _replayed(service, kept, receipt)


async def _replayed(service: Service, kept: Answer, receipt: Receipt) -> Response:
    body = kept.body()
    redacted = await replay.without_suppressed(service.backends, body, kept.domains)
    headers = {
        **orjson.loads(kept.headers),
        **credit_headers(receipt),
        "Idempotency-Replayed": "true",
        "Idempotency-Request-Id": kept.request_id,
        **({} if redacted is None else {"Idempotency-Redacted": "true"}),
    }
    return spelled_answer(body if redacted is None else redacted, headers=headers)
