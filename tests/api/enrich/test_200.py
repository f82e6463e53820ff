"""Domains to data: items in order, every form of a domain, what is found, what is not, what is not a domain."""

from __future__ import annotations

import random
from typing import Any

import httpx
import pytest

from siteglass.corpus.lead import Lead
from testing.api_calls import (
    ENRICH,
    ENRICH_FIELDS,
    ENRICH_MORE_FIELDS,
    NETWORKS,
    answered,
    enrich,
    expected_details,
    ms,
)
from tests.api.handmade import BARE, BY_DOMAIN, FULL, HANDMADE

MISTYPED_SCHEMES = [
    *("http:/", "https:/", "http:", "HTTP;//", "https//", "http/", "http:///", "https:\\\\", "//", "://"),
    *("http://https://", "https://http//", "http://user@"),
]


def _accounts(lead: Lead) -> set[str]:
    return {*(f"{network}:{link}" for network, link in lead.social_links.items()), *lead.other_profiles}


def _expected(lead: Lead) -> dict[str, Any]:
    return {
        "domain": lead.domain,
        "title": lead.title,
        "url": lead.url,
        "description": lead.description,
        "emails": list(lead.emails),
        "phones": list(lead.phones),
        "language": lead.language,
        "spending": lead.spending,
        "country": lead.country,
        "state": lead.state,
        "city": lead.city,
        "technologies": list(lead.technologies or ()),
        "keywords": list(lead.keywords),
        "pages": list(lead.pages),
        "score": lead.score,
        **expected_details(lead),
    }


def _same_data(data: dict[str, Any], lead: Lead) -> None:
    expected = _expected(lead)
    for name, value in data.items():
        if name == "social_accounts":
            assert set(value) == _accounts(lead)
            assert len(value) == len(_accounts(lead))
        elif name == "crawled_at":
            assert (0 if value is None else ms(value)) == lead.crawled_at_ms
        elif name == "updated_at":
            assert (value if value is None else ms(value)) == lead.updated_at_ms
        else:
            assert value == expected[name], name
            assert type(value) is type(expected[name]), name


@pytest.mark.promise(
    "item.data",
    "status.success",
    "route.POST /v1/leads/enrich",
    "enrich.results",
    "missing.always_there",
    "enrich.all_18",
    "domain.absent_keys",
    "version.additions",
)
def test_all_fields_of_all_leads(own: httpx.Client) -> None:
    for item in enrich(own, list(BY_DOMAIN)):
        assert set(item) == {"status", "domain", "data"}
        assert item["status"] == "success"
        assert set(item["data"]) == set(ENRICH_FIELDS)
        _same_data(item["data"], BY_DOMAIN[item["domain"]])


def test_the_demo_leads_too(client: httpx.Client, leads: list[Lead]) -> None:
    asked = random.Random(3).sample(leads, 100)
    for item, lead in zip(enrich(client, [lead.domain for lead in asked]), asked, strict=True):
        assert item["status"] == "success"
        assert set(item["data"]) == set(ENRICH_FIELDS)
        _same_data(item["data"], lead)


@pytest.mark.promise(
    "enrichment.spending",
    "enrichment.social_accounts",
    "enrichment.updated_at",
    "enrichment.crawled_at",
    "shape.spending_number",
    "shape.times",
    "domain.social_accounts",
)
def test_forms(own: httpx.Client) -> None:
    (item,) = enrich(own, [FULL.domain])
    data = item["data"]
    assert type(data["spending"]) is int
    assert data["spending"] == 1234
    assert data["emails"] == list(FULL.emails)
    assert "https://medium.com/@fullrecord" in data["social_accounts"]
    for network in NETWORKS:
        assert f"{network}:https://www.{network}.com/fullrecord" in data["social_accounts"]
    assert data["updated_at"] == "2026-09-20T14:13:20.007Z"
    assert data["crawled_at"] == "2026-09-21T14:13:20.123Z"


@pytest.mark.promise("enrichment.phones", "missing.text", "missing.list", "missing.null")
def test_missing_values(own: httpx.Client) -> None:
    (item,) = enrich(own, [BARE.domain])
    data = item["data"]
    assert all(data[name] == "" for name in ("title", "url", "description", "language", "country", "state", "city"))
    lists = ("emails", "phones", "technologies", "keywords", "pages", "social_accounts")
    assert all(data[name] == [] for name in lists)
    assert all(data[name] is None for name in ("spending", "score", "updated_at"))


@pytest.mark.promise(
    "item.data",
    "enrich.exactly",
    cases={
        "{}": "enrichment.{}",
        "url": "enrich.more_fields",
        "keywords": "enrich.more_fields",
        "updated_at": "enrich.more_fields",
    },
)
@pytest.mark.parametrize("name", [*ENRICH_FIELDS, *ENRICH_MORE_FIELDS])
def test_one_selected_field_comes_alone(own: httpx.Client, name: str) -> None:
    (item,) = enrich(own, [FULL.domain], select=[name])
    assert set(item["data"]) == {name}
    _same_data(item["data"], FULL)


@pytest.mark.promise("enrich.select", "enrich.exactly")
def test_select_is_exact_in_any_order(own: httpx.Client) -> None:
    for seed in range(10):
        names = random.Random(seed).sample([*ENRICH_FIELDS, *ENRICH_MORE_FIELDS], 7)
        (item,) = enrich(own, [FULL.domain], select=[*names, names[0]])
        assert set(item["data"]) == set(names)
        _same_data(item["data"], FULL)


@pytest.mark.promise("enrich.select", "enrich.all_18", cases={"null": "body.null", "none": "body.empty_array"})
@pytest.mark.parametrize("select", [None, ENRICH_FIELDS, []], ids=["null", "all", "none"])
def test_all_fields_without_a_choice(own: httpx.Client, select: list[str] | None) -> None:
    (item,) = enrich(own, [FULL.domain], select=select)
    assert set(item["data"]) == set(ENRICH_FIELDS)


@pytest.mark.promise("item.domain", "domain.forms", "domain.registrable", "domain.as_sent")
@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("full-record.com", "full-record.com"),
        ("FULL-Record.COM", "full-record.com"),
        ("www.full-record.com", "full-record.com"),
        ("WWW.Full-Record.com", "full-record.com"),
        ("https://full-record.com", "full-record.com"),
        ("http://www.full-record.com/", "full-record.com"),
        ("HTTPS://WWW.FULL-RECORD.COM/pricing?plan=1#top", "full-record.com"),
        ("full-record.com/pricing", "full-record.com"),
        ("full-record.com:8443", "full-record.com"),
        ("https://user:pass@full-record.com:8443/x", "full-record.com"),
        ("full-record.com.", "full-record.com"),
        ("  full-record.com\n", "full-record.com"),
        ("shop.full-record.com", "full-record.com"),
        ("a.b.c.full-record.com", "full-record.com"),
        ("own-host.com", "own-host.com"),
        ("blog.own-host.com", "blog.own-host.com"),
        ("https://blog.own-host.com/post", "blog.own-host.com"),
        ("other.own-host.com", "own-host.com"),
        ("registered.co.uk", "registered.co.uk"),
        ("www.registered.co.uk", "registered.co.uk"),
        ("mail.registered.co.uk", "registered.co.uk"),
        ("münchen.de", "xn--mnchen-3ya.de"),
        ("MÜNCHEN.de", "xn--mnchen-3ya.de"),
        ("mu\u0308nchen.de", "xn--mnchen-3ya.de"),
        ("https://www.münchen.de/rathaus", "xn--mnchen-3ya.de"),
        ("xn--mnchen-3ya.de", "xn--mnchen-3ya.de"),
        ("XN--MNCHEN-3YA.DE", "xn--mnchen-3ya.de"),
        ("stadt.münchen.de", "xn--mnchen-3ya.de"),
        *((f"{mistyped}full-record.com/x", "full-record.com") for mistyped in MISTYPED_SCHEMES),
    ],
)
def test_forms_of_a_domain(own: httpx.Client, sent: str, stored: str) -> None:
    (item,) = enrich(own, [sent], select=["domain", "title"])
    assert item == {
        "status": "success",
        "domain": sent,
        "data": {"domain": stored, "title": BY_DOMAIN[stored].title},
    }


@pytest.mark.promise(
    "item.domain",
    "item.message",
    "status.not_found",
    "enrich.no_http_error",
    "domain.absent_keys",
    "domain.message",
    cases={"nope.invalid": "domain.syntax_only"},
)
@pytest.mark.parametrize(
    "domain",
    [
        "nope.invalid",
        "not-there.com",
        "https://Not-There.com/x",
        "co.uk",
        "own-host.co.uk",
        "full-record.com.evil.org",
        "xn--mnchen-3ya.com",
        "a_b.example.org",
        "example.zzzz",
    ],
)
def test_not_found(own: httpx.Client, domain: str) -> None:
    (item,) = enrich(own, [domain])
    assert item == {"status": "not_found", "domain": domain, "message": f"No data found for {domain}"}


@pytest.mark.promise("item.domain", "item.message", "status.error", "domain.no_host", "domain.absent_keys")
@pytest.mark.parametrize(
    "domain",
    [
        "",
        " ",
        "\t\n",
        "127.0.0.1",
        "http://10.0.0.1/",
        "10.0.0.1:80",
        "::1",
        "[::1]",
        "https://[2001:db8::1]/",
        "localhost",
        "com",
        "https://intranet/",
        "full-record",
        "two words.com",
        "-dash.com",
        "double..dot.com",
        ".com",
        "https://",
        f"{'a' * 64}.com",
        ".".join(["abcdefgh"] * 40) + ".com",
        "x" * 3000,
        "info@",
        "full record.com",
        "full-record.com:port",
        "*.full-record.com",
    ],
)
def test_what_is_no_host_name_is_an_error_item(own: httpx.Client, domain: str) -> None:
    (item,) = enrich(own, [domain])
    assert set(item) == {"status", "domain", "message"}
    assert item["status"] == "error"
    assert isinstance(item["message"], str)
    assert item["message"]


@pytest.mark.promise("domain.no_host")
@pytest.mark.parametrize(
    ("domain", "reason"),
    [
        ("", "is blank"),
        ("https://", "names no host such as example.com"),
        ("/contact", "names no host such as example.com"),
        ("http:/localhost", "is a single label, not a domain such as example.com"),
        ("full-record,com", "is not a host name"),
        ("full-record.com:port", "is not a host name"),
        ("http:/10.0.0.1", "is an IP address, not a domain"),
        ("::1", "is an IP address, not a domain"),
        ("https://[2001:db8::1]:8443/", "is an IP address, not a domain"),
    ],
)
def test_the_reason_is_the_right_one(own: httpx.Client, domain: str, reason: str) -> None:
    (item,) = enrich(own, [domain])
    assert item["message"] == f"{domain!r} {reason}"


@pytest.mark.promise("item.status", "enrich.order", "errors.items", "domain.repeated")
def test_one_item_each_in_order_also_when_repeated(own: httpx.Client) -> None:
    sent = ["own-host.com", "nope.invalid", "", "OWN-host.com", "bare-record.com", "own-host.com", "1.2.3.4", "com"]
    items = enrich(own, sent, select=["domain"])
    assert [item["status"] for item in items] == [
        "success", "not_found", "error", "success", "success", "success", "error", "error",
    ]  # fmt: skip
    found = [item["data"]["domain"] for item in items if item["status"] == "success"]
    assert found == ["own-host.com", "own-host.com", "bare-record.com", "own-host.com"]


@pytest.mark.promise("enrich.order")
def test_the_order_of_the_request(own: httpx.Client) -> None:
    domains = [lead.domain for lead in HANDMADE]
    random.Random(5).shuffle(domains)
    assert [item["data"]["domain"] for item in enrich(own, domains)] == domains


@pytest.mark.promise("setting.max_enrich_domains", "enrich.count")
def test_a_hundred_domains(own: httpx.Client) -> None:
    items = enrich(own, [f"missing-{number}.com" for number in range(99)] + ["own-host.com"])
    assert [item["status"] for item in items] == ["not_found"] * 99 + ["success"]


@pytest.mark.promise("enrich.no_http_error")
def test_nothing_but_errors_is_answered(own: httpx.Client) -> None:
    assert [item["status"] for item in enrich(own, ["", "com"])] == ["error", "error"]


@pytest.mark.promise("enrichment.score", "domain.score")
def test_score_is_the_score_of_search(own: httpx.Client) -> None:
    found = own.post("/v1/leads/search", json={"limit": 100, "select": ["domain", "score"]}).json()["results"]
    scores = {item["domain"]: item["data"]["score"] for item in enrich(own, list(BY_DOMAIN), select=["score"])}
    assert scores == {record["domain"]: record["score"] for record in found}


@pytest.mark.promise("body.charset")
def test_the_media_type_may_carry_a_charset(own: httpx.Client) -> None:
    response = own.post(
        ENRICH,
        content='{"domains": ["münchen.de"]}'.encode(),
        headers={"Content-Type": "application/json; charset=utf-8"},
    )
    assert answered(response)["results"][0]["status"] == "success"
