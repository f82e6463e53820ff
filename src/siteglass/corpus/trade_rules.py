"""What a business is, from what its site says: by rules, and rather nothing than something wrong.

A trade word is found anywhere in a text, but a mention is not an identity: `_worth` leaves out the trades of
customers ("software for dentists"), of things ("dental supplies") and of articles ("How to choose a roofer"). What is
left gets points by where it was read, and `decide` takes trades with enough of them: the points are the
confidence. A title alone is rarely enough, and a phrase that a brand repeats everywhere counts once.
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

ENOUGH = 35
ENOUGH_BESIDE = 50
"""For a second trade: businesses name many things they do, and are few of them."""
_OF_BEST = 0.7
_OF_TYPE, _OF_HOST, _OF_PAGES, _OF_WHOLE_TEXT = 50, 5, 5, 5
# Points for a trade that opens or closes a phrase, for one inside of it, and for one in doubt.
_OF_TITLE, _OF_HEADING, _OF_DESCRIPTION = (30, 20, 10), (20, 15, 5), (15, 10, 5)
_OF_TEXT = _OF_SUBHEADINGS = (10, 10, 5)
# "Dentist in Leeds", "we are a bakery": a trade and its place, and what a business says that it is.
_PLACED, _IDENTIFIED = 10, 25
# A trade of others in title, heading or description is not that of the site, whatever else it says.
_OTHERS = 25
_MISFIT, _FIT = 20, 5

_MOST_WORDS = 6
_START_CHARS = 6
_MIN_COMPOUND, _MIN_ENDING = 9, 5
_MIN_HOST_WORD = 5
_TITLE_CHARS, _DESCRIPTION_CHARS, _TEXT_CHARS, _WHOLE_TEXT_CHARS = 200, 400, 700, 2_500
_MOST_PATHS, _MOST_KEYWORDS, _NAME_CHARS = 30, 10, 60
_MOST_SUBHEADINGS, _SUBHEADINGS_CHARS = 12, 400
_CUE_WORDS, _MIN_NAME = 4, 3

_TOKEN = re.compile(r"[^\W_]+|&|[,/+]|[|:;.!?()\[\]•·»«›‹…]|(?<= )-(?= )")
_WEAK = frozenset(",/+")
_STRONG = frozenset("|:;.!?()[]•·»«›‹…-")
_BREAKS = _WEAK | _STRONG
_ABOUT_TRADES = tuple([f" {phrase} " for phrase in context.ABOUT_TRADES])
_JOINING = frozenset(["and", "y", "e", "i", "en"])
_JOINED = [["and"], ["&"], ["und"], ["et"], ["y"], ["e"], ["en"], ["i"], ["oraz"]]
_COMPOUNDING = frozenset({"de", "nl"})
_HEAD_FIRST = frozenset({"fr", "es", "pt", "it", "pl"})
# Two trades side by side of which both are meant: "Hotel Restaurant", "Bäckerei Konditorei".
_HOUSES = frozenset({"hospitality", "gastronomy", "food"})
# True of many sites, and said only of those of which nothing nearer is known.
_WIDE = frozenset({"online_shop", "manufacturer", "wholesaler", "distributor", "association", "clinic", "doctor"})
# Types that sites of every trade give themselves.
_VAGUE_TYPES = frozenset({"ProfessionalService", "SportsActivityLocation"})
# A kind of business, and the wide trades that fit it: a trade word of another is that of its customers or readers.
_FITS = {
    "SaaS": frozenset({"technology", "finance", "marketing"}),
    "Mobile App": frozenset({"technology", "finance", "marketing", "fitness"}),
    "Publisher": frozenset({"marketing", "technology"}),
    "Agency": frozenset({"marketing", "technology", "business_services", "professional_services", "entertainment"}),
    "Marketplace": frozenset({"retail", "technology", "wholesale", "marketing"}),
    "Government": frozenset({"nonprofit", "travel", "education"}),
}


class SiteWords(NamedTuple):
    """What is known of a site, or of one page of it."""

    title: str = ""
    heading: str = ""
    """The main one."""
    subheadings: Sequence[str] = ()
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
    """The trades that are certain enough, the most certain first."""
    ranked = sorted([one for one in found if one.points >= ENOUGH], key=lambda one: (-one.points, one.trade))
    wider = {parent for one in ranked for parent in trades().parents(one.trade)}
    # Who searches for a wide trade finds those below it.
    ranked = [one for one in ranked if one.trade not in wider or trades().trade(one.trade).parent]
    if nearer := [one for one in ranked if not _is_wide(one.trade)]:
        ranked = nearer
    least = max(ENOUGH_BESIDE, ranked[0].points * _OF_BEST) if ranked else 0
    wider = set(trades().parents(ranked[0].trade)) if ranked else set()
    beside = [
        one
        for one in ranked[1:]
        if one.trade in wider or (one.points >= least and one.source in ("schema.org", "title"))
    ]
    return tuple([*ranked[:1], *beside][:MAX_TRADES])


def candidates(site: SiteWords) -> tuple[Candidate, ...]:
    """Trades that a site names for itself, each once."""
    points = _Points()
    for kind in sorted(set(site.schema_types) - _VAGUE_TYPES):
        if trade := trades().of_schema_org(kind) or context.MORE_TYPES.get(kind):
            points.add(trade, "schema.org", _OF_TYPE)
    if not (_is_about_trades(site.title) or _is_about_trades(site.heading)):
        words = _Words(site.language, site.domain)
        # A title has the name in it more often than not.
        named = f"{site.title[:_TITLE_CHARS]} | {site.name[:_TITLE_CHARS]}"
        subheadings = " | ".join(site.subheadings[:_MOST_SUBHEADINGS])
        for source, text, worth in (
            ("title", named, _OF_TITLE),
            ("heading", site.heading[:_TITLE_CHARS], _OF_HEADING),
            ("description", site.description[:_DESCRIPTION_CHARS], _OF_DESCRIPTION),
            ("text", site.text[:_TEXT_CHARS], _OF_TEXT),
            ("heading", subheadings[:_SUBHEADINGS_CHARS], _OF_SUBHEADINGS),
        ):
            points.add_mentions(source, words.mentions(text), worth)
        for trade in words.of_host(site.domain):
            points.add(trade, "path", _OF_HOST)
        for trade in words.of_pages(site):
            points.add(trade, "path", _OF_PAGES)
        for trade in words.repeated(site.text[_TEXT_CHARS:_WHOLE_TEXT_CHARS], points.trades()):
            points.add(trade, "text", _OF_WHOLE_TEXT)
    return points.candidates(site.service_type)


class _Mention(NamedTuple):
    trade: str
    phrase: str
    """What a brand repeats, see `_phrase`."""
    rank: int
    """0: it opens or closes a phrase, 1: inside of one, 2: in doubt, 3: the trade of somebody or something else."""
    bonus: int


class _Points:
    """What was found for each trade."""

    def __init__(self) -> None:
        self._sum: dict[str, int] = {}
        self._best: dict[str, tuple[int, str]] = {}
        self._phrases: set[str] = set()
        self._others: set[str] = set()

    def trades(self) -> list[str]:
        return list(self._sum)

    def add(self, trade: str, source: str, worth: int) -> None:
        self._sum[trade] = self._sum.get(trade, 0) + worth
        if self._best.get(trade, (0, ""))[0] < worth:
            self._best[trade] = worth, source

    def add_mentions(self, source: str, mentions: list[_Mention], by_rank: tuple[int, int, int]) -> None:
        """Of a trade the best mention counts; the first trade of a text a little more than the next."""
        worth: dict[str, int] = {}
        for mention in mentions:
            if mention.rank == len(by_rank):
                if source != "text":
                    self._others.add(mention.trade)
            elif mention.bonus or not mention.phrase or mention.phrase not in self._phrases:
                points = by_rank[mention.rank] + mention.bonus - min(len(worth), 4)
                worth[mention.trade] = max(worth.get(mention.trade, 0), points)
        self._phrases.update([mention.phrase for mention in mentions])
        for trade, points in worth.items():
            self.add(trade, source, points)

    def candidates(self, service_type: str) -> tuple[Candidate, ...]:
        fits = _FITS.get(service_type)
        typed = {trade for trade, (_, source) in self._best.items() if source == "schema.org"}
        found: list[Candidate] = []
        for trade, points in self._sum.items():
            # A wide type, such as LegalService, speaks for the trade below it that the words name.
            points += _OF_TYPE if typed.intersection(trades().parents(trade)) else 0
            points -= _OTHERS if trade in self._others else 0
            if fits is not None:
                points += _FIT if _top(trade) in fits else -_MISFIT
            if points > 0:
                found.append(Candidate(trade, self._best[trade][1], points))
        return tuple(found)


@cache
def _is_wide(trade: str) -> bool:
    return trade in _WIDE or not trades().trade(trade).parent


@cache
def _top(trade: str) -> str:
    return (trade, *trades().parents(trade))[-1]


@cache
def _starts(language: str) -> frozenset[str]:
    """The first letters of every form: most words of a text are none, and need no further look."""
    return frozenset([key[:_START_CHARS] for one in (language, "en") for key in trades().forms(one)])


@cache
def _single_words(language: str) -> dict[str, str]:
    """Forms that are long enough to be one trade's alone, wherever they stand."""
    return {key: trade for key, trade in trades().forms(language).items() if key not in context.NAME_WORDS}


class _Hit(NamedTuple):
    start: int
    end: int
    trade: str
    word: str


class _Words:
    """Trade words of the language of a site; in English where it is none that we know."""

    def __init__(self, language: str, domain: str) -> None:
        self._host = domain.partition(".")[0].replace("-", "")
        self._language = language if language in trades().languages else "en"
        self._forms = trades().forms(self._language)
        self._english = trades().forms("en")
        self._starts = _starts(self._language)

    def mentions(self, text: str) -> list[_Mention]:
        """The trades that a text names, whoever has them."""
        if not text:
            return []
        tokens = _TOKEN.findall(fold(text))
        hits = self._without_attributes(tokens, list(self._hits(tokens)))
        said = [_mention(tokens, hit, self._host) for hit in hits]
        for place in range(len(said) - 2, -1, -1):  # "restaurant and bar in Bristol": the place is that of both
            if tokens[hits[place].end : hits[place + 1].start] in _JOINED:
                said[place] = said[place]._replace(bonus=max(said[place].bonus, said[place + 1].bonus))
        return said

    def repeated(self, text: str, found: Iterable[str]) -> set[str]:
        """Those of the trades found elsewhere that a long text names, too, in one word."""
        wanted = set(found)
        if not wanted or not text:
            return set()
        words = set(_TOKEN.findall(fold(text)))
        forms = _single_words(self._language)
        return wanted & {forms[word] for word in words & forms.keys()}

    def of_host(self, domain: str) -> set[str]:
        """As in "dachdeckerei-mueller.de" and "smithroofing.com"."""
        said: set[str] = set()
        for word in domain.partition(".")[0].split("-"):
            starts = [word[start:] for start in range(len(word) - _MIN_HOST_WORD + 1)]
            ends = [word[:end] for end in range(len(word), _MIN_HOST_WORD - 1, -1)]
            part = next((part for part in (*starts, *ends) if part in self._forms), None)
            if part and part not in context.NAME_WORDS:
                said.add(self._forms[part])
        return said

    def of_pages(self, site: SiteWords) -> set[str]:
        """Keywords and names of pages: they agree with others, and say nothing alone."""
        names = [path.rpartition("/")[2] for path in site.paths[:_MOST_PATHS]]
        keys = [compact(name[:_NAME_CHARS]) for name in (*site.keywords[:_MOST_KEYWORDS], *names)]
        return {self._forms[key] for key in keys if key in self._forms}

    def _hits(self, tokens: list[str]) -> Iterator[_Hit]:
        """The longest trade words from the left; they do not overlap."""
        place = 0
        while place < len(tokens):
            hit = self._hit(tokens, place)
            if hit is not None:
                yield hit
            place = hit.end if hit else place + 1

    def _hit(self, tokens: list[str], place: int) -> _Hit | None:
        key, hit = "", None
        for end in range(place, min(place + _MOST_WORDS, len(tokens))):
            token = tokens[end]
            if token in _BREAKS or (token == "&" and end == place):
                break
            if token != "&":
                # Other languages use English phrases, but a single word is more often one of their own.
                key += token
                if len(key) >= _START_CHARS and key[:_START_CHARS] not in self._starts:
                    break
                trade = self._forms.get(key) or (self._english.get(key) if end > place else None)
                # "Steuerberater in Mainz" is not a Steuerberaterin.
                if trade and (end == place or token not in context.LINKS):
                    hit = _Hit(place, end + 1, trade, key)
            elif end + 1 < len(tokens):  # "bed & breakfast" is listed as "bed and breakfast"
                key += "and" if f"{key}and{tokens[end + 1]}" in self._forms else ""
        word = tokens[place]
        if hit is None and self._language in _COMPOUNDING and len(word) >= _MIN_COMPOUND:
            return self._compound(word, place)
        return hit

    def _compound(self, word: str, place: int) -> _Hit | None:
        """A "Familienrestaurant" is a restaurant: German and Dutch words are what their ending is."""
        for start in range(3, len(word) - _MIN_ENDING + 1):
            ending = word[start:]
            if ending in context.VAGUE_ENDINGS:
                return None
            if ending in self._forms:
                return _Hit(place, place + 1, self._forms[ending], ending)
        return None

    def _without_attributes(self, tokens: list[str], hits: list[_Hit]) -> list[_Hit]:
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


def _is_about_trades(title: str) -> bool:
    padded = " " + " ".join(_TOKEN.findall(fold(title[:_TITLE_CHARS]))) + " "
    return any(phrase in padded for phrase in _ABOUT_TRADES)


def _mention(tokens: list[str], hit: _Hit, host: str) -> _Mention:
    begin = hit.start
    while begin and tokens[begin - 1] not in _STRONG:
        begin -= 1
    before = tokens[begin : hit.start]
    after = tokens[hit.end] if hit.end < len(tokens) else ""
    phrase = _phrase(before[-1] if before else "", hit.word, after)
    if after in context.THINGS_AFTER or _is_of_others(before, hit.word):
        return _Mention(hit.trade, phrase, 3, 0)
    rank, bonus = 1, 0
    # What follows the last comma: "Smith & Co, plumbers".
    part = before[max([place + 1 for place, token in enumerate(before) if token in _WEAK], default=0) :]
    is_opening = all(token in context.BEFORE_TRADE or token == "&" for token in part)
    is_closing = not after or after in _BREAKS or after in context.AFTER_TRADE or after == "&"
    if hit.word in context.NAME_WORDS or not context.WITH.isdisjoint(before):
        rank = 2
    elif is_opening or is_closing:
        rank = 0
        if after in context.PLACE_WORDS and hit.end + 1 < len(tokens):
            bonus = _PLACED
    if _is_identity(before, host):
        bonus = _IDENTIFIED
    return _Mention(hit.trade, phrase, rank, bonus)


def _phrase(before: str, word: str, after: str) -> str:
    """The word with its neighbour, where that may be a name: "Bluebonnet Roofing", "Hotel Grubenhof"."""
    if before and before not in _BREAKS and before not in context.BEFORE_TRADE and before not in context.LINKS:
        return f"{before} {word}"
    return f"{word} {after}" if after and after not in _BREAKS and after not in context.AFTER_TRADE else ""


def _is_of_others(before: list[str], word: str) -> bool:
    """Whether the words before a trade in its clause say that somebody or something else has it."""
    for place, token in enumerate(before):
        if token in context.OF_OTHERS and (place == 0 or before[place - 1] not in context.OWN_PLACES):
            return True
    if before and before[-1] == "best" and word.endswith("s"):
        return True
    near = len(before) - 1
    while near >= 0 and before[near] in context.LINKS:
        near -= 1
    return near >= 0 and before[near] in context.THINGS_BEFORE


def _is_identity(before: list[str], host: str) -> bool:
    """As in "we are a family-run bakery", and in "Reliable Rooter is a plumbing company" on reliablerooter.com."""
    for place in range(len(before) - 2, max(-1, len(before) - 3 - _CUE_WORDS), -1):
        if before[place + 1] in context.NOT_BETWEEN:
            return False
        cue = before[place], before[place + 1]
        if cue in context.FIRST_PERSON:
            return True
        if cue in context.THIRD_PERSON:
            return place > 0 and len(before[place - 1]) >= _MIN_NAME and before[place - 1] in host
    return False
