"""What is not an operation: health, readiness, metrics, the documents, and addresses that do not exist."""

from __future__ import annotations

import asyncio

import asyncpg
import httpx
import pytest

from siteglass.platform.schema import migrate
from siteglass.settings import Settings
from testing.api_calls import ENRICH, SEARCH, refused
from testing.metrics import scrape

OPEN = ["/healthz", "/readyz", "/openapi.json", "/", "/docs", "/docs/api", "/opt-out"]


@pytest.mark.promise(
    cases={
        "/healthz": "route.GET /healthz",
        "/readyz": "route.GET /readyz",
        "/openapi.json": "route.GET /openapi.json",
        "/": "route.GET /",
        "/docs": "route.GET /docs",
        "/docs/api": "route.GET /docs/api",
    }
)
@pytest.mark.parametrize("path", OPEN)
def test_open_routes_need_no_key(own: httpx.Client, path: str) -> None:
    assert own.get(path).status_code == 200
    assert own.get(path, headers={"X-API-Key": "wrong"}).status_code == 200


@pytest.mark.promise("header.request_id")
@pytest.mark.parametrize("path", OPEN)
def test_every_answer_has_a_request_id(own: httpx.Client, path: str) -> None:
    one, two = (own.get(path).headers.get("x-request-id") for _ in range(2))
    assert one
    assert two
    assert one != two


@pytest.mark.parametrize("path", OPEN)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_open_routes_are_read_only(own: httpx.Client, path: str, method: str) -> None:
    response = own.request(method, path)
    refused(response, 405, "METHOD_NOT_ALLOWED")
    assert response.json()["message"] == f"{method} is not allowed here. Use GET."
    assert "GET" in response.headers["allow"]


def test_health_is_json(own: httpx.Client) -> None:
    for path in ("/healthz", "/readyz"):
        assert own.get(path).headers["content-type"].partition(";")[0] == "application/json"


def _as_owner(settings: Settings, statement: str) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(settings.postgres_owner_dsn)
        await connection.execute(statement.replace("{schema}", settings.postgres_schema))
        await connection.close()

    asyncio.run(run())


def test_functions_older_than_the_build_are_not_ready(own: httpx.Client, own_settings: Settings) -> None:
    _as_owner(own_settings, "UPDATE {schema}.schema_versions SET functions_hash = sha256(functions_hash)")
    try:
        refused(own.get("/readyz"), 503, "UNAVAILABLE")
    finally:
        _as_owner(own_settings, "TRUNCATE {schema}.schema_versions")
        asyncio.run(migrate(own_settings.postgres_owner_dsn, own_settings.postgres_schema, own_settings.postgres_dsn))
    assert own.get("/readyz").status_code == 200


@pytest.mark.promise("metrics.discreet")
def test_metrics_contain_no_secrets(own: httpx.Client) -> None:
    own.post(SEARCH, json={"keywords": ["verysecretword"]})
    cursor = own.post(SEARCH, json={"limit": 1}).json()["next"]
    own.post(cursor, json={})
    text = scrape()
    assert "# HELP" in text
    assert "verysecretword" not in text
    assert cursor not in text
    assert own.headers["X-API-Key"] not in text


def test_metrics_do_not_grow_with_addresses(own: httpx.Client) -> None:
    for number in range(3):
        own.get(f"/made-up-address-{number}")
    assert "made-up-address" not in scrape()


@pytest.mark.promise("error.NOT_FOUND", "errors.body", cases={"POST-/v2/leads/search": "version.prefix"})
@pytest.mark.parametrize(
    "path",
    ["/nope", "/v1", "/v1/leads", "/v2/leads/search", "/v1/leads/enrich/x", f"{SEARCH}/a/b", "/docs/a/b/c", "/redoc"],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_unknown_addresses(own: httpx.Client, path: str, method: str) -> None:
    response = own.request(method, path)
    refused(response, 404, "NOT_FOUND")
    assert list(response.json()) == ["error", "message"]


@pytest.mark.promise("error.NOT_FOUND")
@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/v1/leads/search/", "POST /v1/leads/search"),
        ("/v1/search", "POST /v1/leads/search"),
        ("/v1/lead/search", "POST /v1/leads/search"),
        ("/v1/leads/serach", "POST /v1/leads/search"),
        ("/V1/Leads/Search", "POST /v1/leads/search"),
        ("/v2/leads/search", "POST /v1/leads/search"),
        ("/leads/search", "POST /v1/leads/search"),
        ("/search", "POST /v1/leads/search"),
        (f"{SEARCH}/some-cursor/", "POST /v1/leads/search/{cursor}"),
        ("/v1/interpret", "POST /v1/leads/interpret"),
        ("/v1/facets", "POST /v1/leads/facets"),
        ("/v1/leads/diagnosis", "POST /v1/leads/diagnose"),
        ("/v1/leads/enrich/", "POST /v1/leads/enrich"),
        ("/v1/enrich", "POST /v1/leads/enrich"),
        ("/v1/domains/enrich", "POST /v1/leads/enrich"),
        ("/v1/accounts", "GET /v1/account"),
        ("/account", "GET /v1/account"),
        ("/v1/usage/", "GET /v1/usage"),
        ("/v1/ledgers", "GET /v1/ledger"),
        ("/v1/leads/ledger", "GET /v1/ledger"),
        ("/v1/ledger/", "GET /v1/ledger"),
        ("/v1/ledger/some/request", "GET /v1/ledger/{request_id}"),
        ("/v1/values", "GET /v1/values/{field}"),
        ("/v1/values/", "GET /v1/values/{field}"),
        ("/v1/value", "GET /v1/values/{field}"),
        ("/v1/leads/values", "GET /v1/values/{field}"),
        ("/v1/values/city/Munich", "GET /v1/values/{field}"),
        ("/health", "GET /healthz"),
        ("/openapi", "GET /openapi.json"),
    ],
)
def test_an_address_near_an_operation(own: httpx.Client, path: str, meant: str) -> None:
    for method in ("GET", "POST"):
        response = own.request(method, path)
        refused(response, 404, "NOT_FOUND")
        assert response.json()["message"] == f"There is nothing at {path}; did you mean {meant}?"


@pytest.mark.parametrize("path", ["/nope", "/v1", "/v1/leads", "/v1/leads/all", "/v1/leads/7", "/redoc"])
def test_an_address_near_none(own: httpx.Client, path: str) -> None:
    message = own.get(path).json()["message"]
    assert message == f"There is nothing at {path}. The operations are listed in /openapi.json."


@pytest.mark.promise("errors.no_framework")
def test_strange_addresses_are_answered_as_json(own: httpx.Client) -> None:
    for path in ("/%00", "/%FF", "/v1/leads/search%2Fabc", "/" + "x" * 5000, "/<script>", "/v1//leads/search"):
        refused(own.get(path), own.get(path).status_code, own.get(path).json()["error"])


def test_a_request_id_is_never_taken_from_the_caller_twice(own: httpx.Client) -> None:
    headers = {"X-Request-Id": "the-same-each-time"}
    ids = {own.post(SEARCH, json={"limit": 1}, headers=headers).headers["x-request-id"] for _ in range(2)}
    assert len(ids) == 2


@pytest.mark.promise("header.request_id")
def test_request_ids_of_errors_are_unique(own: httpx.Client) -> None:
    answers = [
        own.get("/nope"),
        own.get(SEARCH),
        own.post(SEARCH, json={"limt": 1}),
        own.post(SEARCH, json={}, headers={"X-API-Key": "wrong"}),
        own.post(SEARCH, content=b"{}"),
        own.post(SEARCH, content=b"x" * 70_000, headers={"Content-Type": "application/json"}),
        own.post(f"{SEARCH}/x", json={}),
        own.post(ENRICH, json={}),
    ]
    assert [answer.status_code for answer in answers] == [404, 405, 400, 401, 415, 413, 400, 400]
    assert len({answer.headers["x-request-id"] for answer in answers}) == len(answers)
