"""Criteria to the engine's query: whole bodies."""

from __future__ import annotations

from typing import Any

import pytest

from siteglass.index.compile import Exclusion, compile_criteria
from siteglass.index.counting import count_body
from siteglass.index.pages import ORDERS, page_body
from siteglass.query.cursor import Position
from siteglass.query.directives import parse

CASES: dict[str, dict[str, Any]] = {
    "": {"match_all": {}},
    "@country(USA)": {"bool": {"filter": [{"term": {"country": "USA"}}]}},
    "@country(USA, Canada)": {"bool": {"filter": [{"terms": {"country": ["CAN", "USA"]}}]}},
    "!@country(USA, Canada)": {"bool": {"must_not": [{"terms": {"country": ["CAN", "USA"]}}]}},
    "@state(CA, US-TX)": {
        "bool": {
            "filter": [
                {
                    "bool": {
                        "should": [{"term": {"state": "CA"}}, {"term": {"subdivision": "US-TX"}}],
                        "minimum_should_match": 1,
                    }
                }
            ]
        }
    },
    "!@state(CA, US-TX)": {"bool": {"must_not": [{"term": {"state": "CA"}}, {"term": {"subdivision": "US-TX"}}]}},
    "@lacks(crm)": {
        "bool": {
            "filter": [
                {
                    "bool": {
                        "filter": [{"term": {"facts": "tech:known"}}],
                        "must_not": [{"term": {"categories_uses": "crm"}}],
                    }
                }
            ]
        }
    },
    "!@lacks(crm)": {
        "bool": {
            "must_not": [
                {
                    "bool": {
                        "filter": [{"term": {"facts": "tech:known"}}],
                        "must_not": [{"term": {"categories_uses": "crm"}}],
                    }
                }
            ]
        }
    },
    "@keywords(vegan food, bakery)": {
        "bool": {
            "filter": [
                {
                    "bool": {
                        "should": [
                            {"match_phrase": {"content": "bakery"}},
                            {"match": {"parts": "bakery"}},
                            {"match_phrase": {"content": "vegan food"}},
                        ],
                        "minimum_should_match": 1,
                    }
                }
            ]
        }
    },
    "@score(<30, 80-90)": {
        "bool": {
            "filter": [
                {
                    "bool": {
                        "should": [{"range": {"score": {"lt": 30}}}, {"range": {"score": {"gte": 80, "lte": 90}}}],
                        "minimum_should_match": 1,
                    }
                }
            ]
        }
    },
    "@spends(>5000)": {"bool": {"filter": [{"range": {"e.spending": {"gt": 5000}}}]}},
    "@load_time(<=1500)": {"bool": {"filter": [{"range": {"load_time_ms": {"lte": 1500}}}]}},
    "@updated_after(2026-01-01)": {
        "bool": {"filter": [{"range": {"crawled_at": {"gt": 1_767_225_600_000, "format": "epoch_millis"}}}]}
    },
    "@not_secure\n!@has_phone": {
        "bool": {"filter": [{"term": {"facts": "https:no"}}], "must_not": [{"term": {"facts": "phone:yes"}}]}
    },
    "@pages(Pricing)": {"bool": {"filter": [{"term": {"pages": "/pricing"}}]}},
    "@region(Europe)": {"bool": {"filter": [{"term": {"region": "Europe"}}]}},
    "@country(USA)\n@any[ @lacks(crm) | @state(CA, US-TX) | !@has_phone | @not_secure !@city(Austin, Dallas) ]": {
        "bool": {
            "filter": [
                {"term": {"country": "USA"}},
                {
                    "bool": {
                        "should": [
                            {"term": {"state": "CA"}},
                            {"term": {"subdivision": "US-TX"}},
                            {
                                "bool": {
                                    "filter": [{"term": {"facts": "https:no"}}],
                                    "must_not": [{"terms": {"city": ["Austin", "Dallas"]}}],
                                }
                            },
                            {
                                "bool": {
                                    "filter": [{"term": {"facts": "tech:known"}}],
                                    "must_not": [{"term": {"categories_uses": "crm"}}],
                                }
                            },
                            {"bool": {"must_not": [{"term": {"facts": "phone:yes"}}]}},
                        ],
                        "minimum_should_match": 1,
                    }
                },
            ]
        }
    },
    "!@any[ @country(USA) @not_secure | @technology(Wix) ]": {
        "bool": {
            "must_not": [
                {"term": {"technologies": "Wix"}},
                {"bool": {"filter": [{"term": {"country": "USA"}}, {"term": {"facts": "https:no"}}]}},
            ]
        }
    },
}


@pytest.mark.parametrize("text", CASES)
def test_a_search_compiles_to_exactly_this(text: str) -> None:
    assert compile_criteria(parse(text)) == CASES[text]


def test_long_lists_stay_lazy() -> None:
    names = ", ".join(f"t{n:02}" for n in range(40))
    (clause,) = compile_criteria(parse(f"@technology({names})"))["bool"]["filter"]
    pieces = [way["terms"]["technologies"] for way in clause["bool"]["should"]]
    assert [len(piece) for piece in pieces] == [16, 16, 8]
    assert sorted(value for piece in pieces for value in piece) == [f"t{n:02}" for n in range(40)]


def test_a_change_is_one_range_for_each_technology() -> None:
    klaviyo = {"range": {"added": {"gte": 1_628 * 65_536 + 20_744, "lt": 1_629 * 65_536}}}
    assert compile_criteria(parse("@added(Klaviyo, 2026-10-18)")) == {"bool": {"filter": [klaviyo]}}
    assert compile_criteria(parse("!@added(Klaviyo, 2026-10-18)")) == {"bool": {"must_not": [klaviyo]}}
    unknown = {"bool": {"should": [klaviyo, {"match_none": {}}], "minimum_should_match": 1}}
    assert compile_criteria(parse("@added(Frobnicator, Klaviyo, 2026-10-18)")) == {"bool": {"filter": [unknown]}}
    with pytest.raises(ValueError, match="must be converted to a date"):
        compile_criteria(parse("@dropped(Klaviyo, 30d)"))


def test_an_age_must_be_fixed_first() -> None:
    made = parse("@updated_within(30d)")
    with pytest.raises(ValueError, match="must be converted to a time"):
        compile_criteria(made)
    now_ms = 1_767_225_600_000 + 30 * 86_400_000
    assert compile_criteria(made.fixed_at(now_ms)) == CASES["@updated_after(2026-01-01)"]
    inside = parse("@any[ @updated_within(30d) | @has_phone @updated_within(10d) ]").fixed_at(now_ms)
    assert inside == parse("@any[ @updated_after(2026-01-01) | @has_phone @updated_after(2026-01-21) ]")


USA = {"term": {"country": "USA"}}


@pytest.mark.parametrize(
    ("sort", "position", "window", "direction", "nearby"),
    [
        ("-score", None, None, "asc", None),
        ("-score", Position(500, "b.com"), None, "asc", {"rank": {"gte": 500}}),
        ("-score", Position(500, "b.com", backward=True, width=10), 80, "desc", {"rank": {"lte": 500, "gte": 420}}),
        ("score", Position(500, "b.com", backward=True, width=10), 80, "asc", {"rank": {"gte": 500, "lte": 580}}),
        ("domain", Position(9, "b.com"), None, "asc", {"domain_rank": {"gte": 9}}),
        ("-spending", Position(7, "b.com"), None, "asc", {"spending_rank": {"gte": 7}}),
    ],
)
@pytest.mark.parametrize("by_domain", [False, True])
def test_a_page_asks_for_exactly_this(
    sort: str, position: Position | None, window: int | None, direction: str, nearby: Any, by_domain: bool
) -> None:
    filters = [USA] if nearby is None else [USA, {"range": nearby}]
    keys = [{ORDERS[sort].key: direction}]
    body: dict[str, Any] = {
        "size": 21,
        "track_total_hits": False,
        "sort": keys,
        "query": {"bool": {"filter": filters}},
        "stored_fields": "_none_",
        "docvalue_fields": ["card"],
    }
    if by_domain or sort == "domain":
        body["sort"] = [*keys, {"domain": direction}]
        if position is not None:
            body["search_after"] = [position.key, "b.com"]
    elif position is not None:
        body["size"] = 22  # the lead at the position is found again
        body["search_after"] = [position.key + 1 if direction == "desc" else position.key - 1]
    assert page_body(parse("@country(USA)"), sort, 20, position, window, by_domain=by_domain) == body


def test_a_count_asks_for_exactly_this() -> None:
    assert count_body(compile_criteria(parse("@country(USA)")), 2_000) == {
        "size": 0,
        "track_total_hits": True,
        "timeout": "2000ms",
        "query": {"bool": {"filter": [USA]}},
    }


def test_an_added_exclusion_excludes_from_the_whole_search() -> None:
    listed = {"terms": {"lead_no": ["AAA="], "value_type": "bitmap"}}
    compiled = compile_criteria(parse("@country(USA)"), (Exclusion(listed),))
    assert compiled == {"bool": {"filter": [USA], "must_not": [listed]}}
    assert compile_criteria(parse("@country(USA)"), (listed,)) == {"bool": {"filter": [USA, listed]}}
