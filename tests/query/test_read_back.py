"""The read-back: every search as one English sentence that shows each condition and its sign."""

from __future__ import annotations

import os
import re
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from siteglass.query.criteria import AnyOf, Change, Clause, Condition, Criteria, Range, Value, criteria
from siteglass.query.directives import parse
from siteglass.query.field import Kind
from siteglass.query.fields import ASKED
from siteglass.query.read_back import MAX_CHARS, read_back
from siteglass.query.value_names import technology_name, value_name, window_name
from siteglass.query.values import read_value
from siteglass.query.vocabulary import vocabulary
from testing.strategies import any_criteria, clauses, said_by_directives

SLOW_DRAWS = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
# How many random searches are tried.
FACTOR = 10 if os.environ.get("SITEGLASS_LONG") else 1
NEGATION = re.compile(r"\b(not|neither|none|except)\b")
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
MORE = re.compile(r"(\d+) more\b")


def sentence(*lines: str) -> str:
    return read_back(parse("\n".join(lines)))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], "All businesses"),
        (
            ["@service_type(Agency)", "@country(GBR)", "@city(London)", "@technology(WordPress)", "@has_linkedin"],
            "Agencies in London, GB that use WordPress and have a LinkedIn page",
        ),
        (
            ["@technology(Shopify, WooCommerce)", "!@technology(Klaviyo)"],
            "Businesses that use Shopify or WooCommerce, but not Klaviyo",
        ),
        (
            ["@technology(Shopify)", "@technology(Klaviyo)", "!@technology(Wix, Weebly, Webflow)"],
            "Businesses that use Klaviyo and Shopify, but none of Webflow, Weebly and Wix",
        ),
        (
            ["@technology(Shopify)", "@technology(Klaviyo, Mailchimp)", "!@technology(Wix, Weebly)", "!@has_phone"],
            "Businesses that use Klaviyo or MailChimp, and use Shopify, but use neither Weebly nor Wix, and do not "
            "have a phone number",
        ),
        (
            ["@country(USA)", "@state(TX)", "@technology(Shopify)", "@lacks(crm)", "@load_time(>3000)"],
            "Businesses in Texas, US that use Shopify, lack CRM software, and take more than 3,000 ms to load",
        ),
        (
            ["@added(Shopify, WooCommerce, 30d)", "@dropped(Magento, 2026-08-19)"],
            "Businesses that have added Shopify or WooCommerce in the last 30 days, and have dropped Magento since "
            "2026-08-19",
        ),
        (
            ["!@added(Klaviyo, 1d)", "!@dropped(Magento, 30d)", "!@dropped(Wix, 90d)"],
            "Businesses that have not added Klaviyo in the last day, and have dropped neither Magento in the last 30 "
            "days nor Wix in the last 90 days",
        ),
        (
            ["@trade(dentist, roofer)", "@spends(>1500)", "@spends(<7500)", "!@has_phone", "!@has_email"],
            "Dentists or roofers that spend more than $1,500 and less than $7,500 a month on ads, but have neither an "
            "email address nor a phone number",
        ),
        (
            ["@service_type(SaaS)", "!@service_type(Agency)", "@trade(fintech_company)", "@country(DEU, AUT)"],
            "SaaS businesses in Austria or Germany that are fintech companies, but not agencies",
        ),
        (
            ["@country(USA)", "@state(TX)", "@city(Austin, Dallas)", "@score(<10, >80)"],
            "Businesses in Austin or Dallas, in Texas, US that have an SEO score of less than 10 or more than 80",
        ),
        (
            ["@keywords(vegan food)", "!@keywords(meat)", "@pages(/pricing)", "@pages(/docs)", "@lang(de)"],
            'Businesses that have a website in German, mention "vegan food" on their website, and have a page at /docs '
            'and /pricing, but do not mention "meat" on their website',
        ),
        (
            ["@lacks(crm, cms)", "!@categories_uses(analytics)", "@offers(marketing)", "!@missing_sitemap"],
            "Businesses that offer marketing, and lack at least one of CMS and CRM software, but do not use analytics "
            "software and do not lack a sitemap",
        ),
        (
            ["@updated_within(1d)", "!@updated_within(30d)", "!@updated_after(2026-10-01)"],
            "Businesses that were crawled within the last day, but were not crawled after 2026-10-01 and were not "
            "crawled within the last 30 days",
        ),
        (["@updated_after(2026-10-01T08:30:00Z)"], "Businesses that were crawled after 2026-10-01T08:30:00Z"),
        (["@region(Europe)", "!@country(DEU)"], "Businesses in Europe that are not in Germany"),
        (
            ["@score(=50)", "@no_generic_emails"],
            "Businesses that have an SEO score of exactly 50 and have a non-generic email address",
        ),
        (["@spends(1000-5000)"], "Businesses that spend $1,000 to $5,000 a month on ads"),
        (
            ["@has_phone", "@any[ @not_secure @has_email | @lacks(crm) | @country(USA) @city(Austin) ]"],
            "Businesses that have a phone number, and that either are in Austin, US, or lack CRM software, or (lack "
            "HTTPS and have an email address)",
        ),
        (
            ["@trade(hotel)", "@any[ @not_secure | @missing_schema ]"],
            "Hotels that either lack HTTPS or lack structured data",
        ),
        (
            ["@country(USA)", "!@any[ @state(TX) @not_secure ]"],
            "Businesses in the United States, except those that are in the state TX and lack HTTPS",
        ),
        (["@technology(shopfy)"], 'Businesses that use "shopfy"'),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)  # fmt: skip
def test_sentences(lines: list[str], expected: str) -> None:
    assert sentence(*lines) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["@state(Punjab)"], "Businesses in Punjab (IN-PB) or Punjab (PK-PB)"),
        (["@state(TX)"], "Businesses in the state TX"),
        (["@country(USA)", "@state(NY)"], "Businesses in New York, US"),
        (["@country(USA)", "@city(New York)"], "Businesses in New York City, US"),
        (["@country(USA)", "@state(CA, TX)"], "Businesses in California or Texas, in the United States"),
        (["@city(London)", "@country(GBR, CAN)"], "Businesses in London, in Canada or the United Kingdom"),
        (["@country(USA)", "@state(FL)"], "Businesses in the state of Florida, US"),
        (["@country(USA)", "@city(Florida)"], "Businesses in Florida, US"),
        (["@city(Singapore)"], "Businesses in the city of Singapore"),
        (["@country(SGP)"], "Businesses in Singapore"),
        (["@subregion(Micronesia)"], "Businesses in the subregion Micronesia"),
        (["@country(CAN, MEX, USA)"], "Businesses in Canada, Mexico or the United States"),
        ([f"@country({', '.join(vocabulary().groups()['EU'])})"], "Businesses in the EU"),
        (
            [f"@country({', '.join(set(vocabulary().groups()['EU']) - {'FRA', 'NLD'})})"],
            "Businesses in the EU except France and the Netherlands",
        ),
    ],
)
def test_places(lines: list[str], expected: str) -> None:
    assert sentence(*lines) == expected


@pytest.mark.parametrize(
    ("trade", "plural"),
    [
        ("dentist", "dentists"), ("bakery", "bakeries"), ("handyman", "handymen"), ("midwife", "midwives"),
        ("car_wash", "car washes"), ("church", "churches"), ("chamber_of_commerce", "chambers of commerce"),
        ("pest_control", "pest control businesses"), ("healthcare", "healthcare businesses by trade"),
        ("automotive", "automotive businesses"), ("gastronomy", "restaurants and bars"),
        ("publisher", "publishers by trade"),
        ("italian_restaurant", "Italian restaurants"), ("mexican_restaurant", "Mexican restaurants"),
        ("seo_agency", "SEO agencies"), ("veterinarian", "veterinarians"),
    ],
)  # fmt: skip
def test_trades_in_the_plural(trade: str, plural: str) -> None:
    assert sentence(f"!@trade({trade})") == f"Businesses that are not {plural}"
    assert sentence(f"@trade({trade})") == plural[0].upper() + plural[1:]


def test_long_lists_are_cut_and_counted() -> None:
    names = vocabulary().values("technology")[:12]
    shown = ", ".join(names[:5])
    assert sentence(f"@technology({', '.join(names)})") == f"Businesses that use {shown} or 7 more"
    assert sentence(f"!@technology({', '.join(names)})") == f"Businesses that use none of {shown} and 7 more"
    assert "1 more" not in sentence(f"@technology({', '.join(names[:6])})")
    assert sentence(*(f"@score(>{n})" for n in range(1, 21))).endswith(" and that meet 8 more conditions")
    long = "word " * 50
    assert f'"{long[:57]}…" on' in sentence(f"@keywords({long})")
    branches = " | ".join(f"@has_phone @score(>{n})" for n in range(1, 12))
    assert sentence(f"@any[ {branches} ]").endswith(", or meet one of 5 more alternatives")


def examples(name: str) -> list[tuple[Value, ...]]:
    """Values of a field in every form that they can have."""
    ask = ASKED[name].ask
    texts: tuple[str, ...]
    match ask.kind:
        case Kind.FLAG:
            return [()]
        case Kind.NUMBER:
            return [
                (Range(5, None),), (Range(None, 5),), (Range(5, None, above=True),), (Range(None, 5, below=True),),
                (Range(5, 5),), (Range(5, 7),), (Range(None, 5), Range(7, None)),
            ]  # fmt: skip
        case Kind.TIME:
            return [(1_790_000_000_000,), (1_790_812_800_000,), (1_790_000_000_001, 1_790_000_000_002)]
        case Kind.AGE:
            return [(1,), (30,), (1, 2, 3_650)]
        case Kind.CHANGE:
            names, windows = ("Klaviyo", "Magento", "nobody knows this"), ((1, False), (30, False), (20_741, True))
            changes = [Change(technology, *window) for technology in names for window in windows]
            return [*((one,) for one in changes), *combinations(changes, 2), tuple(changes[::3]), tuple(changes)]
        case Kind.TEXT | Kind.PATH:
            texts = ("a", "vegan food", 'say "or"', "b or c", "b", "c")
        case Kind.TERM | Kind.LACKS:
            assert ask.vocabulary
            known = vocabulary().values(ask.vocabulary)
            texts = known[:: max(1, len(known) // 9)]
            if not ask.closed:
                texts = (*texts, "nobody knows this")
    values = tuple(value for text in texts for value in read_value(ask, text, quoted=True))
    return [*((value,) for value in values), values[:2], values[:3], values]


@pytest.mark.parametrize("name", ASKED)
def test_every_field_in_every_form(name: str) -> None:
    sentences: dict[str, Criteria] = {}
    for values in examples(name):
        for negated in (False, True):
            condition = Condition(name, values, negated)
            for made in (
                criteria([condition]),
                criteria([condition, Condition("has_phone"), Condition("has_email", negated=True)]),
                criteria([AnyOf(((condition,), (Condition("updated_within", (7,)), Condition("crawled_at", (0,)))))]),
                criteria([AnyOf(((condition, Condition("updated_within", (7,))),), negated=True)]),
            ):
                text = read_back(made)
                check(made, text)
                assert sentences.setdefault(text, made) == made
    assert len(sentences) > 2


def check(made: Criteria, text: str) -> None:
    """Every value is there or counted, and only exclusions have a word of negation."""
    assert len(text) <= MAX_CHARS
    unquoted = QUOTED.sub('""', text)
    assert not re.search(r"  | ,|,,|[{}]|None", unquoted), text
    assert unquoted.count("(") == unquoted.count(")")
    is_denied = any(c.negated for c in (*made.conditions, *made.flat()))
    is_cut = " more conditions" in text or " more alternatives" in text
    if not is_cut:
        assert bool(NEGATION.search(unquoted)) == is_denied, text
        missing = sum(
            not is_shown(made, condition, value, text) for condition in made.flat() for value in condition.values
        )
        assert missing <= sum(map(int, MORE.findall(unquoted))), text


def is_shown(made: Criteria, condition: Condition, value: Value, text: str) -> bool:
    if isinstance(value, Change):
        return technology_name(value)[:22] in text and window_name(value) in text
    countries = {str(one.values[0]) for one in made.flat() if one.field == "country"}
    names = {value_name(condition.ask, value, country) for country in (None, *countries)}
    if condition.field == "country":
        names.add(f", {vocabulary().country_alpha2(str(value))}")
    return any(name[:22] in text or name[:1].upper() + name[1:22] in text for name in names)


@pytest.mark.no_cover
@settings(max_examples=150 * FACTOR, deadline=None, suppress_health_check=SLOW_DRAWS)
@given(any_criteria() | said_by_directives())
def test_random_criteria(made: Criteria) -> None:
    text = read_back(made)
    check(made, text)
    assert read_back(made) == text


@pytest.mark.no_cover
@settings(max_examples=80 * FACTOR, deadline=None, suppress_health_check=SLOW_DRAWS)
@given(st.lists(clauses(), min_size=2, max_size=4))
def test_two_searches_never_read_the_same(drawn: list[Clause]) -> None:
    searches = {criteria([*some]) for count in (1, 2) for some in combinations(drawn, count)}
    sentences = {search: read_back(search) for search in searches}
    if not any(MORE.search(text) or "…" in text for text in sentences.values()):
        assert len(set(sentences.values())) == len(searches), sentences


def test_a_long_name_is_cut_and_not_its_time() -> None:
    long = Change("Adobe Experience Platform Identity Service", 2)
    text = read_back(criteria([Condition("added", (long, Change("1C-Bitrix", 0, fixed=True)))]))
    assert "Adobe Experience Platform Identity Service"[:22] in text
    assert "in the last 2 days" in text


@pytest.mark.parametrize("name", [name for name, asked in ASKED.items() if asked.ask.vocabulary])
def test_no_two_values_have_one_name(name: str) -> None:
    ask = ASKED[name].ask
    assert ask.vocabulary
    values = vocabulary().values(ask.vocabulary)
    assert len({value_name(ask, value) for value in values}) == len(values)


def test_the_largest_search_fits() -> None:
    words = [f"{'w' * 200}{n}" for n in range(8)]
    branch = tuple(Condition("keywords", tuple(words), negated) for negated in (False, True))
    groups = [AnyOf(((*branch, Condition("score", (Range(n, None),))),) * 2, negated=True) for n in range(40)]
    made = criteria(
        [
            *groups,
            *(
                Condition(
                    "keywords",
                    (word, "x"),
                )
                for word in words
            ),
        ]
    )
    assert MAX_CHARS // 3 < len(read_back(made)) <= MAX_CHARS
