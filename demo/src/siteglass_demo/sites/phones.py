"""Phone numbers that are valid in their country, and the forms people write them in."""

from __future__ import annotations

from functools import cache
from random import Random

import phonenumbers
from phonenumbers import PhoneNumberFormat, PhoneNumberType

from siteglass.query.vocabulary import vocabulary
from siteglass_demo.sites.label import PhoneForm

# Area codes of states and provinces of the +1 zone: a Texan site has a Texan number.
_AREAS_TEXT = """
USA: AL205 AK907 AZ602 AR501 CA415 CO303 CT203 DE302 FL305 GA404 HI808 ID208 IL312 IN317 IA515 KS316 KY502 LA504 ME207
MD410 MA617 MI313 MN612 MS601 MO314 MT406 NE402 NV702 NH603 NJ201 NM505 NY212 NC704 ND701 OH216 OK405 OR503 PA215 RI401
SC803 SD605 TN615 TX512 UT801 VT802 VA804 WA206 WV304 WI414 WY307 DC202
CAN: ON416 QC514 BC604 AB403 MB204 SK306 NS902 NB506 NL709
"""
_AREAS = {
    (country, code[:2]): code[2:]
    for country, codes in (part.split(": ") for part in _AREAS_TEXT.strip().replace("\nCAN", "|CAN").split("|"))
    for code in codes.split()
}
# country -> town or state = beginnings of numbers that are kept for fiction, # for a digit; "" is any other place.
_FICTION_TEXT = {
    "USA": "Austin=+151255501##,+173755501##; FL=+130555501##,+178655501##,+195455501##,+156155501##,+140755501##,"
    "+181355501##,+172755501##,+190455501##,+185055501##,+123955501##",
    "GBR": "London=+442079460###; Manchester=+441614960###; Birmingham=+441214960###; Leeds=+441134960###; "
    "Bristol=+441174960###; Edinburgh=+441314960###; Glasgow=+441414960###; Liverpool=+441514960###",
    "DEU": "Berlin=+493023125###; Hamburg=+494066969###; Cologne=+492214710###; Frankfurt am Main=+496990009###; "
    "Munich=+498999998###",
    "AUS": "NSW=+61255501###,+61270101###; VIC=+61355501###,+61370101###; QLD=+61755501###,+61770101###",
    "SWE": "=+46846500###",
}
_FICTION = {
    (country, place): numbers.split(",")
    for country, text in _FICTION_TEXT.items()
    for place, numbers in (part.split("=") for part in text.split("; "))
}
_ZERO_COUNTRIES = frozenset({"DEU", "AUT", "CHE", "GBR", "FRA", "NLD"})
_TRIES = 60


@cache
def _start(country: str) -> tuple[str, str]:
    """Region of a country and the E.164 form of a landline there; empty if it has none."""
    region = vocabulary().country_alpha2(country) or ""
    example = phonenumbers.example_number_for_type(region, PhoneNumberType.FIXED_LINE) if region else None
    return region, phonenumbers.format_number(example, PhoneNumberFormat.E164) if example else ""


def draw_number(rng: Random, country: str, state: str, city: str) -> str:
    """A valid number as E.164, "" where the country has none. Where numbers are kept for fiction, it is one of them."""
    region, start = _start(country)
    if not start:
        return ""
    places = (city, state, "") if city else (state, "")
    if kept := next((_FICTION[country, place] for place in places if (country, place) in _FICTION), None):
        return "".join(str(int(rng.random() * 10)) if mark == "#" else mark for mark in rng.choice(kept))
    if country in ("USA", "CAN"):
        area = _AREAS.get((country, state)) or rng.choice([code for (of, _), code in _AREAS.items() if of == country])
        return f"+1{area}55501{int(rng.random() * 100):02d}"
    for _ in range(_TRIES):
        number = f"{start[:-4]}{int(rng.random() * 10_000):04d}"
        if phonenumbers.is_valid_number_for_region(phonenumbers.parse(number), region):
            return number
    return start


def shown(rng: Random, number: str, form: PhoneForm, country: str) -> str:
    """The number as a site of the country prints it."""
    parsed = phonenumbers.parse(number)
    if form == "national":
        if country == "DEU" and rng.random() < 0.1:
            return "00" + phonenumbers.format_number(parsed, PhoneNumberFormat.INTERNATIONAL)[1:]
        text = phonenumbers.format_number(parsed, PhoneNumberFormat.NATIONAL)
        mark = {"DEU": "/", "AUT": "/", "FRA": ".", "USA": ".", "BEL": "."}.get(country)
        if mark == "/" and rng.random() < 0.4:
            return text.replace(" ", "/", 1)
        if mark == "." and rng.random() < 0.4:
            return text.replace("(", "").replace(") ", ".").replace(" ", ".").replace("-", ".")
        return text
    text = phonenumbers.format_number(parsed, PhoneNumberFormat.INTERNATIONAL)
    if form == "international_zero":
        code, _, rest = text.partition(" ")
        return f"{code} (0){rest}"
    return text


def draw_form(rng: Random, country: str, national: bool) -> PhoneForm:
    """National where the rest of the page shows the country, else a form that does so itself."""
    number = rng.random()
    if national and number < 0.55:
        return "national"
    if country in _ZERO_COUNTRIES and number > 0.85:
        return "international_zero"
    return "international"
