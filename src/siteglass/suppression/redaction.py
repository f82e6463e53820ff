"""How suppressed values leave a record: a lead of the files, or one as answers spell it. Pure.

Addresses also occur in texts. Everything that is shown is scanned, so that what is removed from `emails` cannot be read
in `description`, however it is written there. Phones are removed from texts only if one is suppressed: otherwise too
many numbers look like one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import chain
from typing import Any

import msgspec

from siteglass.corpus.domains import registrable
from siteglass.corpus.lead import Lead
from siteglass.suppression.numbers import Numbers, may_hold_number
from siteglass.suppression.values import Hasher, index_key, site_key
from siteglass.suppression.veiled import cut_veiled, may_veil, veiled

ADDRESS_LISTS = ("emails", "emails_personal")
TEXTS = ("title", "business_name", "description", "text", "url", "favicon", "city", "service_type")
TEXT_LISTS = (
    *("keywords", "links", "pages", "offers", "technologies", "categories_uses"),
    *("other_profiles", "social_accounts"),
)
TEXT_MAPS = ("social_links", "e")
DETAIL_LISTS = ("emails_detail", "phones_detail")
_MARKED = "technologies_detail"
# A page that lists more than this hides something: what follows is taken as suppressed, so that no answer waits for it.
MAX_FINDS = 500

_LOCAL = r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}"
_LABEL = r"\w(?:[\w-]{0,61}\w)?"
# Bounded everywhere, so that no text takes longer than its length times these. In links @ may be written as %40.
_ADDRESS_IN_TEXT = re.compile(rf"{_LOCAL}(?:@|%40)(?:{_LABEL}\.){{1,8}}(?:xn--[\w-]{{2,59}}|[^\W\d_]{{2,63}})")
# Characters that may be in an address but mostly come before one.
_BEFORE = re.compile(r"[!#$%&*/=?^`{|}~]")
# What may be glued to an address: what an escape (\u003e) leaves of itself, a word of a script without blanks (邮箱).
_ESCAPE = re.compile(r"(?:u00[0-9a-f]{2})+")
_OTHER_SCRIPT = re.compile(r".*[^\x00-\x7f]", re.DOTALL)

Get = Callable[[str], Any]
Hidden = Callable[[str], bool]


def spellings(found: str) -> Iterator[str]:
    """The addresses that a find may mean, each an end of it: `?mail=a@b.cd` is one, and so may be `a@b.cd`."""
    yield found
    local = re.split("@|%40", found)[0]
    last = _BEFORE.split(local)[-1]
    for shorter in (
        last,
        local.lstrip("!#$%&'*+/=?^`{|}~-._"),
        last[2:] if local[: -len(last)].endswith("%") else "",
        _ESCAPE.sub("", local, count=1) if local.startswith("u00") else "",
        "" if local.isascii() else _OTHER_SCRIPT.sub("", local),
    ):
        if shorter and shorter != local and local.endswith(shorter):
            yield found[len(local) - len(shorter) :]


def _plain(address: str) -> str:
    return address.replace("%40", "@")


def _has_address(text: str) -> bool:
    return "@" in text or "%40" in text


def _plain_readings(text: str) -> Iterator[list[str]]:
    if _has_address(text):
        for found in _ADDRESS_IN_TEXT.findall(text):
            yield list(map(_plain, spellings(found)))


def _plain_addresses_in(text: str) -> Iterator[str]:
    return chain.from_iterable(_plain_readings(text))


def address_readings(text: str) -> Iterator[list[str]]:
    """For each place in a text that may be an address, all that it may mean."""
    yield from _plain_readings(text)
    for meanings in veiled(text):
        yield [address for _, _, address in meanings]


def addresses_in(text: str) -> Iterator[str]:
    """All that may be meant as an address in a text."""
    return chain.from_iterable(address_readings(text))


def _texts(get: Get) -> Iterator[str]:
    """All that is shown as text, lists in one piece: no address holds a line end."""
    for name in TEXTS:
        yield get(name) or ""
    for name in (*TEXT_LISTS, *TEXT_MAPS):
        if given := get(name):
            yield "\n".join(_strings(given))
    for name in (*DETAIL_LISTS, _MARKED):
        if given := get(name):
            yield "\n".join(one["page"] or "" for one in given)
    for one in get(_MARKED) or ():
        yield from (one["value"], *(text for mark in one["marks"] for text in mark.values()))


def _strings(value: Any) -> Iterable[str]:
    """The texts of a list, or of a map and the lists in it."""
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]  # a list of texts
    found: list[str] = []
    for one in value.values():
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, list | tuple):
            found.extend(one)
    return found


def addresses(get: Get) -> set[str]:
    """All addresses of a record: listed, however they are written there, and in its texts."""
    entries = [entry for name in ADDRESS_LISTS for entry in get(name) or ()]
    entries += _detailed(get, "emails_detail")
    texts = [*entries, *_texts(get)]
    # One look at all of them: most hold nothing.
    read = addresses_in if may_veil("\n".join(texts)) else _plain_addresses_in
    return {*entries, *chain.from_iterable(map(read, texts))}


def _detailed(get: Get, name: str) -> list[str]:
    """The values that a list of details is of."""
    return [one["value"] for one in get(name) or ()]


def hashes(get: Get, hasher: Hasher) -> set[bytes]:
    """Every hash under which something of a record may be listed."""
    found: set[bytes] = set()
    for address in addresses(get):
        found.update(hasher.of_address(address))
    for phone in {*(get("phones") or ()), *_detailed(get, "phones_detail")}:
        found.update(hasher.of_phone(phone))
    return found


def names(domain: str) -> tuple[str, ...]:
    """The names under which a lead may be listed: its own, and those of all parent domains, up to the site."""
    domain = domain.lower()
    if domain.count(".") == 1:
        return (domain,)
    site = registrable(domain)
    found = [domain]
    while found[-1] != site and found[-1].count(".") > 1:
        found.append(found[-1].partition(".")[2])
    return tuple(found)


def without_aliases(lead: Lead, listed: Set[str]) -> Lead:
    """The lead without the aliases that are listed; the same one if there are none."""
    kept = tuple(alias for alias in lead.aliases if listed.isdisjoint(names(alias)))
    return lead if kept == lead.aliases else msgspec.structs.replace(lead, aliases=kept)


def index_keys(named: Sequence[str], found: Iterable[bytes]) -> list[str]:
    """What a lead of these names is found by when a value is suppressed; the first, its own, is indexed anyway."""
    return sorted({*map(index_key, found), *map(site_key, named[1:])})


def changes(get: Get, suppressed: Set[bytes], hasher: Hasher) -> dict[str, Any]:
    """The fields that are other without the suppressed values."""
    known: dict[str, bool] = {}

    def hides_address(address: str) -> bool:
        hides = known.get(address)
        if hides is None:
            hides = len(known) >= MAX_FINDS or not suppressed.isdisjoint(hasher.of_address(address))
            known[address] = hides
        return hides

    def hides_phone(phone: str) -> bool:
        return not suppressed.isdisjoint(hasher.of_phone(phone))

    return _without(get, hides_address, hides_phone)


def _numbers(get: Get, hides: Hidden) -> Numbers:
    phones = get("phones")
    # A record that does not tell its phones may have had one of any country.
    country = None if phones is None else get("country") or ""
    return Numbers(filter(hides, [*(phones or ()), *_detailed(get, "phones_detail")]), country, hides)


def without_personal(get: Get) -> dict[str, Any]:
    """The fields that are other without addresses of persons."""
    personal = {address.lower() for address in get("emails_personal") or ()}
    if not personal:
        return {}
    return _without(get, lambda address: address.lower() in personal, None)


def _without(get: Get, hides_address: Hidden, hides_phone: Hidden | None) -> dict[str, Any]:  # noqa: C901
    """`hides_phone` None: phones stay."""
    numbers = None if hides_phone is None else _numbers(get, hides_phone)
    has_veiled = may_veil("\n".join(_texts(get)))

    def hides_entry(entry: str) -> bool:
        return hides_address(entry) or any(map(hides_address, addresses_in(entry)))

    def cut(text: str) -> str:
        if _has_address(text):
            text = _ADDRESS_IN_TEXT.sub(lambda at: _cut_address(at[0], hides_address), text)
        if has_veiled:
            text = cut_veiled(text, hides_address)
        return text if numbers is None else numbers.cut(text)

    def may_hold(value: Any) -> bool:
        """One look at a whole list: most hold nothing, and to cut each of its texts takes ten times as long."""
        text = value if isinstance(value, str) else "\n".join(_strings(value))
        return _has_address(text) or (numbers is not None and may_hold_number(text)) or (has_veiled and may_veil(text))

    def cut_all(value: Any) -> Any:
        if isinstance(value, str):
            return cut(value)
        if isinstance(value, list | tuple):
            return type(value)(map(cut_all, value))
        return {name: cut_all(one) for name, one in value.items()} if isinstance(value, dict) else value

    def without_page(detail: dict[str, Any]) -> dict[str, Any]:
        """Without the URL of a page if it contains such a value: what is left of it would not be a URL."""
        page = detail["page"]
        return {**detail, "page": None} if page and may_hold(page) and cut(page) != page else detail

    def marks_left(detail: dict[str, Any]) -> Any:
        """The marks without such a value; None if the technology itself is one."""
        if cut(detail["value"]) != detail["value"]:
            return None
        given = detail["marks"]
        return type(given)(mark for mark in given if all(cut(text) == text for text in mark.values()))

    changed: dict[str, Any] = {}
    if given := get(_MARKED):
        marked = [without_page({**one, "marks": left}) for one in given if (left := marks_left(one)) is not None]
        if marked != list(given):
            changed[_MARKED] = type(given)(marked)
    for name, hides in zip(DETAIL_LISTS, (hides_entry, hides_phone), strict=True):
        if given := get(name):
            kept = [without_page(one) for one in given if hides is None or not hides(one["value"])]
            if kept != list(given):
                changed[name] = type(given)(kept)
    for name, hides in (*((name, hides_entry) for name in ADDRESS_LISTS), ("phones", hides_phone)):
        given = get(name)
        if given and hides is not None and any(map(hides, given)):
            changed[name] = type(given)(one for one in given if not hides(one))
    for name in (*TEXTS, *TEXT_LISTS, *TEXT_MAPS):
        given = get(name)
        if given and may_hold(given) and (kept := cut_all(given)) != given:
            changed[name] = kept
    return changed


def without_contacts(text: str) -> str:
    """A text without anything that may be an address or a phone number."""
    text = _ADDRESS_IN_TEXT.sub("", text) if _has_address(text) else text
    return Numbers((), None, lambda _: True).cut(cut_veiled(text, lambda _: True))


def _cut_address(found: str, hides: Hidden) -> str:
    """What remains of a match: all of it, or the text before the address."""
    for address in spellings(found):
        if hides(_plain(address)):
            return found[: len(found) - len(address)]
    return found


def lead_getter(lead: Lead) -> Get:
    """How a stored lead is read."""
    return lambda name: getattr(lead, name, None)


def lead_with(lead: Lead, changed: dict[str, Any]) -> Lead:
    """The lead with these fields changed; the same one if there are none."""
    for values, owner in (("emails", "email_owner"), ("phones", "phone_owner")):
        # The owner is that of the first value: of the one that takes its place, none is known.
        if values in changed and changed[values][:1] != getattr(lead, values)[:1]:
            changed = {**changed, owner: "", f"{owner}_confidence": None}
    return msgspec.structs.replace(lead, **changed) if changed else lead
