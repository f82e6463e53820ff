"""What an e-mail address is: a person's, that of a role, one that several share, or unknown. Each with its reason.

Roles come from a list in many languages, see `role`. Shared ones have the name of the business, of a place or of a
trade before the @. A person is named on the page, or by the address itself: `given_names.txt` has common given names.
Anything else is unknown. Generic are roles and shared ones.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple

from siteglass.corpus.role import is_free_mail, is_role, is_role_word
from siteglass.query.folding import compact
from siteglass.query.trades import trades
from siteglass.query.vocabulary import vocabulary

Kind = Literal["person", "role", "shared", "unknown"]
Reason = Literal[
    "role_word", "number", "business_name", "place", "trade", "named_on_page", "given_name", "form_of_name", "no_sign"
]
MIN_NAME_CHARS = 3
MIN_GLUED_CHARS = 4
MIN_BUSINESS_CHARS = 4
MIN_TOWN_PEOPLE = 100_000
MIN_ROLE_CHARS = 4
_STEMS = (
    "info", "kontakt", "contact", "contato", "contatti", "office", "mail", "sales", "service", "support", "team",
    "booking", "reservas", "verkauf", "verwaltung", "sekretariat", "secretaria", "biuro", "recepcja", "recepcion",
)  # fmt: skip
_ENDINGS = (
    "support", "inquiries", "enquiries", "service", "services", "orders", "office", "desk", "department", "relations",
    "verkauf", "bestellung", "anfragen", "verwaltung", "buero", "marketing", "kundendienst", "information", "helpline",
    "amt", "sekretariat", "supplier", "responsibility", "online",
)  # fmt: skip
_VOWELS = frozenset("aeiouy")
_PARTS = re.compile(r"[._-]+")


class AddressKind(NamedTuple):
    """Whose an address is, and how that is known."""

    kind: Kind
    reason: Reason

    @property
    def is_generic(self) -> bool:
        """Whether it reaches whoever is on duty."""
        return self.kind in ("role", "shared")


def kind_of(address: str, business_name: str = "", is_named: bool = False) -> AddressKind:
    """The kind of an address of a site; `is_named`: a page names a person who fits it."""
    local, _, host = address.lower().partition("@")
    local = local.partition("+")[0].rstrip("0123456789").rstrip("._-")
    is_free = is_free_mail(address)
    if not compact(local):
        # Where anybody can have an address, many people have chosen a number.
        return AddressKind("unknown", "no_sign") if is_free else AddressKind("shared", "number")
    if is_role(address) or _has_role(local):
        return AddressKind("role", "role_word")
    parts = [part for part in _PARTS.split(local) if part]
    names = [compact(business_name), "" if is_free else compact(host.partition(".")[0])]
    if _is_of_business(compact(local), names, is_named=is_named) and not _names_one_of(parts, business_name):
        return AddressKind("shared", "business_name")
    if is_named:
        return AddressKind("person", "named_on_page")
    if (reason := _names_a_person(parts)) == "given_name":
        return AddressKind("person", "given_name")
    # Last names are often those of trades: "j.baker".
    if any(_is_trade(part) for part in parts) and not any(len(part) == 1 for part in parts):
        return AddressKind("shared", "trade")
    if len(parts) == 1 and _is_place(local):
        return AddressKind("shared", "place")
    return AddressKind("person", "form_of_name") if reason else AddressKind("unknown", "no_sign")


def _has_role(local: str) -> bool:
    """ "verkauf.nord", "infoberlin": a word for a role, and none that may be a person's."""
    parts = [part for part in _PARTS.split(local) if part]
    if len(parts) > 1:
        roles = [part for part in parts if len(part) >= MIN_ROLE_CHARS and is_role_word(part)]
        return bool(roles) and not any(is_given_name(part) or len(part) == 1 for part in parts)
    stem = next((stem for stem in _STEMS if local.startswith(stem)), "")
    rest = local.removeprefix(stem)
    if stem and (_is_place(rest) or _is_trade(rest) or is_role_word(rest)):
        return True
    return local.endswith(_ENDINGS) and not _begins_with_given(local)


def _is_of_business(local: str, names: list[str], *, is_named: bool) -> bool:
    """ "acme@" of Acme Tools, "acmetools@isp.example", and "office-acme"; not "annaweber" of Weber."""
    if len(local) < MIN_BUSINESS_CHARS:
        return False
    if local in names or (names[0].startswith(local) and not _names_a_person([local])):
        return True
    return len(local) >= MIN_BUSINESS_CHARS * 2 and any(
        name in local and not (is_named or is_given_name(local.replace(name, "", 1)))
        for name in names
        if len(name) >= MIN_BUSINESS_CHARS
    )


def _names_one_of(parts: list[str], business_name: str) -> bool:
    """ "f.berglach.berglachkompass" of Berglach Kompass is one person there."""
    name = compact(business_name)
    words = {compact(word) for word in business_name.split()}
    rest = [part for part in parts if part not in words and not (name and name in part)]
    return len(parts) > 1 and any(len(part) == 1 or is_given_name(part) for part in rest)


def _names_a_person(parts: list[str]) -> Reason | None:
    """By a given name: "anna", "anna.weber", "annaweber"; by its form: "a.weber", "weber-huber"."""
    letters = [part for part in parts if part.isalpha()]
    if len(letters) != len(parts) or not 1 <= len(parts) <= 3:
        return None
    if any(map(is_given_name, letters)) and not any(map(is_role_word, letters)):
        return "given_name"
    if len(letters) == 1:
        return "given_name" if _begins_with_given(letters[0]) else None
    longer = [part for part in letters if len(part) >= MIN_NAME_CHARS and not _VOWELS.isdisjoint(part)]
    initials = [part for part in letters if len(part) == 1]
    is_form = len(longer) == len(letters) == 2 or (initials and len(longer) == 1)
    return "form_of_name" if is_form and not any(map(is_role_word, letters)) else None


def _begins_with_given(word: str) -> bool:
    """ "annaweber": a given name of at least MIN_GLUED_CHARS, and enough letters for another."""
    return any(word[:size] in _given_names() for size in range(len(word) - MIN_NAME_CHARS, MIN_GLUED_CHARS - 1, -1))


def is_given_name(word: str) -> bool:
    """Whether a folded word is a common given name of some language."""
    return word in _given_names()


@cache
def _given_names() -> frozenset[str]:
    return frozenset(files("siteglass.corpus").joinpath("given_names.txt").read_text(encoding="utf-8").split())


@lru_cache(maxsize=32_768)
def _is_place(word: str) -> bool:
    """Whether a word is a country or a large town. Of small ones many are the last names of people."""
    known = vocabulary()
    towns = [town for name in known.resolve("city", word) for town in known.cities_named(name)]
    is_large = any(town.population >= MIN_TOWN_PEOPLE for town in towns)
    return len(word) >= MIN_BUSINESS_CHARS and (is_large or bool(known.resolve("country", word)))


@lru_cache(maxsize=32_768)
def _is_trade(word: str) -> bool:
    return len(word) >= MIN_BUSINESS_CHARS and bool(trades().meanings(word))
