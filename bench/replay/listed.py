"""Requests that are listed: accounts and ledgers, the sandbox, opt-outs, retries, and every error on purpose."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import Any

import httpx

from bench.replay.malformed import CONFIRM, OPT_OUT
from bench.replay.world import LARGE_CITY, World
from siteglass.leads.sandbox import ERROR_DOMAIN, ERRORS, FOUND, NO_ADDRESS, NOT_FOUND
from siteglass.openapi.operations import OPERATIONS
from testing.api_calls import ACCOUNT, DIAGNOSE, ENRICH, FACETS, INTERPRET, LEDGER, SEARCH, USAGE, VALUES
from testing.claiming import claimed

CSV = {"Accept": "text/csv"}
SORTED = {"sort": "domain", "limit": 3}
FAR_AHEAD_S = 30 * 86_400


def account(world: World, _draw: Random) -> None:
    """What an account with prices, caps and expiring credits has, used and paid."""
    stored = [lead.domain for lead in world.leads[:12]]

    def ask(method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        return world.ask("account", method, path, body, **{"key": "full", **options})

    page = ask("POST", SEARCH, {**SORTED, "has_email": True})
    paid = [page, ask("POST", SEARCH, {**SORTED, "has_email": True}), ask("POST", page.json()["next"], {})]
    paid += [ask("POST", ENRICH, {"domains": [domain, "unknown.example"]}) for domain in stored[:4]]
    paid.append(ask("POST", ENRICH, {"domains": stored[:4], "dry_run": True}))
    paid.append(ask("POST", ENRICH, {"domains": stored}, key="capped"))
    paid += [ask("POST", ENRICH, {"domains": stored[5:6]}, key="capped") for _ in range(2)]
    paid += [ask("POST", ENRICH, {"domains": stored[:1]}, key=key) for key in ("only enrich", "only search")]
    paid.append(ask("POST", SEARCH, {"limit": 100, "has_email": True}))  # over the day's cap of the plan
    ask("POST", "/v1/lists", {"name": "mine", "domains": stored[:6]})
    ask("POST", "/v1/lists/mine/domains", {"domains": [stored[6], "unknown.example", "n/a"]})
    ask("POST", "/v1/lists/mine/remove", {"domains": stored[:2]})
    for path in ("/v1/lists", "/v1/lists/mine/domains?limit=2", "/v1/lists/paid/domains", "/v1/lists/none/domains"):
        ask("GET", path)
    paid.append(ask("POST", SEARCH, {**SORTED, "only_lists": ["mine"], "exclude_lists": ["paid"]}))
    ask("DELETE", "/v1/lists/mine")
    ask("POST", "/v1/searches", {"name": "mine", "search": SORTED, "shared": True})
    for path in ("/v1/searches", "/v1/searches/mine/count", "/v1/searches/none/count"):
        ask("GET", path)
    paid.append(ask("POST", "/v1/searches/mine/run", {"limit": 1}))
    ask("DELETE", "/v1/searches/mine")
    today = datetime.now(UTC).date().isoformat()
    for key in ("full", "capped", "only account", "only enrich", "sandbox", "empty", "poor"):
        number = world.customers[key].key_id
        queries = ("", f"?key={number}", f"?from={today}&to={today}")
        for path in (ACCOUNT, *(USAGE + query for query in queries), *(LEDGER + query for query in queries)):
            ask("GET", path, key=key)
    for query in ("?limit=2", "?limit=2&before=5", "?before=2", f"?from={today}&limit=5", "?request_id=unknown"):
        ask("GET", LEDGER + query)
        ask("GET", LEDGER + query, headers=CSV)
    for accept in ("*/*", "text/csv;q=0.5, application/json", "text/*", "text/csv, */*;q=0.1", "image/png", "TEXT/CSV"):
        ask("GET", f"{LEDGER}?limit=1", headers={"Accept": accept})
    for response in paid:
        ask("GET", f"{LEDGER}/{response.headers['x-request-id']}")
        ask("GET", f"{LEDGER}?request_id={response.headers['x-request-id']}")
    ask("GET", f"{LEDGER}/{paid[0].headers['x-request-id']}", key="poor")


def sandbox(world: World, _draw: Random) -> None:
    """All operations with a test key, and every outcome that can be asked for."""

    def ask(path: str, body: Any, **options: Any) -> httpx.Response:
        return world.ask("sandbox", "POST", path, body, **options)

    words = [*ERRORS, "CURSOR_EXPIRED", "NOTHING", "", *(word.lower() for word in ERRORS)]
    for word in words:
        response = ask(SEARCH, {"query": f"test:{word}", "limit": 2})
        if response.is_success and response.json()["next"]:
            ask(response.json()["next"], {})
    for name in (FOUND, NO_ADDRESS, ERROR_DOMAIN, NOT_FOUND, f"https://www.{FOUND}/", "a b", "x.example"):
        ask(ENRICH, {"domains": [name]})
        ask(ENRICH, {"domains": [name, FOUND], "dry_run": True, "max_lead_credits": 0})
        world.ask("sandbox", "GET", f"/v1/leads/{name.rpartition('//')[2].strip('/')}/evidence")
    for lead in world.leads[:3]:
        ask(ENRICH, {"domains": [lead.domain]})
    for number in range(12):
        page = ask(SEARCH, {"limit": number + 1, "sort": "domain", "explain": number % 2 == 0})
        page = ask(page.json()["next"], {})
        ask(page.json()["next"], {"limit": 2})
        ask(page.json()["previous"], {"dry_run": True})
    live = world.ask("sandbox", "POST", SEARCH, SORTED, key="search").json()
    ask(live["next"], {})  # of the same service, but not of this key
    for body in (
        {"max_lead_credits": 0},
        {"dry_run": True},
        {"query": "shopify stores in Germany"},
        {"query": "cheap blue shopfy stores", "strict": True},
        {"limit": 0},
        {"x": 1},
    ):
        ask(SEARCH, body)
        ask(INTERPRET, body)
    for key in ("a", "a", "b c"):
        ask(SEARCH, SORTED, headers={"Idempotency-Key": key})
    world.ask("sandbox", "GET", f"{VALUES}/country?q=ger")


def errors(world: World, _draw: Random) -> None:
    """Each error of the live service, retries, other addresses, and a service whose engines are unavailable."""
    stored = [lead.domain for lead in world.leads if lead.emails][:10]
    first: dict[str, tuple[str, str, Any]] = {
        "search": ("POST", SEARCH, {"has_email": True, **SORTED}),
        "enrich": ("POST", ENRICH, {"domains": stored}),
        "interpret": ("POST", INTERPRET, {"query": "shopify stores"}),
        "facets": ("POST", FACETS, {"query": "shopify stores", "facets": ["country", "score"]}),
        "diagnose": ("POST", DIAGNOSE, {"query": "shopify stores in Germany without email"}),
        "values": ("GET", f"{VALUES}/city?q=ber", None),
        "evidence": ("GET", f"/v1/leads/{stored[0]}/evidence", None),
        "account": ("GET", ACCOUNT, None),
        "usage": ("GET", USAGE, None),
        "ledger": ("GET", LEDGER, None),
        "receipt": ("GET", f"{LEDGER}/some-request", None),
    }
    cursor = world.ask("errors", *first["search"]).json()["next"]
    requests = [*first.values(), ("POST", cursor, {})]
    keys = ("empty", "poor", "elsewhere", "expired", "revoked", "only search", "only enrich", "only account", None, "x")
    for request in requests:
        for key in (*keys, "sg_live_" + "0" * 36, "slow", "slow"):
            world.ask("errors", *request, key=key)
        world.ask("errors", *request, broken=True)
        world.ask("errors", *request, broken=True, headers={"Idempotency-Key": "broken"})
    world.clock.ahead_s = FAR_AHEAD_S
    world.ask("errors", "POST", cursor, {})
    world.clock.ahead_s = 0
    for wrong in (cursor[:-1], cursor + "A", cursor[:-4] + "AAAA", SEARCH + "/" + "A" * 7_000, SEARCH + "/é"):
        world.ask("errors", "POST", wrong, {})
    _retries(world, [first["search"], first["enrich"], ("POST", cursor, {})])
    for operation in OPERATIONS:
        path = operation.path.format(cursor="x", domain="x.example", field="city", request_id="x", name="x")
        for method in ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
            world.ask("errors", method, path)
        world.ask("errors", operation.method, path + "/")
        world.ask("errors", operation.method, path.upper())
    for path in (
        "/v1",
        "/v1/leads",
        "/v1/search",
        "/v1/lead/search",
        "/v2/account",
        "/v1/leads/export",
        "/x" * 200,
    ):
        world.ask("errors", "GET", path)
    for path in (OPT_OUT, "/readyz", "/healthz"):
        body = {"email": "anna@example.com"} if path == OPT_OUT else None
        world.ask("errors", "POST" if body else "GET", path, body, key=None, broken=True)


def _retries(world: World, requests: list[tuple[str, str, Any]]) -> None:
    """Idempotency-Key: the same again, another body, one that still runs, and a response too large to keep."""

    def ask(method: str, path: str, body: Any, key: str) -> httpx.Response:
        return world.ask("errors", method, path, body, headers={"Idempotency-Key": key})

    for number, (method, path, body) in enumerate(requests):
        for again in (body, body, {**body, "max_lead_credits": 50}, {**body, "dry_run": True}):
            ask(method, path, again, f"key-{number}")
        with claimed(world.customers["errors"], f"claimed-{number}"):
            ask(method, path, body, f"claimed-{number}")
        ask(method, path, body, f'"key-{number}"')
    for key in ("", '""', "a b", '"', "x" * 256):
        ask(*requests[0], key)
    ask("POST", SEARCH, b'{"technologies": ' + b"[" * 300 + b"]" * 300 + b"}", "deep")
    large = {"city": LARGE_CITY, "limit": 100, "select": ["keywords"]}
    ask("POST", SEARCH, large, "large")
    ask("POST", SEARCH, {**large, "limit": 2}, "large")


def opt_out(world: World, _draw: Random) -> None:
    """Requests of people: asked, proven in every way, refused, carried out, and what retries show afterwards.

    Last of all parts: what it suppresses is missing in all later responses.
    """

    def ask(path: str, body: Any, caller: str | None = None) -> dict[str, Any]:
        headers = {"X-Forwarded-For": caller} if caller else None
        response: dict[str, Any] = world.ask("opt_out", "POST", path, body, key=None, headers=headers).json()
        return response

    carriers = [lead for lead in world.leads if lead.emails and lead.phones][12:18]
    kept = {"domains": [lead.domain for lead in carriers]}
    world.ask("opt_out", "POST", ENRICH, kept, headers={"Idempotency-Key": "before"})
    for lead in carriers[:3]:
        for purpose in ("access", "opt_out", "access"):
            asked = ask(OPT_OUT, {"email": lead.emails[0], "request": purpose})
            code = world.outbox.code(asked["email"])
            for body in ({}, {"code": "0000-0000-0000"}, {"code": code}, {"code": code.replace("-", "")}):
                ask(CONFIRM, {"ticket": asked["ticket"], **body})
    for lead in carriers[3:]:
        for purpose in ("access", "opt_out", "access"):
            asked = ask(OPT_OUT, {"domain": lead.domain, "request": purpose})
            ask(CONFIRM, {"ticket": asked["ticket"]})
            world.names.say(asked["dns"]["name"], "TXT", [f'"{asked["token"]}"'])
            ask(CONFIRM, {"ticket": asked["ticket"], "code": "1234"})
            ask(CONFIRM, {"ticket": asked["ticket"]})
    for value in (*world.suppressed, "nobody@unknown.example", "https://www.unknown-site.com/x"):
        if not value.startswith("+"):
            asked = ask(OPT_OUT, {"email" if "@" in value else "domain": value, "request": "access"})
    ticket = asked["ticket"]
    world.clock.ahead_s = FAR_AHEAD_S
    ask(CONFIRM, {"ticket": ticket})
    world.clock.ahead_s = 0
    for _ in range(6):
        ask(OPT_OUT, {"domain": "limited-site.com"}, caller="192.0.2.1")
    for _ in range(21):
        ask(CONFIRM, {"ticket": "A" * 100}, caller="192.0.2.2")
    world.ask("opt_out", "POST", ENRICH, kept, headers={"Idempotency-Key": "before"})
    world.ask("opt_out", "GET", "/opt-out", key=None)
