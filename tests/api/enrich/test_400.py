"""Enrichments that are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from siteglass.settings import Settings
from testing.api_calls import ENRICH, answered, bad_fields, refused
from testing.service import serving

GOOD = ["own-host.com"]


@pytest.mark.promise("enrich.domains", "setting.max_enrich_domains", "body.no_domains", "enrich.count")
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"domains": None},
        {"domains": []},
        {"domains": "own-host.com"},
        {"domains": {"0": "own-host.com"}},
        {"domains": 3},
        {"domains": True},
        {"domains": [f"missing-{number}.com" for number in range(101)]},
        {"domains": GOOD * 101},
    ],
    ids=lambda body: str(body)[:40],
)
def test_domains(own: httpx.Client, body: dict[str, Any]) -> None:
    assert bad_fields(own, body, ENRICH) == {"domains"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "expected an array of domains, found nothing"),
        ({"domains": "a.com, b.com"}, 'expected an array of domains, found a string; write ["a.com", "b.com"]'),
    ],
    ids=str,
)
def test_what_is_said_of_no_array(own: httpx.Client, body: dict[str, Any], message: str) -> None:
    (detail,) = refused(own.post(ENRICH, json=body), 400, "INVALID_REQUEST")
    assert detail == {"field": "domains", "message": message}


def test_an_unknown_field_far_from_all(own: httpx.Client) -> None:
    (detail,) = refused(own.post(ENRICH, json={"domains": GOOD, "zzqq": 1}), 400, "INVALID_REQUEST")
    assert detail == {
        "field": "zzqq",
        "message": "unknown field; expected one of domains, select, dry_run, max_lead_credits",
    }


@pytest.mark.promise("enrich.domains", "enrich.no_string")
@pytest.mark.parametrize("element", [3, None, True, ["own-host.com"], {"a": 1}, 1.5], ids=str)
def test_an_element_that_is_no_string(own: httpx.Client, element: Any) -> None:
    (field,) = bad_fields(own, {"domains": ["own-host.com", element]}, ENRICH)
    assert field.partition("[")[0] == "domains"


@pytest.mark.promise("enrich.select")
@pytest.mark.parametrize(
    "select",
    [["domian"], ["Domain"], "domain", 3, [3], [None], ["links"], ["social_links"], ["business_name"]],
    ids=str,
)
def test_select(own: httpx.Client, select: Any) -> None:
    (field,) = bad_fields(own, {"domains": GOOD, "select": select}, ENRICH)
    assert field.partition("[")[0] == "select"


@pytest.mark.promise("body.unknown_field")
def test_the_nearest_name_is_suggested(own: httpx.Client) -> None:
    (detail,) = refused(own.post(ENRICH, json={"domains": GOOD, "select": ["social_acounts"]}), 400, "INVALID_REQUEST")
    assert "social_accounts" in detail["message"]
    (detail,) = refused(own.post(ENRICH, json={"domains": GOOD, "selct": ["title"]}), 400, "INVALID_REQUEST")
    assert detail["field"] == "selct"
    assert "select" in detail["message"]


@pytest.mark.promise("body.all_problems")
def test_all_problems_at_once(own: httpx.Client) -> None:
    fields = bad_fields(own, {"domans": GOOD, "domains": [3], "select": ["nope"], "limit": 5}, ENRICH)
    assert {field.partition("[")[0] for field in fields} == {"domans", "domains", "select", "limit"}


@pytest.mark.promise("body.empty")
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'["own-host.com"]', b"null", b"\xff"])
def test_no_json_object(own: httpx.Client, content: bytes) -> None:
    response = own.post(ENRICH, content=content, headers={"Content-Type": "application/json"})
    refused(response, 400, "INVALID_REQUEST")


@pytest.mark.promise("setting.max_enrich_domains")
def test_the_most_domains_can_be_set(own_settings: Settings) -> None:
    with serving(replace(own_settings, max_enrich_domains=2)) as client:
        answered(client.post(ENRICH, json={"domains": GOOD * 2}))
        assert bad_fields(client, {"domains": GOOD * 3}, ENRICH) == {"domains"}
