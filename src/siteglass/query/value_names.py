"""How sentences write the values of conditions: "Germany" for DEU, "dentists" for the trade `dentist`."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from siteglass.query import vocabulary as known
from siteglass.query.criteria import Change, Range, Value
from siteglass.query.field import Ask, Kind
from siteglass.query.trades import trades
from siteglass.query.value_text import day_text, is_unknown, quote
from siteglass.query.values import moment_text
from siteglass.query.vocabulary import vocabulary

_TAKES_ARTICLE = re.compile(
    r"(Baltics|Caribbean|EU|Nordics|United|U\.S\.|British|French Southern|Isle|Republic|Solomon)\b"
    r"|.*\b(Islands|Republic|Netherlands|Philippines|Bahamas|Maldives|Comoros|Seychelles|Gambia|Americas)$"
)
# Categories whose name is not their value with blanks.
_CATEGORIES = {"cms": "CMS", "crm": "CRM", "legal_service": "legal services", "seo_structured_data": "SEO"}
# Trades that are named by what they do: "Pest control" has no plural, but there are pest control businesses.
_ACTIVITY = re.compile(r".*(ing|control|repair|removal|rental|inspection|storage|restoration|detailing)$")
_CAPITALIZED = re.compile(r"\b[A-Z][a-z]+\b")
_PLAIN_PATH = re.compile(r"[\w/.-]+")
_MIDNIGHT = "T00:00:00Z"


def value_name(ask: Ask, value: Value, country: str | None = None) -> str:
    """The value in a sentence. `country` is the country searched, if there is only one: it names bare state codes."""
    if isinstance(value, Change):
        return f"{technology_name(value)} {window_name(value)}"
    if isinstance(value, Range):
        return _range_name(ask, value)
    if isinstance(value, int):
        return _time_name(value) if ask.kind is Kind.TIME else _age_name(value)
    if ask.vocabulary is None:
        return value if ask.kind is Kind.PATH and _PLAIN_PATH.fullmatch(value) else quote(value)
    if is_unknown(ask, value):
        return quote(value)
    return _state_name(value, country) if ask.vocabulary == "state" else _known_name(ask.vocabulary, value)


def _range_name(ask: Ask, numbers: Range) -> str:
    low, high = (None if bound is None else ask.amount.format(bound) for bound in (numbers.low, numbers.high))
    if low is None:
        return f"{'less than' if numbers.below else 'at most'} {high}"
    if high is None:
        return f"{'more than' if numbers.above else 'at least'} {low}"
    return f"exactly {low}" if low == high else f"{low} to {high}"


def _time_name(ms: int) -> str:
    return moment_text(ms).removesuffix(_MIDNIGHT)


def technology_name(change: Change) -> str:
    """The technology of a change, in quotes if it is not known."""
    name = change.technology
    return name if name in vocabulary().technologies() else quote(name)


def window_name(change: Change) -> str:
    """When a technology changed: "in the last 30 days", "since 2026-10-15"."""
    return f"since {day_text(change.days)}" if change.fixed else f"in the last {_age_name(change.days)}"


def _age_name(days: int) -> str:
    return "day" if days == 1 else f"{days:,} days"


def _known_name(kind: known.Kind, value: str) -> str:
    name = _base_name(kind, value)
    return f"{name} ({value})" if _name_counts(kind)[name] > 1 else name


def _base_name(kind: known.Kind, value: str) -> str:
    match kind:
        case "country":
            return with_article(vocabulary().country_name(value))
        case "region":
            return with_article(value)
        case "subregion":
            return f"the subregion {value}" if value in _country_names() else with_article(value)
        case "city":
            return f"the city of {value}" if value in _country_names() else value
        case "language":
            return vocabulary().language_name(value)
        case "category":
            return _CATEGORIES.get(value, value.replace("_", " "))
        case "service_type":
            return _service_type_noun(value)
        case "trade":
            noun = _trade_noun(value)
            return f"{noun} by trade" if noun in _service_type_nouns() else noun
        case _:
            return value


@cache
def _name_counts(kind: known.Kind) -> Counter[str]:
    """How many values of a kind have a name; those of cities and technologies are not shared."""
    values = () if kind in ("city", "technology") else vocabulary().values(kind)
    return Counter(_base_name(kind, value) for value in values)


@cache
def _country_names() -> frozenset[str]:
    """Some cities and parts of continents have the name of a country, too: "Singapore", "Micronesia"."""
    return frozenset(vocabulary().country_name(country) for country in vocabulary().values("country"))


def _state_name(value: str, country: str | None) -> str:
    """A code that names its country keeps it; one that does not is named by the country that is searched."""
    alpha2, _, code = value.rpartition("-")
    if alpha2:
        return f"{vocabulary().state_name(vocabulary().country_alpha3(alpha2) or '', code)} ({value})"
    states = vocabulary().states_of(country or "")
    if value not in states:
        return f"the state {value}"
    name = states[value]
    if [*states.values()].count(name) > 1:
        return f"{name} ({value})"
    return f"the state of {name}" if name in vocabulary().resolve("city", name) else name


def with_article(place: str) -> str:
    """The name of a place, with "the" where English wants it."""
    return f"the {place}" if _TAKES_ARTICLE.match(place) else place


@cache
def _service_type_noun(value: str) -> str:
    # The vocabulary knows plurals of those that have one: "Agencies", but not "Healthcares".
    plural = _plural(value)
    countable = vocabulary().resolve("service_type", plural) == (value,)
    return _lowered(plural if countable else f"{value} businesses")


@cache
def _service_type_nouns() -> frozenset[str]:
    return frozenset(map(_service_type_noun, vocabulary().values("service_type")))


@cache
def _trade_noun(trade: str) -> str:
    name = vocabulary().trade_name(trade)
    if name.endswith("rs"):  # "Restaurants and bars"
        return _lowered(name)
    is_field = not trades().parents(trade)  # the widest trades are named by their field: "Healthcare"
    return _lowered(f"{name} businesses" if is_field or _ACTIVITY.match(name) else _plural(name))


def _plural(noun: str) -> str:
    first, of, rest = noun.partition(" of ")
    for ending, plural in (
        ("man", "men"),
        ("wife", "wives"),
        ("s", "ses"),
        ("x", "xes"),
        ("sh", "shes"),
        ("ch", "ches"),
    ):
        if first.endswith(ending):
            return first.removesuffix(ending) + plural + of + rest
    if re.search(r"[^aeiou]y$", first):
        return f"{first[:-1]}ies{of}{rest}"
    return f"{first}s{of}{rest}"


def _lowered(name: str) -> str:
    """The name inside a sentence: acronyms and adjectives such as "Italian" keep their capital."""
    return _CAPITALIZED.sub(lambda word: word[0] if _is_adjective_of_place(word[0]) else word[0].lower(), name)


def _is_adjective_of_place(word: str) -> bool:
    if vocabulary().resolve("language", word):
        return True
    stem = word.removesuffix("an")
    return stem != word and any(
        vocabulary().country_name(one).startswith(stem) for one in vocabulary().values("country")
    )
