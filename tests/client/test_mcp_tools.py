"""Every tool of `sgl mcp` over stdio, as an agent uses it; each answer is judged by `Agent.call`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_types import TextContent

from siteglass.corpus.lead import Lead
from siteglass_client.mcp.sizes import CUT
from siteglass_client.plans import COMPANY_COLUMNS, LEAD_COLUMNS
from testing.customers import Bank, Customer
from tests.client.agents import Agent, over_stdio
from tests.client.commanding import Desk
from tests.client.conftest import HOSTILE, Connect

GERMAN = {"filters": {"country": "DEU"}, "sort": "domain"}
ASKED = {"interpret", "count", "facets", "diagnose", "values", "account"}
READING = ASKED | {"lists", "saved_searches", "watches", "watch_runs"}
FREE = READING | {"change_list", "save_search", "count_saved_search", "watch_search"}
PAID = {"search", "enrich"}
FOR_LEADS = {"interpret", "count", "facets", "diagnose", "search", "enrich"}


@pytest.fixture(scope="module")
def buyer(bank: Bank) -> Customer:
    return bank.customer(api=1_000, lead=10_000)


@pytest.fixture(scope="module")
def agent(bank: Bank, buyer: Customer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """One server for all tests here; it says nothing beside the protocol."""
    folder: Path = tmp_path_factory.mktemp("agent")
    log = folder / "log.txt"
    with over_stdio(Desk(folder, bank.base_url, buyer.key), log) as made:
        yield made
    assert log.read_text() == ""


@pytest.fixture(scope="module")
def german(sold: list[Lead]) -> list[Lead]:
    return [lead for lead in sold if lead.country == "DEU"]


def _price(leads: list[Lead]) -> int:
    return sum(bool(lead.emails) for lead in leads)


def _walk(agent: Agent, rows: str, tool: str, **arguments: Any) -> tuple[list[dict[str, Any]], int]:
    """All rows of a tool, answer by answer, and the lead credits that they cost."""
    shown: list[dict[str, Any]] = []
    used = 0
    asked = arguments
    while True:
        answer = agent.call(tool, **asked)
        assert len(shown) < 1_000
        assert answer[rows], answer
        shown += answer[rows]
        used += answer["credits"]["lead_used"]
        if "next" not in answer:
            assert (answer["stopped"], answer["waiting"]) == ("end", 0)
            return shown, used
        asked = {
            "cursor": answer["next"],
            "max_lead_credits": arguments["max_lead_credits"],
            "max_tokens": arguments["max_tokens"],
        }


def test_old_names_of_arguments_are_accepted_for_one_release(agent: Agent, buyer: Customer) -> None:
    new = agent.call("search", wrapped_query="@country(DEU)", select=["emails"], max_lead_credits=2)
    assert agent.call("search", directives="@country(DEU)", columns=["emails"], max_credits=2)["leads"] == new["leads"]
    with buyer.untouched():
        told = agent.refused("search", query="shops", max_credits=5, max_lead_credits=2)
    assert told.startswith("max_credits: unknown; the arguments are ")


def test_tools_tell_what_they_do_and_cost(agent: Agent) -> None:
    assert set(agent.tools) == FREE | PAID
    for name, tool in agent.tools.items():
        hints = tool.annotations
        assert hints is not None
        assert tool.title
        assert tool.output_schema
        assert hints.read_only_hint is (name in READING)
        assert (hints.destructive_hint, hints.idempotent_hint) == (name == "change_list", True)
        assert hints.open_world_hint is (name in FOR_LEADS)
        assert (tool.description or "").endswith("Free.") is (name in FREE)
        if name in PAID:
            assert "credit" in (tool.description or "")
            assert tool.input_schema["properties"]["max_lead_credits"]["default"] == 0


def test_prompts(agent: Agent) -> None:
    prompts = {each.name: each for each in agent.portal.call(agent.client.list_prompts).prompts}
    named = {name: [argument.name for argument in prompt.arguments or []] for name, prompt in prompts.items()}
    assert named == {
        "check_query": ["query"],
        "build_list": ["query", "max_lead_credits"],
        "enrich_domains": ["domains", "max_lead_credits"],
    }
    for name, arguments in named.items():
        given = {argument: f"<{argument} of mine>" for argument in arguments}
        got = agent.portal.call(agent.client.get_prompt, name, given)
        (message,) = got.messages
        assert isinstance(message.content, TextContent)
        assert all(value in message.content.text for value in given.values())


def test_free_tools_tell_what_the_service_does(agent: Agent, buyer: Customer, connect: Connect) -> None:
    client = connect(buyer)
    sentence = "SaaS companies in Grmany with a blue door and 3 employees"
    with buyer.untouched():
        reading = client.search(sentence).interpret()
        told = agent.call("interpret", query=sentence)
        assert told["read_back"] == reading.read_back != ""
        assert told["directives"] == "\n".join(reading.directives)
        assert [each["directive"] for each in told["conditions"]] == [each.directive for each in reading.conditions]
        assert reading.unsupported
        notes = (reading.notes, reading.unsupported, reading.ignored)
        assert len(told["not_understood"]) == sum(len(each) for each in notes)
        assert told["corrected"] == ["Grmany: read as germany"]
        assert told["total_results"] == reading.total_results
        assert agent.call("count", **_without_sort(GERMAN)) == {
            "total_results": client.search(filters={"country": "DEU"}).count()
        }
        known = client.values("technologies", "shop", limit=5)
        assert agent.call("values", field="technologies", text="shop", limit=5) == {
            "field": "technologies",
            "values": [{"value": each.value, "name": each.name} for each in known.found],
            "more": True,
        }
        few = agent.call("values", field="technologies", text="s", limit=50, max_tokens=600)
        assert (10 < len(few["values"]) < 50, few["more"]) == (True, True)
        told = agent.call("account")
        assert (told["lead_credits"], told["api_credits"]) == buyer.balance()[::-1]
        assert "session_ceiling" not in told
        assert not any(buyer.key[:14] in str(value) for value in told.values())


def _without_sort(asked: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in asked.items() if name != "sort"}


def test_without_a_cap_only_the_price_is_told(agent: Agent, buyer: Customer, german: list[Lead]) -> None:
    domains = [*(lead.domain for lead in german[:3]), "nobody.example"]
    with buyer.untouched():
        for cap in ({}, {"max_lead_credits": 0}):
            told = agent.call("search", **GERMAN, **cap)
            assert (told["leads"], told["stopped"], told["total_results"]) == ([], "price", len(german))
            assert told["price"] == {"lead_credits": _price(german), "api_credits": 0, "exact": True}
            assert "call search again with max_lead_credits" in told["say"]
            told = agent.call("search", **GERMAN, **cap, max_leads=7)
            assert told["price"]["lead_credits"] == _price(german[:7])
            told = agent.call("enrich", domains=domains, **cap)
            assert (told["items"], told["found"]) == ([], 3)
            assert told["price"] == {"lead_credits": 3, "api_credits": 1, "exact": True}
            assert "max_lead_credits=3" in told["say"]
        told = agent.call("enrich", domains=domains, max_lead_credits=2)
        assert (told["items"], told["price"]["lead_credits"]) == ([], 3)
        assert told["say"].startswith("Nothing was spent: only 2 lead credits may be. 3 of 4 domains are known")


def test_a_walk_shows_each_lead_once_and_pays_it_once(agent: Agent, buyer: Customer, german: list[Lead]) -> None:
    before = buyer.balance()[1]
    shown, used = _walk(agent, "leads", "search", **GERMAN, max_lead_credits=100, max_tokens=1_500)
    assert [lead["domain"] for lead in shown] == [lead.domain for lead in german]
    assert used == _price(german) == before - buyer.balance()[1]
    first, lead = shown[0], german[0]
    told = {"business_name": lead.business_name, "emails": list(lead.emails), "city": lead.city, "country": "DEU"}
    assert {name: first.get(name, type(value)()) for name, value in told.items()} == told
    with buyer.untouched():  # the same calls again
        again, used = _walk(agent, "leads", "search", **GERMAN, max_lead_credits=100, max_tokens=1_500)
        assert (again, used) == (shown, 0)


@pytest.mark.parametrize("cap", [1, 2, 9])
def test_a_cap_is_never_passed(agent: Agent, buyer: Customer, german: list[Lead], cap: int) -> None:
    before = buyer.balance()[1]
    told = agent.call("search", **GERMAN, select=["emails"], max_lead_credits=cap)
    assert (told["credits"]["lead_used"], told["stopped"]) == (cap, "max_lead_credits")
    assert before - buyer.balance()[1] == cap
    assert told["credits"]["lead_left"] == before - cap
    assert _price(german[: len(told["leads"])]) == cap
    books = buyer.books()
    again = agent.call("search", **GERMAN, select=["emails"], max_lead_credits=cap)
    assert (again["leads"], again["credits"]["lead_used"]) == (told["leads"], 0)
    assert f"{cap} lead credits were already paid for these leads within the last day" in again["say"]
    price = agent.call("search", cursor=told["next"], max_leads=5)["price"]
    following = german[len(told["leads"]) :][:5]
    assert price == {"lead_credits": _price(following), "api_credits": 0, "exact": True}
    # A page that costs nothing is not stored: it is found again, and noted again.
    assert buyer.balance() == (books.api, books.lead)
    assert {row["lead"] for row in buyer.books().rows[len(books.rows) :]} <= {0}
    after = agent.call("search", cursor=told["next"], max_leads=5, max_lead_credits=5)
    assert [lead["domain"] for lead in after["leads"]] == [lead.domain for lead in following]
    assert after["credits"]["lead_used"] == price["lead_credits"]


def test_enrich(agent: Agent, buyer: Customer, sold: list[Lead]) -> None:
    domains = [lead.domain for lead in sold[:40]]
    asked = ["nobody.example", f"https://www.{domains[0]}/", *domains[1:], domains[1].upper(), "no domain"]
    api, lead = buyer.balance()
    shown, used = _walk(agent, "items", "enrich", domains=asked, max_lead_credits=60, max_tokens=1_500)
    assert [item["domain"] for item in shown] == [name for name in asked if name != domains[1].upper()]
    assert [item["status"] for item in shown] == ["not_found", *["success"] * 40, "error"]
    assert shown[0]["message"] == "No data found for nobody.example"
    assert shown[2].get("emails", []) == list(sold[1].emails)
    assert (used, buyer.balance()) == (40, (api - 1, lead - 40))
    told = agent.call("enrich", domains=domains[:2], select=["domain", "score"], max_lead_credits=2)
    assert [set(item) - {"score"} for item in told["items"]] == [{"domain", "status"}] * 2
    assert told["credits"] == {"lead_used": 2, "api_used": 1, "lead_left": lead - 42, "api_left": api - 2}


def test_an_enrichment_in_which_all_failed_is_asked_anew(agent: Agent, buyer: Customer) -> None:
    api = buyer.balance()[0]
    for times in (1, 2):
        told = agent.call("enrich", domains=["no domain"], max_lead_credits=1)
        assert ([item["status"] for item in told["items"]], told["credits"]["api_used"]) == (["error"], 1)
        assert buyer.balance()[0] == api - times
    for used in (1, 0):
        told = agent.call("enrich", domains=["no domain", "nobody.example"], max_lead_credits=1)
        assert told["credits"]["api_used"] == used


@pytest.mark.parametrize("max_tokens", [600, 1_000, 2_000, 9_000])
def test_hostile_texts_stay_within_the_tokens(agent: Agent, buyer: Customer, sold: list[Lead], max_tokens: int) -> None:
    hostile = [lead for lead in sold if HOSTILE in lead.keywords]
    domains, budget = [lead.domain for lead in hostile], {"max_lead_credits": 50, "max_tokens": max_tokens}
    columns = list(LEAD_COLUMNS) if max_tokens > 1_000 else None
    before = buyer.balance()[1]
    shown, used = _walk(
        agent, "leads", "search", filters={"keywords": [HOSTILE]}, sort="domain", select=columns, **budget
    )
    assert [lead["domain"] for lead in shown] == domains
    assert all(lead["phones"][-1].startswith(CUT) for lead in shown)
    assert used == _price(hostile) == before - buyer.balance()[1]
    columns = list(COMPANY_COLUMNS) if max_tokens > 1_000 else None
    shown, used = _walk(agent, "items", "enrich", domains=domains, select=columns, **budget)
    assert [item["domain"] for item in shown] == domains
    # More tokens for the same domains are the same request to the service.
    assert used == (0 if max_tokens in (1_000, 9_000) else len(domains))
    words = " or ".join(f"{'w' * 40}{place}" for place in range(20))
    agent.call("interpret", query=words, max_tokens=max_tokens)
    long = "\n".join(f"@keywords({'w' * 90}{n})" for n in range(35))
    for tool in ("interpret", "diagnose", "facets"):
        agent.call(tool, wrapped_query=long, max_tokens=max_tokens)
    agent.call("facets", filters={"min_score": 0}, size=50, max_tokens=max_tokens)


def test_mistakes_are_told_with_what_to_do(agent: Agent, buyer: Customer) -> None:
    with buyer.untouched():
        told = agent.refused("search", filters={"countri": "DEU"}, max_lead_credits=5)
        assert told.startswith("INVALID_REQUEST: countri: unknown field; did you mean country? ")
        assert "(request " in told
        told = agent.refused("count", wrapped_query="@contry(DEU)")
        assert told.startswith("INVALID_QUERY: wrapped_query line 1, column 1: expected a known directive, found")
        assert told.count("@country") == 1
        for tool in ("search", "count", "interpret"):
            assert agent.refused(tool).startswith("Say what to search for: query, filters or wrapped_query.")
        assert agent.refused("enrich", max_lead_credits=5).startswith("domains: name at least one.")
        told = agent.refused("search", query="shops", max_credit=5)
        assert told.startswith("max_credit: unknown; the arguments are query, filters, ")
        told = agent.refused("search", query="shops", max_lead_credits=-1, max_tokens=10)
        assert "max_lead_credits: Input should be greater than or equal to 0" in told
        assert "max_tokens: Input should be greater than or equal to 600" in told
        assert agent.refused("enrich", domains=["a.com"] * 101).startswith("domains: List should have at most 100")
        told = agent.refused("search", cursor="deadbeef", max_lead_credits=5)
        assert told.startswith("cursor: 'deadbeef' is unknown to this tool;")
        told = agent.refused("search", query="shops", select=list(LEAD_COLUMNS), max_tokens=600)
        assert told.startswith("select: 17 fields need max_tokens=")
        cursor = agent.call("search", **GERMAN, select=["city"], max_leads=1, max_lead_credits=0)
        assert "next" not in cursor
    answer = agent.call("search", **GERMAN, select=["emails"], max_lead_credits=1)
    with buyer.untouched():
        told = agent.refused("search", query="dentists", cursor=answer["next"], max_lead_credits=5)
        assert told.startswith("cursor: it belongs to another search")
        assert agent.refused("enrich", cursor=answer["next"]).startswith("cursor: ")
    assert agent.call("search", **GERMAN, cursor=answer["next"], max_lead_credits=1)["leads"]
