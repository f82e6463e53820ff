"""What postal codes look like, in which countries, and on which side of them the city is."""

from __future__ import annotations

import re

# What a code looks like (9: a digit, A: a letter) -> countries with the city after it, countries with the city before.
SHAPES: dict[str, tuple[str, str]] = {
    "9999": (
        "AUT CHE BEL DNK NOR HUN LUX SVN BGR LVA CYP LIE MKD ALB TUN GEO ARM PHL PRY",
        "AUS NZL ZAF PHL BGD CHE",
    ),
    "9999 AA": ("NLD", ""),
    "99999": (
        "DEU FRA ESP ITA FIN EST HRV TUR MEX UKR SRB BIH MNE LTU MYS MAR DZA EGY KWT PER CRI MCO SMR GRC SWE CZE SVK",
        "USA KOR THA IDN SAU PAK TUR IRQ PER LKA VNM EGY MAR",
    ),
    "99999-9999": ("", "USA"),
    "999 99": ("SWE CZE SVK GRC", "GRC"),
    "99-999": ("POL", ""),
    "9999-999": ("PRT", ""),
    "99999-999": ("BRA", "BRA"),
    "999-9999": ("JPN", ""),
    "999999": ("RUS BLR KAZ ROU CHN COL KGZ UZB ECU", "IND SGP CHN ROU RUS VNM COL NGA KAZ"),
    "999 999": ("", "IND"),
    "AA9 9AA": ("", "GBR"),
    "A9A 9A9": ("", "CAN"),
    "A99 AAAA": ("", "IRL"),
}
AFTER = {shape: frozenset(after.split()) for shape, (after, _) in SHAPES.items()}
BEFORE = {shape: frozenset(before.split()) for shape, (_, before) in SHAPES.items()}
PREFIXES = {
    "D": "DEU", "DE": "DEU", "A": "AUT", "AT": "AUT", "CH": "CHE", "F": "FRA", "FR": "FRA", "I": "ITA", "IT": "ITA",
    "E": "ESP", "ES": "ESP", "B": "BEL", "BE": "BEL", "NL": "NLD", "L": "LUX", "LU": "LUX", "DK": "DNK", "S": "SWE",
    "SE": "SWE", "N": "NOR", "NO": "NOR", "FI": "FIN", "FIN": "FIN", "H": "HUN", "HU": "HUN", "CZ": "CZE",
    "SK": "SVK", "PL": "POL", "SI": "SVN", "SLO": "SVN", "HR": "HRV", "LT": "LTU", "LV": "LVA", "EE": "EST",
    "RO": "ROU", "BG": "BGR", "GR": "GRC", "PT": "PRT", "P": "PRT", "RS": "SRB", "MD": "MDA", "FL": "LIE",
}  # fmt: skip

CODE = re.compile(
    r"(?:(?<![\w.,/+:-])|(?<=[a-z]-)(?=\d{6}(?!\d)))(?:(?P<prefix>[A-Z]{1,3})[-– ])?(?P<code>"
    r"\d{5}-\d{3}(?!\d)|\d{4}-\d{3}(?!\d)|\d{3}-\d{4}(?!\d)|\d{2}-\d{3}(?!\d)|\d{5}-\d{4}(?!\d)|\d{4} ?[A-Z]{2}(?!\w)|"
    r"\d{3} \d{2}(?![\d-])|\d{3} \d{3}(?![\d-])|\d{4,6}(?!\d)|"
    r"[A-Z]\d[\dW] ?(?=[A-Z\d]{0,3}\d)[AC-FHKNPRTV-Y\d]{4}(?!\w)|"
    r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}(?!\w)|[A-Z]\d[A-Z] ?\d[A-Z]\d(?!\w))(?![%€$/:]|[.,]\d)"
)
# A part of every code: most lines with digits have none, and this is found faster.
LIKE_A_CODE = re.compile(r"\d\d[ -]?\d\d|[A-Z]\d[\dA-Z]? ?[\dA-Z]")
_EIRCODE = re.compile(r"[A-Z]\d[\dW] ?[AC-FHKNPRTV-Y][AC-FHKNPRTV-Y\d]{3}")
_TO_SHAPE = str.maketrans("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 10 * "9" + 26 * "A")
_SPELLINGS = {
    "9999AA": "9999 AA",
    "A9A9A9": "A9A 9A9",
    **{f"{area}{blank}9AA": "AA9 9AA" for area in ("A9", "A99", "AA9", "AA99", "A9A", "AA9A") for blank in ("", " ")},
}
# Shapes that only one country has.
TELLING = {
    "9999 AA": "NLD", "99-999": "POL", "9999-999": "PRT", "99999-999": "BRA", "AA9 9AA": "GBR", "A9A 9A9": "CAN",
    "A99 AAAA": "IRL",
}  # fmt: skip
# "2828 SW Corbett Avenue" is not Dutch; letters and digits in turn are nothing else.
UNMISTAKABLE = frozenset(("AA9 9AA", "A9A 9A9", "A99 AAAA"))


def countries_of_code(code: str) -> frozenset[str]:
    """Countries whose postal codes look like that, alpha-3."""
    shape = shape_of(code)
    return AFTER.get(shape, frozenset()) | BEFORE.get(shape, frozenset())


def shape_of(code: str) -> str:
    if _EIRCODE.fullmatch(code):
        return "A99 AAAA"
    shape = code.strip().upper().translate(_TO_SHAPE)
    return _SPELLINGS.get(shape, shape)
