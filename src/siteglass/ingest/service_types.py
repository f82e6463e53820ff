"""The kind of business of a lead whose pages do not say it: by its shop system, else by its trade."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from siteglass.corpus.trade_rules import Candidate
from siteglass.ingest.extract.schema_types import SERVICE_TYPE_OF
from siteglass.ingest.kind_words import kinds_named
from siteglass.query.trades import trades

MIN_WEAK_POINTS = 15
"""Of trades that are too uncertain to be shown: all that have as many must be of one kind."""
# A site with these pages sells what one logs in to.
_PRICES = frozenset(("pricing", "plans", "preise", "tarifs", "precios", "priser", "hinnasto"))
_PRODUCT_PAGES = frozenset(("product", "features", "docs", "integrations", "changelog", "api", "funktionen"))
# A site with one of these sells by it. WooCommerce also takes bookings and donations: it counts where nothing else is
# known.
_SHOPS = frozenset(
    ("Shopify", "PrestaShop", "Magento", "Adobe Commerce", "Shopware", "OpenCart", "BigCommerce", "JTL Shop", "Gambio",
     "nopCommerce", "osCommerce", "Zen Cart", "XT-Commerce", "VTEX", "Nuvemshop", "Ecwid", "1C-Bitrix", "Cafe24")
)  # fmt: skip
_PERHAPS_SHOPS = frozenset(("WooCommerce",))
# Wide trades whose type of schema.org says nothing of the kind.
_OF_SECTORS = {
    "healthcare": "Healthcare", "beauty": "Local Business", "fitness": "Local Business",
    "construction": "Local Business", "home_services": "Local Business", "automotive": "Local Business",
    "gastronomy": "Hospitality", "hospitality": "Hospitality", "food": "Local Business",
    "entertainment": "Entertainment", "education": "Education", "legal": "Firm", "finance": "Financial Services",
    "professional_services": "Firm", "marketing": "Agency", "manufacturing": "Manufacturer", "real_estate": "Realtor",
    "agriculture": "Local Business", "pets": "Local Business", "nonprofit": "Non-Profit",
}  # fmt: skip


class SiteTexts(NamedTuple):
    """What a site says of itself in few words."""

    name: str = ""
    title: str = ""
    description: str = ""
    paths: Sequence[str] = ()
    """Of the pages that the site links to."""


def service_type(
    stated: str,
    technologies: Sequence[str],
    trade_ids: Sequence[str],
    candidates: Iterable[Candidate] = (),
    texts: SiteTexts | None = None,
) -> str:
    """What the pages say, else what the shop system or the first trade means, else what words of name, title and
    description say, else what a trade in doubt means; "" if that is open."""
    if stated:
        return stated
    if not _SHOPS.isdisjoint(technologies):
        return "Ecommerce"
    found = (_of_trade(trade_ids[0]) if trade_ids else "") or _by_hints(candidates, texts or SiteTexts())
    return found or ("Ecommerce" if not _PERHAPS_SHOPS.isdisjoint(technologies) else "")


def _by_hints(candidates: Iterable[Candidate], texts: SiteTexts) -> str:
    """The kind that the first text names that names only one; "" if none does."""
    weak: dict[str, int] = {}
    for one in candidates:
        if kind := _of_trade(one.trade):
            weak[kind] = max(weak.get(kind, 0), one.points)
    likely = {kind for kind, points in weak.items() if points >= MIN_WEAK_POINTS}
    for text in (texts.name, texts.title, texts.description):
        kinds = kinds_named(text)
        kinds = kinds & likely or kinds
        if len(kinds) == 1:
            return next(iter(kinds))
    names = {path.strip("/").rpartition("/")[2].partition(".")[0] for path in texts.paths}
    if names & _PRICES and names & _PRODUCT_PAGES:
        return "SaaS"
    return next(iter(likely)) if len(likely) == 1 else ""


@cache
def _of_trade(trade: str) -> str:
    known = trades()
    for one in (trade, *known.parents(trade)):
        if found := SERVICE_TYPE_OF.get(known.trade(one).schema_org):
            return found
    return _OF_SECTORS.get(known.top(trade), "")
