"""What runs around an operation that is charged: find and serialize the response, then charge, and only then answer.

Between the charge and the response only the delivery can fail. Idempotency-Key covers that: the charge stores the
response, and a caller that repeats the request gets it again. A response that cost nothing is not stored: it is found
again, and nothing is charged for it.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import zlib
from collections.abc import Awaitable, Callable, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from siteglass.access.keys import Caller
from siteglass.access.limits import Claims
from siteglass.billing.answers import AnswerToStore, StoredAnswer, compress
from siteglass.billing.credits import Bill, Billing, ListsChanged, Receipt
from siteglass.billing.in_doubt import InDoubt
from siteglass.billing.responses import credit_headers
from siteglass.errors import (
    BadRequest,
    CreditCapExceeded,
    IdempotencyInProgress,
    IdempotencyMismatch,
    IdempotencyPriceChanged,
    Problem,
    Unavailable,
)
from siteglass.leads import replay
from siteglass.leads.responses import Quote
from siteglass.platform.backends import Backends
from siteglass.platform.tracing import timed_span
from siteglass.settings import Settings
from siteglass.web.guard import Call, Handler
from siteglass.web.requests import read_json
from siteglass.web.responses import bytes_response, json_response

KEY_HEADER = "Idempotency-Key"
MAX_KEY_CHARS = 255
# How often a search is run if its lists change between search and charge.
MAX_ATTEMPTS = 5
FIRST_REQUEST_HEADER = "Idempotency-Request-Id"
REPEATED_HEADER = "Idempotency-Repeated"
RETRY_HEADERS = ("Idempotency-Replayed", FIRST_REQUEST_HEADER, "Idempotency-Redacted", REPEATED_HEADER)
# Bare, or quoted as a structured field: both mean the same key.
_KEY = re.compile(r'"(?P<quoted>[\x21\x23-\x5b\x5d-\x7e]{1,255})"|(?P<bare>[\x21\x23-\x7e]{1,255})')


@dataclass(frozen=True, slots=True)
class Offer:
    """A response that is ready and not yet paid for."""

    bill: Bill
    body: bytes
    quote: Callable[[int, int], Quote]
    """What a dry run returns for a price of so many API and lead credits."""
    dry_run: bool
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retry:
    """What makes a request the same as an earlier one."""

    key: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class FreeBefore:
    """A request with this key had a response that cost nothing, so it was not stored."""

    request_id: str


Work = Callable[[Request, Caller, Call, dict[str, Any]], Awaitable[Offer]]
FindOffer = Callable[[], Awaitable[Offer]]


class AccountCharger:
    """Charges accounts for what an operation found."""

    def __init__(self, backends: Backends, claims: Claims) -> None:
        self._backends = backends
        settings = backends.settings
        self._billing = Billing(backends.postgres, settings.charge_timeout_ms, settings.received_free_days)
        self._settings = backends.settings
        self._claims = claims

    def charged(self, work: Work, *, may_be_empty: bool = False) -> Handler:
        """A handler that finds a response, charges for it and returns it, once per Idempotency-Key."""

        async def handler(request: Request, caller: Caller, call: Call) -> Response:
            body = await read_json(request, self._settings.max_body_bytes, may_be_empty=may_be_empty)
            retry = read_retry(request, body)
            find = partial(work, request, caller, call, body)
            if retry is None:
                return await self._find_and_pay(find, caller, call.request_id)
            return await self.charge_once(find, caller, call.request_id, retry)

        return handler

    async def charge_once(self, find: FindOffer, caller: Caller, request_id: str, retry: Retry) -> Response:
        """The response to this key: the first one again, or one that is found and charged now.

        If the first one cost nothing, it is found again. Raises IdempotencyPriceChanged if it costs something by now.
        """
        try:
            async with self._claims.held(caller.account_id, retry.key, request_id) as alone:
                # Look up after claiming: otherwise another request could be answered between our look-up and our claim.
                before = await self.find_earlier(caller, retry)
                if isinstance(before, Response):
                    return before
                if not alone:
                    raise IdempotencyInProgress
                if before is not None:
                    return await self._find_free(find, caller, request_id)
                return await self._find_and_pay(find, caller, request_id, retry)
        except Unavailable as error:
            # An earlier attempt may have been charged: nothing may be claimed about that.
            raise Unavailable(error.reason, while_charging=True, can_retry=True) from error

    async def close(self) -> None:
        """Wait for charges under way, and note those that are in doubt."""
        await self._billing.close()

    def report(self) -> None:
        """Set the metrics of charges that wait, or are in doubt."""
        self._billing.report()

    @property
    def in_doubt(self) -> InDoubt:
        """The charges whose confirmation was lost."""
        return self._billing.in_doubt

    async def quote(self, caller: Caller, bill: Bill) -> Receipt:
        """What a response would cost now, and what the account has."""
        return await self._billing.quote(caller, bill)

    async def free_leads(self, caller: Caller, domains: Sequence[str], without_address: Set[str]) -> frozenset[str]:
        """The leads among these that a person gets free of charge, because the account received them before."""
        return await self._billing.free_leads(caller, domains, without_address)

    async def _find_and_pay(
        self, find: FindOffer, caller: Caller, request_id: str, retry: Retry | None = None
    ) -> Response:
        """Find the response and charge for it; both again if a list changed in between."""

        async def find_prepared() -> Offer:
            await self._billing.prepare(caller)
            return await find()

        for _ in range(MAX_ATTEMPTS):
            offer = await find_offer(self._settings, find_prepared)
            try:
                paid = await self._pay(caller, request_id, offer, retry)
            except ListsChanged:
                continue
            return paid if isinstance(paid, Response) else await self._find_free(find, caller, request_id)
        raise Unavailable("the lists of this search changed during each attempt")

    async def _find_free(self, find: FindOffer, caller: Caller, request_id: str) -> Response:
        """A response again that cost nothing, as it is now and only as long as it costs nothing."""

        async def find_capped() -> Offer:
            offer = await find()
            headers = {**offer.headers, REPEATED_HEADER: "true"}
            return replace(offer, bill=replace(offer.bill, max_lead=0), headers=headers)

        try:
            return await self._find_and_pay(find_capped, caller, request_id)
        except CreditCapExceeded as error:
            raise IdempotencyPriceChanged(error.need) from None

    async def _pay(self, caller: Caller, request_id: str, offer: Offer, retry: Retry | None) -> Response | FreeBefore:
        if offer.dry_run:
            return dry_run_response(offer, await self._billing.quote(caller, offer.bill))
        keep = None
        if retry is not None:
            headers = orjson.dumps(offer.headers).decode()
            keep = AnswerToStore(retry.key, retry.fingerprint, headers, compress(offer.body))
        with timed_span("charge"):
            receipt = await self._billing.charge(caller, request_id, offer.bill, keep)
        if receipt is not None:
            return paid_response(offer, receipt)
        before = None if retry is None else await self.find_earlier(caller, retry)
        if before is None:
            raise Unavailable("a stored response is missing")
        return before

    async def find_earlier(self, caller: Caller, retry: Retry) -> Response | FreeBefore | None:
        """The response that was given first, byte for byte except for what was suppressed since; or that it was free.

        Raises IdempotencyMismatch if it was to another request.
        """
        found = await self._billing.find_answer(caller, retry.key)
        if found is None:
            return None
        kept, receipt = found
        if kept.fingerprint != retry.fingerprint:
            raise IdempotencyMismatch
        await self._billing.confirm_answer(caller, retry.key)
        if kept.compressed is None:
            return FreeBefore(kept.request_id)
        return await self._replay(kept, zlib.decompress(kept.compressed), receipt)

    async def _replay(self, kept: StoredAnswer, body: bytes, receipt: Receipt) -> Response:
        redacted = await replay.without_suppressed(self._backends, body, kept.domains)
        headers = {
            **orjson.loads(kept.headers),
            **credit_headers(receipt),
            "Idempotency-Replayed": "true",
            FIRST_REQUEST_HEADER: kept.request_id,
            **({} if redacted is None else {"Idempotency-Redacted": "true"}),
        }
        return bytes_response(body if redacted is None else redacted, headers=headers)


def read_retry(request: Request, body: dict[str, Any]) -> Retry | None:
    """The key, and a fingerprint of method, path and body; how the JSON is written does not matter."""
    given = request.headers.get(KEY_HEADER)
    if given is None:
        return None
    match = _KEY.fullmatch(given)
    if match is None:
        expected = f"expected 1 to {MAX_KEY_CHARS} visible ASCII characters, such as a UUID, bare or in double quotes"
        raise BadRequest([Problem(KEY_HEADER, expected)])
    try:
        canonical = orjson.dumps(body, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # what can be read so deep cannot be written
        raise BadRequest([Problem("body", "expected values that are not nested hundreds of levels deep")]) from None
    parts = (request.method.encode(), request.url.path.encode(), canonical)
    return Retry(match["quoted"] or match["bare"], hashlib.sha256(b"\n".join(parts)).digest())


async def find_offer(settings: Settings, find: FindOffer) -> Offer:
    """What the operation found, within the part of the deadline that is not the charge's."""
    try:
        async with asyncio.timeout((settings.request_timeout_ms - settings.charge_timeout_ms) / 1000):
            return await find()
    except TimeoutError as error:
        raise Unavailable("the response was not ready before the request's deadline") from error


def paid_response(offer: Offer, receipt: Receipt) -> Response:
    """The response, with what it cost."""
    return bytes_response(offer.body, headers={**offer.headers, **credit_headers(receipt)})


def dry_run_response(offer: Offer, price: Receipt) -> Response:
    """The price in place of the response."""
    body = offer.quote(price.api, price.lead)
    return json_response(body, headers={**offer.headers, **credit_headers(Receipt(0, 0, price.balances))})
