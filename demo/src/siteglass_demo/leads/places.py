"""Where made-up businesses are: countries by share of the web, their cities, languages, domain endings, phones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from siteglass.query.vocabulary import City, vocabulary
from siteglass_demo.leads.chance import Weighted

# country | share | domain endings (.com is added) | languages with shares | culture of names | phone
# A # in a phone stands for a digit. Numbers are in ranges reserved for fiction where a country has one.
_TABLE = """
USA | 330 | com:88 net:4 org:4 co:2 io:2 | en:97 es:3 | english | +1 (2##) 555-01##
GBR | 85 | co.uk:66 com:24 uk:6 org.uk:4 | en:100 | english | +44 1632 96####
CAN | 45 | ca:55 com:45 | en:80 fr:20 | english | +1 (2##) 555-01##
AUS | 40 | com.au:75 com:20 au:5 | en:100 | english | +61 3 7010 ####
NZL | 9 | co.nz:80 com:20 | en:100 | english | +64 9 559 ####
IRL | 9 | ie:70 com:30 | en:100 | english | +353 1 555 ####
DEU | 95 | de:86 com:12 eu:2 | de:94 en:6 | german | +49 30 23125 ###
AUT | 13 | at:82 com:18 | de:95 en:5 | german | +43 1 555 ####
CHE | 16 | ch:84 com:16 | de:60 fr:25 it:6 en:9 | german | +41 44 555 ## ##
FRA | 55 | fr:76 com:24 | fr:95 en:5 | french | +33 1 99 00 ## ##
BEL | 13 | be:78 com:22 | nl:52 fr:40 en:8 | dutch | +32 2 555 ## ##
NLD | 32 | nl:84 com:16 | nl:80 en:20 | dutch | +31 20 555 ####
ESP | 34 | es:62 com:38 | es:93 en:7 | spanish | +34 91 555 ## ##
ITA | 38 | it:84 com:16 | it:94 en:6 | italian | +39 06 555 ####
PRT | 10 | pt:76 com:24 | pt:88 en:12 | spanish | +351 21 555 ####
BRA | 42 | com.br:86 com:14 | pt:97 en:3 | spanish | +55 11 5550-####
MEX | 20 | com.mx:56 mx:12 com:32 | es:95 en:5 | spanish | +52 55 5550 ####
ARG | 12 | com.ar:74 com:26 | es:97 en:3 | spanish | +54 11 5550-####
COL | 8 | com.co:52 co:16 com:32 | es:97 en:3 | spanish | +57 601 555 ####
CHL | 7 | cl:80 com:20 | es:97 en:3 | spanish | +56 2 2555 ####
PER | 5 | pe:40 com.pe:30 com:30 | es:98 en:2 | spanish | +51 1 555 ####
JPN | 36 | jp:38 co.jp:30 com:32 | ja:94 en:6 | japanese | +81 3-5550-####
CHN | 42 | com:46 cn:34 com.cn:20 | zh:90 en:10 | chinese | +86 10 5550 ####
TWN | 8 | com.tw:64 com:36 | zh:90 en:10 | chinese | +886 2 5550 ####
HKG | 6 | com.hk:52 com:48 | zh:58 en:42 | chinese | +852 5550 ####
SGP | 7 | com.sg:54 sg:8 com:38 | en:96 zh:4 | chinese | +65 6555 ####
KOR | 16 | co.kr:56 kr:10 com:34 | ko:90 en:10 | korean | +82 2-555-####
IND | 42 | in:44 com:48 co.in:8 | en:100 | indian | +91 22 5550 ####
PAK | 6 | pk:40 com.pk:20 com:40 | en:100 | indian | +92 21 555 ####
IDN | 12 | co.id:50 id:16 com:34 | en:100 | indian | +62 21 555 ####
MYS | 6 | com.my:66 com:34 | en:96 zh:4 | chinese | +60 3-5550 ####
PHL | 6 | ph:34 com.ph:26 com:40 | en:100 | spanish | +63 2 5550 ####
POL | 22 | pl:86 com:14 | pl:90 en:10 | slavic | +48 22 555 ## ##
CZE | 11 | cz:88 com:12 | en:100 | slavic | +420 225 55# ###
UKR | 8 | com.ua:60 ua:12 com:28 | ru:55 en:45 | slavic | +380 44 555 ####
RUS | 22 | ru:88 com:12 | ru:97 en:3 | slavic | +7 495 555-##-##
SWE | 14 | se:80 com:20 | sv:84 en:16 | nordic | +46 8 465 004 ##
NOR | 8 | no:82 com:18 | en:100 | nordic | +47 21 55 ## ##
DNK | 10 | dk:86 com:14 | en:100 | nordic | +45 32 55 ## ##
FIN | 7 | fi:84 com:16 | en:80 sv:20 | nordic | +358 9 555 ####
TUR | 12 | com.tr:66 com:34 | tr:93 en:7 | slavic | +90 212 555 ## ##
ISR | 6 | co.il:74 com:26 | en:100 | english | +972 3-555-####
ARE | 7 | ae:56 com:44 | en:72 ar:28 | indian | +971 4 555 ####
SAU | 4 | com.sa:50 sa:10 com:40 | ar:74 en:26 | indian | +966 11 555 ####
EGY | 3 | com.eg:20 com:80 | ar:70 en:30 | indian | +20 2 5550 ####
ZAF | 10 | co.za:86 com:14 | en:100 | english | +27 11 555 ####
NGA | 5 | com.ng:46 ng:14 com:40 | en:100 | english | +234 1 555 ####
KEN | 3 | co.ke:64 com:36 | en:100 | english | +254 20 555 ####
"""
# What the countries outside the table have together, so that every country occurs.
_OTHERS_SHARE = 40.0


@dataclass(frozen=True, slots=True)
class Country:
    """What a lead takes from its country."""

    code: str
    endings: Weighted[str]
    languages: Weighted[str]
    culture: str
    phone: str
    cities: Weighted[City] | None


def weighted(cities: Iterable[City]) -> Weighted[City]:
    """Cities by their share of businesses, which with a site are spread a little more evenly than people."""
    return Weighted((city, max(city.population, 1_000) ** 0.85) for city in cities)


def _cities_by_country() -> dict[str, Weighted[City]]:
    grouped: dict[str, list[City]] = {}
    for city in vocabulary().cities():
        grouped.setdefault(city.country, []).append(city)
    return {code: weighted(cities) for code, cities in grouped.items()}


def countries() -> Weighted[Country]:
    """Every country of the vocabulary, by its share of the web."""
    return _countries()[0]


def country_of(code: str) -> Country:
    """A country by its alpha-3 code; raises KeyError for one that is not in the vocabulary."""
    return _countries()[1][code]


@cache
def _countries() -> tuple[Weighted[Country], dict[str, Country]]:
    cities = _cities_by_country()
    found: list[tuple[Country, float]] = []
    for row in _TABLE.strip().splitlines():
        code, share, endings, languages, culture, phone = (cell.strip() for cell in row.split("|"))
        country = Country(code, Weighted.parse(endings), Weighted.parse(languages), culture, phone, cities.get(code))
        found.append((country, float(share)))
    named = {country.code for country, _ in found}
    others = [code for code in vocabulary().values("country") if code not in named]
    for code in others:
        own = (vocabulary().country_alpha2(code) or "com").lower()
        ending = Weighted.parse(f"com:60 {own}:40")
        country = Country(code, ending, Weighted.parse("en:100"), "english", "", cities.get(code))
        found.append((country, _OTHERS_SHARE / len(others)))
    return Weighted(found), {country.code: country for country, _ in found}
