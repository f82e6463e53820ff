"""The made-up leads that test keys find: a thousand of all kinds, and some of the markets that people ask for first."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from siteglass.corpus.lead import Lead
from siteglass.leads.sandbox import FIRST_SEEN_MS
from siteglass.query.technology_changes import encode_change
from siteglass.query.vocabulary import vocabulary
from siteglass_demo.leads import Market, generate
from siteglass_demo.leads.places import country_of, weighted
from siteglass_demo.leads.trades import trades

LEADS, SEED = 1_000, 20
LEADS_OF_MARKET = 25
# A trade of the generator, and a city.
MARKETS = (
    ("Dental", "USA", "Austin"),
    ("Plumbing", "USA", "Houston"),
    ("Roofing", "USA", "Miami"),
    ("Hotel", "ITA", "Rome"),
    ("Digital", "GBR", "London"),
)
CLARITY_ADDED = encode_change("Microsoft Clarity", FIRST_SEEN_MS // (24 * 3_600_000))


def sandbox_leads() -> Iterator[Lead]:
    """All of them, the same every time."""
    for lead in generate(LEADS, SEED):
        # So that searches for a change find some, too.
        added = (CLARITY_ADDED,) if "Microsoft Clarity" in (lead.technologies or ()) else ()
        yield replace(lead, added=added)
    by_word = {trade.word: trade for trade in trades()}
    for number, (word, country, city_name) in enumerate(MARKETS):
        city = next(one for one in vocabulary().cities() if (one.country, one.name) == (country, city_name))
        market = Market(country_of(country), weighted([city]), by_word[word])
        yield from generate(LEADS_OF_MARKET, SEED, start=LEADS + number * LEADS_OF_MARKET, market=market)
