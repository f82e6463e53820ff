"""The kind of business of a lead whose pages do not say it: by its shop system, else by its trade."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from siteglass.ingest.extract.schema_types import SERVICE_TYPE_OF
from siteglass.query.trades import trades

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


def service_type(stated: str, technologies: Sequence[str], trade_ids: Sequence[str]) -> str:
    """What the pages say, else what the shop system or the first trade means; "" if that is open."""
    if stated:
        return stated
    if not _SHOPS.isdisjoint(technologies):
        return "Ecommerce"
    found = _of_trade(trade_ids[0]) if trade_ids else ""
    return found or ("Ecommerce" if not _PERHAPS_SHOPS.isdisjoint(technologies) else "")


@cache
def _of_trade(trade: str) -> str:
    known = trades()
    for one in (trade, *known.parents(trade)):
        if found := SERVICE_TYPE_OF.get(known.trade(one).schema_org):
            return found
    return _OF_SECTORS.get(known.top(trade), "")
