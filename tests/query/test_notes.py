"""Notes on a search: the nearest names of unknown values, and contradictions."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from siteglass.corpus.lead import Lead
from siteglass.query.body import read_meaning
from siteglass.query.criteria import Condition, Criteria, criteria
from siteglass.query.directives import parse
from siteglass.query.fields import FILTERS
from siteglass.query.notes import find_notes
from siteglass.query.vocabulary import vocabulary
from testing.random_searches import Drawer
from testing.reference_scan import matching
from testing.strategies import NOW_MS

TYPOS = [
    line.split("\t")
    for line in (Path(__file__).parents[2] / "testing/corpus/typos/positive_values.tsv").read_text().splitlines()
    if not line.startswith("#")
]


def _first_suggestion(name: str, typo: str) -> str | None:
    many = name in ("technologies", "categories_uses")
    notes = find_notes(read_meaning({name: [typo] if many else typo}, NOW_MS).said)
    names = notes[0].nearest() if notes else ()
    return names[0] if names else None


def test_the_right_name_is_suggested_first_for_54_of_60_typos() -> None:
    assert len(TYPOS) == 60
    right = []
    for name, typo, meant in TYPOS:
        kind = FILTERS[name][0].ask.vocabulary
        assert kind
        (value,) = vocabulary().resolve(kind, meant)
        assert vocabulary().resolve(kind, typo) in ((), (value,))
        if _first_suggestion(name, typo) == value:
            right.append(typo)
    assert len(right) >= 54


def test_the_first_of_several_names_is_the_nearest() -> None:
    for name, typo, _ in TYPOS:
        kind = FILTERS[name][0].ask.vocabulary
        assert kind
        assert next(iter(vocabulary().nearest_several(kind, typo, 3)), None) == vocabulary().nearest(kind, typo)


@pytest.mark.parametrize(
    "text",
    [
        "@country(DEU)\n@state(US-TX)",
        "@country(DEU)\n@state(Texas)",
        "@country(DEU)\n@country(USA)",
        "@region(Asia)\n@country(USA)",
        "@subregion(Western Europe)\n@state(NSW)",
        "@city(London)\n@country(IRL)",
        "@city(Austin)\n@state(CA)",
        "!@country(USA)\n@state(US-TX)",
        "!@region(Europe)\n@city(Berlin)\n@country(DEU)",
        "@has_phone\n!@has_phone",
        "@technology(Wix)\n!@technology(Wix, Shopify)",
        "@lang(de)\n@lang(en)",
        "@service_type(SaaS)\n@service_type(Agency)",
        "@score(<30)\n@score(>80)",
        "@spends(>100)\n@spends(<101)",
        "@lacks(crm)\n@categories_uses(crm)",
        "@country(IRL)\n@any[ @city(London) | @has_phone ]",
        "@any[ @country(IRL) @city(London) | @has_phone ]",
    ],
)
def test_contradictions_are_noted(text: str) -> None:
    assert ["contradict each other" in note.message for note in find_notes(parse(text))] in ([True], [True, True])


@pytest.mark.parametrize(
    "text",
    [
        "@country(DEU, USA)\n@state(US-TX)",
        "@country(USA)\n@state(CA)",
        "@region(Europe)\n@country(DEU)",
        "@city(London)\n@country(CAN)",
        "@city(Paris)\n@state(TX)",
        "@city(Austin)\n!@state(CA)",
        "@country(USA)\n!@state(US-TX)",
        "@country(USA)\n!@city(Austin)",
        "@technology(Wix, Shopify)\n!@technology(Wix)",
        "@technology(Wix)\n@technology(Shopify)",
        "@score(<30, >80)\n@score(>20)",
        "@spends(>100)\n@spends(<102)",
        "@lacks(crm, analytics)\n@categories_uses(crm)",
        "@keywords(a)\n@keywords(b)",
        "!@any[ @country(IRL) @city(London) ]",
        "@country(IRL)\n!@any[ @city(London) @has_phone ]",
    ],
)
def test_what_can_be_met_is_not_noted(text: str) -> None:
    assert find_notes(parse(text)) == []


def test_no_demo_lead_meets_what_is_noted_as_a_contradiction(leads: list[Lead]) -> None:
    drawer = Drawer(leads, seed=7)
    noted = 0
    for _ in range(2_000):
        conditions = [
            drawer.condition(drawer.random.choice(("country", "state", "city", "region", "score"))) for _ in "ab"
        ]
        made = criteria(conditions)
        if find_notes(made):
            noted += 1
            assert matching(made, leads) == [], made
        if noted == 100:
            break
    assert noted == 100


def test_the_largest_searches_are_read_quickly() -> None:
    codes = sorted({code.partition("-")[2] for code in vocabulary().values("state")})
    large = [
        Criteria(tuple(Condition("state", tuple(codes[number : number + 3])) for number in range(64))),
        Criteria(tuple(Condition("region", ("Africa", "Asia", "Europe")) for _ in range(64))),
        Criteria(tuple(Condition("city", tuple(f"c{n}x{k}" for k in range(3))) for n in range(64))),
    ]
    for made in large:
        find_notes(made)
        started = time.thread_time()
        find_notes(made)
        assert time.thread_time() - started < 0.1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@technology(SAP)", "no rule detects SAP on web pages, so it finds only leads that were imported with it"),
        (
            "!@technology(athenahealth)",
            "no rule detects athenahealth on web pages, so excluding it leaves out only leads that were imported with "
            "it",
        ),
        (
            "@any[ @technology(SAP) | @country(DEU) ]",
            "no rule detects SAP on web pages, so it finds only leads that were imported with it",
        ),
        (
            "@added(Shopify Plus, 30d)",
            "no rule detects Shopify Plus on web pages, so it finds only leads that were imported with it",
        ),
    ],
)
def test_a_technology_without_a_rule_gets_a_note(text: str, message: str) -> None:
    assert [note.message for note in find_notes(parse(text))] == [message]


def test_technologies_with_a_rule_get_none() -> None:
    assert find_notes(parse("@technology(Shopify, Klaviyo)\n!@technology(Wix)\n@lacks(crm)")) == []
