"""The name of a business by vote: what structured data, titles, logos, copyright lines and others say, see
`name_candidates`, and what the domain resembles. Agreement decides, on a page and over all pages of a site."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from siteglass.ingest.extract.domain_names import likeness, of_label
from siteglass.ingest.extract.gazetteer import cities_named
from siteglass.ingest.extract.name_candidates import parts
from siteglass.ingest.extract.name_words import has_form, is_page_word, is_written_before, without_form
from siteglass.ingest.facts import NameSighting
from siteglass.query.folding import compact, fold
from siteglass.query.trades import trades
from siteglass.query.vocabulary import vocabulary

NameBasis = Literal["", "json_ld", "og_site_name", "title", "repeated", "domain"]

# What each kind of source is worth. One that is made to state the name outweighs the domain alone. Titles and headings
# say what a page is about as often. They need a second source, or a resemblance to the domain.
_WEIGHTS = {
    "json_ld": 4.0, "site_name": 4.0, "place": 3.0, "copyright": 3.0, "imprint": 2.5, "logo": 2.5, "title": 2.0,
    "page_title": 1.5,
    "heading": 1.0, "text": 0.5, "profile": 1.0,
}  # fmt: skip
_LIKENESS = (0.0, 1.5, 2.0, 2.5, 3.5, 4.0)
"""What resembling the domain is worth, by `likeness`."""
_ALIKE = 3
_DOMAIN_ALONE = 2.5
_RELATED = 0.5
"""The part of its vote that a source gives to names which are part of the one it says, or contain it."""
_GENERIC = 0.4
_OF_PAGES = ("title", "heading", "page_title")
"""Sources that say what a page is about as often as whose it is."""
_OTHER_SCRIPT = 1.0
"""A name in letters that a domain cannot have is not less likely for not resembling it."""
_SPELLING_ONLY = frozenset(("profile",))
_HOME_PAGES = 2
_WORD = re.compile(r"[^\W_]+")
MAX_ELECTED = 20
MAX_CONNECTOR = 3
_BASES: dict[str, NameBasis] = {"json_ld": "json_ld", "site_name": "og_site_name", "title": "title"}
"""Best first; others are "repeated"."""
_OF_BASES = {"json_ld": "json_ld", "og_site_name": "site_name", "title": "title", "repeated": "copyright"}


class NamedPage(NamedTuple):
    """The candidates of a page."""

    sightings: Sequence[NameSighting]
    is_home: bool


class _NameVotes(NamedTuple):
    """A name without its legal form, in all its spellings."""

    shares: dict[str, float]
    """By source: how many of the pages that have such a source say it there."""
    spellings: Counter[str]
    sources: dict[str, set[str]]
    """By spelling."""

    @property
    def commonest(self) -> str:
        """Its commonest spelling."""
        return self.spellings.most_common(1)[0][0]


def sightings_of_best(name: str, basis: str, title: str) -> list[NameSighting]:
    """The candidates of a page that the release before read: it kept the best one alone."""
    source = _OF_BASES.get(basis)
    best = [NameSighting(name, source)] if source and name else []
    return best + [NameSighting(part, "title") for part in dict.fromkeys(parts(title)) if source != "title"]


def elected(domain: str, pages: Iterable[NamedPage]) -> tuple[str, NameBasis]:
    """The name that the pages of a site agree on, and its best source. Never empty: the last resort is the domain."""
    label = domain.partition(".")[0]
    candidates = _candidates(pages)
    best, most = "", _DOMAIN_ALONE
    for key, points in _points(candidates, label).items():
        if points > most:
            best, most = key, points
    if not best:
        return of_label(label), "domain"
    chosen = candidates[_without_place(best, candidates)]
    basis: NameBasis = next((basis for source, basis in _BASES.items() if source in chosen.shares), "repeated")
    return _spelling(chosen), basis


def _candidates(pages: Iterable[NamedPage]) -> dict[str, _NameVotes]:
    totals: dict[str, int] = defaultdict(int)
    counts: dict[str, dict[str, int]] = {}
    spellings: dict[str, Counter[str]] = {}
    sources: dict[str, dict[str, set[str]]] = {}
    for page in pages:
        weight = _HOME_PAGES if page.is_home else 1
        for source in {one.source for one in page.sightings}:
            totals[source] += weight
        for source, key in {(one.source, _key(one.name)) for one in page.sightings}:
            counts.setdefault(key, defaultdict(int))[source] += weight
        for one in page.sightings:
            key = _key(one.name)
            spellings.setdefault(key, Counter())[one.name] += weight
            sources.setdefault(key, {}).setdefault(one.name, set()).add(one.source)
    found = {
        key: _NameVotes(
            {source: count / totals[source] for source, count in said.items()}, spellings[key], sources[key]
        )
        for key, said in counts.items()
        if len(key) > 1 and said.keys() - _SPELLING_ONLY
    }
    first = sorted(found, key=lambda key: (-_sum(found[key].shares), key))[:MAX_ELECTED]
    return {key: found[key] for key in first}


@lru_cache(maxsize=8_192)
def _key(name: str) -> str:
    return compact(without_form(name)).removeprefix("the")


def _sum(shares: dict[str, float]) -> float:
    return sum(_WEIGHTS[source] * share for source, share in sorted(shares.items()))


def _points(candidates: dict[str, _NameVotes], label: str) -> dict[str, float]:
    """The votes for each candidate."""
    names = {key: candidate.commonest for key, candidate in candidates.items()}
    words = {key: _words(name) for key, name in names.items()}
    points: dict[str, float] = {}
    for key, candidate in candidates.items():
        shares = dict(candidate.shares)
        for other, related in candidates.items():
            if other != key and _is_part(words[key], words[other]):
                for source, share in related.shares.items():
                    shares[source] = max(shares.get(source, 0.0), _RELATED * share)
        alike = likeness(names[key], label)
        if alike < _ALIKE and _is_generic(names[key]):
            alike = 0  # "Kancelaria Poznań" of kancelaria-wjk.pl
            shares |= {source: _GENERIC * share for source, share in shares.items() if source in _OF_PAGES}
        foreign = _OTHER_SCRIPT if label.isascii() and not alike and _is_other_script(names[key]) else 0
        points[key] = _sum(shares) + _LIKENESS[alike] + foreign - _is_phrase(names[key])
    return points


def _words(name: str) -> str:
    return f" {' '.join(_WORD.findall(fold(without_form(name))))} "


def _without_place(best: str, candidates: dict[str, _NameVotes]) -> str:
    """ "Hotel Miramar" for "Hotel Miramar Sintra", if as many votes are for the name without the place."""
    words, votes = _words(candidates[best].commonest), _sum(candidates[best].shares)
    for key, other in candidates.items():
        name = _words(other.commonest)
        if key != best and name in words and _sum(other.shares) >= votes:
            rest = words.replace(name, " ", 1).strip()
            if cities_named(rest):
                return key
    return best


def _is_part(one: str, other: str) -> bool:
    """Whether the words of one name are among those of the other."""
    shorter, longer = sorted((one, other), key=len)
    return shorter in longer or (not shorter.isascii() and len(shorter) > 4 and shorter.strip() in longer)


def _spelling(candidate: _NameVotes) -> str:
    """With its legal form, if a source has it; with capitals as in a sentence; else as most sources write it."""

    def worth(name: str) -> tuple[bool, bool, float]:
        shouts = name.isupper() and len(compact(name)) > 4 and " " in name
        written = sum(_WEIGHTS[source] for source in sorted(candidate.sources[name]))
        return (
            has_form(name) and not is_written_before(name),
            not shouts and name != name.lower(),
            written + candidate.spellings[name] / 1_000,
        )

    return max(sorted(candidate.spellings), key=worth)


def _is_phrase(name: str) -> bool:
    """Whether a text continues as a sentence: "Velvet Quarry is opening soon"."""
    return sum(len(word) > MAX_CONNECTOR and word.islower() for word in name.split()) > 1


def _is_other_script(name: str) -> bool:
    return sum(char > "\u036f" for char in name) > len(name) // 2


@lru_cache(maxsize=8_192)
def _is_generic(name: str) -> bool:
    """Whether a text says only what is offered and where, as titles for search engines do: "Plumber Newcastle"."""
    words = re.findall(r"[^\W_]+(?:['’]\w+)?", name)
    return len(words) > 1 and not has_form(name) and all(map(_is_common, words))


@lru_cache(maxsize=32_768)
def _is_common(word: str) -> bool:
    key = fold(word)
    if len(key) < 3 or is_page_word(key):
        return True
    known = vocabulary()
    is_place = bool(cities_named(word)) or any(known.resolve(kind, word) for kind in ("country", "state"))
    return is_place or bool(trades().meanings(key))
