"""What a business is, from what its site says: by rules, and rather nothing than something wrong.

`trade_mentions` finds the trades that texts name for their own site. Each gets points by where it was read, and
`decide` takes those with enough: the points are the confidence. A title alone is rarely enough, and a phrase that a
brand repeats everywhere counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from msgspec.structs import replace

from siteglass.corpus.lead import MAX_TRADES, Lead
from siteglass.corpus.trade_context import MORE_TYPES
from siteglass.corpus.trade_mentions import Mention, TradeWords, is_about_trades, names_software, trade_words
from siteglass.query.trades import trades

ENOUGH = 35
ENOUGH_BESIDE = 50
"""For a second trade: businesses name many things they do, and are few of them."""
_OF_BEST = 0.7
_OF_TYPE = 50
_OF_SOFTWARE = 35
# Points for a trade that opens or closes a phrase, for one inside of it, and for one in doubt.
_OF_TITLE, _OF_HEADING, _OF_DESCRIPTION = (30, 20, 10), (20, 15, 5), (15, 10, 5)
_OF_TEXT = _OF_SUBHEADINGS = (10, 10, 5)
# "Dentist in Leeds", "we are a bakery": a trade and its place, and what a business says that it is.
_PLACED, _IDENTIFIED = 10, 25
_LATER_IN_TEXT, _MAX_LATER = 1, 4
# Host, names of pages and keywords, the rest of the text: they only agree, and are looked at where that decides.
_AGREEING, _MAX_AGREEING = 5, 15
# Each service or product that is typical of a trade. One trade that has clearly more of them than any other needs no
# name; others need to be named, too.
_SERVICE, _MAX_SERVICES = 12, 45
# A site that says much and names none of what the trade does is hardly one.
_NO_SERVICE, _LONG_TEXT_CHARS = 10, 800
_CLEARLY_MORE, _FEWEST_SERVICES, _MANY_SERVICES = 1.4, 2, 3
_ALIKE, _MOST_ALIKE = 0.7, 2
# A trade of others in title, heading or description is not that of the site, whatever else it says.
_OTHERS = 25
_MISFIT, _FIT = 20, 5
_SERVICE_CHARS = 6_000

_TITLE_CHARS, _DESCRIPTION_CHARS, _TEXT_CHARS, _WHOLE_TEXT_CHARS = 200, 400, 700, 2_500
_RECORD_TEXT_CHARS = 300  # loading must stay fast: a longer text takes more time than all else of a lead
_MOST_SUBHEADINGS, _SUBHEADINGS_CHARS = 12, 400
_MOST_PATHS, _MOST_KEYWORDS = 30, 10

# True of many sites, and said only of those of which nothing nearer is known.
_WIDE = frozenset({"online_shop", "manufacturer", "wholesaler", "distributor", "association", "clinic", "doctor"})
# Types that sites of every trade give themselves.
_VAGUE_TYPES = frozenset({"ProfessionalService", "SportsActivityLocation"})
_SHOP_TYPES = frozenset({"Store", "OnlineStore"})
# A kind of business, and the wide trades that fit it: a trade word of another is that of its customers or readers.
_FITS = {
    "SaaS": frozenset({"technology", "marketing"}),
    "Mobile App": frozenset({"technology", "marketing"}),
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
    whole_text: str = ""
    """With navigation and footer, if known."""
    keywords: Sequence[str] = ()
    domain: str = ""
    paths: Sequence[str] = ()
    language: str = ""
    schema_types: Iterable[str] = ()
    """Types of schema.org of the organisations that may be the site's own."""
    service_type: str = ""
    is_article: bool = False
    """Its words are about something, and not about the site."""


class Candidate(NamedTuple):
    """A trade a site may have."""

    trade: str
    source: str
    """Where it was read best, one of TRADE_SOURCES."""
    points: int


def with_trades(lead: Lead) -> Lead:
    """The lead with trades by its other fields, if it comes without: what was given stays."""
    if lead.trades or not (read := trades_of_lead(lead)):
        return lead
    return replace(
        lead, trades=tuple([one.trade for one in read]), trade_sources={one.trade: one.source for one in read}
    )


def trades_of_lead(lead: Lead) -> tuple[Candidate, ...]:
    """The trades of a lead by its other fields."""
    words = SiteWords(
        title=lead.title,
        name=lead.business_name,
        description=lead.description,
        text=lead.text[:_RECORD_TEXT_CHARS],
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
    # A search for a wide trade also finds the trades below it.
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
        if trade := trades().of_schema_org(kind) or MORE_TYPES.get(kind):
            points.add(trade, "schema.org", _OF_TYPE)
    titles = site.title[:_TITLE_CHARS], site.heading[:_TITLE_CHARS]
    if not site.is_article and not any(map(is_about_trades, titles)):
        words = trade_words(site.language)
        host = site.domain.partition(".")[0]
        is_shop = site.service_type == "Ecommerce" or not _SHOP_TYPES.isdisjoint(site.schema_types)
        subheadings = " | ".join(site.subheadings[:_MOST_SUBHEADINGS])
        for source, text, worth in (
            # A title has the name in it more often than not.
            ("title", f"{site.title[:_TITLE_CHARS]} | {site.name[:_TITLE_CHARS]}", _OF_TITLE),
            ("heading", site.heading[:_TITLE_CHARS], _OF_HEADING),
            ("description", site.description[:_DESCRIPTION_CHARS], _OF_DESCRIPTION),
            ("text", site.text[:_TEXT_CHARS], _OF_TEXT),
            ("heading", subheadings[:_SUBHEADINGS_CHARS], _OF_SUBHEADINGS),
        ):
            if text:
                said = words.mentions(text, host)
                points.add_mentions(source, [*said, *words.goods(text)] if is_shop else said, worth)
        if site.service_type == "SaaS":
            said_in = {"title": site.title, "heading": site.heading, "description": site.description}
            for source in [source for source, text in said_in.items() if names_software(text)][:1]:
                points.add("saas_company", source, _OF_SOFTWARE)
        _add_services(points, words, site)
        if points.is_close():
            _add_agreeing(points, words, site, host)
    return points.candidates(site.service_type)


def _add_services(points: _Points, words: TradeWords, site: SiteWords) -> None:
    texts = (site.title, site.description, *site.keywords[:_MOST_KEYWORDS], site.whole_text or site.text)
    found = words.services(" | ".join(texts)[:_SERVICE_CHARS])
    ranked = sorted(found, key=lambda trade: (-found[trade], trade))
    # Plumbers also repair heating: trades of one kind share services, and a business may be both.
    best = [
        trade
        for trade in ranked
        if trades().top(trade) == trades().top(ranked[0]) and found[trade] >= _ALIKE * found[ranked[0]]
    ]
    best = best[:_MOST_ALIKE]
    rest = max([found[trade] for trade in ranked if trade not in best], default=0)
    is_clear = bool(best) and found[best[0]] >= _CLEARLY_MORE * rest
    for trade in ranked:
        if found[trade] >= _FEWEST_SERVICES and (trade in points.trades() or (is_clear and trade in best)):
            points.add(trade, "text", min(_MAX_SERVICES, int(_SERVICE * found[trade])))
    if len(site.whole_text) >= _LONG_TEXT_CHARS:
        for trade in points.trades():
            if trade not in found and words.has_services(trade):
                points.add(trade, "text", -_NO_SERVICE)
    if is_clear and found[best[0]] >= _MANY_SERVICES:
        related = [(*trades().parents(trade), *trades().included(trade)) for trade in best]
        points.doubt_others({trade for some in related for trade in some})


def _add_agreeing(points: _Points, words: TradeWords, site: SiteWords, host: str) -> None:
    names = [path.rpartition("/")[2] for path in site.paths[:_MOST_PATHS]]
    for source, agreeing in (
        ("path", words.of_host(host)),
        ("path", words.of_names([*site.keywords[:_MOST_KEYWORDS], *names])),
        ("text", words.of_words(site.text[_TEXT_CHARS:_WHOLE_TEXT_CHARS])),
    ):
        for trade in agreeing.intersection(points.trades()):
            points.add(trade, source, _AGREEING)


class _Points:
    """What was found for each trade."""

    def __init__(self) -> None:
        self._sum: dict[str, int] = {}
        self._best: dict[str, tuple[int, str]] = {}
        self._phrases: set[str] = set()
        self._others: set[str] = set()

    def trades(self) -> tuple[str, ...]:
        return tuple(self._sum)

    def is_close(self) -> bool:
        """Whether some trade has almost enough."""
        return any(ENOUGH - _MAX_AGREEING <= points < ENOUGH for points in self._sum.values())

    def add(self, trade: str, source: str, worth: int) -> None:
        self._sum[trade] = self._sum.get(trade, 0) + worth
        if self._best.get(trade, (0, ""))[0] < worth:
            self._best[trade] = worth, source

    def doubt_others(self, kept: set[str]) -> None:
        """The services are those of another trade: names of trades elsewhere on the site are rather of others."""
        self._others.update(set(self._sum) - kept)

    def add_mentions(self, source: str, mentions: list[Mention], by_rank: tuple[int, int, int]) -> None:
        """Of a trade the best mention counts; the first trade of a text a little more than the next."""
        worth: dict[str, int] = {}
        for mention in mentions:
            if mention.rank == len(by_rank):
                if source != "text":
                    self._others.add(mention.trade)
            elif mention.is_placed or mention.is_identity or mention.phrase not in self._phrases:
                bonus = _IDENTIFIED if mention.is_identity else _PLACED if mention.is_placed else 0
                points = by_rank[mention.rank] + bonus - min(_LATER_IN_TEXT * len(worth), _MAX_LATER)
                worth[mention.trade] = max(worth.get(mention.trade, 0), points)
        self._phrases.update([mention.phrase for mention in mentions if mention.phrase])
        for trade, points in worth.items():
            self.add(trade, source, points)

    def candidates(self, service_type: str) -> tuple[Candidate, ...]:
        fits = _FITS.get(service_type)
        typed = {trade for trade, (_, source) in self._best.items() if source == "schema.org" and _is_wide(trade)}
        found: list[Candidate] = []
        for trade, points in self._sum.items():
            # A wide type, such as LegalService, speaks for the trade below it that the words name.
            if typed and typed.intersection(trades().parents(trade)):
                points += _OF_TYPE
            points -= _OTHERS if trade in self._others else 0
            if fits is not None:
                points += _FIT if trades().top(trade) in fits else -_MISFIT
            if points > 0:
                found.append(Candidate(trade, self._best[trade][1], points))
        return tuple(found)


@cache
def _is_wide(trade: str) -> bool:
    return trade in _WIDE or not trades().trade(trade).parent
