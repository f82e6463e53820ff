"""What every client of ours promises: the same cases, run by the Python client and by the TypeScript client."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

import typescript
from siteglass.access import lifecycle
from siteglass.access.keys import KeyLimits
from siteglass.corpus.lead import Lead
from siteglass_client import ConnectionFailed, ServiceError, Siteglass, SiteglassError
from siteglass_client.calls import SEARCH_PATH, post
from testing.customers import Bank, Customer
from testing.cutting_proxy import KINDS, CuttingProxy
from testing.ports import free_port
from tests.docs.blocks import blocks

README = typescript.CLIENT / "README.md"
PROGRAMS = (Path(__file__).with_name("contract.ts"), *sorted(typescript.CLIENT.glob("src/*.ts")))
ARGUMENTS = ("query", "wrapped_query", "select", "sort", "limit", "max_leads", "max_lead_credits")
Outcome = dict[str, Any]
Run = Callable[..., Outcome]
IN_ORDER: Mapping[str, Any] = {"sort": "domain"}

# One worker compiles the TypeScript client, which takes some seconds.
pytestmark = pytest.mark.xdist_group("typescript")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the compiled client, the program of the cases, and those of the README."""
    folder = tmp_path_factory.mktemp("typescript") / "client"
    shutil.copytree(typescript.CLIENT, folder, ignore=shutil.ignore_patterns("dist", "document.*"))
    program, other = (block.text for block in blocks(README) if block.language == "ts")
    (folder / "src/program.ts").write_text(program)
    (folder / "src/readme.ts").write_text(program + other)
    shutil.copy(PROGRAMS[0], folder / "src")
    return typescript.build(folder)


def _node(script: Path, *words: str, **variables: str) -> str:
    environment = {**os.environ, **variables}
    ran = subprocess.run(["node", str(script), *words], capture_output=True, text=True, timeout=120, env=environment)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def _by_typescript(built: Path, case: Mapping[str, Any]) -> Outcome:
    outcome: Outcome = json.loads(_node(built / "contract.js", json.dumps(case)))
    return outcome


def _by_python(case: Mapping[str, Any]) -> Outcome:
    arguments = {name: value for name, value in case["search"].items() if name in ARGUMENTS}
    filters = {name: value for name, value in case["search"].items() if name not in ARGUMENTS}
    outcome: Outcome = {"domains": []}
    try:
        with Siteglass(**case["options"]) as client:
            search = client.search(**arguments, filters=filters)

            def price() -> list[object]:
                quote = search.price()
                return [quote.lead_credits, quote.total_results, quote.exact]

            actions: dict[str, Callable[[], object]] = {
                "walk": lambda: outcome["domains"].extend(
                    lead.domain for page in search.pages() for lead in page.leads
                ),
                "pages": lambda: [page.credits_used for page in search.pages()],
                "price": price,
                "count": search.count,
                "save": lambda: search.save("contract").search,
                "account": lambda: client.account().balances.lead_credits,
                "receipt of nothing": lambda: client.receipt("00000000-0000-4000-8000-000000000000"),
                "no such cursor": lambda: client._send(post(SEARCH_PATH + "/made-up", {})),
            }
            try:
                outcome["value"] = actions[case["action"]]()
            finally:
                totals = ("credits_used", "total_results", "stopped")
                outcome.update({name: getattr(search, name) for name in totals})
    except SiteglassError as error:
        outcome["error"] = type(error).__name__
        if isinstance(error, ConnectionFailed):
            outcome["attempts"] = error.attempts
        if isinstance(error, ServiceError):
            fields = [[detail.field, detail.nearest, detail.line] for detail in error.details]
            late = (error.retry_after_s or 0) > 10
            outcome["refusal"] = [error.status, error.code, fields, error.may_be_charged, late]
    return outcome


@pytest.fixture(params=["python", "typescript"])
def run(request: pytest.FixtureRequest, bank: Bank) -> Run:
    """Runs a case by one of the clients: a customer's action on a search, by a client with these options."""
    built: Path | None = request.getfixturevalue("built") if request.param == "typescript" else None

    def run(customer: Customer, action: str, search: Mapping[str, Any] = IN_ORDER, **options: object) -> Outcome:
        given = {"api_key": customer.key, "base_url": bank.base_url, **options}
        case = {"options": given, "search": search, "action": action}
        outcome = _by_python(case) if built is None else _by_typescript(built, case)
        return {name: value for name, value in outcome.items() if value not in (None, [])}

    return run


def _price(leads: list[Lead]) -> int:
    return sum(bool(lead.emails) for lead in leads)


def _start(leads: list[Lead], budget: int) -> list[str]:
    """The longest start that costs no more."""
    return [lead.domain for place, lead in enumerate(leads) if _price(leads[: place + 1]) <= budget]


def _spent(customer: Customer) -> int:
    return 10_000 - customer.balance()[1]


@pytest.mark.parametrize("limit", [100, 17])
def test_all_leads_come_once_and_in_order(run: Run, customer: Customer, sold: list[Lead], limit: int) -> None:
    outcome = run(customer, "walk", {**IN_ORDER, "limit": limit})
    domains = [lead.domain for lead in sold]
    cost = {"credits_used": _price(sold), "total_results": len(sold)}
    assert outcome == {"domains": domains, **cost, "stopped": "end"}
    assert _spent(customer) == _price(sold)


@pytest.mark.parametrize("budget", [0, 3, 137])
def test_a_budget_buys_the_longest_start_that_it_can(
    run: Run, customer: Customer, sold: list[Lead], budget: int
) -> None:
    outcome = run(customer, "walk", {**IN_ORDER, "max_lead_credits": budget})
    assert outcome.get("domains", []) == _start(sold, budget)
    assert (outcome["credits_used"], outcome["stopped"]) == (budget, "max_lead_credits")
    assert _spent(customer) == budget


def test_limits_and_pages(run: Run, customer: Customer, sold: list[Lead]) -> None:
    outcome = run(customer, "walk", {**IN_ORDER, "max_leads": 123})
    assert outcome["domains"] == [lead.domain for lead in sold[:123]]
    assert (outcome["stopped"], outcome["credits_used"]) == ("max_leads", _price(sold[:123]))
    pages = run(customer, "pages", {**IN_ORDER, "limit": 50, "max_leads": 100})
    assert pages["value"] == [_price(sold[:50]), _price(sold[50:100])]
    free = run(customer, "pages", {"wrapped_query": "!@has_email", "max_lead_credits": 0})
    assert (set(free["value"]), free["stopped"]) == ({0}, "end")
    assert len(free["value"]) <= 10


def test_prices_counts_and_saved_searches_are_free(run: Run, customer: Customer, sold: list[Lead]) -> None:
    with customer.untouched():
        assert run(customer, "price")["value"] == [_price(sold), len(sold), True]
        assert run(customer, "price", {"max_lead_credits": 5})["value"] == [5, len(sold), True]
        assert run(customer, "price", {**IN_ORDER, "max_leads": 40})["value"] == [_price(sold[:40]), len(sold), True]
        assert run(customer, "price", {"max_leads": 300})["value"] == [300, len(sold), False]
        german = {"country": "DEU", "has_phone": True}
        count = sum(lead.country == "DEU" and bool(lead.phones) for lead in sold)
        assert run(customer, "count", german)["value"] == count > 0
        assert run(customer, "save", {**german, "max_lead_credits": 5})["value"] == german
        assert run(customer, "account")["value"] == 10_000


def test_an_account_or_a_key_that_runs_out(run: Run, bank: Bank, sold: list[Lead]) -> None:
    poor = bank.customer(lead=42)
    outcome = run(poor, "walk")
    assert (outcome["domains"], outcome["credits_used"]) == (_start(sold, 42), 42)
    assert (outcome["error"], outcome["refusal"]) == (
        "InsufficientCredits",
        [402, "INSUFFICIENT_CREDITS", [], False, False],
    )
    assert poor.balance() == (0, 0)
    capped = bank.customer(lead=1_000, limits=KeyLimits(daily_lead_cap=10))
    outcome = run(capped, "walk", {**IN_ORDER, "max_lead_credits": 500})
    assert (outcome["error"], outcome["credits_used"]) == ("CreditCapExceeded", 10)


def test_errors_name_what_is_wrong(run: Run, bank: Bank, customer: Customer) -> None:
    suspended = bank.customer(lead=10)
    bank.do(lifecycle.suspend(bank.postgres, suspended.account_id, "Not paid", actor="tests"))
    typo, two_lines = {"country": "Germny"}, {"wrapped_query": "@country(DEU)\n@country(Germny)"}
    country = [400, "INVALID_REQUEST", [["country", "DEU", None]], False, False]
    line = [400, "INVALID_QUERY", [["wrapped_query", "DEU", 2]], False, False]
    for who, action, search, error, refusal in [
        (customer, "count", typo, "InvalidRequest", country),
        (customer, "walk", two_lines, "InvalidQuery", line),
        (
            customer,
            "no such cursor",
            {},
            "InvalidCursor",
            [400, "INVALID_CURSOR", [["cursor", None, None]], False, False],
        ),
        (customer, "receipt of nothing", {}, "NotFound", [404, "NOT_FOUND", [], False, False]),
        (bank.customer(scopes=["search"]), "account", {}, "Forbidden", [403, "FORBIDDEN", [], False, False]),
        (suspended, "walk", {}, "AccountSuspended", [403, "ACCOUNT_SUSPENDED", [], False, False]),
    ]:
        outcome = run(who, action, search)
        assert (outcome["error"], outcome["refusal"]) == (error, refusal)
    outcome = run(customer, "account", api_key="sg_live_" + "x" * 36)
    assert (outcome["error"], outcome["refusal"][:2]) == ("Unauthorized", [401, "UNAUTHORIZED"])
    assert run(customer, "account", base_url="leads.example.com") == {"error": "ConfigurationError"}
    assert run(customer, "account", api_key=" ") == {"error": "ConfigurationError"}
    nobody = run(customer, "account", base_url=f"http://127.0.0.1:{free_port()}")
    assert (nobody["error"], nobody["attempts"]) == ("ConnectionFailed", 3)


def test_retry_after_is_obeyed_up_to_the_deadline(run: Run, bank: Bank, sold: list[Lead]) -> None:
    # Without it, one more attempt within a quarter of a second would fail.
    slow = bank.customer(lead=1_000, plan=bank.plan(1, 1))
    outcome = run(slow, "walk", {**IN_ORDER, "max_leads": 40, "limit": 20}, max_attempts=2)
    assert outcome["domains"] == [lead.domain for lead in sold[:40]]
    slower = bank.customer(lead=1_000, plan=bank.plan(0.05, 1))
    outcome = run(slower, "walk", {**IN_ORDER, "max_leads": 20, "limit": 10}, deadline_s=5)
    assert outcome["domains"] == [lead.domain for lead in sold[:10]]
    assert (outcome["error"], outcome["refusal"]) == (
        "TooManyRequests",
        [429, "TOO_MANY_REQUESTS", [], False, True],
    )


def test_a_walk_over_a_line_that_breaks_is_paid_once(
    run: Run, bank: Bank, customer: Customer, sold: list[Lead]
) -> None:
    cuts = {2 + number * 5: KINDS[number % 3] for number in range(6)}
    port = httpx.URL(bank.base_url).port
    assert port is not None
    with CuttingProxy(port, cuts) as proxy:
        outcome = run(customer, "walk", {**IN_ORDER, "limit": 20}, base_url=proxy.url)
        assert len(proxy.cut) == len(cuts)
    assert outcome["domains"] == [lead.domain for lead in sold]
    assert outcome["credits_used"] == _price(sold) == _spent(customer)


def test_a_loop_that_was_left_continues(built: Path, bank: Bank, customer: Customer, sold: list[Lead]) -> None:
    options = {"api_key": customer.key, "base_url": bank.base_url}
    search = {**IN_ORDER, "limit": 7, "max_lead_credits": 50}
    outcome = _by_typescript(built, {"options": options, "search": search, "action": "walk in parts"})
    assert outcome["domains"] == _start(sold, 50)
    assert outcome["credits_used"] == 50 == _spent(customer)


def test_the_program_of_the_readme(built: Path, bank: Bank, customer: Customer) -> None:
    (program, _) = (block.text for block in blocks(README) if block.language == "ts")
    assert len(program.splitlines()) <= 10
    printed = _node(built / "program.js", SITEGLASS_URL=bank.base_url, SITEGLASS_API_KEY=customer.key).splitlines()
    with Siteglass(customer.key, bank.base_url) as client:
        search = client.search("SaaS companies in Germany", filters=None, sort="domain", max_lead_credits=3)
        head = f"at most {search.price().lead_credits} credits; {search.count()} leads match"
        leads = [f"{lead.domain} {len(lead.emails)}" for lead in search]
        assert [saved.name for saved in client.saved_searches()] == ["saas-germany"]
    assert len(leads) >= 3
    assert printed == [head, *leads, "3 credits; stopped by max_lead_credits"]


def test_nothing_is_cast() -> None:
    """Neither in the client, which is short, nor in the programs that use it."""
    sources = [path for path in PROGRAMS if path.name != "document.ts"]
    texts = [path.read_text() for path in sources] + [block.text for block in blocks(README) if block.language == "ts"]
    code = [line for text in texts for line in text.splitlines() if not line.strip().startswith(("//", "/*"))]
    assert [line for line in code if re.search(r"\bas (?!\w+ from)|\bany\b|@ts-|\w!\.", line)] == []
    assert sum(len(path.read_text().splitlines()) for path in sources[1:]) <= 500
