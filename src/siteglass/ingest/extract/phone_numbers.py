"""Phone numbers as E.164. What a page writes without its country is read again by the merge, which knows the domain's:
see `ingest.national_numbers`."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import phonenumbers
from phonenumbers import PhoneNumberFormat

MIN_DIGITS, MAX_DIGITS = 7, 15
MIN_NAMED_DIGITS = 9
NORTH_AMERICA = frozenset(("US", "CA", "PR"))
TRUNK = re.compile(r"\(\s?0\s?\)")
_NANP = re.compile(r"(?:1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-.]\d{4}\Z")
# "003-901442-8": no country has a code of one digit but +1 and +7, and codes are not split.
_NO_COUNTRY = re.compile(r"00[2-689]\D")
_LATIN_GROUPS = re.compile(r"\(?\d\d\)?[ .-]\d{4}[ .-]\d{4}\Z")
_IN_BRACKETS = re.compile(r"\((\d{1,3})\)\s?(?=\d)")


def international(given: str) -> str:
    """E.164 of a number that is written with its country; "" if it is not."""
    plain = TRUNK.sub(" ", given).strip()
    if plain.startswith("(+"):
        plain = plain[1:].replace(")", " ", 1)
    if plain.startswith("00") and not _NO_COUNTRY.match(plain):
        plain = "+" + plain[2:]
    return number_of(plain, "") if plain.startswith("+") else ""


def national(given: str, region: str, *, labelled: bool) -> str:
    """E.164 of a number as a country's people write it; one without a label must look like those of the country."""
    if not given.isascii():
        given = unicodedata.normalize("NFKC", given).replace("ー", "-")
    if is_north_american(given) and region not in NORTH_AMERICA:
        # "(408) 753-1200" is also a number of India, yet nobody there would write it so.
        number = number_of(given, region)
        return number if number and _is_grouped(given, number) else ""
    if region in NORTH_AMERICA and _LATIN_GROUPS.match(given):
        return ""  # "33 1880 2277" is a number of Mexico, also below an address of Texas
    number = number_of(given, region)
    if number and (labelled or is_north_american(given) or _looks_national(given, number)):
        return number
    # "(86) 769-8533 1207": a country code in brackets, where the number is not a national one.
    if not number and labelled and (match := _IN_BRACKETS.match(given)):
        return number_of(f"+{match[1]} {given[match.end() :]}", "")
    return ""


def is_north_american(given: str) -> bool:
    """Whether it is grouped as the numbers of North America."""
    return _NANP.match(given) is not None


def _looks_national(given: str, number: str) -> bool:
    """Whether it is grouped as its country groups numbers, or starts with the 0 that long-distance calls had."""
    digits = re.sub(r"\D", "", given)
    groups = re.findall(r"\d+", given)
    if groups[0] == "0" and len(groups) > 1:  # "0 332 713 44 20"
        return _is_grouped(f"0{given[1:].lstrip()}", number)
    if len(groups) > 1 and digits[0] == "0" and len(digits) >= 9 and (len(groups[0]) > 1 or given[0] == "("):
        return True
    return len(groups) > 1 and _is_grouped(given, number)


def _is_grouped(given: str, number: str) -> bool:
    groups = re.findall(r"\d+", given)
    if groups[0] == "1" and number.startswith("+1"):
        groups = groups[1:]  # "1 888 320-7719"
    return groups == re.findall(r"\d+", _national_format(number))


@lru_cache(maxsize=16_384)
def _national_format(number: str) -> str:
    return phonenumbers.format_number(phonenumbers.parse(number), PhoneNumberFormat.NATIONAL)


@lru_cache(maxsize=16_384)
def number_of(given: str, region: str) -> str:
    """E.164 of a valid number; "" if it is not one."""
    try:
        read = phonenumbers.parse(given, region or None)
    except phonenumbers.NumberParseException:
        return ""
    if not phonenumbers.is_valid_number(read):
        return ""
    return phonenumbers.format_number(read, PhoneNumberFormat.E164)


@lru_cache(maxsize=16_384)
def region_of(number: str) -> str:
    """Alpha-2 of the country of a number in E.164; "" for numbers of no country."""
    region = phonenumbers.region_code_for_number(phonenumbers.parse(number))
    return region if region and region.isalpha() else ""
