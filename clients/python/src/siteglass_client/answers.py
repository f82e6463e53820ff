"""Read answers: a status, headers and bytes become a value or an error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from siteglass_client.errors import ConnectionFailed, service_error
from siteglass_client.items import Item
from siteglass_client.messages import EvidentValue, Lead, Reading
from siteglass_client.retrying import read_retry_after

# Twenty times the largest page that the service keeps for a retry: anything longer is not a response of the service.
MAX_ANSWER_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Credits:
    """What an answer cost, and what the account has left; of a replay what it cost when it was first given."""

    api_used: int
    lead_used: int
    api_left: int | None
    lead_left: int | None


@dataclass(frozen=True)
class Answer:
    """The body of a success, and what its headers say."""

    body: dict[str, Any]
    request_id: str | None
    credits: Credits
    replayed: bool = False
    """It was charged before, under `charged_as`, and cost nothing now."""
    tried_before: bool = False
    """An attempt before this one, of the same call, may have been charged: a replay may be of what that one bought."""
    charged_as: str | None = None
    """The request id under which the ledger has it."""
    total_estimated: bool = False
    notes: int = 0
    """How many things to know before trusting how `query` was read."""
    hint: str | None = None
    """Of a search without results: the smallest change that gives it some."""


@dataclass(frozen=True)
class Page:
    """A page of leads."""

    leads: list[Lead]
    total_results: int
    credits_used: int
    """Lead credits that this page cost."""
    credits: Credits
    filters: dict[str, Any]
    """What was searched for; sent as `filters` it repeats the search."""
    result_id: str
    next: str | None
    previous: str | None
    request_id: str | None
    replayed: bool
    total_estimated: bool
    notes: int
    hint: str | None = None
    """If the search found no lead: the smallest change that gives it results, where one change is enough."""
    reading: Reading | None = None
    """On the first page of a search with a sentence: how it was interpreted."""

    @property
    def rows(self) -> list[Lead]:
        return self.leads


@dataclass(frozen=True)
class Batch:
    """The items of one enrichment call, and those that repeat earlier ones free of charge."""

    items: list[Item]
    credits_used: int
    """Lead credits that this batch cost."""
    api_credits_used: int
    credits: Credits
    request_id: str | None
    replayed: bool

    @property
    def rows(self) -> list[Item]:
        return self.items


@dataclass(frozen=True)
class Evidence:
    """Where and when each address and number of a lead was seen, in the order of the lead."""

    domain: str
    """The domain under which the lead is stored."""
    emails: list[EvidentValue]
    phones: list[EvidentValue]
    request_id: str | None


@dataclass(frozen=True)
class Quote:
    """What something costs before it is done."""

    lead_credits: int
    api_credits: int
    total_results: int
    """Leads that match; of an enrichment, domains found."""
    exact: bool
    """False: it costs at most this."""


class JsonLines:
    """Records of a response that comes piece by piece. A line ends at a newline only: texts contain other breaks."""

    def __init__(self) -> None:
        self._rest = b""

    def records(self, piece: bytes) -> list[dict[str, Any]]:
        """The records that are complete with this piece."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        return [json.loads(line) for line in lines]


def _number(headers: Mapping[str, str], name: str) -> int | None:
    value = headers.get(name, "")
    return int(value) if value.isascii() and value.lstrip("-").isdigit() else None


def read_answer(status: int, headers: Mapping[str, str], content: bytes, now_epoch_s: float) -> Answer:
    """The answer of a success. Headers must be found whatever their case.

    Raises the ServiceError that the answer says; ConnectionFailed if it is cut or no JSON.
    """
    request_id = headers.get("x-request-id")
    body: Any = None
    try:
        body = json.loads(content)
    except ValueError:
        if 200 <= status < 300:
            raise ConnectionFailed(f"a response of {len(content)} bytes is not complete JSON") from None
    if not 200 <= status < 300:
        retry_after_s = read_retry_after(headers.get("retry-after"), now_epoch_s)
        told = body if isinstance(body, dict) else {}
        if 300 <= status < 400:
            told = {"message": f"It redirects to {headers.get('location')!r}: use the URL of the service itself."}
        raise service_error(status, told, request_id=request_id, retry_after_s=retry_after_s)
    if not isinstance(body, dict):
        raise ConnectionFailed("the response is JSON, but not an object; is this the URL of the service?")
    return Answer(
        body,
        request_id,
        Credits(
            _number(headers, "x-credits-api-used") or 0,
            _number(headers, "x-credits-lead-used") or 0,
            _number(headers, "x-credits-api-remaining"),
            _number(headers, "x-credits-lead-remaining"),
        ),
        replayed=headers.get("idempotency-replayed") == "true",
        charged_as=headers.get("idempotency-request-id", request_id),
        total_estimated=headers.get("x-total-estimated") == "true",
        notes=_number(headers, "x-query-notes") or 0,
        hint=None if "x-query-hint" not in headers else unquote(headers["x-query-hint"]),
    )


def read_page(answer: Answer) -> Page:
    """A page of a search."""
    body = answer.body
    return Page(
        [Lead(record) for record in body["results"]],
        body["total_results"],
        answer.credits.lead_used,
        answer.credits,
        body["filters"],
        body["result_id"],
        body["next"],
        body["previous"],
        answer.charged_as,
        answer.replayed,
        answer.total_estimated,
        answer.notes,
        answer.hint,
        Reading(body["interpretation"]) if "interpretation" in body else None,
    )


def read_evidence(answer: Answer) -> Evidence:
    """Evidence of a lead."""
    return Evidence(
        answer.body["domain"],
        [EvidentValue(each) for each in answer.body["emails"]],
        [EvidentValue(each) for each in answer.body["phones"]],
        answer.request_id,
    )
