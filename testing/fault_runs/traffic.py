"""A steady stream of searches and enrichments, and what the only right answers to them are."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

import httpx

from siteglass.corpus.lead import Lead
from siteglass.index.documents import sort_keys
from siteglass.query.filters import write_filters
from testing.fault_runs.history import Exchange, Question
from testing.random_searches import Drawer
from testing.reference_scan import matching
from testing.service import API_KEY
from testing.steady_load import CLIENT_TIMEOUT_S, SteadyLoad

SEARCH, ENRICH = "/v1/leads/search", "/v1/leads/enrich"
LIMIT = 10
WARM_S, MAX_WARM_UPS = 0.05, 10


def questions(leads: list[Lead], count: int, seed: int) -> list[Question]:
    """Random searches with what a scan of the leads finds; every fourth is an enrichment of five domains."""
    ranked = sorted(leads, key=lambda lead: (sort_keys(lead).rank, lead.domain))
    drawer = Drawer(leads, seed)
    made: list[Question] = []
    while len(made) < count:
        if len(made) % 4 == 3:
            some = sorted(drawer.random.sample(leads, 5), key=lambda lead: lead.domain)
            domains = tuple(lead.domain for lead in some)
            made.append(Question(ENRICH, {"domains": list(domains)}, len(some), domains, len(some)))
            continue
        wanted = drawer.criteria()
        found = matching(wanted, ranked)
        body = {**write_filters(wanted), "limit": LIMIT, "select": ["domain", "emails"]}
        with_email = sum(bool(lead.emails) for lead in found[:LIMIT])
        made.append(Question(SEARCH, body, len(found), tuple(lead.domain for lead in found[:LIMIT]), with_email))
    return made


def warm_up(url: str, asked: Sequence[Question]) -> None:
    """Ask everything, one after the other, until it is quick: engines that were just started compile for a while."""
    with httpx.Client(
        base_url=url, headers={"X-API-Key": API_KEY}, timeout=CLIENT_TIMEOUT_S, trust_env=False
    ) as client:
        for _ in range(MAX_WARM_UPS):
            began = time.monotonic()
            for question in asked:
                client.post(question.path, json=question.body)
            if time.monotonic() - began < WARM_S * len(asked):
                return


def read_answer(question: Question, body: dict[str, Any]) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """What a 200 says: how many leads there are, the domains of those in it, and domains answered with an error."""
    if question.path == SEARCH:
        return body["total_results"], tuple(record["domain"] for record in body["results"]), ()
    domains, errors = (
        tuple(sorted(one["domain"] for one in body["results"] if one["status"] == status))
        for status in ("success", "error")
    )
    return len(domains) + len(errors), domains, errors


class Traffic(SteadyLoad):
    """Sends random ones of the questions."""

    def __init__(self, url: str, asked: Sequence[Question], rate: float, seed: int) -> None:
        super().__init__(url, API_KEY, rate)
        self._asked = asked
        self._random = random.Random(seed)
        self.exchanges: list[Exchange] = []

    async def send(self, client: httpx.AsyncClient) -> None:
        number = self._random.randrange(len(self._asked))
        question, sent_s = self._asked[number], self.now_s()
        try:
            answer = await client.post(question.path, json=question.body)
        except httpx.HTTPError:
            self.exchanges.append(Exchange(sent_s, self.now_s() - sent_s, number, 0, "", None, ()))
            return
        took_s, request_id = self.now_s() - sent_s, answer.headers["X-Request-Id"]
        if answer.status_code != 200:
            self.exchanges.append(Exchange(sent_s, took_s, number, answer.status_code, request_id, None, ()))
            return
        self.exchanges.append(Exchange(sent_s, took_s, number, 200, request_id, *read_answer(question, answer.json())))
