"""GET /v1/leads/{domain}/evidence: where and when each address and number of a lead was seen, free of charge."""

from __future__ import annotations

import pytest

from siteglass.access.keys import Keys
from siteglass.billing.credits import Bill, Billing, Mark
from siteglass.corpus.evidence_files import MAX_SIGHTINGS
from siteglass.platform.logs import new_request_id
from siteglass.privacy import opt_out
from siteglass.suppression.values import read_value
from testing.api_calls import ENRICH, LEDGER, SEARCH, answered, refused
from testing.customers import Bank
from testing.service import run
from tests.api.evidence.conftest import OPTED_OUT_PHONE, PHONE

PATH = "/v1/leads/{}/evidence"
SEEN = {"first_seen": "2026-08-22T14:13:20Z", "last_seen": "2026-09-21T14:13:20Z"}


@pytest.mark.promise("route.GET /v1/leads/{domain}/evidence", "feature.evidence")
def test_each_value_with_its_pages(desk: Bank) -> None:
    customer = desk.customer(api=1, lead=1)
    answered(customer.post(ENRICH, {"domains": ["seen.example"]}))
    response = customer.client.get(PATH.format("seen.example"))
    assert answered(response) == {
        "domain": "seen.example",
        "emails": [
            {
                "value": "info@seen.example",
                "seen": [
                    {"page": "https://seen.example/contact", "method": "mailto", **SEEN},
                    {
                        "page": "https://seen.example/imprint",
                        "method": "text",
                        "first_seen": "2026-08-19T14:13:20Z",
                        "last_seen": "2026-09-18T14:13:20Z",
                    },
                ],
            },
            {
                "value": "eve@seen.example",
                "seen": [{"page": "https://seen.example/team", "method": "cloudflare", **SEEN}],
            },
        ],
        "phones": [{"value": PHONE, "seen": [{"page": "https://seen.example/contact", "method": "tel", **SEEN}]}],
        "technologies": [
            {
                "value": "Klaviyo",
                "marks": [{"kind": "script", "rule": "static.klaviyo.com", "excerpt": "//static.klaviyo.com/a.js"}],
                "page": "https://seen.example/",
                **SEEN,
            }
        ],
    }
    assert not [name for name in response.headers if name.startswith("x-credits-")]


@pytest.mark.promise("evidence.price")
@pytest.mark.parametrize("domain", ["seen.example", "c-none.example"])
def test_it_is_free_however_often_it_is_asked(desk: Bank, domain: str) -> None:
    """With something to show or without, as HTTP libraries repeat a GET; no credit is left to pay with."""
    customer = desk.customer(api=1, lead=1)
    answered(customer.post(ENRICH, {"domains": [domain]}))
    assert customer.balance() == (0, 0)
    with customer.untouched():
        answers = [
            customer.client.get(PATH.format(domain), headers=headers)
            for headers in ({}, {}, {"Idempotency-Key": "once"}, {"Idempotency-Key": "once"})
        ]
    assert {answered(response)["domain"] for response in answers} == {domain}
    refused(customer.client.get(f"{LEDGER}/{answers[0].headers['x-request-id']}"), 404, "NOT_FOUND")


@pytest.mark.promise("evidence.price")
def test_entries_of_the_time_when_it_cost_a_credit(desk: Bank) -> None:
    customer = desk.customer(api=2, lead=1)
    answered(customer.post(ENRICH, {"domains": ["seen.example"]}))
    caller = desk.do(Keys(desk.postgres, desk.settings.key_secrets, 5_000).find(customer.key))
    bill, request_id = Bill("evidence", 1, [("seen.example", Mark.PAID_BEFORE)]), new_request_id()
    desk.do(Billing(desk.postgres, 5000).charge(caller, request_id, bill))
    (entry,) = answered(customer.client.get(f"{LEDGER}/{request_id}"))["entries"]
    assert (entry["operation"], entry["api_credits"], entry["lead_credits"]) == ("evidence", -1, 0)
    assert entry["domains"] == [{"domain": "seen.example", "charged": False, "reason": "already_paid"}]
    customer.verified()


@pytest.mark.promise("evidence.paid")
def test_paid_by_a_search(desk: Bank) -> None:
    customer = desk.customer(api=0, lead=4)
    answered(customer.post(SEARCH, {}))
    assert answered(customer.client.get(PATH.format("c-none.example")))["domain"] == "c-none.example"


@pytest.mark.parametrize("spelled", ["WWW.Seen.Example", "shop.seen.example"])
def test_the_lead_that_an_enrichment_would_find(desk: Bank, spelled: str) -> None:
    customer = desk.customer(api=1, lead=1)
    answered(customer.post(ENRICH, {"domains": [spelled]}))
    assert answered(customer.client.get(PATH.format(spelled)))["domain"] == "seen.example"


@pytest.mark.promise("feature.evidence")
def test_a_lead_that_came_without_evidence(desk: Bank) -> None:
    customer = desk.customer(api=1, lead=1)
    answered(customer.post(ENRICH, {"domains": ["c-none.example"]}))
    found = answered(customer.client.get(PATH.format("c-none.example")))
    assert found == {
        "domain": "c-none.example",
        "emails": [{"value": "hello@c-none.example", "seen": []}],
        "phones": [],
        "technologies": [],
    }


@pytest.mark.promise("limit.sightings")
def test_no_more_pages_than_anybody_reads(desk: Bank) -> None:
    customer = desk.customer(api=1, lead=1)
    answered(customer.post(ENRICH, {"domains": ["b-many.example"]}))
    (told,) = answered(customer.client.get(PATH.format("b-many.example")))["emails"]
    assert [one["page"] for one in told["seen"]] == [
        f"https://b-many.example/page-{number}" for number in range(MAX_SIGHTINGS)
    ]


@pytest.mark.promise("evidence.suppressed")
def test_what_is_suppressed_is_not_told(desk: Bank) -> None:
    """Nor is a page whose own address holds it."""
    customer = desk.customer(api=2, lead=2)
    select = {"domains": ["d-optout.example"], "select": ["description"]}
    (lead,) = answered(customer.client.post(ENRICH, json=select, headers={"Idempotency-Key": "lead"}))["results"]
    assert lead["data"]["description"] == "Ask eve [at] d-optout (dot) example, Tel. 030 / 90 18 21."
    path = PATH.format("d-optout.example")
    before = answered(customer.client.get(path))
    assert [one["value"] for one in before["emails"]] == ["eve@d-optout.example", "info@d-optout.example"]
    pages = before["emails"][1]["seen"]
    assert [one["page"].removeprefix("https://d-optout.example") for one in pages] == [
        *("/", "/@some.name", "/call/030-901821", "/team?who=eve@d-optout.example"),
        "/team?who=info%40d-optout.example",
    ]

    values = [read_value("eve@d-optout.example"), read_value(OPTED_OUT_PHONE)]
    run(desk.settings, lambda index: opt_out.suppress(index, values, reason="asked to", actor="tests"))
    seen = [*pages[:2], pages[4]]
    kept = {**before, "emails": [{"value": "info@d-optout.example", "seen": seen}], "phones": []}
    assert answered(customer.client.get(path)) == kept
    for headers in ({"Idempotency-Key": "lead"}, {}):
        (lead,) = answered(customer.client.post(ENRICH, json=select, headers=headers))["results"]
        assert lead["data"]["description"] == "Ask , Tel. ."
