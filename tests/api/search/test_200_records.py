"""The records of a search: fields, their forms, missing values, what `select` and the e-mail filter change."""

from __future__ import annotations

import random
from typing import Any

import httpx
import pytest

from siteglass.corpus.lead import Lead
from testing.api_calls import (
    DEFAULT_FIELDS,
    DETAIL_FIELDS,
    LADDER,
    MORE_FIELDS,
    NETWORKS,
    found,
    same_record,
    search,
    spending_range,
)
from tests.api.handmade import BARE, BY_DOMAIN, FULL, HANDMADE, SPENDERS

EVERY_FIELD = [*DEFAULT_FIELDS, *MORE_FIELDS]


def _records(client: httpx.Client, **body: Any) -> dict[str, dict[str, Any]]:
    return {record["domain"]: record for record in search(client, {"limit": 100, **body})["results"]}


@pytest.mark.promise("record.default", "shape.times", "version.additions")
def test_seventeen_fields_without_select(own: httpx.Client) -> None:
    records = _records(own)
    assert len(records) == len(HANDMADE)
    for domain, record in records.items():
        assert set(record) == set(DEFAULT_FIELDS)
        same_record(record, BY_DOMAIN[domain])


@pytest.mark.promise("record.select_more", "missing.always_there", "shape.score")
def test_every_field_can_be_selected(own: httpx.Client) -> None:
    records = _records(own, select=EVERY_FIELD)
    assert len(records) == len(HANDMADE)
    for domain, record in records.items():
        assert set(record) == set(EVERY_FIELD)
        same_record(record, BY_DOMAIN[domain])


@pytest.mark.promise("shape.spending")
def test_the_demo_leads_too(client: httpx.Client, leads: list[Lead]) -> None:
    by_domain = {lead.domain: lead for lead in leads}
    for sort in ("-score", "score", "-spending", "-crawled_at", "domain"):
        for domain, record in _records(client, select=EVERY_FIELD, sort=sort).items():
            assert set(record) == set(EVERY_FIELD)
            same_record(record, by_domain[domain])


@pytest.mark.promise(
    "record.select", "search.select", "search.rule_3", cases={"{}": "record.{}", "service_type": "missing.service_type"}
)
@pytest.mark.parametrize("name", EVERY_FIELD)
def test_one_selected_field_comes_with_crawled_at_only(own: httpx.Client, name: str) -> None:
    page = search(own, {"select": [name], "keywords": ["thoroughness"]})
    (record,) = page["results"]
    assert set(record) == {name, "crawled_at"}
    same_record(record, FULL)
    assert page["filters"] == {"keywords": ["thoroughness"]}


@pytest.mark.promise("record.select")
def test_select_in_any_order_and_twice(own: httpx.Client) -> None:
    names = random.Random(1).sample(EVERY_FIELD, 12)
    (record,) = search(own, {"select": [*names, names[0]], "keywords": ["thoroughness"]})["results"]
    assert set(record) == {*names, "crawled_at"}
    same_record(record, FULL)


@pytest.mark.promise("missing.text", "missing.list", "missing.social_links", "missing.null")
def test_missing_values(own: httpx.Client) -> None:
    record = _records(own, select=EVERY_FIELD)[BARE.domain]
    texts = [
        "business_name",
        "title",
        "description",
        "language",
        "country",
        "state",
        "city",
        "favicon",
        "service_type",
        "url",
    ]
    lists = ["emails", "phones", "technologies", "links", "categories_uses", "offers", "pages", "keywords", "trades"]
    lists += [*DETAIL_FIELDS, "technologies_detail"]
    assert all(record[name] == "" for name in texts)
    assert all(record[name] == [] for name in lists)
    assert record["social_links"] == record["trade_sources"] == {}
    others = set(EVERY_FIELD) - {*texts, *lists, "social_links", "trade_sources", "domain", "crawled_at"}
    assert {name: record[name] for name in others} == dict.fromkeys(others)


@pytest.mark.promise(
    "record.links",
    "record.score",
    "record.social_links",
    "shape.score",
    "shape.links",
    "shape.pages",
    "shape.social_links",
)
def test_forms(client: httpx.Client) -> None:
    for record in _records(client, select=EVERY_FIELD, wrapped_query="@has_email\n@has_facebook").values():
        assert type(record["score"]) is int
        assert 0 <= record["score"] <= 100
        assert record["spending"] is None or record["spending"] in LADDER
        assert all(link.startswith(("https://", "http://")) for link in record["links"])
        assert set(record["social_links"]) <= set(NETWORKS)
        assert all(isinstance(link, str) and "://" in link for link in record["social_links"].values())
        assert all(path.startswith("/") and "?" not in path for path in record["pages"])
        assert all(path == "/" or not path.endswith("/") for path in record["pages"])
        assert len(record["country"]) in (0, 3)


@pytest.mark.promise("record.spending", "shape.spending")
def test_the_spending_ladder(own: httpx.Client) -> None:
    records = _records(own, sort="-spending")
    shown = {lead.spending: records[lead.domain]["spending"] for lead in SPENDERS}
    assert list(shown.values()) == [step for step in LADDER for _ in (0, 1)]


@pytest.mark.promise("shape.spending_back")
@pytest.mark.parametrize("step", LADDER)
def test_a_spending_from_a_result_can_be_sent_as_a_filter(
    own: httpx.Client, client: httpx.Client, leads: list[Lead], step: str
) -> None:
    page = search(own, {"spending": step})
    assert page["filters"] == {"spending": step}
    assert {record["spending"] for record in page["results"]} == {step}
    assert {record["domain"] for record in page["results"]} == {
        lead.domain for lead in HANDMADE if spending_range(lead.spending) == step
    }
    demo = search(client, {"spending": step, "limit": 1})
    assert demo["total_results"] == sum(spending_range(lead.spending) == step for lead in leads)


@pytest.mark.promise("shape.social_links", "shape.flags")
@pytest.mark.parametrize("network", NETWORKS)
def test_social_links_hold_what_the_flags_find(
    own: httpx.Client, client: httpx.Client, leads: list[Lead], network: str
) -> None:
    records = _records(own)
    having = {domain for domain, record in records.items() if network in record["social_links"]}
    assert found(own, {f"has_{network}": True}) == having == {f"on-{network}.com", FULL.domain}
    assert found(own, {"wrapped_query": f"@has_{network}"}) == having
    assert found(own, {"wrapped_query": f"!@has_{network}"}) == set(records) - having
    demo = search(client, {f"has_{network}": True, "limit": 100})
    assert demo["total_results"] == sum(network in lead.social_links for lead in leads)
    assert all(network in record["social_links"] for record in demo["results"])


@pytest.mark.promise("search.exclude_generic_emails", "directive.no_generic_emails", "generic.emails")
def test_exclude_generic_emails_shows_only_the_others(own: httpx.Client) -> None:
    for body in ({"exclude_generic_emails": True}, {"wrapped_query": "@no_generic_emails"}):
        records = _records(own, **body)
        assert {domain: record["emails"] for domain, record in records.items()} == {
            FULL.domain: ["ada.lovelace@full-record.com"],
            "person-only.com": ["eve@person-only.com"],
        }
    either = {"wrapped_query": "@any[ @no_generic_emails | @not_secure ]"}
    for body in ({"exclude_generic_emails": False}, {}, either):
        assert _records(own, **body)[FULL.domain]["emails"] == list(FULL.emails)


@pytest.mark.promise("details.values", "details.unknown", "details.status")
def test_details_of_each_shown_value(own: httpx.Client) -> None:
    """In full, as a caller sees them; other tests compare them with the stored lead."""
    records = _records(own, select=["domain", *DETAIL_FIELDS])
    person = {"syntax": "valid", "kind": "person"}
    role = {"syntax": "valid", "kind": "role"}
    never = {"first_seen": None, "last_seen": None}
    unknown = {"owner": "unknown", "confidence": None, "page": None, "crawled_at": None, **never}
    assert records[FULL.domain]["emails_detail"] == [
        {
            "value": "info@full-record.com",
            "owner": "own",
            "confidence": 95,
            "page": "https://www.full-record.com/contact",
            "crawled_at": "2026-09-21T14:13:18.500Z",
            "first_seen": "2026-09-20T14:13:20Z",
            "last_seen": "2026-09-21T14:13:20Z",
            "status": role,
        },
        {
            "value": "ada.lovelace@full-record.com",
            "owner": "affiliate",
            "confidence": 80,
            "page": None,
            "crawled_at": None,
            **never,
            "status": person,
        },
        {"value": "sales@full-record.com", **unknown, "status": role},
    ]
    assert records[FULL.domain]["phones_detail"] == [
        {"value": "+1 555 0100", **unknown},
        {
            "value": "+1 555 0101",
            "owner": "unknown",
            "confidence": 40,
            "page": "https://www.full-record.com/about/team",
            "crawled_at": "2026-09-21T14:13:20Z",
            **never,
        },
    ]
    assert records["person-only.com"]["emails_detail"] == [
        {"value": "eve@person-only.com", **unknown, "status": person}
    ]


@pytest.mark.promise("details.values", "generic.emails")
def test_exclude_generic_emails_leaves_their_details_out(own: httpx.Client) -> None:
    records = _records(own, exclude_generic_emails=True, select=["domain", "emails", "emails_detail"])
    assert len(records) == 2
    for record in records.values():
        assert [detail["value"] for detail in record["emails_detail"]] == record["emails"]
    (detail,) = records[FULL.domain]["emails_detail"]
    assert (detail["value"], detail["owner"]) == ("ada.lovelace@full-record.com", "affiliate")


@pytest.mark.promise("generic.lead")
def test_exclude_generic_emails_over_the_demo_leads(client: httpx.Client, leads: list[Lead]) -> None:
    by_domain = {lead.domain: lead for lead in leads}
    page = search(client, {"exclude_generic_emails": True, "limit": 100, "select": ["domain", "emails"]})
    assert page["total_results"] == sum(bool(lead.emails_personal) for lead in leads)
    for record in page["results"]:
        assert record["emails"] == list(by_domain[record["domain"]].emails_personal)
    assert any(len(lead.emails) > len(lead.emails_personal) > 0 for lead in leads)


def test_denying_the_email_wish_leaves_addresses_alone(own: httpx.Client) -> None:
    records = _records(own, wrapped_query="!@no_generic_emails\n@has_email\n!@email_confidence(>=0)")
    assert {domain: record["emails"] for domain, record in records.items()} == {"role-only.com": ["info@role-only.com"]}
