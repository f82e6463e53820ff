"""How the tests of the HTTP edge ask and compare: what the contract says of every answer, checked once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx

from siteglass.corpus.lead import Lead

SEARCH = "/v1/leads/search"
INTERPRET = "/v1/leads/interpret"
FACETS = "/v1/leads/facets"
DIAGNOSE = "/v1/leads/diagnose"
ENRICH = "/v1/leads/enrich"
VALUES = "/v1/values"
ACCOUNT = "/v1/account"
USAGE = "/v1/usage"
LEDGER = "/v1/ledger"
READING = [ACCOUNT, USAGE, LEDGER, f"{LEDGER}/some-request"]
"""What the scope `account` opens."""

DEFAULT_FIELDS = [
    "domain",
    "business_name",
    "title",
    "description",
    "emails",
    "phones",
    "language",
    "spending",
    "country",
    "state",
    "city",
    "technologies",
    "links",
    "score",
    "social_links",
    "crawled_at",
    "favicon",
]
DETAIL_FIELDS = ["emails_detail", "phones_detail"]
MORE_FIELDS = [
    *DETAIL_FIELDS,
    "technologies_detail",
    "service_type",
    "trades",
    "trade_sources",
    "categories_uses",
    "offers",
    "pages",
    "keywords",
    "load_time_ms",
    "not_secure",
    "not_responsive",
    "missing_sitemap",
    "missing_schema",
    "missing_robot",
    "missing_heading",
    "missing_description",
    "url",
    "updated_at",
]
ENRICH_FIELDS = [
    "domain",
    "title",
    "url",
    "description",
    "emails",
    "phones",
    "language",
    "spending",
    "country",
    "state",
    "city",
    "technologies",
    "keywords",
    "pages",
    "score",
    "social_accounts",
    "updated_at",
    "crawled_at",
]
ENRICH_MORE_FIELDS = [*DETAIL_FIELDS, "technologies_detail"]
"""What an enrichment shows only if `select` names it."""
NETWORKS = ["facebook", "linkedin", "twitter", "instagram", "youtube", "tiktok", "pinterest"]
LADDER = ["0-99", "100-499", "500-999", "1000-4999", "5000-9999", "10000-49999", "50000-99999", "100000+"]


def answered(response: httpx.Response) -> dict[str, Any]:
    """The body of a 200."""
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].partition(";")[0] == "application/json"
    assert response.headers["x-request-id"]
    body = response.json()
    assert isinstance(body, dict)
    return body


def search(client: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    """The first page of a search."""
    return answered(client.post(SEARCH, json=body))


def found(client: httpx.Client, body: dict[str, Any]) -> set[str]:
    """All domains of a search that fits one page."""
    page = search(client, {**body, "limit": 100, "select": ["domain"]})
    domains = {record["domain"] for record in page["results"]}
    assert page["total_results"] == page["size"] == len(domains)
    return domains


def enrich(client: httpx.Client, domains: list[str], **body: Any) -> list[dict[str, Any]]:
    """The items of an enrichment."""
    made = answered(client.post(ENRICH, json={"domains": domains, **body}))
    assert list(made) == ["results"]
    items: list[dict[str, Any]] = made["results"]
    assert [item["domain"] for item in items] == domains
    return items


def refused(response: httpx.Response, status: int, code: str) -> list[dict[str, Any]]:
    """The details of an error, after a look at all that every error has."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"].partition(";")[0] == "application/json"
    assert response.headers["x-request-id"]
    assert response.headers["link"] == f'</docs/errors/{code}>; rel="help"'
    body = response.json()
    assert body["error"] == code, body
    assert isinstance(body["message"], str)
    assert body["message"]
    details: list[dict[str, Any]] = body.pop("details", [])
    assert set(body) == {"error", "message"}
    if code in ("INVALID_REQUEST", "INVALID_QUERY", "INVALID_CURSOR"):
        assert details
        assert all(detail["field"] and detail["message"] for detail in details)
    else:
        assert not details
    return details


def bad_fields(client: httpx.Client, body: Any, path: str = SEARCH) -> set[str]:
    """The fields that an INVALID_REQUEST names."""
    return {detail["field"] for detail in refused(client.post(path, json=body), 400, "INVALID_REQUEST")}


def bad_query(client: httpx.Client, text: str) -> list[dict[str, Any]]:
    """The details of an INVALID_QUERY: each has line and column."""
    details = refused(client.post(SEARCH, json={"wrapped_query": text}), 400, "INVALID_QUERY")
    for detail in details:
        assert detail["field"] == "wrapped_query"
        assert type(detail["line"]) is int
        assert type(detail["column"]) is int
    return details


def ms(text: str) -> int:
    """Milliseconds of a time that must be written in UTC with Z."""
    assert text.endswith("Z")
    moment = datetime.fromisoformat(text)
    assert moment.utcoffset() is not None
    return round(moment.astimezone(UTC).timestamp() * 1000)


def time_text(at_ms: int) -> str:
    """A time as RFC 3339 with milliseconds."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def spending_range(amount: int | None) -> str | None:
    """The step of the ladder that an amount is on."""
    if amount is None:
        return None
    for step in LADDER[:-1]:
        low, high = map(int, step.split("-"))
        if low <= amount <= high:
            return step
    return LADDER[-1]


def _denied(fact: bool | None) -> bool | None:
    return None if fact is None else not fact


def expected_details(lead: Lead) -> dict[str, list[dict[str, Any]]]:
    """A detail for each value that the lead shows, in its order; nothing is known of those that it has no detail of."""
    nothing: dict[str, Any] = {"owner": "unknown", "confidence": None, "page": None}
    details: dict[str, list[dict[str, Any]]] = {name: [] for name in DETAIL_FIELDS}
    for name, values, known in (
        ("emails_detail", lead.emails, lead.emails_detail),
        ("phones_detail", lead.phones, lead.phones_detail),
    ):
        for value in values:
            found: dict[str, Any] = {**next((one for one in known if one["value"] == value), nothing)}
            detail = {name: found[name] for name in nothing} | {"value": value}
            for field in ("crawled_at", "first_seen", "last_seen"):
                at_ms = found.get(f"{field}_ms")
                detail[field] = None if at_ms is None else time_text(at_ms).replace(".000Z", "Z")
            if name == "emails_detail":
                detail["status"] = {
                    "syntax": "valid",
                    "kind": "person" if value in lead.emails_personal else "role",
                }
            details[name].append(detail)
    return {**details, "technologies_detail": _expected_technologies(lead)}


def _expected_technologies(lead: Lead) -> list[dict[str, Any]]:
    """What is known of technologies, in the order of the lead."""
    known: dict[str, dict[str, Any]] = {one["value"]: {**one} for one in lead.technologies_detail}
    found = [known[name] for name in lead.technologies or () if name in known]
    for one in found:
        one["marks"] = list(one["marks"])
        for name in ("first_seen", "last_seen"):
            at_ms = one.pop(f"{name}_ms")
            one[name] = None if at_ms is None else time_text(at_ms).replace(".000Z", "Z")
    return found


def expected_record(lead: Lead) -> dict[str, Any]:
    """All fields of a search record but the two times, from the stored lead."""
    return {
        "domain": lead.domain,
        "business_name": lead.business_name,
        "title": lead.title,
        "description": lead.description,
        "emails": list(lead.emails),
        "phones": list(lead.phones),
        "language": lead.language,
        "spending": spending_range(lead.spending),
        "country": lead.country,
        "state": lead.state,
        "city": lead.city,
        "technologies": list(lead.technologies or ()),
        "links": list(lead.links),
        "score": lead.score,
        "social_links": dict(lead.social_links),
        "favicon": lead.favicon,
        "service_type": lead.service_type,
        "trades": list(lead.trades),
        "trade_sources": dict(lead.trade_sources),
        "categories_uses": list(lead.categories_uses),
        "offers": list(lead.offers),
        "pages": list(lead.pages),
        "keywords": list(lead.keywords),
        "load_time_ms": lead.load_time_ms,
        "not_secure": _denied(lead.secure),
        "not_responsive": _denied(lead.responsive),
        "missing_sitemap": _denied(lead.has_sitemap),
        "missing_schema": _denied(lead.has_schema),
        "missing_robot": _denied(lead.has_robots),
        "missing_heading": _denied(lead.has_heading),
        "missing_description": _denied(lead.has_description),
        "url": lead.url,
        **expected_details(lead),
    }


def same_record(record: dict[str, Any], lead: Lead) -> None:
    """A record has what the lead has, in all fields that it shows."""
    expected = expected_record(lead)
    for name, value in record.items():
        if name == "crawled_at":
            assert (0 if value is None else ms(value)) == lead.crawled_at_ms
        elif name == "updated_at":
            assert (value if value is None else ms(value)) == lead.updated_at_ms
        else:
            assert value == expected[name], name
            assert type(value) is type(expected[name]), name
