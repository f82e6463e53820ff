"""Whose an address or a number is: the business's own, an affiliate's, someone else's, or not known.

Decided for all pages of a domain together. First the addresses, by their domain and by the words around them. Then the
numbers, by the addresses beside them and by the words around them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby, takewhile
from operator import itemgetter
from typing import Any, Literal, NamedTuple

import pyarrow as pa

from siteglass.corpus.domains import registrable
from siteglass.corpus.role import is_free_mail, is_role
from siteglass.ingest.extract.surroundings import SEGMENTS_PER_PARAGRAPH
from siteglass.ingest.grouped import ASCENDING, listed
from siteglass.query.folding import compact, fold
from siteglass.query.trades import trades
from siteglass.query.vocabulary import vocabulary

OwnerClass = Literal["own", "affiliate", "third_party", "unknown"]
MIN_SAME_CHARS = 5
"""Names of domains that begin with as many equal letters may be those of sisters."""
MIN_NAME_CHARS = 6
"""A shorter part of a name may be in anyone's."""
MAX_UNSEEN_CONFIDENCE = 40
MIN_GROUP_ADDRESSES = 3
"""A business has as many addresses on the domain of its group; of anyone else it names fewer."""
# Words of many names, in none of which they say whose it is; with the names of trades and places.
_COMMON_WORDS = """
advisory associates bureau capital center centre charters company conseil consult consulting design digital energy
express family finance garden global groupe gruppe gruppo health holding holdings hotels immobilien imports
industries insurance invest kanzlei lodges logistics marine market master media medical mobile motors museum
national nature online outdoor partner partners praxis premium products project property rentals safety school
security service services shipping software solutions sports studio studios supply systems technik technology
textil theatre tourism traders trading transport travel travels viajes viaggi voyages weather wellness works world
"""
# Whoever sells these names them near its own number, too.
_TRADES_OF_OWNERS = frozenset(("designer", "host", "insurer", "carrier", "supplier", "press", "jobs", "directory"))
_common_words = frozenset(_COMMON_WORDS.split())


class ContactContext(NamedTuple):
    """A sighting of a value, as ownership is decided by it."""

    kind: str
    value: str
    place: int
    """The number of the page."""
    method: str
    group: int
    party: str
    block: str


class Owner(NamedTuple):
    """Whose a value is, and how that is known."""

    owner: OwnerClass
    confidence: int
    """Percent."""
    party: str = ""
    """Of someone else: which kind, as designer or regulator."""
    reason: str = ""

    @property
    def is_shown(self) -> bool:
        """Whether leads show values of this owner."""
        return self.owner != "third_party"


Owners = Mapping[tuple[str, str], Owner]
"""Kind and value -> owner."""


def owners_of(
    domains: Sequence[str], business_names: Sequence[str], sightings: pa.Table, rule: Any
) -> dict[tuple[str, str, str], Owner]:
    """Domain, kind and value -> owner, for all sightings of a part. Domains and names are by the number of the lead."""
    columns = ("lead", *ContactContext._fields)
    ordered = sightings.select(columns).sort_by([(column, ASCENDING) for column in columns])
    rows = zip(*(listed(ordered, column) for column in columns), strict=True)
    found: dict[tuple[str, str, str], Owner] = {}
    for lead, several in groupby(rows, itemgetter(0)):
        domain = domains[lead]
        contexts = [ContactContext(*row[1:]) for row in several]
        for (kind, value), owner in rule(domain, business_names[lead], contexts).items():
            found[domain, kind, value] = owner
    return found


def owners(domain: str, name: str, contexts: Iterable[ContactContext]) -> Owners:
    """The owner of each address and number of a domain; `name` is that of the business."""
    emails: dict[str, list[ContactContext]] = {}
    phones: dict[str, list[ContactContext]] = {}
    for one in contexts:
        (emails if one.kind == "email" else phones).setdefault(one.value, []).append(one)
    of_emails = {
        value: _less_certain(owner) if all(one.method == "field" for one in emails[value]) else owner
        for value, owner in _of_emails(domain, name, emails).items()
    }
    near: dict[tuple[int, int], list[Owner]] = {}
    for value, several in emails.items():
        for one in several:
            if one.group >= 0:
                near.setdefault((one.place, one.group), []).append(of_emails[value])
    of_phones = {value: _of_phone(several, near) for value, several in phones.items()}
    of_phones |= _among_others(phones, of_phones, emails, of_emails)
    if of_phones and not any(owner.is_shown for owner in of_phones.values()):
        of_phones |= _perhaps_own(phones, of_phones)
    return {
        **{("email", value): owner for value, owner in of_emails.items()},
        **{("phone", value): owner for value, owner in of_phones.items()},
    }


def _less_certain(owner: Owner) -> Owner:
    """Of an address that no reader of the site sees: a form may send to whoever made it."""
    return owner._replace(confidence=min(owner.confidence, MAX_UNSEEN_CONFIDENCE))


def _of_emails(domain: str, name: str, emails: Mapping[str, Sequence[ContactContext]]) -> dict[str, Owner]:
    found: dict[str, Owner] = {}
    for value, several in emails.items():
        host = registrable(value.rpartition("@")[2])
        party = _party(several)
        if host == domain:
            found[value] = Owner("own", 95, reason="domain")
        elif _is_named_after(value, domain, name) and (not party or is_free_mail(value)):
            # "karoonagte@isp.example" of the Karoo Nagte Lodge, whatever the page says around it.
            found[value] = Owner("affiliate", 85, reason="similar_name")
        elif party:
            found[value] = Owner("third_party", 90, party, "named")
        elif is_free_mail(value):
            found[value] = Owner("affiliate", 80, reason="free_mail")
        elif _is_sister(domain, host):
            found[value] = Owner("affiliate", 85, reason="similar_domain")
        elif any(one.block == "branch" for one in several):
            found[value] = Owner("affiliate", 75, reason="named_own")
        elif _shares_name(domain, name, host):
            found[value] = Owner("affiliate", 70, reason="shared_name")
        elif _has_part_named_after(value, domain, name):
            found[value] = Owner("affiliate", 75, reason="named_host")
    named = {
        registrable(value.rpartition("@")[2])
        for value, owner in found.items()
        if owner.reason in ("similar_name", "named_own", "shared_name")
    }
    left = {value: several for value, several in emails.items() if value not in found}
    for value in [value for value in left if not is_free_mail(value)]:
        if registrable(value.rpartition("@")[2]) in named:
            found[value] = Owner("affiliate", 75, reason="domain_of_affiliate")
            del left[value]
    hosts = Counter(registrable(value.rpartition("@")[2]) for value in left)
    beside_own = {(one.place, one.group) for value, owner in found.items() if owner.is_shown for one in emails[value]}
    has_own = any(owner.is_shown for owner in found.values())
    for value, several in left.items():
        found[value] = _of_foreign(value, several, hosts, beside_own, has_own=has_own)
    return found


def _of_foreign(
    value: str,
    several: Sequence[ContactContext],
    hosts: Mapping[str, int],
    beside_own: Collection[tuple[int, int]],
    *,
    has_own: bool,
) -> Owner:
    """The owner of an address on another domain, for which the pages name nobody else."""
    if any(one.method == "json_ld" for one in several):
        return Owner("affiliate", 75, reason="structured_data")
    if hosts[registrable(value.rpartition("@")[2])] >= MIN_GROUP_ADDRESSES:
        return Owner("affiliate", 70, reason="many_addresses")
    if any((one.place, one.group) in beside_own for one in several if one.group >= 0):
        return Owner("affiliate", 65, reason="beside_own_address")
    if len({one.place for one in several if not one.block and one.group >= 0}) > 1:
        return Owner("affiliate", 65, reason="on_several_pages")
    if has_own:
        return Owner("third_party", 70, "other", "other_domain")
    return Owner("unknown", 50, reason="only_address")


def _of_phone(several: Sequence[ContactContext], near: Mapping[tuple[int, int], Sequence[Owner]]) -> Owner:
    kinds: list[str] = []
    for one in several:
        beside = near.get((one.place, one.group), ()) if one.group >= 0 else ()
        if any(owner.owner in ("own", "affiliate") for owner in beside):
            return Owner("own", 90, reason="beside_own_address")
        if one.block == "branch":
            return Owner("own", 85, reason="named_own")
        others = [owner.party for owner in beside if not owner.is_shown]
        kinds.append(_party([one]) or (others[0] if others else ""))
    if all(kinds):
        return Owner("third_party", 80, kinds[0], "named")
    pages = len({one.place for one, kind in zip(several, kinds, strict=True) if not kind})
    return Owner("own", 85 if pages > 1 or any(one.method != "text" for one in several) else 75, reason="unclaimed")


def _among_others(
    phones: Mapping[str, Sequence[ContactContext]],
    of_phones: Mapping[str, Owner],
    emails: Mapping[str, Sequence[ContactContext]],
    of_emails: Mapping[str, Owner],
) -> dict[str, Owner]:
    """Numbers without a label that come after those of others, in paragraphs without any that is the business's."""
    parties: dict[tuple[int, int], tuple[int, str]] = {}
    own: set[tuple[int, int]] = set()
    for values, found in ((emails, of_emails), (phones, of_phones)):
        for value, several in values.items():
            owner = found[value]
            for one in several:
                paragraph = _paragraph(one)
                if owner.is_shown and owner.reason != "unclaimed":
                    own.add(paragraph)
                elif not owner.is_shown:
                    this = one.group, owner.party
                    parties[paragraph] = min(parties.get(paragraph, this), this)
    first = {paragraph: found for paragraph, found in parties.items() if paragraph not in own}
    nobody = (2**31, "")
    return {
        value: Owner("third_party", 65, first[_paragraph(several[0])][1], "among_others")
        for value, several in phones.items()
        if of_phones[value].reason == "unclaimed"
        and all(one.method == "text" and 0 <= first.get(_paragraph(one), nobody)[0] < one.group for one in several)
    }


def _paragraph(one: ContactContext) -> tuple[int, int]:
    return one.place, one.group // SEGMENTS_PER_PARAGRAPH


def _perhaps_own(phones: Mapping[str, Sequence[ContactContext]], of_phones: Mapping[str, Owner]) -> dict[str, Owner]:
    """Of a site whose every number seems to be someone else's: it may be a designer, a host, an insurer itself. If it
    is none, one number is shown: that the site has no other says more than the words around it. Numbers of examples
    and customers never are: a customer may be a person who has no say in it."""
    found = {value: owner for value, owner in of_phones.items() if owner.party not in ("example", "customer")}
    of_trades = [value for value, owner in found.items() if owner.party in _TRADES_OF_OWNERS]
    likely = sorted(found, key=lambda value: (-len({one.place for one in phones[value]}), min(phones[value])))
    return dict.fromkeys(of_trades or likely[:1], Owner("unknown", 40, reason="only_numbers"))


def _party(several: Sequence[ContactContext]) -> str:
    """The kind of someone else that every sighting names; "" if one does not."""
    kinds = [
        one.party or ("customer" if one.block == "quote" else "example" if one.block == "code" else "")
        for one in several
    ]
    return kinds[0] if kinds and all(kinds) else ""


def _is_named_after(value: str, domain: str, name: str) -> bool:
    """Whether the part before the @ is the name of the business or of its domain, or most of it."""
    local = compact(value.partition("@")[0].rstrip("0123456789"))
    if len(local) < MIN_NAME_CHARS or is_role(value):
        return False
    ours = (compact(domain.partition(".")[0]), compact(name))
    if any(
        local in one or (len(one) >= MIN_NAME_CHARS and one in local and 2 * len(one) >= len(local)) for one in ours
    ):
        return True
    # "p.vanderzwaag@" of Van der Zwaag Accountants.
    parts = [compact(part) for part in re.split(r"[._-]", value.partition("@")[0])]
    return any(one.startswith(part) for part in parts if len(part) > MIN_NAME_CHARS for one in ours)


def _has_part_named_after(value: str, domain: str, name: str) -> bool:
    """Whether a service named a part of its domain after the business: "@fanshawephysio.booking.example"."""
    host = value.rpartition("@")[2]
    parts = host.removesuffix(registrable(host)).split(".")
    ours = (compact(domain.partition(".")[0]), compact(name))
    return any(one.startswith(compact(part)) for part in parts if len(part) >= MIN_NAME_CHARS for one in ours)


def _shares_name(domain: str, name: str, host: str) -> bool:
    """Whether a domain begins or ends with a word of the business's name that few others have: "thimblebags" of
    Halyard & Thimble."""
    label = host.partition(".")[0]
    parts = label.split("-")
    words = {*re.findall(r"\w+", fold(name)), *domain.partition(".")[0].split("-")}
    return any(
        word in parts or (len(word) >= MIN_NAME_CHARS and (label.startswith(word) or label.endswith(word)))
        for word in words
        if len(word) >= MIN_SAME_CHARS and not _is_common(word)
    )


@cache
def _is_common(word: str) -> bool:
    known = vocabulary()
    is_place = any(known.resolve(kind, word) for kind in ("country", "state", "city"))
    return word in _common_words or is_place or bool(trades().meanings(word))


def _is_sister(domain: str, host: str) -> bool:
    """Whether the names of two domains are so similar that their owners are likely the same."""
    ours, theirs = (name.partition(".")[0].replace("-", "") for name in (domain, host))
    shorter, longer = sorted((ours, theirs), key=len)
    if len(shorter) < MIN_SAME_CHARS:
        return shorter == longer
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False)))
    return shorter in longer or (same >= MIN_SAME_CHARS and 2 * same >= len(longer))
