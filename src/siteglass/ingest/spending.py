"""An estimate of what a site spends on advertising, in whole USD a month, from the ad networks whose tags it carries.

Nobody outside knows the truth. A tag shows that a site has bought, or prepared to buy, advertising on a network. The
base is what a small advertiser typically spends there, adjusted by country. Tags of publishers (AdSense, Prebid
...) earn money, they do not spend it, and count nothing. See docs/guides/computed-fields.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

SPENDING_MODEL = "2026.11.2"

BASE_USD: Mapping[str, int] = MappingProxyType(
    {
        "google": 600,
        "google_marketing_platform": 4_000,
        "meta": 450,
        "linkedin": 800,
        "microsoft": 250,
        "tiktok": 400,
        "pinterest": 250,
        "snapchat": 300,
        "x": 250,
        "reddit": 250,
        "amazon": 700,
        "criteo": 1_500,
        "rtb_house": 1_500,
        "adroll": 400,
        "taboola": 1_200,
        "outbrain": 1_200,
        "the_trade_desk": 3_000,
        "adform": 2_000,
        "yahoo": 500,
        "yandex": 300,
        "vk": 200,
        "nextdoor": 150,
        "simplifi": 800,
        "steelhouse": 2_000,
        "tv": 6_000,
        "podcasts": 1_500,
    }
)
"""Network: USD a month of a typical small advertiser."""

NETWORKS: Mapping[str, str] = MappingProxyType(
    {
        "Google Ads": "google",
        "Google Ads Conversion Tracking": "google",
        "DoubleClick Floodlight": "google_marketing_platform",
        "DoubleClick Campaign Manager (DCM)": "google_marketing_platform",
        "Facebook Ads": "meta",
        "Facebook Pixel": "meta",
        "Linkedin Ads": "linkedin",
        "Linkedin Insight Tag": "linkedin",
        "Microsoft Advertising": "microsoft",
        "TikTok Pixel": "tiktok",
        "Pinterest Ads": "pinterest",
        "Pinterest Conversion Tag": "pinterest",
        "Snap Pixel": "snapchat",
        "Twitter Ads": "x",
        "Reddit Ads": "reddit",
        "Amazon Advertising": "amazon",
        "Criteo": "criteo",
        "RTB House": "rtb_house",
        "AdRoll": "adroll",
        "Taboola": "taboola",
        "Outbrain": "outbrain",
        "theTradeDesk": "the_trade_desk",
        "Adform": "adform",
        "Yahoo Advertising": "yahoo",
        "Yandex.Direct": "yandex",
        "VK Pixel": "vk",
        "Nextdoor Ads": "nextdoor",
        "Simpli.fi": "simplifi",
        "SteelHouse": "steelhouse",
        "Tatari": "tv",
        "TVSquared": "tv",
        "Podsights": "podcasts",
    }
)
"""Technology, as the vocabulary names it: the network it stands for. A network counts once."""

TAG_MANAGERS = frozenset(
    (
        "Adobe Experience Platform Launch",
        "Ensighten",
        "Google Tag Manager",
        "Google Tag Manager for WordPress",
        "Matomo Tag Manager",
        "Tealium",
        "Yahoo! Tag Manager",
    )
)
"""With one of these and no ad tag, nothing is known: it may load some."""

_COUNTRIES = {
    150: "USA CHE",
    120: "GBR AUS CAN NOR DNK SWE ARE SGP IRL LUX ISL",
    100: "DEU NLD AUT FRA BEL FIN JPN NZL ISR KOR HKG QAT",
    70: "ITA ESP PRT CZE SVN EST SAU KWT TWN GRC MLT CYP",
    50: "POL HUN SVK LTU LVA HRV ROU CHN BRA MEX CHL ZAF TUR RUS MYS THA",
}
COUNTRY_PERCENT: Mapping[str, int] = MappingProxyType(
    {country: percent for percent, countries in _COUNTRIES.items() for country in countries.split()}
)
"""Alpha-3: percent of the base."""
OTHER_COUNTRY_PERCENT = 30
UNKNOWN_PERCENT = 100
"""For a country that is not known."""


def estimate(technologies: Collection[str] | None, country: str = "") -> int | None:
    """USD a month; 0 where technologies were read and none is an ad tag. None where they were not read, or where a tag
    manager may load ad tags that a crawl does not see."""
    if technologies is None:
        return None
    networks = {NETWORKS[name] for name in technologies if name in NETWORKS}
    if not networks and not TAG_MANAGERS.isdisjoint(technologies):
        return None
    base = sum(BASE_USD[network] for network in networks)
    by_country = COUNTRY_PERCENT.get(country, OTHER_COUNTRY_PERCENT) if country else UNKNOWN_PERCENT
    return base * by_country // 100
