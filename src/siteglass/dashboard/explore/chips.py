"""Conditions as chips: "City: Austin" in the words of the person who searches, never as directives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from siteglass.dashboard.explore.address import ExploreSearch
from siteglass.query.body import Meaning
from siteglass.query.completion import display_name
from siteglass.query.criteria import AnyOf, Branch, Clause, Condition, Value
from siteglass.query.field import Kind
from siteglass.query.natural.interpretation import Span
from siteglass.query.value_names import value_name
from siteglass.query.value_text import is_unknown

LABELS = {
    "language": "Language",
    "spending": "Ad spending a month",
    "country": "Country",
    "state": "State",
    "city": "City",
    "region": "Continent",
    "subregion": "Part of the world",
    "technologies": "Uses",
    "added": "Added",
    "dropped": "Dropped",
    "keywords": "Mentions",
    "pages": "Has the page",
    "score": "SEO score",
    "service_type": "Kind of business",
    "trades": "Trade",
    "categories_uses": "Software",
    "offers": "Offers",
    "lacks": "Software",
    "load_time_ms": "Load time",
    "email_confidence": "Confidence in the email address",
    "crawled_at": "Crawled after",
    "updated_within": "Crawled within the last",
}
"""By field; flags have their own words."""
MAX_VALUES_SHOWN = 4
_PLACES = ("city", "state", "country", "subregion", "region")


@dataclass(frozen=True, slots=True)
class ChipValue:
    """One of the alternatives of a chip, and the address of the search without it."""

    name: str
    remove: str


@dataclass(frozen=True, slots=True)
class Chip:
    """A condition in words, and the addresses of the search with the condition changed."""

    label: str
    text: str
    negated: bool
    remove: str
    opposite: str = ""
    """Where "is" becomes "is not" or the reverse; empty if there is no such search."""
    values: tuple[ChipValue, ...] = ()
    said: str = ""
    """The words that it comes from."""
    assumed: bool = False
    """Whether the words leave room for another reading, as "slow" does."""
    group: tuple[str, ...] = ()
    """The alternatives of a group."""

    @property
    def name(self) -> str:
        """The chip in one line, for people who hear it."""
        return _in_one_line(self.label, self.text, self.negated)


def make_chips(search: ExploreSearch, meaning: Meaning | None) -> list[Chip]:
    """The chips of a search: conditions in the order of the catalogue, then lists."""
    return [*(_chip(search, clause, meaning) for clause in search.criteria.conditions), *_list_chips(search)]


def _list_chips(search: ExploreSearch) -> Iterator[Chip]:
    for name in search.lists.exclude:
        yield Chip("List", name, True, search.listing(name, "").path, search.listing(name, "only").path)
    for name in search.lists.only:
        yield Chip("Only list", name, False, search.listing(name, "").path, search.listing(name, "exclude").path)


def clause_name(clause: Clause, country: str | None = None) -> str:
    """A condition in one line: "City: Austin", "not Uses: Wix"."""
    if isinstance(clause, AnyOf):
        return _in_one_line("", " or ".join(_branch_text(branch) for branch in clause.branches), clause.negated)
    return _in_one_line(*_words(clause, country))


def search_says(search: ExploreSearch) -> str:
    """What every lead of a search is, as far as the search itself says it."""
    country = only_country(search.criteria.plain)
    names = [clause_name(clause, country) for clause in search.criteria.conditions]
    return " · ".join(names[:MAX_VALUES_SHOWN]) or "Lead"


def _in_one_line(label: str, text: str, negated: bool) -> str:
    words = f"{label}: {text}" if label else text
    return f"not {words}" if negated else words


def _chip(search: ExploreSearch, clause: Clause, meaning: Meaning | None) -> Chip:
    remove = search.without(clause).path
    said, assumed = _origin(clause, meaning)
    if isinstance(clause, AnyOf):
        group = tuple(_branch_text(branch) for branch in clause.branches)
        return Chip("", " or ".join(group), clause.negated, remove, said=said, assumed=assumed, group=group)
    country = only_country(search.criteria.plain)
    label, text, negated = _words(clause, country)
    opposite = replace(clause, negated=not clause.negated)
    flips = clause.ask.kind in (Kind.TERM, Kind.CHANGE, Kind.FLAG, Kind.PATH, Kind.TEXT)
    return Chip(
        label,
        text,
        negated,
        remove,
        search.replacing(clause, opposite).path if flips else "",
        _values(search, clause, country),
        said,
        assumed,
    )


def _values(search: ExploreSearch, condition: Condition, country: str | None) -> tuple[ChipValue, ...]:
    if len(condition.values) < 2:
        return ()

    def without(value: Value) -> str:
        left = tuple(other for other in condition.values if other != value)
        return search.replacing(condition, replace(condition, values=left)).path

    return tuple(ChipValue(value_text(condition, value, country), without(value)) for value in condition.values)


def _origin(clause: Clause, meaning: Meaning | None) -> tuple[str, bool]:
    """The words that a condition comes from, and whether something was assumed about them."""
    sentence = None if meaning is None else meaning.sentence
    if sentence is None or meaning is None:
        return "", False
    known = sentence.understood.get(clause)
    if known is None:
        return "", False
    is_assumed = any(note.words == known.words for note in sentence.assumptions)
    return words_text(known.words), is_assumed


def words_text(words: Iterable[Span]) -> str:
    """Words of a sentence, wherever they are in it."""
    return " … ".join(span.text for span in words)


def _words(condition: Condition, country: str | None) -> tuple[str, str, bool]:
    """Label, text and whether it is excluded."""
    ask = condition.ask
    if ask.kind is Kind.FLAG:
        verb, _, noun = ask.says.partition(" ")
        has = (verb == "have") is not condition.negated
        return "", f"{'With' if has else 'Without'} {noun}", False
    names = [value_text(condition, value, country) for value in condition.values]
    return LABELS[condition.field], _listed(names), condition.negated is not (ask.kind is Kind.LACKS)


def value_text(condition: Condition, value: Value, country: str | None = None) -> str:
    """A value as people write it: Dentist, Texas, more than 3,000 ms."""
    ask = condition.ask
    if not isinstance(value, str):
        return value_name(ask, value)
    if ask.vocabulary is None:
        return value
    if is_unknown(ask, value):
        return value
    if ask.vocabulary == "state":
        # The label says that it is a state: "the state of Florida (US)" reads as Florida.
        return value_name(ask, value, country).partition(" (")[0].removeprefix("the state ").removeprefix("of ")
    name = display_name(ask.vocabulary, value)
    return name[:1].upper() + name[1:]


def _listed(names: Sequence[str]) -> str:
    if len(names) > MAX_VALUES_SHOWN:
        return f"{', '.join(names[: MAX_VALUES_SHOWN - 1])} or {len(names) - MAX_VALUES_SHOWN + 1} more"
    *before, last = names
    return f"{', '.join(before)} or {last}" if before else last


def _branch_text(branch: Branch) -> str:
    """Conditions that hold together: "Shopify in Germany"."""
    country = only_country(branch)
    places = [one for name in _PLACES for one in branch if one.field == name and not one.negated]
    rest = [_bare(one, country) for one in branch if one not in places]
    where = ", ".join(_words(one, country)[1] for one in places)
    if rest and where:
        return f"{', '.join(rest)} in {where}"
    return where or ", ".join(rest)


def _bare(condition: Condition, country: str | None) -> str:
    label, text, negated = _words(condition, country)
    needs_label = condition.ask.kind in (Kind.NUMBER, Kind.TIME, Kind.AGE, Kind.CHANGE)
    return f"{'not ' if negated else ''}{f'{label}: {text}' if needs_label else text}"


def only_country(conditions: Iterable[Condition]) -> str | None:
    """The country of a search, if there is one only: it names bare codes of states."""
    countries = [one.values for one in conditions if one.field == "country" and not one.negated]
    return str(countries[0][0]) if len(countries) == 1 and len(countries[0]) == 1 else None
