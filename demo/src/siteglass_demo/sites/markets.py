"""The markets of the demo: how many businesses of which trade, where, and what sets their sites apart."""

from __future__ import annotations

from dataclasses import dataclass

_SHOPS = "Outfitters Skincare Jewelry Coffee Pets Furniture Apparel Bikes"
_AGENCIES = "Digital Studio Social Leads"
_SOFTWARE = "CRM Analytics Desk Payroll Secure Mailer"
_MAKERS = "Precision Packaging Valves"


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Businesses of one market. Shares are in percent of its sites."""

    trades: str
    """Words of `corpus.demo.trades`; they take turns."""
    country: str
    place: str = ""
    """A city, or a state by its code; "" for anywhere in the country."""
    count: int
    platforms: str = ""
    """Instead of those that are usual for the trade and country, with weights."""
    slow: int = 12
    """Load in more than three seconds."""
    neglected: int = 6
    """Were made long ago, and nobody has looked after them since."""
    big_spenders: int = 3
    """Advertise on many networks."""
    with_email: int = 65
    linkedin: int = 0
    """Have a page on LinkedIn, in addition to those that are drawn with one."""


_SHOP_PLATFORMS = "Shopify:72 WooCommerce:28"
# German law asks each site for an imprint with an e-mail address.
_IMPRINT = 92

SEGMENTS = (
    Segment(trades="Dental", country="USA", place="Austin", count=110, with_email=78),
    Segment(trades="Dental", country="USA", place="Dallas", count=30),
    Segment(trades="Dental", country="DEU", count=45, with_email=_IMPRINT),
    Segment(trades="Dental", country="ESP", place="Madrid", count=30),
    Segment(trades="Dental", country="GBR", place="Manchester", count=25),
    Segment(trades="Hotel", country="ITA", count=140, with_email=80),
    Segment(trades="Hotel", country="ESP", count=50),
    Segment(trades="Hotel", country="AUT", count=30, with_email=_IMPRINT),
    Segment(trades="Hotel", country="FRA", place="Paris", count=30),
    Segment(
        trades=_SHOPS, country="DEU", count=120, platforms=_SHOP_PLATFORMS, slow=55, big_spenders=45,
        with_email=_IMPRINT,
    ),
    Segment(
        trades=_SHOPS, country="AUT", count=48, platforms=_SHOP_PLATFORMS, slow=50, big_spenders=40,
        with_email=_IMPRINT,
    ),
    Segment(
        trades=_SHOPS, country="CHE", count=48, platforms=_SHOP_PLATFORMS, slow=45, big_spenders=45, with_email=85,
    ),
    Segment(trades=_SHOPS, country="USA", count=110, platforms=_SHOP_PLATFORMS, slow=25, big_spenders=15),
    Segment(trades=_SHOPS, country="GBR", count=56, platforms=_SHOP_PLATFORMS, slow=25, big_spenders=12),
    Segment(trades="Apparel", country="FRA", count=40, big_spenders=15),
    Segment(
        trades=_AGENCIES, country="GBR", place="London", count=140, linkedin=60, with_email=82, neglected=1,
        platforms="WordPress:56 Webflow:20 Next.js:12 Squarespace:8 Wix:4",
    ),
    Segment(trades=_AGENCIES, country="USA", place="New York City", count=60, linkedin=50, neglected=1),
    Segment(trades="Digital Studio", country="DEU", place="Berlin", count=40, with_email=_IMPRINT, neglected=1),
    Segment(trades="Digital Studio", country="FRA", place="Paris", count=30),
    Segment(trades="Roofing", country="USA", place="FL", count=130, neglected=36, with_email=78),
    Segment(trades="Roofing", country="USA", place="TX", count=40, neglected=20),
    Segment(trades="Roofing", country="DEU", count=25, with_email=_IMPRINT),
    Segment(trades="Plumbing", country="GBR", count=60, neglected=15),
    Segment(trades="Plumbing", country="USA", place="Denver", count=30, neglected=15),
    Segment(trades="Electric", country="AUS", count=30),
    Segment(trades="Law", country="USA", place="New York City", count=60),
    Segment(trades="Law", country="DEU", count=40, with_email=_IMPRINT),
    Segment(trades="Law", country="ITA", place="Milan", count=25),
    Segment(trades="Realty", country="USA", place="FL", count=50),
    Segment(trades="Realty", country="ESP", count=30),
    Segment(trades="Kitchen", country="FRA", place="Paris", count=50),
    Segment(trades="Kitchen", country="ITA", count=60),
    Segment(trades="Kitchen", country="USA", place="Chicago", count=50),
    Segment(trades="Kitchen", country="DEU", place="Berlin", count=30, with_email=_IMPRINT),
    Segment(trades="Salon", country="ESP", place="Madrid", count=40),
    Segment(trades="Salon", country="GBR", place="London", count=40),
    Segment(trades="Fitness", country="USA", place="Los Angeles", count=40),
    Segment(trades="Physio", country="DEU", place="Munich", count=40, with_email=_IMPRINT),
    Segment(trades="Accounting", country="AUS", place="Sydney", count=35),
    Segment(trades="Accounting", country="DEU", count=25, with_email=_IMPRINT),
    Segment(trades="Architects", country="NLD", place="Amsterdam", count=30),
    Segment(trades="Bakery", country="FRA", place="Lyon", count=25),
    Segment(trades="Bakery", country="AUT", place="Vienna", count=25, with_email=_IMPRINT),
    Segment(trades=_SOFTWARE, country="USA", place="San Francisco", count=72, linkedin=40, big_spenders=15),
    Segment(trades=_SOFTWARE, country="GBR", place="London", count=36, linkedin=40, big_spenders=10),
    Segment(trades=_MAKERS, country="DEU", count=48, with_email=_IMPRINT),
    Segment(trades="Precision", country="ITA", count=25),
)  # fmt: skip

# Word of a trade -> share of its sites in percent that take bookings, and with which widgets, by country.
BOOKING: dict[str, tuple[int, dict[str, str]]] = {
    "Dental": (
        44,
        {
            "USA": "Zocdoc:40 NexHealth:30 Calendly:15 Square Appointments:15",
            "DEU": "Doctolib:85 Timify:15",
            "ESP": "Doctoralia:90 Calendly:10",
            "": "Calendly:60 Acuity Scheduling:40",
        },
    ),
    "Physio": (40, {"DEU": "Doctolib:60 Timify:40", "": "Jane App:60 Acuity Scheduling:40"}),
    "Hotel": (55, {"": "Booking.com widget:35 Cloudbeds:22 SiteMinder:20 Mews:14 Lodgify:9"}),
    "Kitchen": (
        48,
        {
            "USA": "OpenTable:60 Resy:40",
            "FRA": "Thefork:80 Quandoo:20",
            "ITA": "Thefork:75 Quandoo:25",
            "DEU": "Quandoo:60 OpenTable:40",
        },
    ),
    "Salon": (52, {"GBR": "Fresha:60 Treatwell:20 Booksy:20", "ESP": "Booksy:45 Fresha:30 Treatwell:25"}),
    "Fitness": (55, {"": "MindBody:60 Glofox:40"}),
    "Roofing": (8, {"": "Housecall Pro:50 Jobber:50"}),
    "Plumbing": (16, {"": "Housecall Pro:60 Jobber:40"}),
    "Electric": (14, {"": "Housecall Pro:50 Jobber:50"}),
    "Law": (12, {"": "Calendly:70 Acuity Scheduling:30"}),
    "Accounting": (14, {"": "Calendly:100"}),
    **{word: (22, {"": "Calendly:100"}) for word in (*_AGENCIES.split(), *_SOFTWARE.split())},
}
# Networks of sites that advertise much: shares in percent.
BIG_SPENDING = (
    "Google Ads:100 Facebook Pixel:100 DoubleClick Floodlight:55 Criteo:75 RTB House:70 TikTok Pixel:70 "
    "Pinterest Conversion Tag:65 Microsoft Advertising:60 Snap Pixel:40 Taboola:50"
)
# Sites of businesses from anywhere, after those of the segments.
ELSEWHERE = 400
