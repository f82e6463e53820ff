"""Requests that are drawn with a seed: searches, pages, enrichments, interpretations and known values."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any
from urllib.parse import urlencode

import httpx

from bench.replay.world import SEED, World
from siteglass.query.completion import COMPLETABLE
from siteglass.query.directives import print_criteria
from siteglass.query.fields import ENRICH_FIELDS, FILTERS, SEARCH_SELECTABLE, SORTS
from siteglass.query.filters import write_filters
from siteglass.query.vocabulary import vocabulary
from testing.api_calls import ENRICH, INTERPRET, SEARCH, VALUES
from testing.fuzz_directives import CORPUS
from testing.random_searches import Drawer
from testing.sentences.fuzz import DEV, words_of_sets
from testing.sentences.score import read_set

BROAD: tuple[dict[str, Any], ...] = (
    {},
    {"has_email": True},
    {"min_score": 20},
    {"wrapped_query": "!@country(USA)"},
    {"exclude_generic_emails": True},
    {"query": "websites with a phone number"},
)


def sentences() -> list[str]:
    return [labelled.query for labelled in read_set(DEV)]


def directive_texts(*, wrong: bool) -> list[str]:
    """The texts of the directive corpus, those that are refused or the others."""
    cases = [case for path in sorted(CORPUS.glob("*.json")) for case in json.loads(path.read_text())]
    return [case["text"] for case in cases if "text" in case and ("errors" in case) == wrong]


def _options(draw: Random) -> dict[str, Any]:
    """What a search may say beside its conditions, each now and then."""
    drawn: dict[str, tuple[float, Callable[[], Any]]] = {
        "limit": (0.8, lambda: draw.choice((1, 2, 3, 5, 8, 20, 100))),
        "select": (0.4, lambda: draw.sample(SEARCH_SELECTABLE, draw.randint(1, 6))),
        "sort": (0.4, lambda: draw.choice(SORTS)),
        "explain": (0.3, lambda: draw.random() < 0.9),
        "strict": (0.2, lambda: draw.random() < 0.9),
        "dry_run": (0.15, lambda: draw.random() < 0.9),
        "max_lead_credits": (0.2, lambda: draw.choice((0, 1, 5, 1_000_000))),
    }
    return {name: value() for name, (chance, value) in drawn.items() if draw.random() < chance}


def _ask(world: World, part: str, path: str, body: Any, number: int) -> httpx.Response:
    """A request that costs credits. Every second one has an Idempotency-Key, and every sixth is sent twice."""
    headers = None if number % 2 else {"Idempotency-Key": f"{part}-{number}"}
    response = world.ask(part, "POST", path, body, headers=headers)
    return world.ask(part, "POST", path, body, headers=headers) if number % 6 == 0 else response


def search(world: World, draw: Random) -> None:
    """Searches in all three forms, every filter, field and order, and where the suppressed leads are."""
    drawer = Drawer(world.leads, SEED)
    bodies: list[dict[str, Any]] = []
    for number in world.times(260):
        criteria = drawer.criteria()
        bodies.append(write_filters(criteria) if number % 2 else {"wrapped_query": print_criteria(criteria)})
    bodies += [{"query": sentence} for sentence in draw.sample(sentences(), len(world.times(150)))]
    bodies += [{"wrapped_query": text} for text in draw.sample(directive_texts(wrong=False), len(world.times(80)))]
    for sentence in draw.sample(sentences(), len(world.times(30))):
        bodies.append({**write_filters(drawer.criteria(1)), "query": sentence, "explain": True})
    bodies = [{**body, **_options(draw)} for body in bodies]
    bodies += [{name: filter_.example, "limit": 2} for name, (_, filter_) in FILTERS.items()]
    bodies += [{"select": [name], "sort": SORTS[0], "limit": 2} for name in SEARCH_SELECTABLE]
    bodies += [{"sort": order, "select": [], "limit": 3} for order in SORTS]
    near = [lead for lead in world.leads if {lead.domain, *lead.emails, *lead.phones} & set(world.suppressed)]
    bodies += [{"city": lead.city, "language": lead.language or None, "limit": 100} for lead in near if lead.city]
    for number, body in enumerate(bodies):
        _ask(world, "search", SEARCH, body, number)


def pages(world: World, draw: Random) -> None:
    """Pages forward and back; the limit, the price and the form of an empty body change on the way."""
    for number in world.times(62):
        first = {**BROAD[number % len(BROAD)], "limit": draw.randint(1, 8), "sort": draw.choice(SORTS)}
        if number % 3 == 0:
            first["select"] = draw.sample(SEARCH_SELECTABLE, 4)
        page = world.ask("pages", "POST", SEARCH, first).json()
        for step in range(5):
            towards, other = draw.choice((("next", "previous"), ("next", "previous"), ("previous", "next")))
            body: Any = draw.choice((None, b"", {}, {}, {"limit": draw.randint(1, 9)}, {"max_lead_credits": 50}))
            if draw.random() < 0.15:
                body = draw.choice(({"dry_run": True}, {"max_lead_credits": 0}, {"limit": 1.0}))
            path = page[towards] or page[other] or f"{SEARCH}/none"
            response = _ask(world, "pages", path, body, number * 5 + step)
            if "results" in response.json():
                page = response.json()


def enrich(world: World, draw: Random) -> None:
    """Domains in every form: stored, suppressed, unknown, and what is not a domain."""
    stored = [lead.domain for lead in world.leads]
    forms = ("{}", "{}", "{}", "https://{}/about?x=1", "www.{}", "shop.{}", "{}.", " {} ")
    others = (
        "unknown.example", "localhost", "", " ", "a b.com", "http://", "ex@mple.com", "münchen.de", "1.2.3.4",
        "[::1]", "x" * 300 + ".com", "-.com", "a..b", "EXAMPLE.COM", "co.uk", "日本.jp", "\x00.com",
    )  # fmt: skip
    listed = [value for value in world.suppressed if "@" not in value and not value.startswith("+")]
    bodies: list[dict[str, Any]] = []
    for number in world.times(220):
        domains = [draw.choice(forms).format(domain) for domain in draw.sample(stored, draw.randint(0, 6))]
        domains += draw.sample(others, draw.randint(0, 3)) + draw.sample(listed, draw.randint(0, 1))
        domains = [domain.upper() if draw.random() < 0.2 else domain for domain in domains] or [stored[number]]
        body: dict[str, Any] = {"domains": [*domains, *domains[:1]] if number % 10 == 0 else domains}
        if draw.random() < 0.4:
            body["select"] = draw.sample(ENRICH_FIELDS, draw.randint(0, 5))
        if draw.random() < 0.2:
            body["dry_run"] = draw.random() < 0.9
        if draw.random() < 0.2:
            body["max_lead_credits"] = draw.choice((0, 1, 100))
        bodies.append(body)
    for size in (1, 10, 100):
        for _ in world.times(16):
            body = {"domains": [draw.choice(forms).format(domain) for domain in draw.sample(stored, size)]}
            bodies.append({**body, "select": draw.sample(ENRICH_FIELDS, 3)} if draw.random() < 0.3 else body)
    for number, body in enumerate(bodies):
        _ask(world, "enrich", ENRICH, body, number)
    for lead in [*world.leads[:20], *(lead for lead in world.leads if lead.domain in listed)]:
        world.ask("enrich", "POST", ENRICH, {"domains": [lead.domain]})
        world.ask("enrich", "GET", f"/v1/leads/{lead.domain}/evidence")
    for domain in (stored[-1], f"www.{stored[0]}", "unknown.example", "a b", "localhost"):
        world.ask("enrich", "GET", f"/v1/leads/{domain}/evidence")


def interpret(world: World, draw: Random) -> None:
    """What sentences, shuffled words and searches in the other forms mean."""
    drawer, words = Drawer(world.leads, SEED + 1), words_of_sets()
    bodies: list[dict[str, Any]] = [{"query": text} for text in draw.sample(sentences(), len(world.times(90)))]
    bodies += [{"query": " ".join(draw.sample(words, draw.randint(1, 12)))} for _ in world.times(40)]
    bodies += [write_filters(drawer.criteria()) for _ in world.times(25)]
    bodies += [{"wrapped_query": print_criteria(drawer.criteria())} for _ in world.times(25)]
    for sentence in draw.sample(sentences(), len(world.times(25))):
        bodies.append({**write_filters(drawer.criteria(1)), "query": sentence, "strict": draw.random() < 0.5})
    for body in [*bodies, {}, {"query": ""}, {"query": "the of and"}]:
        world.ask("interpret", "POST", INTERPRET, body)


def values(world: World, draw: Random) -> None:
    """Completions of every field under each of its names."""
    names = sorted(COMPLETABLE)
    for number in world.times(160):
        name = names[number % len(names)]
        field = COMPLETABLE[name]
        known = draw.choice(vocabulary().values(field.kind))
        given: dict[str, Any] = {"q": known[: draw.randint(0, len(known))]} if draw.random() < 0.9 else {}
        if draw.random() < 0.4:
            given["limit"] = draw.choice((1, 2, 50))
        if draw.random() < 0.3 and field.field in ("state", "city"):
            given["country"] = draw.choice(("USA", "de", "France", "gb"))
        world.ask("values", "GET", f"{VALUES}/{name}?{urlencode(given)}")
