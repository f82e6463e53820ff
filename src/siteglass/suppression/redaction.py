"""How suppressed values leave a record: a lead of the files, or one as answers spell it. Pure.

Addresses also stand in texts: those are looked through too, so that what is taken from `emails` is not read in
`description`. Phones leave texts only of leads that list them: without that, too many numbers look like one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set
from typing import Any

import msgspec

from siteglass.domains import registrable
from siteglass.lead import Lead
from siteglass.suppression.values import Hasher, index_key, site_key

TEXTS = ("title", "business_name", "description", "text")
TEXT_LISTS = ("keywords", "links")
# Bounded on both sides, so that no text takes longer than its length times these.
_ADDRESS_IN_TEXT = re.compile(r"[^\s@<>()\[\],;:\"'/=?&]{1,64}@[^\s@<>()\[\],;:\"'/=?&]{1,253}")
_PHONE_IN_TEXT = re.compile(r"\+?[0-9][0-9 ()./-]{4,30}[0-9]")

Get = Callable[[str], Any]
Hidden = Callable[[str], bool]


def addresses(get: Get) -> set[str]:
    """All addresses of a record: listed, and in its texts."""
    found = set(get("emails") or ())
    for name in TEXTS:
        if "@" in (text := get(name) or ""):
            found.update(_addresses_in(text))
    for name in TEXT_LISTS:
        if "@" in (text := "\n".join(get(name) or ())):  # one look instead of hundreds; no address holds a line end
            found.update(_addresses_in(text))
    return found


def _addresses_in(text: str) -> list[str]:
    return [found.rstrip(".!") for found in _ADDRESS_IN_TEXT.findall(text)]


def hashes(get: Get, hasher: Hasher) -> set[bytes]:
    """Every hash under which something of a record may be listed."""
    found: set[bytes] = set()
    for address in addresses(get):
        found.update(hasher.of_address(address))
    for phone in get("phones") or ():
        found.update(hasher.of_phone(phone))
    return found


def names(domain: str) -> tuple[str, ...]:
    """The names under which a lead may be listed: its own, and the site it lies below."""
    if domain.count(".") == 1:
        return (domain,)
    site = registrable(domain)
    return (domain,) if site == domain else (domain, site)


def index_keys(domain: str, found: Iterable[bytes]) -> list[str]:
    """What a lead is found by when a value is suppressed; its own domain is indexed anyway."""
    return sorted({*map(index_key, found), *map(site_key, names(domain)[1:])})


def changes(get: Get, suppressed: Set[bytes], hasher: Hasher) -> dict[str, Any]:
    """The fields that are other without the suppressed values."""

    def hides_address(address: str) -> bool:
        return not suppressed.isdisjoint(hasher.of_address(address))

    def hides_phone(phone: str) -> bool:
        return not suppressed.isdisjoint(hasher.of_phone(phone))

    return _without(get, hides_address, hides_phone)


def without_personal(get: Get) -> dict[str, Any]:
    """The fields that are other without addresses of persons."""
    personal = {address.lower() for address in get("emails_personal") or ()}
    if not personal:
        return {}
    return _without(get, lambda address: address.lower() in personal, lambda _phone: False)


def _without(get: Get, hides_address: Hidden, hides_phone: Hidden) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for name, hides in (("emails", hides_address), ("emails_personal", hides_address), ("phones", hides_phone)):
        given = get(name)
        if given and any(map(hides, given)):
            changed[name] = type(given)(one for one in given if not hides(one))

    numbers_too = "phones" in changed

    def cut(text: str) -> str:
        if "@" in text:
            text = _ADDRESS_IN_TEXT.sub(lambda at: _cut(at[0], hides_address), text)
        return _PHONE_IN_TEXT.sub(lambda at: _cut(at[0], hides_phone), text) if numbers_too else text

    for name in TEXTS:
        given = get(name)
        if given and (kept := cut(given)) != given:
            changed[name] = kept
    for name in TEXT_LISTS:
        given = get(name)
        if given and (kept := type(given)(map(cut, given))) != given:
            changed[name] = kept
    return changed


def _cut(found: str, hides: Hidden) -> str:
    """What stays of a find: all of it, or the sign that ended the sentence."""
    bare = found.rstrip(".!")
    return found[len(bare) :] if hides(bare) else found


def lead_getter(lead: Lead) -> Get:
    """How a stored lead is read."""
    return lambda name: getattr(lead, name)


def lead_with(lead: Lead, changed: dict[str, Any]) -> Lead:
    """The lead with these fields changed; the same one if there are none."""
    return msgspec.structs.replace(lead, **changed) if changed else lead
