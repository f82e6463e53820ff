"""A plain reading of criteria over leads, written from the contract and without the engine: what must be found."""

from __future__ import annotations

import functools
import re

from siteglass.index.documents import MAX_CONTENT_CHARS, MAX_CONTENT_WORDS
from siteglass.lead import Lead
from siteglass.query import folding
from siteglass.query.criteria import Condition, Criteria, Range
from siteglass.query.vocabulary import vocabulary

# Latin words; what is written without blanks between words stands apart from them.
_WORD = re.compile(r"[0-9a-z_]+(?:['.][0-9a-z_]+)*|[^\W0-9a-z_]+")
fold = functools.cache(folding.fold)

FLAGS = {
    "not_secure": lambda lead: lead.secure is False,
    "not_responsive": lambda lead: lead.responsive is False,
    "missing_sitemap": lambda lead: lead.has_sitemap is False,
    "missing_schema": lambda lead: lead.has_schema is False,
    "missing_robot": lambda lead: lead.has_robots is False,
    "missing_heading": lambda lead: lead.has_heading is False,
    "missing_description": lambda lead: lead.has_description is False,
    "has_email": lambda lead: bool(lead.emails),
    "has_phone": lambda lead: bool(lead.phones),
    "no_generic_emails": lambda lead: bool(lead.emails_personal),
}


def holds(made: Criteria, lead: Lead) -> bool:
    """Whether a lead meets all conditions."""
    return all(_any_value(condition, lead) != condition.negated for condition in made.conditions)


def _any_value(condition: Condition, lead: Lead) -> bool:
    if not condition.values:
        if condition.field in FLAGS:
            return bool(FLAGS[condition.field](lead))
        return condition.field.removeprefix("has_") in lead.social_links
    return any(_value(condition.field, value, lead) for value in condition.values)


def _value(field: str, value: object, lead: Lead) -> bool:
    if isinstance(value, Range):
        number = {"score": lead.score, "spending": lead.spending, "load_time_ms": lead.load_time_ms}[field]
        return number is not None and value.holds(number)
    if isinstance(value, int):
        return lead.crawled_at_ms > value
    assert isinstance(value, str)
    words = vocabulary()
    match field:
        case "state" if "-" in value:
            country, _, code = value.partition("-")
            return lead.state == code and lead.country == words.country_alpha3(country)
        case "region":
            return bool(lead.country) and words.region_of(lead.country) == value
        case "subregion":
            return bool(lead.country) and words.subregion_of(lead.country) == value
        case "lacks":
            return lead.technologies is not None and not _among(value, lead.categories_uses)
        case "technologies":
            return _among(value, lead.technologies or ())
        case "keywords":
            phrase = " ".join(_stems(value))
            return any(f" {phrase} " in part for part in _content(lead))
        case "categories_uses" | "offers" | "pages":
            return _among(value, getattr(lead, field))
        case _:
            return fold(value) == fold(getattr(lead, field))


def _among(value: str, values: tuple[str, ...]) -> bool:
    return fold(value) in map(fold, values)


_CONTENT: dict[int, tuple[str, ...]] = {}


def _content(lead: Lead) -> tuple[str, ...]:
    if id(lead) not in _CONTENT:
        text = " ".join(lead.text[:MAX_CONTENT_CHARS].split()[:MAX_CONTENT_WORDS])
        parts = (lead.title, lead.business_name, lead.description, *lead.keywords, text)
        _CONTENT[id(lead)] = tuple(f" {' '.join(_stems(part))} " for part in parts)
    return _CONTENT[id(lead)]


def _stems(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(folding.fold(text))]


def _stem(word: str) -> str:
    """Plurals only, as the index stems them."""
    if len(word) < 3 or word[-1] != "s" or word[-2] in "us":
        return word
    if word[-2] == "e":
        if len(word) > 3 and word[-3] == "i" and word[-4] not in "ae":
            return word[:-3] + "y"
        if word[-3] in "iaoe":
            return word
    return word[:-1]
