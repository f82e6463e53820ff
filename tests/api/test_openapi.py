"""The document at /openapi.json: valid, complete, and true of what the service takes and answers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import httpx
import pytest
from openapi_spec_validator import validate

from siteglass.app import create_app
from siteglass.billing.requests import LedgerParameters, UsageParameters
from siteglass.errors import error_classes
from siteglass.leads.values import ValuesParameters
from siteglass.query.fields import DIRECTIVES, FIELDS, FILTERS
from siteglass.settings import Settings
from siteglass.web.messages import names_of
from testing.api_calls import (
    ACCOUNT,
    DEFAULT_FIELDS,
    DIAGNOSE,
    ENRICH,
    ENRICH_FIELDS,
    ENRICH_MORE_FIELDS,
    FACETS,
    INTERPRET,
    LEDGER,
    MORE_FIELDS,
    SEARCH,
    USAGE,
    VALUES,
    answered,
    refused,
    search,
)
from testing.customers import Bank
from testing.service import serving
from tests.api.describing import Description
from tests.api.handmade import BARE, FULL, HANDMADE
from tests.api.receipts import grant_and_spend

OF_THE_CONTRACT = """
    query limit language select wrapped_query country state city technologies keywords categories_uses service_type
    offers pages has_phone has_facebook has_linkedin has_twitter has_instagram has_youtube has_tiktok has_pinterest
    exclude_generic_emails spending min_spending max_spending min_score max_score updated_after not_secure
    missing_sitemap missing_schema not_responsive load_time_ms seo_score
"""
SERVICE_TYPES = {
    *("Enterprise", "SaaS", "Ecommerce", "Agency", "Local Business", "Firm", "Consultant", "Publisher", "Marketplace"),
    *("Mobile App", "Non-Profit", "Education", "Government", "Manufacturer", "Healthcare", "Hospitality"),
    *("Financial Services", "Entertainment", "Gaming", "Realtor"),
}


@pytest.fixture(scope="module")
def described(own: httpx.Client) -> Description:
    return Description(own)


# --- complete -----------------------------------------------------------------------------------


def test_it_is_valid(described: Description) -> None:
    assert described.document["openapi"] == "3.1.0"
    validate(described.document)


@pytest.mark.promise("route.GET /openapi.json")
def test_it_describes_the_routes_and_nothing_else(described: Description, own_settings: Settings) -> None:
    routed = {
        (getattr(route, "path", ""), method)
        for route in create_app(own_settings).router.routes
        if getattr(route, "include_in_schema", True)
        for method in (getattr(route, "methods", None) or set()) - {"HEAD"}
    }
    assert {(path, method) for path, method, _ in described.operations()} == routed
    assert len(routed) == 45


def test_every_operation_says_what_it_is(described: Description) -> None:
    tags = {tag["name"] for tag in described.document["tags"]}
    for path, _, operation in described.operations():
        assert operation["summary"]
        assert operation["description"].endswith(".")
        assert set(operation["tags"]) <= tags
        assert "500" in operation["responses"]
        assert (operation["security"] != []) is (path.startswith("/v1/") and not path.startswith("/v1/opt-out"))
        for status, response in operation["responses"].items():
            assert "X-Request-Id" in response["headers"]
            for media in response["content"].values():
                assert media["examples"], (path, status)
                for example in media["examples"].values():
                    described.check(media["schema"], example["value"])
    scheme = described.document["components"]["securitySchemes"]["ApiKey"]
    assert (scheme["type"], scheme["in"], scheme["name"]) == ("apiKey", "header", "X-API-Key")


def test_every_parameter_has_a_meaning_and_an_example(described: Description) -> None:
    for name in ("SearchBody", "FacetsBody", "PageBody", "EnrichBody", "OptOutBody", "OptOutConfirmBody"):
        assert described.schemas[name]["additionalProperties"] is False
        for field, schema in described.schemas[name]["properties"].items():
            assert schema["description"], field
            assert schema["examples"], field
            for example in schema["examples"]:
                described.check(schema, example)
    for name, known in (
        ("usage", names_of(UsageParameters)),
        ("ledger", names_of(LedgerParameters)),
        ("receipt", ("request_id",)),
        ("values", names_of(ValuesParameters)),
    ):
        parameters = described.operation(name)["parameters"]
        assert tuple(parameter["name"] for parameter in parameters) == known
        for parameter in parameters:
            assert parameter["description"]
            described.check(parameter["schema"], parameter["example"])
    for name in ("account", "interpret", "facets", "diagnose"):
        assert "parameters" not in described.operation(name)
    cursor, key = described.operation("page")["parameters"]
    assert (cursor["name"], cursor["in"], cursor["required"]) == ("cursor", "path", True)
    assert (key["name"], key["in"], key["required"]) == ("Idempotency-Key", "header", False)
    for name in ("search", "enrich"):
        assert described.operation(name)["parameters"] == [key]
    for parameter in (cursor, key):
        described.check(parameter["schema"], parameter["example"])


@pytest.mark.promise("route.GET /openapi.json")
def test_the_catalogue_is_in_it(described: Description) -> None:
    sent = described.schemas["SearchBody"]["properties"]
    assert set(OF_THE_CONTRACT.split()) <= set(sent)
    shaping = {
        *("query", "require", "wrapped_query", "limit", "select", "sort", "dry_run", "max_lead_credits"),
        *("explain", "strict"),
    }
    lists = {"exclude_lists", "only_lists"}
    assert set(sent) == {*shaping, *lists, *FILTERS}
    assert set(described.schemas["Filters"]["properties"]) == {"wrapped_query", *lists, *FILTERS}
    assert sent["select"]["items"]["enum"][:17] == DEFAULT_FIELDS
    assert set(sent["select"]["items"]["enum"]) == {*DEFAULT_FIELDS, *MORE_FIELDS}
    assert set(described.schemas["Lead"]["properties"]) == {*DEFAULT_FIELDS, *MORE_FIELDS}
    assert sent["sort"]["enum"] == ["-score", "score", "-spending", "-crawled_at", "domain", None]
    for service_type in SERVICE_TYPES:
        assert f"`{service_type}`" in sent["service_type"]["description"]
    selectable = [*ENRICH_FIELDS, *ENRICH_MORE_FIELDS]
    assert described.schemas["EnrichBody"]["properties"]["select"]["items"]["enum"] == selectable
    assert list(described.schemas["Enrichment"]["properties"]) == selectable
    for name in DIRECTIVES:
        assert re.search(rf"`@{name}[(`]", sent["wrapped_query"]["description"]), name
    for schema in (described.schemas["Lead"], described.schemas["Enrichment"]):
        for name, field in schema["properties"].items():
            meaning = next(row.meaning for row in FIELDS if row.name == name)
            assert field["description"] == f"{meaning}."


def test_every_error_is_in_it(described: Description) -> None:
    everywhere = described.document["components"]["responses"]
    responses = [
        *(
            (status, response)
            for _, _, operation in described.operations()
            for status, response in operation["responses"].items()
        ),
        ("404", everywhere["NotFound"]),
        ("405", everywhere["MethodNotAllowed"]),
    ]
    shown = {
        (status, code)
        for status, response in responses
        if status not in ("200", "202")
        for code in response["content"]["application/json"]["examples"]
    }
    assert shown == {(str(kind.status), kind.code) for kind in error_classes()}
    for kind in error_classes():
        schema = described.schemas[kind.__name__]
        assert schema["properties"]["error"] == {"const": kind.code}
        details = ["details"] if kind.status == 400 else []
        assert schema["required"] == list(schema["properties"]) == ["error", "message", *details]
        assert schema["additionalProperties"] is False


# --- true of what is taken ----------------------------------------------------------------------


def test_every_example_of_a_parameter_works(described: Description, own: httpx.Client) -> None:
    for name, schema in described.schemas["SearchBody"]["properties"].items():
        for example in schema["examples"]:
            body = {"query": " ".join(example), name: example} if name == "require" else {name: example}
            described.check_200("search", own.post(SEARCH, json=body))
            described.check_200("interpret", own.post(INTERPRET, json=body))
        for value in schema.get("enum", []):
            answered(own.post(SEARCH, json={name: value, "limit": 1}))
    for name, schema in described.schemas["EnrichBody"]["properties"].items():
        for example in schema["examples"]:
            described.check_200("enrich", own.post(ENRICH, json={"domains": ["example.com"], name: example}))


def test_filters_that_accept_operators_list_them(described: Description, own: httpx.Client) -> None:
    for body in ("SearchBody", "Filters"):
        texts = {name: schema.get("description", "") for name, schema in described.schemas[body]["properties"].items()}
        notes = {name: found[1] for name, text in texts.items() if (found := re.search(r"An operator \((.+?)\)", text))}
        assert set(notes) == {"spending", "seo_score", "load_time_ms", "email_confidence"}
        for name, note in notes.items():
            operators = re.findall(r"`(.+?)`", note)
            assert operators == [">", "<", ">=", "<=", "=", "less than", "greater than"]
            for operator in operators:
                described.check_200("interpret", own.post(INTERPRET, json={name: f"{operator} 50"}))


def test_every_directive_shown_works(described: Description, own: httpx.Client) -> None:
    text = described.schemas["SearchBody"]["properties"]["wrapped_query"]["description"]
    directives = re.findall(r"^\| `(@.+?)` \|", text, re.MULTILINE)
    assert len(directives) == len(DIRECTIVES)
    for directive in directives:
        answered(own.post(SEARCH, json={"wrapped_query": directive}))
        answered(own.post(SEARCH, json={"wrapped_query": f"!{directive}"}))
    answered(own.post(SEARCH, json={"wrapped_query": "\n".join(directives)}))


def test_every_example_request_works(described: Description, own: httpx.Client) -> None:
    searches = described.body_examples("search")
    assert {"filters", "directives", "plain_language"} <= set(searches)
    for body in searches.values():
        described.check(described.schemas["SearchBody"], body)
        described.check_200("search", own.post(SEARCH, json=body))
    for body in described.body_examples("page").values():
        described.check(described.schemas["PageBody"], body)
        described.check_200("page", own.post(search(own, {"limit": 5})["next"], json=body))
    for name, path, kind in (
        ("interpret", INTERPRET, "SearchBody"),
        ("facets", FACETS, "FacetsBody"),
        ("diagnose", DIAGNOSE, "SearchBody"),
    ):
        for body in described.body_examples(name).values():
            described.check(described.schemas[kind], body)
            described.check_200(name, own.post(path, json=body))
    enrichments = described.body_examples("enrich")
    assert {"select" in body for body in enrichments.values()} == {True, False}
    for body in enrichments.values():
        described.check(described.schemas["EnrichBody"], body)
        described.check_200("enrich", own.post(ENRICH, json=body))


def test_numbers_and_lengths_are_the_limits(described: Description, own: httpx.Client) -> None:
    for name, schema in described.schemas["SearchBody"]["properties"].items():
        for bound, beyond in (("minimum", -1), ("maximum", 1)):
            if bound in schema:
                answered(own.post(SEARCH, json={"limit": 1, "technologies": ["no such thing"], name: schema[bound]}))
                refused(own.post(SEARCH, json={name: schema[bound] + beyond}), 400, "INVALID_REQUEST")
    sent = described.schemas["SearchBody"]["properties"]
    assert (sent["limit"]["minimum"], sent["limit"]["maximum"]) == (1, 100)
    assert len(answered(own.post(SEARCH, json={}))["results"]) == 20
    assert (sent["query"]["maxLength"], sent["wrapped_query"]["maxLength"]) == (1_000, 8_000)
    for name, lengths, fill in (
        ("query", sent["query"], " Shopify"),
        ("wrapped_query", sent["wrapped_query"], "#"),
        ("city", sent["city"], "x"),
    ):
        most = lengths["maxLength"]
        answered(own.post(SEARCH, json={name: (fill * most)[:most]}))
        assert own.post(SEARCH, json={name: (fill * (most + 1))[: most + 1]}).status_code == 400
    assert sent["keywords"]["maxItems"] == 1_200
    most = 200
    answered(own.post(SEARCH, json={"keywords": ["w"] * 1_190}))
    refused(own.post(SEARCH, json={"keywords": ["w"] * 1_201}), 400, "INVALID_REQUEST")
    words = [f"w{number}" for number in range(most + 1)]
    answered(own.post(SEARCH, json={"keywords": words[:most]}))
    refused(own.post(SEARCH, json={"keywords": words}), 400, "INVALID_REQUEST")


def test_limits_of_the_settings_are_told(own_settings: Settings) -> None:
    with serving(replace(own_settings, max_enrich_domains=3, max_body_bytes=1_234, cursor_life_s=7_200)) as client:
        described = Description(client)
        domains = described.schemas["EnrichBody"]["properties"]["domains"]
        assert (domains["minItems"], domains["maxItems"]) == (1, 3)
        answered(client.post(ENRICH, json={"domains": ["a.com"] * 3}))
        refused(client.post(ENRICH, json={"domains": ["a.com"] * 4}), 400, "INVALID_REQUEST")
        assert described.operation("search")["requestBody"]["description"] == "At most 1,234 bytes."
        too_large = client.post(SEARCH, json={"query": "x" * 1_234})
        assert too_large.json() == described.error_example("search", 413, "PAYLOAD_TOO_LARGE")
        assert "2 hours" in described.operation("page")["parameters"][0]["description"]


# --- true of what is answered -------------------------------------------------------------------


def _search_bodies() -> list[dict[str, Any]]:
    everything = [*DEFAULT_FIELDS, *MORE_FIELDS]
    return [
        {"limit": 100},
        {"limit": 100, "select": everything},
        {"select": everything, "service_type": "saas", "updated_after": "2020-01-01"},
        {"select": everything, "exclude_generic_emails": True, "sort": "domain"},
        {"select": ["emails"], "wrapped_query": "!@technology(Wix)\n@score(<30, >80)", "country": "usa"},
        {"query": "dentist"},
        {"city": "nowhere at all"},
    ]


def test_real_readings(described: Description, own: httpx.Client) -> None:
    sentences = (
        "shopfy stores in Georgia",
        "slow sites with an SEO score above 95",
        "near me in Berlin",
        "dentist",
        "",
    )
    for body in (*_search_bodies(), *({"query": sentence} for sentence in sentences)):
        read = described.check_200("interpret", own.post(INTERPRET, json=body))
        page = described.check_200("search", own.post(SEARCH, json={**body, "explain": True}))
        assert {**page["interpretation"], "total_results": page["total_results"]} == read


def test_real_pages(described: Description, own: httpx.Client, client: httpx.Client) -> None:
    for body in _search_bodies():
        for service in (own, client):
            described.check_200("search", service.post(SEARCH, json=body))
    page = search(own, {"limit": 5, "select": [*DEFAULT_FIELDS, *MORE_FIELDS]})
    while page["next"]:
        page = described.check_200("page", own.post(page["next"], json={"limit": 30}))
    described.check_200("page", own.post(page["previous"], content=b""))


def test_an_estimated_total(described: Description, own_settings: Settings) -> None:
    with serving(replace(own_settings, total_exact_ms=0)) as client:
        response = client.post(SEARCH, json={"keywords": ["dentist"], "limit": 1})
        assert response.headers["x-total-estimated"] == "true"
        described.check_200("search", response)


def test_real_enrichments(described: Description, own: httpx.Client, client: httpx.Client) -> None:
    domains = [FULL.domain, BARE.domain, *(lead.domain for lead in HANDMADE[3:60]), "nope.invalid", "", "10.0.0.1"]
    items = described.check_200("enrich", own.post(ENRICH, json={"domains": domains}))["results"]
    assert {item["status"] for item in items} == {"success", "not_found", "error"}
    described.check_200("enrich", own.post(ENRICH, json={"domains": domains, "select": ["score", "spending"]}))
    found = [lead["domain"] for lead in search(client, {"limit": 100})["results"]]
    described.check_200("enrich", client.post(ENRICH, json={"domains": found}))


def test_the_example_of_an_enrichment_is_what_is_answered(described: Description, own: httpx.Client) -> None:
    media = described.operation("enrich")["responses"]["200"]["content"]["application/json"]
    shown = media["examples"]["all_fields"]["value"]["results"]
    domains = described.body_examples("enrich")["all_fields"]["domains"]
    assert domains == [item["domain"] for item in shown]
    real = answered(own.post(ENRICH, json={"domains": domains}))["results"]
    assert real[1:] == shown[1:]
    found = answered(own.post(ENRICH, json={"domains": [FULL.domain]}))["results"][0]
    assert list(found) == list(shown[0])
    assert list(found["data"]) == list(shown[0]["data"])


def test_the_example_of_a_page_has_the_fields_of_one(described: Description, own: httpx.Client) -> None:
    media = described.operation("search")["responses"]["200"]["content"]["application/json"]
    shown = media["examples"]["first_page"]["value"]
    real = search(own, {})
    assert list(shown) == list(real)
    assert list(shown["results"][0]) == list(real["results"][0])
    asked = described.body_examples("search")["filters"]
    assert search(own, asked)["filters"] == shown["filters"]


def test_the_examples_of_a_reading_are_what_is_answered(described: Description, own: httpx.Client) -> None:
    shown = described.operation("interpret")["responses"]["200"]["content"]["application/json"]["examples"]
    asked = described.body_examples("interpret")
    assert set(shown) == set(asked) == {"sentence", "filter", "directives"}
    for name, body in asked.items():
        real = answered(own.post(INTERPRET, json=body))
        assert {**shown[name]["value"], "total_results": real["total_results"]} == real
    for part in ("assumptions", "corrections", "alternatives", "ignored", "unsupported"):
        assert any(example["value"][part] for example in shown.values()), part
    explained = described.operation("search")["responses"]["200"]["content"]["application/json"]["examples"][
        "explained"
    ]
    real = search(own, described.body_examples("search")["explained"])
    assert list(real) == list(explained["value"])
    assert real["interpretation"] == explained["value"]["interpretation"]
    assert real["filters"] == explained["value"]["filters"]


def test_every_part_of_a_reading_is_described(described: Description) -> None:
    read = described.schemas["Interpretation"]["properties"]
    assert list(described.schemas["InterpretResponse"]["properties"]) == [*read, "total_results"]
    lists = [schema["items"] for schema in read.values() if "items" in schema]
    for schema in (*read.values(), *(part for items in lists for part in items.get("properties", {}).values())):
        assert schema.get("description") or schema.get("$ref"), schema


def test_the_other_operations(described: Description, own: httpx.Client) -> None:
    for path, method, operation in described.operations():
        if method == "GET" and "{" not in path:
            response = own.get(path)
            assert response.status_code == 200
            described.check_answer(operation["operationId"], response)


def test_what_was_spent(described: Description, bank: Bank) -> None:
    customer, paid = grant_and_spend(bank)
    described.check_200("account", customer.client.get(ACCOUNT))
    assert described.check_200("usage", customer.client.get(USAGE))["rows"]
    page = described.check_200("ledger", customer.client.get(LEDGER, params={"limit": 2}))
    described.check_200("ledger", customer.client.get(page["next"]))
    entries = described.check_200("ledger", customer.client.get(LEDGER))["entries"]
    assert {entry["kind"] for entry in entries} == {"grant", "charge", "refund", "adjust"}
    described.check_answer("ledger", customer.client.get(LEDGER, params={"limit": 2}, headers={"Accept": "text/csv"}))
    for request_id in paid:
        described.check_200("receipt", customer.client.get(f"{LEDGER}/{request_id}"))


def test_every_example_of_a_query_parameter_works(described: Description, own: httpx.Client) -> None:
    for name, path in (("usage", USAGE), ("ledger", LEDGER), ("values", f"{VALUES}/city")):
        for parameter in described.operation(name)["parameters"]:
            if parameter["in"] == "path":
                continue
            asked = {parameter["name"]: parameter["example"]}
            described.check_200(name, own.get(path, params=asked))
            for bound, beyond in (("minimum", -1), ("maximum", 1)):
                if bound in parameter["schema"]:
                    at_most = parameter["schema"][bound]
                    answered(own.get(path, params={parameter["name"]: at_most}))
                    refused(own.get(path, params={parameter["name"]: at_most + beyond}), 400, "INVALID_REQUEST")


def test_the_example_of_values_is_what_is_answered(described: Description, own: httpx.Client) -> None:
    operation = described.operation("values")
    field, *query = operation["parameters"]
    asked = {parameter["name"]: parameter["example"] for parameter in query}
    real = described.check_200("values", own.get(f"{VALUES}/{field['example']}", params=asked))
    assert real == operation["responses"]["200"]["content"]["application/json"]["examples"]["response"]["value"]


def test_values_of_every_field(described: Description, own: httpx.Client) -> None:
    field, text, *_ = described.operation("values")["parameters"]
    for name in field["schema"]["enum"]:
        asks: list[dict[str, Any]] = [{}, {"q": "s", "limit": 50}, {"q": "x" * text["schema"]["maxLength"]}]
        for asked in asks:
            assert described.check_200("values", own.get(f"{VALUES}/{name}", params=asked))["field"] == name
    too_long = own.get(f"{VALUES}/city", params={"q": "x" * (text["schema"]["maxLength"] + 1)})
    refused(too_long, 400, "INVALID_REQUEST")


def test_the_examples_of_what_was_spent_have_the_fields_of_real_ones(described: Description, bank: Bank) -> None:
    customer, paid = grant_and_spend(bank)
    real = {
        "account": answered(customer.client.get(ACCOUNT)),
        "usage": answered(customer.client.get(USAGE)),
        "ledger": answered(customer.client.get(LEDGER)),
        "receipt": answered(customer.client.get(f"{LEDGER}/{paid[0]}")),
    }
    for name, body in real.items():
        content = described.operation(name)["responses"]["200"]["content"]
        shown = content["application/json"]["examples"]["response"]["value"]
        assert list(shown) == list(body)
        for part in ("account", "balances", "prices", "limits", "key", "totals"):
            assert list(shown.get(part, [])) == list(body.get(part, []))
        for part in ("rows", "entries"):
            assert [list(one) for one in shown.get(part, [])[:1]] == [list(one) for one in body.get(part, [])[:1]]
    table = described.operation("ledger")["responses"]["200"]["content"]["text/csv"]["examples"]["response"]["value"]
    response = customer.client.get(LEDGER, headers={"Accept": "text/csv"})
    assert table.splitlines()[0] == response.text.splitlines()[0]
