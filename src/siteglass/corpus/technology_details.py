"""Details of technologies in files of leads: entries of the column `hidden_contacts`, each a line of JSON.

The release before refuses files with columns that it does not know. Of `hidden_contacts` it reads only entries such as
"email designer", and skips all others. For example:

    technology ["Klaviyo","https://a.example/",1790000000000,1790000000000,[["script","static.klaviyo.com","https://…"]]]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from siteglass.corpus.lead import Mark, TechnologyDetail

_KIND = "technology "
_MAX_CHARS = 512
_encode = msgspec.json.Encoder().encode
# Kinds of marks that only a later release knows are read, too.
_Packed = tuple[str, str | None, int | None, int | None, list[tuple[str, str, str]]]
_decode = msgspec.json.Decoder(list[_Packed]).decode
_decode_one = msgspec.json.Decoder(_Packed).decode


def pack_detail(detail: TechnologyDetail) -> str:
    """A detail as an entry, without its marks or even its page if it is too long otherwise."""
    times = (detail["first_seen_ms"], detail["last_seen_ms"])
    marks = [(mark["kind"], mark["rule"], mark["excerpt"]) for mark in detail["marks"]]
    for page, some in ((detail["page"], marks), (None, marks), (None, [])):
        entry = _KIND + _encode((detail["value"], page, *times, some)).decode()
        if len(entry) <= _MAX_CHARS:
            break
    return entry


def unpack_details(entries: Sequence[str]) -> tuple[tuple[str, ...], tuple[TechnologyDetail, ...]]:
    """The entries of contacts, and the details of technologies. An entry that is neither is one of contacts."""
    packed = [entry for entry in entries if entry.startswith(_KIND)]
    if not packed:
        return tuple(entries), ()
    try:
        # All at once: that takes half the time.
        details = _decode(f"[{','.join(entry.removeprefix(_KIND) for entry in packed)}]")
    except msgspec.DecodeError:
        details = []
    if len(details) != len(packed):
        return _unpack_each(entries)
    return tuple(entry for entry in entries if not entry.startswith(_KIND)), tuple(map(_detail, details))


def _unpack_each(entries: Sequence[str]) -> tuple[tuple[str, ...], tuple[TechnologyDetail, ...]]:
    contacts: list[str] = []
    details: list[TechnologyDetail] = []
    for entry in entries:
        try:
            details.append(_detail(_decode_one(entry.removeprefix(_KIND) if entry.startswith(_KIND) else "")))
        except msgspec.DecodeError:
            contacts.append(entry)
    return tuple(contacts), tuple(details)


def _detail(packed: Any) -> TechnologyDetail:
    value, page, first_ms, last_ms, marks = packed
    return TechnologyDetail(
        value=value,
        marks=tuple(Mark(kind=kind, rule=rule, excerpt=excerpt) for kind, rule, excerpt in marks),
        page=page,
        first_seen_ms=first_ms,
        last_seen_ms=last_ms,
    )


def pack_column(contacts: Sequence[str], details: Iterable[TechnologyDetail]) -> list[str]:
    """The value of the column."""
    return [*contacts, *map(pack_detail, details)]
