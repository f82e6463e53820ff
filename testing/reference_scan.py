"""A brute-force scan of leads for criteria, written from the contract and without the engine: what must match."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from siteglass.corpus.lead import Lead
from siteglass.index.documents import MAX_CONTENT_CHARS, MAX_CONTENT_WORDS
from siteglass.query import folding
from siteglass.query.compounds import parts_of_texts
from siteglass.query.criteria import AnyOf, Change, Condition, Criteria, Range
from siteglass.query.technology_changes import decode_change
from siteglass.query.trades import trades
from siteglass.query.vocabulary import vocabulary

# Latin words; text in scripts without blanks between words is separate from them.
_WORD = re.compile(r"[0-9a-z_]+(?:['.][0-9a-z_]+)*|[^\W0-9a-z_]+")
fold = functools.cache(folding.fold)

FLAGS: dict[str, Callable[[Lead], bool]] = {
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


def matching(criteria: Criteria, leads: list[Lead]) -> list[Lead]:
    """Those that meet all conditions, in their order."""
    for condition in sorted(criteria.plain, key=lambda condition: condition.field == "keywords"):  # words cost most
        meets = _reader(condition)
        leads = [lead for lead in leads if meets(lead) != condition.negated]
    for clause in criteria.conditions:
        if isinstance(clause, AnyOf):
            meets = _alternatives_reader(clause)
            leads = [lead for lead in leads if meets(lead) != clause.negated]
    return leads


def _alternatives_reader(alternatives: AnyOf) -> Callable[[Lead], bool]:
    """Says of a lead whether one of the branches holds as a whole."""
    branches = [[(_reader(condition), condition.negated) for condition in branch] for branch in alternatives.branches]
    return lambda lead: any(all(meets(lead) != negated for meets, negated in branch) for branch in branches)


def _reader(condition: Condition) -> Callable[[Lead], bool]:
    """Says of a lead whether it has one of the values."""
    if not condition.values:
        if condition.field in FLAGS:
            return FLAGS[condition.field]
        network = condition.field.removeprefix("has_")
        return lambda lead: network in lead.social_links
    readers = [_value_reader(condition.field, value) for value in condition.values]
    return readers[0] if len(readers) == 1 else lambda lead: any(reader(lead) for reader in readers)


def number_of(lead: Lead, field: str) -> int | None:
    """What a lead has in a field that is a number."""
    number: int | None = getattr(lead, "email_owner_confidence" if field == "email_confidence" else field)
    return number


def _value_reader(field: str, value: object) -> Callable[[Lead], bool]:
    if isinstance(value, Change):
        assert value.fixed
        return lambda lead: any(
            change.technology == value.technology and change.day >= value.days
            for change in map(decode_change, getattr(lead, field))
        )
    if isinstance(value, Range):
        return lambda lead: (number := number_of(lead, field)) is not None and value.holds(number)
    if isinstance(value, int):
        return lambda lead: lead.crawled_at_ms > value
    assert isinstance(value, str)
    words, folded = vocabulary(), fold(value)
    match field:
        case "state" if "-" in value:
            country, _, code = value.partition("-")
            alpha3 = words.country_alpha3(country)
            return lambda lead: lead.state == code and lead.country == alpha3
        case "region":
            return lambda lead: bool(lead.country) and words.region_of(lead.country) == value
        case "subregion":
            return lambda lead: bool(lead.country) and words.subregion_of(lead.country) == value
        case "lacks":
            return lambda lead: lead.technologies is not None and folded not in map(fold, lead.categories_uses)
        case "technologies":
            return lambda lead: folded in map(fold, lead.technologies or ())
        case "keywords":
            phrase = _stemmed(value)
            is_word = value.isalpha()
            return lambda lead: (
                any(phrase in part for part in _content(lead)) or (is_word and phrase.strip() in _parts(lead))
            )
        case "trades":
            return lambda lead: any(value in (trade, *trades().parents(trade)) for trade in lead.trades)
        case "categories_uses" | "offers" | "pages":
            return lambda lead: folded in map(fold, getattr(lead, field))
        case _:
            return lambda lead: folded == fold(getattr(lead, field))


_CONTENT: dict[int, tuple[str, ...]] = {}
_PARTS: dict[int, frozenset[str]] = {}


def _content(lead: Lead) -> tuple[str, ...]:
    if id(lead) not in _CONTENT:
        _CONTENT[id(lead)] = tuple(map(_stemmed, _texts(lead)))
    return _CONTENT[id(lead)]


def _texts(lead: Lead) -> tuple[str, ...]:
    text = " ".join(lead.text[:MAX_CONTENT_CHARS].split()[:MAX_CONTENT_WORDS])
    return (lead.title, lead.business_name, lead.description, *lead.keywords, text)


def _parts(lead: Lead) -> frozenset[str]:
    """Parts of compounds, which are made as the index makes them: what is split is tested in `tests/query`."""
    if id(lead) not in _PARTS:
        _PARTS[id(lead)] = frozenset(map(_stem, parts_of_texts(_texts(lead), lead.language)))
    return _PARTS[id(lead)]


@functools.cache
def _stemmed(text: str) -> str:
    return f" {' '.join(_stem(word) for word in _WORD.findall(folding.fold(text)))} "


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
