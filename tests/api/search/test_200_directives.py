"""The directive language of `wrapped_query`, each form against the leads."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from siteglass.corpus.lead import Lead
from siteglass.platform.backends import Clock
from siteglass.query.fields import DIRECTIVES, FILTERS
from siteglass.settings import Settings
from testing.api_calls import SEARCH, found, search
from testing.service import serving
from tests.api.handmade import CRAWLED, CRAWLED_DAY, FULL, changed, is_a, those
from tests.api.search.test_200_filters import FLAGS

Holds = Callable[[Lead], object]


def _using(lead: Lead) -> set[str]:
    return set(lead.technologies or ())


def _score(test: Callable[[int], bool]) -> Holds:
    return lambda lead: lead.score is not None and test(lead.score)


def _spending(test: Callable[[int], bool]) -> Holds:
    return lambda lead: lead.spending is not None and test(lead.spending)


def _load(test: Callable[[int], bool]) -> Holds:
    return lambda lead: lead.load_time_ms is not None and test(lead.load_time_ms)


def _confidence(test: Callable[[int], bool]) -> Holds:
    return lambda lead: lead.email_owner_confidence is not None and test(lead.email_owner_confidence)


LINES: dict[str, Holds] = {
    **{f"@{name if name in DIRECTIVES else FILTERS[name][0].ask.directive}": FLAGS[name] for name in FLAGS},
    "@lang(en)": lambda lead: lead.language == "en",
    "@lang(en, de)": lambda lead: lead.language in ("en", "de"),
    "@technology(Shopify)": lambda lead: "Shopify" in _using(lead),
    "@technology(shopify, HUBSPOT)": lambda lead: {"Shopify", "HubSpot"} & _using(lead),
    "@technology(Shopify)\n@technology(HubSpot)": lambda lead: {"Shopify", "HubSpot"} <= _using(lead),
    '@technology("Foo, Inc.")': lambda lead: "Foo, Inc." in _using(lead),
    '@technology("Foo, Inc.", WordPress)': lambda lead: {"Foo, Inc.", "WordPress"} & _using(lead),
    "@technology(never heard of)": lambda lead: False,
    "@offers(crm)": lambda lead: "crm" in lead.offers,
    "@offers(crm, legal_service)": lambda lead: {"crm", "legal_service"} & set(lead.offers),
    "@lacks(crm)": lambda lead: lead.technologies is not None and "crm" not in lead.categories_uses,
    "!@lacks(crm)": lambda lead: lead.technologies is None or "crm" in lead.categories_uses,
    "@categories_uses(crm)": lambda lead: "crm" in lead.categories_uses,
    "@trade(dentist, roofer)": lambda lead: is_a(lead, "dentist", "roofer"),
    "!@trade(healthcare)": lambda lead: not is_a(lead, "healthcare"),
    "@service_type(SaaS, Realtor)": lambda lead: lead.service_type in ("SaaS", "Realtor"),
    "@country(DEU)\n@state(BY)": lambda lead: (lead.country, lead.state) == ("DEU", "BY"),
    "@score(50)": _score(lambda n: n == 50),
    "@score(=50)": _score(lambda n: n == 50),
    "@score(>30)": _score(lambda n: n > 30),
    "@score(>=30)": _score(lambda n: n >= 30),
    "@score(<30)": _score(lambda n: n < 30),
    "@score(<= 30)": _score(lambda n: n <= 30),
    "@score(less than 30)": _score(lambda n: n < 30),
    "@score(greater than 30)": _score(lambda n: n > 30),
    "@score(<30, >80)": _score(lambda n: n < 30 or n > 80),
    "@score(1)": _score(lambda n: n == 1),
    "@score(90)": _score(lambda n: n == 90),
    "@score(30-80)": _score(lambda n: 30 <= n <= 80),
    "@spends(>1000)": _spending(lambda n: n > 1000),
    "@spends(>=1000)": _spending(lambda n: n >= 1000),
    "@spends(<1000)": _spending(lambda n: n < 1000),
    "@spends(less than 1000)": _spending(lambda n: n < 1000),
    "@spends(1000-5000)": _spending(lambda n: 1000 <= n <= 5000),
    "@spends( 1000 - 5000 )": _spending(lambda n: 1000 <= n <= 5000),
    "@spends(>0)": _spending(lambda n: n > 0),
    "@pages(/pricing)": lambda lead: "/pricing" in lead.pages,
    "@pages(pricing, ABOUT/team/)": lambda lead: {"/pricing", "/about/team"} & set(lead.pages),
    "@city(Munich, NYC)": lambda lead: lead.city in ("Munich", "New York City"),
    "@load_time(>3000)": _load(lambda n: n > 3000),
    "@load_time(<1500)": _load(lambda n: n < 1500),
    "@load_time(1499-3000)": _load(lambda n: 1499 <= n <= 3000),
    "@email_confidence(>0.8)": _confidence(lambda n: n > 80),
    "@email_confidence(0.5-0.8)": _confidence(lambda n: 50 <= n <= 80),
    "@email_confidence(>=81)": _confidence(lambda n: n >= 81),
    "@added(Shopify, 2026-08-22)": lambda lead: changed(lead.added, CRAWLED_DAY - 30, "Shopify"),
    "@added(Shopify, HubSpot, 2026-08-23)": lambda lead: False,
    "@added(Shopify, 2026-08-23, HubSpot, 2025-08-17)": lambda lead: lead is FULL,
    "@dropped(magento, 2026-08-22)": lambda lead: changed(lead.dropped, CRAWLED_DAY - 30, "Magento"),
    "@dropped(Magento, 2026-08-01)\n@added(Shopify, 2026-08-01)": lambda lead: lead is FULL,
    "@updated_after(2026-09-21)": lambda lead: lead.crawled_at_ms > 1_789_948_800_000,
    "@updated_after(2026-09-22)": lambda lead: False,
    "@any[ @lacks(crm) | @not_secure ]": lambda lead: (
        lead.secure is False or (lead.technologies is not None and "crm" not in lead.categories_uses)
    ),
    "@any[ @technology(Shopify) @technology(HubSpot) ]": lambda lead: {"Shopify", "HubSpot"} <= _using(lead),
    "@any[ @country(DEU) @state(BY) | @country(USA) !@has_phone | @score(>80) ]": lambda lead: (
        (lead.country, lead.state) == ("DEU", "BY")
        or (lead.country == "USA" and not lead.phones)
        or (lead.score or 0) > 80
    ),
    "@updated_after(2026-09-21T14:13:20Z)": lambda lead: lead.crawled_at_ms > CRAWLED,
}


@pytest.mark.promise(
    "search.wrapped_query",
    "directives.rule_3",
    "lists.and",
    cases={
        "@{}": "directive.{}",
        "@lang(en)": "directive.lang",
        "@lang(en, de)": "directive.lang",
        "@technology(shopify, HUBSPOT)": ("directive.technology", "directives.rule_2", "directives.neither"),
        "@offers(crm, legal_service)": "directive.offers",
        "@lacks(crm)": ("directive.lacks", "lacks.read"),
        "!@lacks(crm)": ("directive.lacks", "directives.exclude_lacks"),
        "@categories_uses(crm)": "directive.categories_uses",
        "@service_type(SaaS, Realtor)": "directive.service_type",
        "@trade(dentist, roofer)": "directive.trade",
        "@score(>30)": "directive.score",
        "@score(less than 30)": "directive.score",
        "@spends(>1000)": "directive.spends",
        "@spends(1000-5000)": ("directive.spends", "directives.rule_4"),
        "@pages(pricing, ABOUT/team/)": "directive.pages",
        "@not_secure": "directives.known",
        "@city(Munich, NYC)": "directive.city",
        "@load_time(>3000)": "directive.load_time",
        "@email_confidence(>0.8)": "directive.email_confidence",
        "@added(Shopify, 2026-08-22)": "directive.added",
        "@added(Shopify, HubSpot, 2026-08-23)": "directive.added",
        "@dropped(magento, 2026-08-22)": "directive.dropped",
        "@updated_after(2026-09-21)": "directive.updated_after",
        "@updated_after(2026-09-21T14:13:20Z)": "directive.updated_after",
        "@has_phone": "flags.without",
        "@any[ @lacks(crm) | @not_secure ]": "directives.any",
        "@any[ @technology(Shopify) @technology(HubSpot) ]": "directives.any_excluded",
        "@score(<30)": "directives.rule_4",
        "@spends(less than 1000)": "directives.rule_4",
        "@technology(Shopify)": "directives.exclude_technology",
        "@offers(crm)": "directives.exclude_offers",
        "@score(1)": "limit.score_directive",
        "@score(90)": "limit.score_directive",
        "@score(>=30)": "numbers.more_operators",
        "@spends( 1000 - 5000 )": "numbers.blanks",
        "@score(50)": "numbers.bare_directive",
        "@score(<30, >80)": "numbers.either",
        '@technology("Foo, Inc.")': "directives.quotes",
    },
)
@pytest.mark.parametrize("text", LINES)
def test_a_directive_and_its_exclusion(own: httpx.Client, text: str) -> None:
    assert found(own, {"wrapped_query": text}) == those(LINES[text])
    if "\n" not in text and "never heard of" not in text and not text.startswith("!"):
        assert found(own, {"wrapped_query": f"!{text}"}) == those(lambda lead: not LINES[text](lead))


@pytest.mark.promise("echo.repeats")
@pytest.mark.parametrize("text", LINES)
def test_filters_sent_back_repeat_the_search(own: httpx.Client, text: str) -> None:
    page = search(own, {"wrapped_query": text})
    assert page["filters"]
    assert found(own, page["filters"]) == those(LINES[text])
    assert search(own, page["filters"])["filters"] == page["filters"]


@pytest.mark.promise(
    "search.wrapped_query",
    "directives.rule_1",
    "values.quoted",
    "values.no_vocabulary",
    "directives.any_case",
    "directives.neither",
    "directives.comment_line",
    "directives.comment_behind",
)
@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("@COUNTRY(usa)", lambda lead: lead.country == "USA"),
        ("  @country( USA )  ", lambda lead: lead.country == "USA"),
        ("\n\n@country(USA)\n\n", lambda lead: lead.country == "USA"),
        ("@country(USA)\r\n@state(NY)\r\n", lambda lead: lead.state == "NY"),
        ("# a note\n@country(USA)", lambda lead: lead.country == "USA"),
        ("@country(USA) # Germany too", lambda lead: lead.country == "USA"),
        ("   # only a note", lambda lead: True),
        ("@keywords(# food)", lambda lead: "food" in f"{lead.text} {lead.keywords}"),
        ('@technology("Foo # Inc.")', lambda lead: False),
        ("!@country(USA)\n!@has_phone", lambda lead: lead.country != "USA" and not lead.phones),
        ("!@technology(Shopify, HubSpot)", lambda lead: not {"Shopify", "HubSpot"} & set(lead.technologies or ())),
        ('!@technology("never heard of")', lambda lead: True),
        ('@lacks("never heard of")', lambda lead: lead.technologies is not None),
        ("!@keywords(never heard of)\n!@pages(/never)", lambda lead: True),
    ],
)
def test_how_lines_are_written(own: httpx.Client, text: str, holds: Holds) -> None:
    assert found(own, {"wrapped_query": text}) == those(holds)


@pytest.mark.promise("directives.only_comments")
@pytest.mark.parametrize("text", ["# todo", "\n  # one\r\n\t# two\n", " ", "#", "\n"])
def test_a_text_of_comments_counts_as_not_given(own: httpx.Client, text: str) -> None:
    in_words = {"query": "sites in the US with a phone number"}
    expected = those(lambda lead: lead.country == "USA" and bool(lead.phones))
    assert expected
    assert found(own, {"wrapped_query": text, **in_words}) == found(own, in_words) == expected
    # What needs a sentence finds it.
    assert search(own, {"wrapped_query": text, "query": "crunchy sites in the US", "require": ["crunchy"]})["filters"]
    nothing = own.post(SEARCH, json={"wrapped_query": text, "query": "hello there"})
    assert nothing.status_code == 400


@pytest.mark.promise("directives.unknown_kept")
def test_an_exclusion_keeps_leads_where_the_fact_is_unknown(own: httpx.Client) -> None:
    assert found(own, {"wrapped_query": "!@not_secure"}) == those(lambda lead: lead.secure is not False)
    assert found(own, {"wrapped_query": "!@score(>=1)"}) == those(lambda lead: not lead.score)
    assert found(own, {"wrapped_query": "!@spends(>0)"}) == those(lambda lead: not lead.spending)
    assert found(own, {"wrapped_query": "!@lang(en)"}) == those(lambda lead: lead.language != "en")


@pytest.mark.promise("directive.updated_within")
def test_a_relative_age_and_its_exclusion(own_settings: Settings) -> None:
    class Fixed(Clock):
        def now_ms(self) -> int:
            return CRAWLED + 86_400_000 - 500

    with serving(own_settings, Fixed()) as client:
        recent = those(lambda lead: lead.crawled_at_ms > CRAWLED - 500)
        assert found(client, {"wrapped_query": "@updated_within(1d)"}) == recent
        assert found(client, {"wrapped_query": "!@updated_within(1d)"}) == those(lambda lead: True) - recent != set()


@pytest.mark.promise("values.quoted")
@pytest.mark.parametrize("name", ["technologies", "lacks"])
def test_quotes_in_a_json_value_are_part_of_the_string(own: httpx.Client, name: str) -> None:
    filters = {name: ['"Never heard of"']}
    expected = those(lambda lead: name == "lacks" and lead.technologies is not None)
    assert found(own, filters) == expected
    assert search(own, filters)["filters"] == filters


@pytest.mark.promise("search.rule_2")
def test_wrapped_query_with_filters_both_hold(own: httpx.Client) -> None:
    body = {"wrapped_query": "@technology(Shopify)", "technologies": ["HubSpot"]}
    assert found(own, body) == {FULL.domain}
    assert found(own, {"wrapped_query": "@country(USA)", "country": "DEU"}) == set()
    assert found(own, {"wrapped_query": "!@state(NY)", "country": "US"}) == those(
        lambda lead: lead.country == "USA" and lead.state != "NY"
    )
    assert found(own, {"wrapped_query": "@score(>30)", "min_score": 81}) == those(
        lambda lead: lead.score is not None and lead.score >= 81
    )


@pytest.mark.promise("search.query", "search.rule_1", "body.nothing_ignored")
def test_query_beside_wrapped_query_is_ignored(own: httpx.Client) -> None:
    page = search(own, {"query": "vegan dentist", "wrapped_query": "@country(DEU)"})
    assert {record["domain"] for record in page["results"]} == {"munich.com"}
    assert page["filters"] == search(own, {"wrapped_query": "@country(DEU)"})["filters"]


@pytest.mark.promise("query.filter_wins")
def test_query_with_filters(own: httpx.Client) -> None:
    assert found(own, {"query": "emergency", "language": "de"}) == {"word-description.com"}
    assert found(own, {"query": "emergency", "country": "USA"}) == set()
    # What the query said about the same thing, content, gives way to the filter.
    page = search(own, {"query": "emergency", "keywords": ["vegan"]})
    assert {record["domain"] for record in page["results"]} == {"word-keywords.com", "word-text.com"}
    assert page["filters"] == {"keywords": ["vegan"]}
