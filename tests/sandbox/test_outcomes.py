"""Test keys: made-up leads that never change, nothing charged, and every outcome on purpose."""

from __future__ import annotations

import datetime
import secrets
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from siteglass.access.accounts import create_account
from siteglass.access.keys import create_key
from siteglass.access.rotation import rotate_key
from siteglass.billing.credits import Billing
from siteglass.billing.receipts import EntryFilter, entries
from siteglass.corpus.lead_files import read_parquet
from siteglass.leads import sandbox
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings
from siteglass_demo.sandbox_leads import sandbox_leads
from testing.service import make_test_account, run, serving, settings_for

TIMEOUT_MS = 5_000
ALL_LEADS = sum(1 for _ in sandbox.leads())
# One worker: the index is made once.


def test_its_leads_are_those_of_the_generator() -> None:
    kept = [lead for _, group in read_parquet(sandbox.GENERATED) for lead in group]
    assert kept == list(sandbox_leads()), "If this is meant, run `make sandbox-leads` and commit the file."


@pytest.fixture(scope="module")
def settings() -> Settings:
    """An index of test leads, and none of live ones."""
    made = settings_for("testmode")
    make_test_account(made.postgres_dsn, made.postgres_schema)
    assert run(made, lambda live_index: sandbox.build(live_index)) == ALL_LEADS
    return made


@pytest.fixture(scope="module")
def account(settings: Settings) -> int:
    """An account without a credit."""
    return run(
        settings,
        lambda live_index: create_account(
            live_index.postgres, f"Tester {secrets.token_hex(4)}", "tests", actor="tests"
        ),
    )


@pytest.fixture(scope="module")
def key(settings: Settings, account: int) -> tuple[int, str]:
    """A test key of it."""
    return run(
        settings,
        lambda live_index: create_key(
            live_index.postgres, settings.key_secrets, account, "test", actor="tests", test=True
        ),
    )


@pytest.fixture(scope="module")
def client(settings: Settings, key: tuple[int, str]) -> Iterator[httpx.Client]:
    """The service, called with the test key."""
    with serving(settings) as client:
        client.headers["X-API-Key"] = key[1]
        yield client


def search(client: httpx.Client, **body: Any) -> httpx.Response:
    return client.post("/v1/leads/search", json=body)


def test_a_test_key_says_so_itself(key: tuple[int, str]) -> None:
    assert key[1].startswith("sg_test_")
    assert len(key[1]) == 44


def test_every_search_of_the_reference_finds_something_with_a_test_key(client: httpx.Client) -> None:
    described = client.get("/openapi.json").json()["paths"]["/v1/leads/search"]["post"]
    examples = described["requestBody"]["content"]["application/json"]["examples"]
    found = {name: search(client, **each["value"]).json()["total_results"] for name, each in examples.items()}
    assert next(iter(examples)) == "filters"  # the one that the page shows first
    assert {name: count for name, count in found.items() if not count} == {}


@pytest.mark.promise("key.test")
def test_a_search_finds_the_same_leads_every_time_and_costs_nothing(
    client: httpx.Client, settings: Settings, account: int
) -> None:
    answers = [search(client, query="sites in the USA", limit=10) for _ in range(2)]
    first, again = (answer.json() for answer in answers)
    assert first["results"] == again["results"]
    assert first["size"] == 10
    headers = answers[0].headers
    charged = sum(bool(lead["emails"]) for lead in first["results"])
    assert headers["X-Test-Mode"] == "true"
    assert headers["X-Credits-Lead-Used"] == str(charged)
    assert headers["X-Credits-Lead-Remaining"] == str(sandbox.BALANCE - charged)

    async def written(live_index: Any) -> tuple[int, int]:
        postgres: Postgres = live_index.postgres
        left = await Billing(postgres).balance(account)
        return left.lead, len(await entries(postgres, account, EntryFilter(10)))

    assert run(settings, written) == (0, 0)


def test_pages_are_walked_to_the_end(client: httpx.Client) -> None:
    seen: list[str] = []
    page = search(client, limit=100).json()
    while True:
        seen += [lead["domain"] for lead in page["results"]]
        if page["next"] is None:
            break
        page = client.post(page["next"], json={}).json()
    assert len(seen) == len(set(seen)) == ALL_LEADS


@pytest.mark.promise("key.test_outcomes")
@pytest.mark.parametrize(
    ("word", "status", "retry_after"),
    [
        ("INSUFFICIENT_CREDITS", 402, None),
        ("CREDIT_CAP_EXCEEDED", 402, None),
        ("TOO_MANY_REQUESTS", 429, "2"),
        ("UNAVAILABLE", 503, "2"),
        ("INTERNAL", 500, None),
    ],
)
def test_errors_on_purpose(client: httpx.Client, word: str, status: int, retry_after: str | None) -> None:
    answer = search(client, query=f"test:{word}")
    assert (answer.status_code, answer.json()["error"]) == (status, word)
    assert answer.headers.get("Retry-After") == retry_after
    assert search(client, query=f"test: {word.lower()} ").status_code == status


def test_every_word_has_a_test() -> None:
    assert set(sandbox.ERRORS) == {
        "INSUFFICIENT_CREDITS", "CREDIT_CAP_EXCEEDED", "TOO_MANY_REQUESTS", "UNAVAILABLE", "INTERNAL",
    }  # fmt: skip


@pytest.mark.promise("key.test_outcomes")
def test_a_cursor_that_has_expired(client: httpx.Client) -> None:
    page = search(client, query="test:CURSOR_EXPIRED", limit=5).json()
    assert page["size"] == 5
    followed = client.post(page["next"], json={})
    assert (followed.status_code, followed.json()["error"]) == (410, "CURSOR_EXPIRED")


def test_a_slow_answer(client: httpx.Client) -> None:
    started = time.monotonic()
    assert search(client, query="test:SLOW", limit=1).status_code == 200
    assert time.monotonic() - started >= sandbox.SLOW_S - 0.1


@pytest.mark.promise("key.test_outcomes")
def test_domains_on_purpose(client: httpx.Client) -> None:
    domains = [
        "https://www.found.example/x",
        "not-found.example",
        "error.example",
        "no-address.example",
        "not a domain",
        "alias.example",
    ]
    answer = client.post("/v1/leads/enrich", json={"domains": domains, "select": ["domain", "emails"]})
    items = answer.json()["results"]
    assert [item["status"] for item in items] == ["success", "not_found", "error", "success", "error", "success"]
    assert items[5]["data"] == items[0]["data"]
    assert items[0]["data"]["emails"] == ["hello@found.example", "jo@found.example"]
    assert items[3]["data"]["emails"] == []
    assert "was not charged" in items[2]["message"]
    assert (answer.headers["X-Credits-Api-Used"], answer.headers["X-Credits-Lead-Used"]) == ("1", "2")
    started = time.monotonic()
    assert (
        client.post("/v1/leads/enrich", json={"domains": ["slow.example"]}).json()["results"][0]["status"] == "success"
    )
    assert time.monotonic() - started >= sandbox.SLOW_S - 0.1


def test_what_caps_and_dry_runs_say(client: httpx.Client) -> None:
    refused = search(client, limit=50, max_lead_credits=1)
    assert (refused.status_code, refused.json()["error"]) == (402, "CREDIT_CAP_EXCEEDED")
    told = search(client, limit=50, dry_run=True)
    assert told.json()["dry_run"] is True
    assert told.json()["lead_credits"] > 1
    assert told.headers["X-Credits-Lead-Used"] == "0"


def test_the_same_key_of_a_retry_is_found_again(client: httpx.Client) -> None:
    headers = {"Idempotency-Key": "a-retry"}
    answers = [client.post("/v1/leads/search", json={"limit": 3}, headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json()["results"] == answers[1].json()["results"]


def test_the_rest_is_the_service_as_it_is(client: httpx.Client) -> None:
    assert search(client, technology=["Shopify"]).status_code == 400
    read = client.post("/v1/leads/interpret", json={"query": "Shopify stores in the US"}).json()
    assert 0 < read["total_results"] < ALL_LEADS
    counts = client.post("/v1/leads/facets", json={"facets": ["country"], "size": 1}).json()
    assert counts["total_results"] == ALL_LEADS
    assert counts["facets"][0]["counts"][0]["value"] == "USA"
    wrong = client.post("/v1/leads/diagnose", json={"country": "USA", "technologies": ["shopfy"]}).json()
    assert wrong["relaxations"][0]["replace"][0]["by"] == "@technology(Shopify)"
    assert client.get("/v1/values/technology?q=shop").status_code in (200, 404)
    assert client.get("/v1/account").json()["key"]["name"] == "test"


@pytest.mark.promise("key.test")
def test_live_keys_meet_nothing_of_it(settings: Settings, account: int, client: httpx.Client) -> None:
    async def live(live_index: Any) -> str:
        return (await create_key(live_index.postgres, settings.key_secrets, account, "live", actor="tests"))[1]

    key = run(settings, live)
    with httpx.Client(base_url=client.base_url, headers={"X-API-Key": key}, trust_env=False) as other:
        page = search(client, limit=1).json()
        assert other.post(page["next"], json={}).status_code == 400  # a cursor of test mode is invalid for them
        answer = search(other, query="test:INTERNAL")
        assert answer.status_code == 503  # there are no live leads here
        assert "X-Test-Mode" not in answer.headers


def test_a_rotated_test_key_is_one_again(settings: Settings, account: int) -> None:
    async def rotated(live_index: Any) -> str:

        postgres = live_index.postgres
        number, _ = await create_key(postgres, settings.key_secrets, account, "old", actor="tests", test=True)
        _, made = await rotate_key(postgres, settings.key_secrets, number, datetime.timedelta(), "tests")
        return made

    assert run(settings, rotated).startswith("sg_test_")


@pytest.mark.promise("list.sandbox")
def test_lists_are_separate_and_free(client: httpx.Client) -> None:
    def total(**lists: list[str]) -> int:
        response = client.post("/v1/leads/interpret", json=lists)
        assert response.status_code == 200, response.text
        return int(response.json()["total_results"])

    body = {"name": "mine", "domains": [sandbox.FOUND, "no-lead.com"]}
    assert client.post("/v1/lists", json=body).json()["size"] == 2
    shown = client.get("/v1/lists").json()["lists"]
    assert [(one["name"], one["size"]) for one in shown] == [
        ("downloaded", 0),
        ("mine", 2),
        ("paid", 0),
        ("received", 0),
    ]
    assert total(only_lists=["mine"]) == 1
    assert total(exclude_lists=["mine", "paid"]) == ALL_LEADS - 1
    page = search(client, only_lists=["mine"]).json()
    assert [record["domain"] for record in page["results"]] == [sandbox.FOUND]
    assert search(client, only_lists=["paid"]).json()["results"] == []
