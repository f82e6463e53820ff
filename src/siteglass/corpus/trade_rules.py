"""What a business is, from what its site says: by rules, and rather nothing than something wrong.

A trade word is found anywhere in a text, but a mention is not an identity: `_mentions` leaves out the trades of
customers ("software for dentists"), of things ("dental supplies") and of articles ("How to choose a roofer"). What is
left gets points by where it was read; `decide` takes trades with enough of them. Points are the confidence:

    5     a type of schema.org
    3, 2  title, main heading or the name of the business; less inside of a longer phrase
    2, 1  description; host
    1     the beginning of the text; keywords and paths, once together
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from siteglass.corpus import trade_context as context
from siteglass.corpus.lead import MAX_TRADES, Lead
from siteglass.query.folding import compact, fold
from siteglass.query.trades import trades

ENOUGH = 3
"""Points that a trade needs, if one of them says so for itself: a type, a title, a heading."""
ENOUGH_WITHOUT_TITLE = 4
_OF_BEST = 0.5
_TOO_MANY = 7
_MOST_WORDS = 6
_MIN_COMPOUND, _MIN_ENDING = 9, 5
_MIN_HOST_WORD = 5
_TITLE_CHARS, _DESCRIPTION_CHARS, _TEXT_CHARS = 200, 400, 700
_MOST_PATHS, _MOST_KEYWORDS, _NAME_CHARS = 30, 10, 60

_TOKEN = re.compile(r"[^\W_]+|&|[,/+]|[|:;.!?()\[\]•·»«›‹…]|(?<= )-(?= )")
_WEAK = frozenset(",/+")
_STRONG = frozenset("|:;.!?()[]•·»«›‹…-")
_BREAKS = _WEAK | _STRONG
_ABOUT_TRADES = tuple([f" {phrase} " for phrase in context.ABOUT_TRADES])
_JOINING = frozenset(["and", "y", "e", "i", "en"])
_COMPOUNDING = frozenset({"de", "nl"})
_HEAD_FIRST = frozenset({"fr", "es", "pt", "it", "pl"})
# Two trades side by side that are both meant: "Hotel Restaurant", "Bäckerei Konditorei", "Optician Audiologist".
_HOUSES = frozenset({"hospitality", "gastronomy", "food"})
# True of many sites, and said only of those of which nothing nearer is known.
_WIDE = frozenset({"online_shop", "manufacturer", "wholesaler", "distributor", "association", "clinic", "doctor"})
# A kind of business, and the only wide trades that fit it: a trade word elsewhere is that of its customers or readers.
_FITS = {
    "SaaS": frozenset({"technology", "finance", "marketing"}),
    "Mobile App": frozenset({"technology", "finance", "marketing", "fitness"}),
    "Publisher": frozenset({"marketing", "technology"}),
    "Agency": frozenset({"marketing", "technology", "business_services", "professional_services", "entertainment"}),
    "Marketplace": frozenset({"retail", "technology", "wholesale", "marketing"}),
    "Government": frozenset({"nonprofit", "travel", "education"}),
}
_MISFIT = 2


class SiteWords(NamedTuple):
    """What is known of a site, or of one page of it."""

    title: str = ""
    heading: str = ""
    """The main one."""
    name: str = ""
    """Of the business, as the site gives it."""
    description: str = ""
    text: str = ""
    keywords: Sequence[str] = ()
    domain: str = ""
    paths: Sequence[str] = ()
    language: str = ""
    schema_types: Iterable[str] = ()
    """Types of schema.org of the organisations that may be the site's own."""
    service_type: str = ""


class Candidate(NamedTuple):
    """A trade a site may have."""

    trade: str
    source: str
    """Where it was read best, one of TRADE_SOURCES."""
    points: int


def trades_of_lead(lead: Lead) -> tuple[Candidate, ...]:
    """The trades of a lead by its other fields: for records that come without."""
    words = SiteWords(
        title=lead.title,
        name=lead.business_name,
        description=lead.description,
        text=lead.text,
        keywords=lead.keywords,
        domain=lead.domain,
        paths=lead.pages,
        language=lead.language,
        service_type=lead.service_type,
    )
    return decide(candidates(words))


def decide(found: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """The trades that are certain enough, the most certain first; none if there are too many to be of one business."""
    certain = sorted([one for one in found if _is_certain(one)], key=lambda one: (-one.points, one.trade))
    if len(certain) >= _TOO_MANY:
        return ()
    kept = [one for one in certain if one.points >= certain[0].points * _OF_BEST]
    named = {one.trade for one in kept}
    wider = {parent for one in named for parent in trades().parents(one)}
    if nearer := [one for one in kept if not _is_wide(one.trade)]:
        kept = nearer
    return tuple([one for one in kept if one.trade not in wider or trades().trade(one.trade).parent][:MAX_TRADES])


def candidates(site: SiteWords) -> tuple[Candidate, ...]:
    """Trades that a site names for itself, each once."""
    points: dict[str, int] = {}
    best: dict[str, tuple[int, str]] = {}

    def add(trade: str, source: str, worth: int) -> None:
        points[trade] = points.get(trade, 0) + worth
        if best.get(trade, (0, ""))[0] < worth:
            best[trade] = worth, source

    for kind in set(site.schema_types):
        if kind != "ProfessionalService" and (trade := trades().of_schema_org(kind) or context.MORE_TYPES.get(kind)):
            add(trade, "schema.org", 5)
    if not (_is_about_trades(site.title) or _is_about_trades(site.heading)):
        words = _Words(site.language)
        for said, source, most in (
            # A title has the name in it more often than not.
            (_best_of(*map(words.own, (site.title[:_TITLE_CHARS], site.name[:_TITLE_CHARS]))), "title", 3),
            (words.own(site.heading[:_TITLE_CHARS]), "heading", 3),
            (words.own(site.description[:_DESCRIPTION_CHARS]), "description", 2),
            (words.own(site.text[:_TEXT_CHARS]), "text", 1),
            (words.of_host(site.domain), "path", 2),
            (words.of_pages(site), "path", 1),
        ):
            for trade, worth in said.items():
                add(trade, source, min(worth, most))
    fits = _FITS.get(site.service_type)
    found = [Candidate(trade, best[trade][1], worth) for trade, worth in points.items()]
    if fits is not None:
        found = [one._replace(points=one.points + (1 if _top(one.trade) in fits else -_MISFIT)) for one in found]
    return tuple(found)


def _is_certain(one: Candidate) -> bool:
    return one.points >= (ENOUGH if one.source in ("schema.org", "title", "heading") else ENOUGH_WITHOUT_TITLE)


def _is_wide(trade: str) -> bool:
    return trade in _WIDE or not trades().trade(trade).parent


@cache
def _top(trade: str) -> str:
    return (trade, *trades().parents(trade))[-1]


class _Mention(NamedTuple):
    start: int
    end: int
    trade: str
    word: str


class _Words:
    """Trade words of the language of a site; in English where it is none that we know."""

    def __init__(self, language: str) -> None:
        self._language = language if language in trades().languages else "en"
        self._forms = trades().forms(self._language)
        self._english = trades().forms("en")

    def own(self, text: str) -> dict[str, int]:
        """Trades that a text says of its own site: 3 at the edge of a phrase, 2 inside of it, 1 in doubt."""
        if not text:
            return {}
        tokens = _TOKEN.findall(fold(text))
        said: dict[str, int] = {}
        for hit in self._without_attributes(tokens, list(self._hits(tokens))):
            if (worth := _worth(tokens, hit)) > said.get(hit.trade, 0):
                said[hit.trade] = worth
        return said

    def of_host(self, domain: str) -> dict[str, int]:
        """As in "dachdeckerei-mueller.de" and "smithroofing.com"."""
        label = domain.partition(".")[0]
        said: dict[str, int] = {}
        for word in label.split("-"):
            starts = [word[start:] for start in range(len(word) - _MIN_HOST_WORD + 1)]
            ends = [word[:end] for end in range(len(word), _MIN_HOST_WORD - 1, -1)]
            part = next((part for part in (*starts, *ends) if part in self._forms), None)
            if part and part not in context.SURNAMES:
                said[self._forms[part]] = 2
        return said

    def of_pages(self, site: SiteWords) -> dict[str, int]:
        """Keywords and names of pages: they agree with others, and say nothing alone."""
        names = [path.rpartition("/")[2] for path in site.paths[:_MOST_PATHS]]
        keys = [compact(name[:_NAME_CHARS]) for name in (*site.keywords[:_MOST_KEYWORDS], *names)]
        return {self._forms[key]: 1 for key in keys if key in self._forms}

    def _hits(self, tokens: list[str]) -> Iterator[_Mention]:
        """The longest trade words from the left; they do not overlap."""
        place = 0
        while place < len(tokens):
            hit = self._hit(tokens, place)
            if hit is not None:
                yield hit
            place = hit.end if hit else place + 1

    def _hit(self, tokens: list[str], place: int) -> _Mention | None:
        key, hit = "", None
        for end in range(place, min(place + _MOST_WORDS, len(tokens))):
            token = tokens[end]
            if token in _BREAKS or (token == "&" and end == place):
                break
            if token != "&":
                # Other languages use English phrases, but a single word is more often one of their own.
                if trade := self._forms.get(key + token) or (self._english.get(key + token) if key else None):
                    hit = _Mention(place, end + 1, trade, key + token)
                key += token
            elif end + 1 < len(tokens):  # "bed & breakfast" is listed as "bed and breakfast"
                key += "and" if f"{key}and{tokens[end + 1]}" in self._forms else ""
        word = tokens[place]
        if hit is None and self._language in _COMPOUNDING and len(word) >= _MIN_COMPOUND:
            return self._compound(word, place)
        return hit

    def _compound(self, word: str, place: int) -> _Mention | None:
        """A "Familienrestaurant" is a restaurant: German and Dutch words are what their ending is."""
        for start in range(3, len(word) - _MIN_ENDING + 1):
            ending = word[start:]
            if ending in context.VAGUE_ENDINGS:
                return None
            if ending in self._forms:
                return _Mention(place, place + 1, self._forms[ending], ending)
        return None

    def _without_attributes(self, tokens: list[str], hits: list[_Mention]) -> list[_Mention]:
        """Without trades that only describe another: "restaurant marketing agency", "association of dentists"."""
        dropped: set[int] = set()
        for number, (left, right) in enumerate(pairwise(hits)):
            between = tokens[left.end : right.start]
            if not between:
                if not {_top(left.trade), _top(right.trade)} <= _HOUSES:
                    dropped.add(number + 1 if self._language in _HEAD_FIRST else number)
            elif context.LINKS.issuperset(between) and between[0] not in _JOINING:
                dropped.add(number + 1)
        return [hit for number, hit in enumerate(hits) if number not in dropped]


def _best_of(left: dict[str, int], right: dict[str, int]) -> dict[str, int]:
    return {trade: max(left.get(trade, 0), right.get(trade, 0)) for trade in (*left, *right)}


def _is_about_trades(title: str) -> bool:
    padded = " " + " ".join(_TOKEN.findall(fold(title[:_TITLE_CHARS]))) + " "
    return any(phrase in padded for phrase in _ABOUT_TRADES)


def _worth(tokens: list[str], hit: _Mention) -> int:
    """0: the trade of somebody or something else."""
    after = tokens[hit.end] if hit.end < len(tokens) else ""
    if after in context.THINGS_AFTER:
        return 0
    begin = hit.start
    while begin and tokens[begin - 1] not in _STRONG:
        begin -= 1
    before = tokens[begin : hit.start]
    for place, token in enumerate(before):
        if token in context.OF_OTHERS and (place == 0 or before[place - 1] not in context.OWN_PLACES):
            return 0
    near = len(before) - 1
    while near >= 0 and before[near] in context.LINKS:
        near -= 1
    if near >= 0 and before[near] in context.THINGS_BEFORE:
        return 0
    if not context.WITH.isdisjoint(before) or hit.word in context.SURNAMES:
        return 1
    part = before[len(before) - next((n for n, token in enumerate(reversed(before)) if token in _WEAK), len(before)) :]
    opens = all(token in context.BEFORE_TRADE or token == "&" for token in part)
    closes = not after or after in _BREAKS or after in context.AFTER_TRADE or after == "&"
    return 3 if opens or closes else 2
