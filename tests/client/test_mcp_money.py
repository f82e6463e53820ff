"""What `sgl mcp` spends when calls are many, fail, are cancelled or repeated: never more than it may, nothing twice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import anyio
import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siteglass.corpus.lead import Lead
from siteglass_client import ConnectionFailed, ServiceError, SiteglassError
from siteglass_client.answers import Answer
from siteglass_client.calls import Call
from siteglass_client.errors import Internal
from siteglass_client.mcp.failures import AGAIN, told
from siteglass_client.mcp.serving import WithoutKey
from siteglass_client.mcp.sessions import LocalSession, Sum
from siteglass_client.mcp.sizes import cut, size_bytes
from siteglass_client.mcp.till import Till
from testing.customers import Bank, Customer
from tests.client.agents import in_process, said

ALL = {"filters": {"has_email": True}, "sort": "domain"}
"""A search whose leads cost a credit each."""


class Way(httpx.AsyncBaseTransport):
    """The way to the service; what `happens` to an answer may keep it from coming, or put another in its place."""

    def __init__(self) -> None:
        self._real = httpx.AsyncHTTPTransport()
        self.answers = 0
        self.happens: Callable[[int], Any] = lambda number: None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._real.handle_async_request(request)
        self.answers += 1
        trouble = self.happens(self.answers)
        if asyncio.iscoroutine(trouble):
            await trouble
        elif trouble is not None:
            await response.aclose()
            if isinstance(trouble, httpx.Response):
                return trouble
            raise trouble
        return response

    async def aclose(self) -> None:
        await self._real.aclose()


def _spent(customer: Customer) -> int:
    return 10_000 - customer.balance()[1]


@pytest.mark.race
def test_the_ceiling_of_a_server_holds_for_calls_at_the_same_time(bank: Bank, customer: Customer) -> None:
    with in_process(customer.key, bank.base_url, max_credits=20) as agent:
        assert agent.call("account")["session_ceiling"] == 20
        calls = [{**ALL, "select": ["emails"], "max_lead_credits": 7 + number} for number in range(6)]
        told = agent.together("search", *calls)
        assert sum(each["credits"]["lead_used"] for each in told) == _spent(customer) == 20
        stopped = [each for each in told if each["stopped"] == "session_ceiling"]
        assert stopped
        assert all("only the user can raise it" in each["say"] for each in stopped)
        account = agent.call("account")
        assert (account["session_lead_spent"], account["session_api_spent"]) == (20, 0)
        with customer.untouched():
            last = agent.call("search", **ALL, max_lead_credits=5)
            assert (last["leads"], last["stopped"]) == ([], "session_ceiling")
            assert last["credits"]["session_lead_left"] == 0
            refusal = agent.refused("enrich", domains=["a.example"], max_lead_credits=5)
            assert refusal.startswith("The budget of this server, 20 credits (sgl mcp --max-credits), is used up.")
            assert agent.call("search", **ALL)["stopped"] == "price"


def test_the_ceiling_counts_api_credits_too(bank: Bank, customer: Customer) -> None:
    with in_process(customer.key, bank.base_url, max_credits=2) as agent:
        for name in ("a.example", "b.example"):
            assert agent.call("enrich", domains=[name], max_lead_credits=1)["credits"]["api_used"] == 1
        told = agent.refused("enrich", domains=["c.example"], max_lead_credits=1)
        assert told.startswith("This server has spent 0 lead and 2 API credits; this call may need 1 and 1 more.")
    assert customer.balance() == (998, 10_000)


def test_an_answer_that_was_lost_is_paid_once_and_told(bank: Bank, customer: Customer) -> None:
    way = Way()
    way.happens = lambda number: httpx.ReadError("cut") if number == 2 else None
    with in_process(customer.key, bank.base_url, max_credits=3, transport=way, max_attempts=1) as agent:
        agent.call("account")  # to a service that never answered more than one attempt is made
        asked = {**ALL, "select": ["emails"], "max_lead_credits": 3}
        told = agent.refused("search", **asked)
        assert told.startswith(
            "No response from the service: ReadError: cut. Call the tool again with the same arguments"
        )
        assert _spent(customer) == 3
        assert agent.call("account")["session_lead_spent"] == 3
        again = agent.call("search", **asked)
        assert (len(again["leads"]), again["credits"]["lead_used"]) == (3, 3)
        assert agent.call("account")["session_lead_spent"] == 3
    with in_process(customer.key, bank.base_url) as agent:  # a server that knows nothing of the first one
        third = agent.call("search", **asked)
        assert (third["leads"], third["credits"]["lead_used"]) == (again["leads"], 0)
    assert _spent(customer) == 3


def test_what_an_attempt_without_an_answer_cost_counts(bank: Bank, customer: Customer) -> None:
    way = Way()
    way.happens = lambda number: httpx.ReadError("cut") if number == 1 else None
    with in_process(customer.key, bank.base_url, transport=way) as agent:
        told = agent.call("search", **ALL, max_lead_credits=3)
        assert (len(told["leads"]), told["credits"]["lead_used"], way.answers) == (3, 3, 2)
    assert _spent(customer) == 3


def _refusal(status: int, code: str | None) -> httpx.Response:
    """An error of the service or, without a code, of a proxy in front of it."""
    body = b"<html>" if code is None else json.dumps({"error": code, "message": "-"}).encode()
    return httpx.Response(status, content=body)


@pytest.mark.parametrize(
    "failures",
    [
        pytest.param([(502, None), (504, None)], id="a proxy"),
        pytest.param([(503, "UNAVAILABLE"), (503, "UNAVAILABLE")], id="while charging"),
        pytest.param([(504, None), (429, "TOO_MANY_REQUESTS")], id="another refusal at last"),
    ],
)
def test_what_was_charged_behind_an_error_counts_for_the_ceiling(
    bank: Bank, customer: Customer, failures: list[tuple[int, str | None]]
) -> None:
    way, coming = Way(), [_refusal(*each) for each in failures]
    way.happens = lambda number: coming.pop(0) if coming else None
    asked = {**ALL, "select": ["emails"], "max_lead_credits": 3}
    with in_process(customer.key, bank.base_url, max_credits=3, transport=way, max_attempts=2) as agent:
        told = agent.refused("search", **asked)
        assert "Call the tool again with the same arguments" in told
        assert "Nothing was charged" not in told
        assert agent.call("account")["session_lead_spent"] == _spent(customer) == 3
        assert agent.call("search", **ALL, max_lead_credits=2)["stopped"] == "session_ceiling"
        again = agent.call("search", **asked)
        assert (len(again["leads"]), again["credits"]["lead_used"]) == (3, 3)
        assert agent.call("account")["session_lead_spent"] == _spent(customer) == 3


@pytest.mark.parametrize(("status", "code"), [(504, None), (503, "UNAVAILABLE")])
def test_what_an_attempt_behind_an_error_cost_counts(
    bank: Bank, customer: Customer, status: int, code: str | None
) -> None:
    way = Way()
    way.happens = lambda number: _refusal(status, code) if number == 1 else None
    with in_process(customer.key, bank.base_url, max_credits=3, transport=way) as agent:
        told = agent.call("search", **ALL, max_lead_credits=3)
        assert (len(told["leads"]), told["credits"]["lead_used"], way.answers) == (3, 3, 2)
        assert told["credits"]["session_lead_left"] == 0
    assert _spent(customer) == 3


def test_a_fault_of_the_service_costs_nothing_and_says_so() -> None:
    failures: list[SiteglassError] = [
        Internal(500, "INTERNAL", "-"),
        ConnectionFailed("cut"),
        Internal(500, "INTERNAL", "-"),
    ]

    async def send(call: Call) -> Answer:
        raise failures.pop(0)

    async def counted() -> list[int]:
        session = LocalSession(10)
        till, spent = Till(send, session), []
        for _ in range(3):
            with pytest.raises(SiteglassError):
                await till.buy("/v1/search", {}, Sum(lead=4))
            spent.append(session.spent.lead)
        return spent

    assert asyncio.run(counted()) == [0, 4, 4]  # the fault of the last call says nothing of the one that was cut
    assert told(Internal(500, "INTERNAL", "Failed."), 30) == f"INTERNAL: Failed. Nothing was charged. {AGAIN}"
    assert told(ServiceError(500, "HTTP_500", "Failed."), 30) == f"HTTP_500: Failed. {AGAIN}"


def test_leads_are_shown_if_the_session_cannot_keep_where_they_end(
    bank: Bank, customer: Customer, sold: list[Lead], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def keep(*_: Any) -> str:
        raise SiteglassError("no room")

    monkeypatch.setattr(LocalSession, "keep", keep)
    payable = [lead.domain for lead in sold if lead.emails]
    with in_process(customer.key, bank.base_url) as agent:
        found = agent.call("search", **ALL, max_lead_credits=4)
        assert [lead["domain"] for lead in found["leads"]] == payable[:4]
        rest = agent.call("enrich", domains=payable[:6], max_lead_credits=6, max_tokens=600)
        assert len(rest["items"]) == 6 - rest["waiting"] < 6
        for answer in (found, rest):
            assert answer.get("next") is None
            assert "there is no cursor" in answer["say"]
        with customer.untouched():  # as the message says
            assert agent.call("enrich", domains=payable[:6], max_lead_credits=6, max_tokens=9_000)["waiting"] == 0


def test_leads_of_the_first_page_are_shown_when_the_next_one_fails(
    bank: Bank, customer: Customer, sold: list[Lead]
) -> None:
    way = Way()
    way.happens = lambda number: httpx.ReadError("cut") if number == 2 else None
    payable = [lead.domain for lead in sold if lead.emails]
    with in_process(customer.key, bank.base_url, transport=way, max_attempts=1) as agent:
        told = agent.call("search", **ALL, max_lead_credits=100)
        shown = [lead["domain"] for lead in told["leads"]]
        assert told["stopped"] == "failure"
        assert "No response from the service: ReadError: cut." in told["say"]
        assert told["credits"]["lead_used"] == len(shown) > 0
        more = agent.call("search", cursor=told["next"], max_lead_credits=100)
        shown += [lead["domain"] for lead in more["leads"]]
        assert shown == payable[: len(shown)]


def test_deadlines(bank: Bank, customer: Customer) -> None:
    way = Way()
    way.happens = lambda number: asyncio.sleep(20)
    with in_process(customer.key, bank.base_url, transport=way, deadline_s=0.2) as agent:
        for tool, asked in (
            ("search", {**ALL, "max_lead_credits": 3}),
            ("search", ALL),
            ("enrich", {"domains": ["a.example"], "max_lead_credits": 1}),
            ("count", {"query": "shops"}),
            ("interpret", {"query": "shops"}),
            ("values", {"field": "city"}),
            ("account", {}),
        ):
            told = agent.refused(tool, **asked)
            assert "Call the tool again with the same arguments" in told


def test_a_cancelled_call_is_not_paid_twice(bank: Bank, customer: Customer) -> None:
    way = Way()
    asked = {**ALL, "select": ["emails"], "max_lead_credits": 4}
    with in_process(customer.key, bank.base_url, max_credits=4, transport=way) as agent:
        charged = agent.portal.call(anyio.Event)

        async def never() -> None:
            charged.set()
            await asyncio.sleep(60)

        async def cancel() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(agent._call, "search", asked)
                await charged.wait()
                group.cancel_scope.cancel()

        way.happens = lambda number: never()
        agent.portal.call(cancel)
        way.happens = lambda number: None
        assert _spent(customer) == 4
        assert agent.call("account")["session_lead_spent"] == 4
        assert agent.call("search", **asked)["credits"]["lead_used"] == 4
    assert _spent(customer) == 4


def test_an_account_that_runs_out_gives_all_it_can(bank: Bank) -> None:
    poor = bank.customer(lead=5)
    with in_process(poor.key, bank.base_url) as agent:
        told = agent.call("search", **ALL, max_lead_credits=50)
        assert (len(told["leads"]), told["credits"]["lead_used"], told["stopped"]) == (5, 5, "failure")
        assert "INSUFFICIENT_CREDITS" in told["say"]
        told = agent.refused("search", cursor=told["next"], max_lead_credits=50)
        assert told.startswith("INSUFFICIENT_CREDITS: This request needs 0 API and 1 lead credits")
        assert "ask the user to buy credits" in told
        assert "(request " in told
    assert poor.balance() == (0, 0)


def test_a_key_that_is_not_accepted(bank: Bank) -> None:
    wrong = "sg_live_" + "0" * 36
    with in_process(wrong, bank.base_url) as agent:
        for tool, asked in (("account", {}), ("search", {**ALL, "max_lead_credits": 1})):
            told = agent.refused(tool, **asked)
            assert told.startswith("UNAUTHORIZED: ")
            assert "Check SITEGLASS_API_KEY" in told


def test_a_crash_is_told_without_its_inside(bank: Bank, customer: Customer, caplog: pytest.LogCaptureFixture) -> None:
    way = Way()
    way.happens = lambda number: RuntimeError(customer.key)
    with in_process(customer.key, bank.base_url, transport=way) as agent:
        result = agent.result("account")
        assert (result.is_error, said(result)) == (True, "Error executing tool account")
    (record,) = [each for each in caplog.records if each.name.startswith("mcp.")]
    logged = WithoutKey(customer.key).format(record)
    assert "RuntimeError: <API key>" in logged
    assert customer.key not in logged


Text = st.text(max_size=80)
Value = Text | st.integers(0, 2**40) | st.lists(Text, max_size=8) | st.dictionaries(Text, Text, max_size=5)


@settings(max_examples=40)
@given(Value, st.integers(40, 200))
def test_what_is_cut_fits(value: Any, max_bytes: int) -> None:
    short = cut(value, max_bytes)
    assert size_bytes(short) <= max_bytes
    assert short == value or size_bytes(value) > max_bytes


def test_cut_values_say_so() -> None:
    assert cut("x" * 50, 20) == "x" * 15 + "…"
    assert cut(["one", "two", "three", "four"], 26) == ["one", "two", "… 2 more"]
    assert cut(["x" * 60], 30) == ["x" * 10 + "…"]
    assert cut({"a": "1", "b": "2" * 40}, 40) == {"a": "1", "…": "1 more"}
