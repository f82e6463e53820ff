"""Requests of the service as values: method, path, body and headers. Nothing is sent here."""

from __future__ import annotations

import json
import platform
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any
from urllib.parse import quote, urlencode

from siteglass_client.filters import Filters
from siteglass_client.version import __version__

SEARCH_PATH = "/v1/leads/search"
INTERPRET_PATH = "/v1/leads/interpret"
FACETS_PATH = "/v1/leads/facets"
DIAGNOSE_PATH = "/v1/leads/diagnose"
ENRICH_PATH = "/v1/leads/enrich"
LISTS_PATH = "/v1/lists"
SEARCHES_PATH = "/v1/searches"
WATCHES_PATH = "/v1/watches"
JOBS_PATH = "/v1/jobs"
MAX_LIMIT = 100
MAX_DOMAINS = 100
# The most that the service takes as `max_lead_credits`; no page or batch costs so much.
MAX_LEAD_CREDITS = 1_000_000

# What the service takes of a list in one request: domains, and bytes of its body with some to spare.
MAX_LIST_DOMAINS = 2_000
MAX_LIST_BYTES = 60_000
LIST_PAGE = 1_000

LEDGER_PAGE = 1000
Moment = datetime | date | str | None

USER_AGENT = f"siteglass-client/{__version__} python/{platform.python_version()}"


@dataclass(frozen=True)
class Call:
    """One request, the same at every attempt."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    idempotency_key: str | None = None

    def content(self) -> bytes | None:
        """The body as bytes."""
        if self.body is None:
            return None
        return json.dumps(self.body, ensure_ascii=False, separators=(",", ":")).encode()

    def headers(self) -> dict[str, str]:
        """The headers of this call, beside those of every call."""
        named = {} if self.idempotency_key is None else {"Idempotency-Key": self.idempotency_key}
        return named if self.body is None else {**named, "Content-Type": "application/json"}


def common_headers(api_key: str) -> dict[str, str]:
    """The headers of every call."""
    return {"X-API-Key": api_key, "User-Agent": USER_AGENT, "Accept": "application/json"}


def post(path: str, body: Mapping[str, Any]) -> Call:
    """A POST with a unique name, by which the service recognises a repeated one."""
    return Call("POST", path, body, str(uuid.uuid4()))


def get(path: str, **parameters: Any) -> Call:
    """A GET; parameters that are None are left out, a `_` at the end of a name is not part of it."""
    given = {name.rstrip("_"): str(value) for name, value in parameters.items() if value is not None}
    return Call("GET", path + ("?" + urlencode(given) if given else ""))


def search_body(
    query: str | None,
    filters: Filters | Mapping[str, Any] | None,
    wrapped_query: str | None,
    select: Sequence[str] | None,
    sort: str | None,
    strict: bool,
    require: Sequence[str] | None = None,
) -> dict[str, Any]:
    """The body of a search but for what shapes a single page."""
    body: dict[str, Any] = dict(filters or {})
    if query is not None:
        body["query"] = query
    if wrapped_query is not None:
        # Filters echoed by a response may contain directives, too: both must match.
        lines = body.get("wrapped_query")
        body["wrapped_query"] = f"{lines}\n{wrapped_query}" if lines else wrapped_query
    if select is not None:
        body["select"] = list(select)
    if sort is not None:
        body["sort"] = sort
    if strict:
        body["strict"] = True
    if require:
        body["require"] = list(require)
    return body


def with_lists(
    filters: Filters | Mapping[str, Any] | None, exclude_lists: Sequence[str], only_lists: Sequence[str]
) -> dict[str, Any]:
    """Filters with the lists of a search; filters echoed by a response may name some already."""
    if isinstance(exclude_lists, str) or isinstance(only_lists, str):
        raise TypeError("exclude_lists and only_lists must be lists of names, not a string")
    body: dict[str, Any] = dict(filters or {})
    for field, names in (("exclude_lists", exclude_lists), ("only_lists", only_lists)):
        if names:
            body[field] = list(dict.fromkeys([*body.get(field, ()), *names]))
    return body


def list_path(name: str, action: str = "") -> str:
    """The path of a list, or of something that it can do."""
    return f"{LISTS_PATH}/{quote(name, safe='')}{action}"


def saved_search_path(name: str, action: str = "") -> str:
    """The path of a saved search, or of something that it can do."""
    return f"{SEARCHES_PATH}/{quote(name, safe='')}{action}"


def watch_path(name: str, action: str = "") -> str:
    """The path of a watch, or of its runs."""
    return f"{WATCHES_PATH}/{quote(name, safe='')}{action}"


def watch_terms(
    every: str | None,
    weekday: str | None,
    hour: int | None,
    time_zone: str | None,
    mail_to: Iterable[str] | None,
    paused: bool | None,
) -> dict[str, Any]:
    """What is said about a watch; the service keeps or chooses the rest."""
    if isinstance(mail_to, str):
        raise TypeError("mail_to must be a list of addresses, not a string")
    terms = {
        "every": every,
        "weekday": weekday,
        "hour": hour,
        "time_zone": time_zone,
        "mail_to": None if mail_to is None else list(mail_to),
        "paused": paused,
    }
    return {name: value for name, value in terms.items() if value is not None}


def job_path(job: int, action: str = "") -> str:
    """The path of a job, or of something that it can do."""
    return f"{JOBS_PATH}/{job}{action}"


def enrich_job_body(
    domains: Iterable[str],
    list_name: str | None,
    select: Sequence[str] | None = None,
    max_lead_credits: int | None = None,
) -> dict[str, Any]:
    """The body of a job that enriches domains, or those of a list."""
    if isinstance(domains, str):
        raise TypeError("domains must be a list of domains, not a string")
    body: dict[str, Any] = {"list": list_name} if list_name is not None else {"domains": list(domains)}
    given = {"select": None if select is None else list(select), "max_lead_credits": max_lead_credits}
    return {**body, **{name: value for name, value in given.items() if value is not None}}


def start_job(body: Mapping[str, Any], idempotency_key: str | None) -> Call:
    """The start of a job; the same key gives the same job."""
    call = post(JOBS_PATH, body)
    return call if idempotency_key is None else replace(call, idempotency_key=idempotency_key)


def list_parts(domains: Iterable[str]) -> Iterator[list[str]]:
    """Domains in parts that one request can carry."""
    part: list[str] = []
    size = 0
    for domain in domains:
        length = len(json.dumps(domain, ensure_ascii=False).encode()) + 1
        if part and (len(part) == MAX_LIST_DOMAINS or size + length > MAX_LIST_BYTES):
            yield part
            part, size = [], 0
        part.append(domain)
        size += length
    if part:
        yield part


def values_call(field: str, text: str, country: str | None, limit: int | None) -> Call:
    """Known values of a field that complete a text."""
    return get(f"/v1/values/{quote(field, safe='')}", q=text or None, country=country, limit=limit)


def evidence_call(domain: str) -> Call:
    """Where each value of a lead was seen."""
    # The service takes what an enrichment takes, but in a path there is no room for a URL.
    host = re.split(r"[/?#]", re.sub(r"^[a-z][a-z0-9+.-]*://", "", domain.strip(), flags=re.IGNORECASE))[0]
    if not host.strip("."):  # the path would lead elsewhere
        raise ValueError(f"{domain!r} is not a domain: give one, such as example.com")
    return get(f"/v1/leads/{quote(host, safe='')}/evidence")


def ledger_call(since: Moment, until: Moment, key_id: int | None, request_id: str | None) -> Call:
    """The first page of the ledger."""
    return get(
        "/v1/ledger",
        from_=_time_parameter(since),
        to=_time_parameter(until),
        key=key_id,
        request_id=request_id,
        limit=LEDGER_PAGE,
    )


def _time_parameter(moment: Moment) -> str | None:
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise ValueError(f"{moment} has no time zone: give one, such as datetime.timezone.utc")
        return moment.isoformat()
    return None if moment is None else str(moment)


def receipt_call(request_id: str) -> Call:
    """What one request cost."""
    return get(f"/v1/ledger/{quote(request_id, safe='')}")
