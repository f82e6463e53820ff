"""Requests that are refused, or just not: every field and parameter with every kind of wrong value."""

from __future__ import annotations

import gzip
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

from bench.replay.drawn import directive_texts
from bench.replay.world import World
from siteglass.query.fields import FILTERS
from testing.api_calls import ACCOUNT, ENRICH, INTERPRET, LEDGER, SEARCH, USAGE, VALUES
from testing.fuzz_directives import CORPUS

OPT_OUT, CONFIRM = "/v1/opt-out", "/v1/opt-out/confirm"
PATHS = (SEARCH, f"{SEARCH}/none", INTERPRET, ENRICH, OPT_OUT, CONFIRM)
SEARCH_OPTIONS = (
    "query",
    "wrapped_query",
    "limit",
    "select",
    "sort",
    "dry_run",
    "max_lead_credits",
    "explain",
    "strict",
)
FIELDS = {
    SEARCH: (*SEARCH_OPTIONS, *FILTERS),
    ENRICH: ("domains", "select", "dry_run", "max_lead_credits"),
    OPT_OUT: ("email", "domain", "request"),
    CONFIRM: ("ticket", "code"),
}
# One of each group goes into every field.
WRONG: tuple[tuple[Any, ...], ...] = (
    (None,),
    (True, False),
    (0, -1, 101, 7, 10**20, 1_000_001),
    (1.0, 1.5, -0.0, 1e300, 20.0),
    ("", " ", "x", "1", "true", "\t\n", "x" * 3_000, "a\x00b", "\ud800", '""', '"', "naïve café", "x, y"),
    ([], [""], [1], ["x", None, 2.5], [[]], [True], ["x"] * 30, ["Shopify", "shopify"]),
    ({}, {"a": 1}, {"min": 1, "max": 2}),
)
COMPARISONS = (
    "<50", "> 50", ">=50", "<= 50", "=50", "less than 50", "Greater Than 50", "LESS  THAN 5", "50", "==50", "=>50",
    "<101", "<-1", "< 1.5", ">", "abc", "50-60", ">=٣", "< 99999999999999", " <50 ", "<50 ms", "0", "=100", ">=0",
)  # fmt: skip
SPANS = (
    "1000-5000", "1000 - 5000", "1000+", "1000 +", "5000-1000", "1000", "-1", "1,000-5,000", "$100+", "1e3+", "0-0",
    "999999999999+", "9999999999999+", "1000–5000", "+1000", "1000-", "1000-4999 ", "100000+",
)  # fmt: skip
DATES = (
    "2026-10-01", "2026-10-01T00:00:00Z", "2026-10-01t00:00:00z", "2026-10-01 00:00:00Z", "2026-10-01T00:00:00",
    "2026-10-01T00:00:00+02:00", "2026-10-01T00:00:00.123456789Z", "2026-13-01", "2026-02-30", "01.10.2026", "2026",
    "1790000000", "0000-01-01", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "2026-10-01T24:00:00Z",
    "2026-10-01T00:00:60Z", "2026-10-01T00:00Z", "20261001", "yesterday", "30d", "٢٠٢٦-10-01", "2099-01-01",
)  # fmt: skip
CASES: dict[str, tuple[Any, ...]] = {
    "seo_score": COMPARISONS,
    "load_time_ms": COMPARISONS,
    "spending": SPANS,
    "updated_after": DATES,
    "country": ("usa", "UsA", "us", "GERMANY", "Deutschland", "Germny", "XX", "EU", ["USA"], ["USA", "a, b", 1]),
    "state": ("tx", "US-TX", "Texas", "us-zz", "Bayern", "DE-BY", ["TX"]),
    "city": ("MUNICH", "München", "Nowhereville", "???", ["Munich"]),
    "language": ("DE", "German", "deutsch", "xx", "en-US"),
    "service_type": ("agency", "AGENCY", "Agncy", "saas"),
    "offers": ("MARKETING", "marketng", "???"),
    "sort": ("-SCORE", "Score", "+score", "relevance", "-domain", "score "),
    "select": (["Domain"], ["DOMAIN", "emails"], "domain, emails", ["domain", "domain"], ["emial"]),
    "technologies": (["SHOPIFY"], ["Shopfy"], "Shopify, Wix", [" "], ["x" * 257], ["a"] * 1_201, list(range(25))),
    "categories_uses": (["CRM"], ["crmm"], ['"crm"'], "crm"),
    "lacks": (["crmm"], ['"crmm"'], ["CRM", "nothing known"]),
    "keywords": (["Vegan FOOD"], ["x" * 257], ["\x07"], "vegan"),
    "pages": (["pricing/"], ["//"], ["/a b/"], "/pricing"),
    "min_score": (0, 100, 101, -1, 40.0, 40.5, "40"),
    "limit": (1, 100, 0, 101, 1.0, 20.5, "20", True, 10**19),
    "max_lead_credits": (0, 1_000_000, 1_000_001, -1, 5.0, "5"),
    "query": ("x" * 3_000, "q" * 20_000, ["a"], "\ud800", "the of and", "!!!", "@country(USA)"),
    "domains": ([], ["a.example"] * 101, [1] * 30, "a.com, b.com", ["a.com", None, {}], {"0": "a.com"}),
    "email": ("anna", "anna@", "@example.com", "Anna <anna@example.com>", "a@b", "anna@localhost", "jürgen@example.com",
              "a@example.com,b@example.com", "email:sha256:" + "0" * 64, "x" * 2_049, "a@münchen.test", "a@☃.com"),
    "domain": ("localhost", "co.uk", "a b", "1.2.3.4", "x.internal", "phone:sha256:" + "0" * 64, "_x.com", "-", "a.1b"),
    "request": ("delete", "OPT_OUT", "Access", "opt-out", "", "x" * 2_049),
    "ticket": ("abc", "A" * 200, "x" * 1_025, "é"),
    "code": ("1234", "x" * 65),
}  # fmt: skip
# Several problems at once, names that are nearly right, and searches that are too large.
BODIES: tuple[dict[str, Any], ...] = (
    {"limt": 5},
    {"Limit": 5, "COUNTRY": "USA", "": 1, "x" * 100: 2},
    {"filters": {"country": "USA"}},
    {"min_score": 60, "max_score": 40},
    {"min_spending": 10, "max_spending": 5, "min_score": 5, "max_score": 1},
    {"limit": 0, "sort": "x", "select": ["x"], "dry_run": 1, "explain": "yes", "country": "Nowhere", "querry": "a"},
    {"country": "Nowhere", "wrapped_query": "@country(Nowhere)\n@foo(1)", "query": "dentists"},
    {"query": "dentists", "wrapped_query": "@score(>95)"},
    {"query": " ", "wrapped_query": " "},
    {"strict": True, "query": "cheap blue shopfy stores in Germny"},
    {"strict": True, "query": "shopify stores in Germany"},
    {f"unknown{number}": number for number in range(20)},
    {f"unknown{number}": number for number in range(21)},
    {f"x{number:03}": number for number in range(3_000)},
    {"select": [f"field{number}" for number in range(25)]},
    {"technologies": [f"technology number {number:04}" for number in range(300)]},
    {"keywords": [f"word{number}" for number in range(250)]},
    {"technologies": [f"t{number}" for number in range(700)], "keywords": [f"k{number}" for number in range(700)]},
    {"wrapped_query": "\n".join(f"@keywords(word{number})" for number in range(65))},
    {"wrapped_query": "x" * 20_001},
    {"query": None, "wrapped_query": None, "limit": None, "select": None, "sort": None, "country": None},
)
RAW = (
    b"", b" ", b"{", b"[]", b"null", b'"x"', b"1", b"true", b'{"limit": 1,}', b"{'limit': 1}", b'{"limit": NaN}',
    b'{"limit": Infinity}', b"\xff\xfe{}", b'{"query": "\xff"}', b'{"query": "\\ud800"}', b"\xef\xbb\xbf{}", b"{} {}",
    b'{"limit": 1, "limit": 2}', b'{"limit": 1e2}', b'{"limit": 01}', b'{"limit": -0}', b"\x00", b'{"query": "a\nb"}',
    b'{"technologies": ' + b"[" * 300 + b"]" * 300 + b"}", b'{"a":' * 1_100 + b"1" + b"}" * 1_100,
    b"{}" + b" " * 70_000, b'{"limit": 100000000000000000000000}', b'{"limit"}', b"// x\n{}", b"limit=1",
)  # fmt: skip
MEDIA_TYPES = (
    "text/plain",
    "application/json; charset=utf-8",
    "APPLICATION/JSON",
    "",
    "application/x-www-form-urlencoded",
)
PARAMETERS = (
    "", "?", "?x=1", "?limt=1", "?limit=0", "?limit=1.0", "?limit=51", "?limit=1001", "?limit=٣", "?limit=",
    "?limit=1&limit=2", "?key=abc", "?key=0", "?key=99999999999999999999", "?before=-1", "?before=1",
    "?from=2026-11-31", "?from=x&to=y", "?from=2026-11-15&to=2026-11-13", "?from=2020-01-01&to=2026-11-15",
    "?from=2026-01-01T00:00:00+02:00", "?from=2026-11-15T12:30:00Z&to=2026-11-15T12:30:00.5z", "?to=0001-01-01",
    "?from=9999-12-31&to=9999-12-31", "?from=2026-11-15%2000:00:00Z", "?request_id=", "?request_id=%00",
    "?request_id=" + "x" * 101, "?q=" + "x" * 65, "?country=Germny", "?country=USA", "?country=", "?=1", "?%ff=%ff",
    "?" + urlencode({f"p{number}": number for number in range(25)}),
)  # fmt: skip


def hostile_texts() -> list[str]:
    return (CORPUS.parent / "hostile.txt").read_text("utf-8").splitlines()


def malformed(world: World, draw: Random) -> None:
    """Bodies with wrong values, unknown names, too many problems, and bodies that are not JSON objects."""

    def ask(path: str, body: Any, **options: Any) -> None:
        world.ask("malformed", "POST", path, body, **options)

    for path, names in FIELDS.items():
        for name in names:
            for group in WRONG:
                ask(path, {name: draw.choice(group)})
            for value in CASES.get(name, ()):
                ask(path, {name: value, **({"limit": 1} if path == SEARCH and name != "limit" else {})})
    for path in PATHS:
        for body in BODIES if path == SEARCH else BODIES[: 1 if path == INTERPRET else 3]:
            ask(path, body)
        for raw in RAW if path in (SEARCH, CONFIRM) else RAW[:8]:
            ask(path, raw)
        for media_type in MEDIA_TYPES:
            ask(path, b"{}", headers={"Content-Type": media_type})
        ask(path, gzip.compress(b"{}", mtime=0), headers={"Content-Encoding": "gzip"})
        ask(path, b"{}", headers={"Content-Encoding": "identity"})
    for text in directive_texts(wrong=True):
        ask(SEARCH, {"wrapped_query": text})


def parameters(world: World, _draw: Random) -> None:
    """Query strings and parts of paths."""
    for path in (USAGE, LEDGER, f"{VALUES}/city"):
        for text in PARAMETERS:
            world.ask("parameters", "GET", path + text)
    for path in (ACCOUNT, f"{LEDGER}/some-request", "/v1/leads/x.example/evidence"):  # these take none
        for text in PARAMETERS[:4]:
            world.ask("parameters", "GET", path + text)
    world.ask("parameters", "GET", f"{VALUES}/language?country=USA")
    for name in ("", "x", "citty", "City", "keywords", "domain", "a%2Fb", "%00", "x" * 200, "%F0%9F%98%80"):
        world.ask("parameters", "GET", f"{VALUES}/{name}")
        world.ask("parameters", "GET", f"{LEDGER}/{name}")
        world.ask("parameters", "GET", f"/v1/leads/{name}/evidence")
        world.ask("parameters", "POST", f"{SEARCH}/{name}", {})


def hostile(world: World, _draw: Random) -> None:
    """Texts that are made to be executed somewhere, at every place that repeats them."""
    for text in hostile_texts()[::3]:
        world.ask("hostile", "POST", SEARCH, {"query": text, "explain": True, "limit": 1})
        world.ask("hostile", "POST", SEARCH, {"city": text, "sort": text, "select": [text], text: text})
        world.ask("hostile", "POST", ENRICH, {"domains": [text]})
        world.ask("hostile", "GET", f"{VALUES}/city?{urlencode({'q': text[:60], text: text})}")
        world.ask("hostile", "POST", OPT_OUT, {"email": text, "request": text})
        world.ask("hostile", "GET", f"/v1/{quote(text, safe='')}")
