"""Details of the technologies that leads show: the mark of each, its page, and when it was seen."""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa

from siteglass.corpus.lead import Mark, MarkKind, TechnologyDetail
from siteglass.corpus.technology_details import pack_detail
from siteglass.ingest.facts import MARK
from siteglass.ingest.grouped import ASCENDING, DESCENDING, column, exploded, listed, once, pc
from siteglass.suppression.redaction import without_contacts

MAX_PAGE_CHARS = 300


def first_seen(seen: pa.Table, kind: str, found: pa.Table) -> Any:
    """When an earlier capture of the page showed the value, null where that is not known."""
    seen = seen.filter(pc.equal(seen.column("kind"), kind))
    return column(seen, "first_ms").take(pc.index_in(_keys(found, "value"), value_set=_keys(seen, "value")))


def _keys(rows: pa.Table, name: str) -> Any:
    return pc.binary_join_element_wise(column(rows, "place").cast(pa.string()), column(rows, name), " ")


def with_technology_details(rows: pa.Table, pages: pa.Table, seen: pa.Table) -> pa.Table:
    """Rows of leads with the column `technologies_detail`, packed. `seen` are the values of that column of all
    `pages`."""
    details: list[dict[str, str]] = [{} for _ in range(rows.num_rows)]
    used: list[list[str]] = listed(rows, "technologies")
    best = _best(pages, seen)
    names = ("lead", "value", "mark", "url", "first_ms", "last_ms")
    for lead, value, mark, url, first_ms, last_ms in zip(*(listed(best, name) for name in names), strict=True):
        if value in used[lead]:
            details[lead][value] = _detail(value, mark, url, first_ms, last_ms)
    mail = zip(*(listed(rows, name) for name in ("mail_marks", "mail_seen_ms")), strict=True)
    for known, (marks, at_ms) in zip(details, mail, strict=True):
        for name, mark in marks or ():
            if name.startswith(MARK):
                known.setdefault(name.removeprefix(MARK), _detail(name.removeprefix(MARK), mark, "", at_ms, at_ms))
    packed = [[known[one] for one in some if one in known] for some, known in zip(used, details, strict=True)]
    return rows.append_column("technologies_detail", pa.array(packed, pa.list_(pa.string())))


def _best(pages: pa.Table, seen: pa.Table) -> pa.Table:
    """For each lead and technology the newest page that has a mark of it, and the times of all."""
    used = once(exploded(pages.select(["lead", "technologies"]), "technologies"), "place", "value")
    place = column(used, "place")
    first_ms = pc.min_element_wise(column(pages, "first_seen_ms").take(place), first_seen(seen, "technology", used))
    used = used.append_column("first_ms", first_ms)
    used = used.append_column("last_ms", column(pages, "last_seen_ms").take(place))
    marks = exploded(pages.select(["lead", "social_links"]), "social_links")
    marks = marks.filter(pc.starts_with(marks.column("key"), MARK))
    wanted = used.append_column("key", pc.binary_join_element_wise(MARK, column(used, "value"), ""))
    used = used.append_column(
        "mark", column(marks, "value").take(pc.index_in(_keys(wanted, "key"), value_set=_keys(marks, "key")))
    )
    used = used.append_column("has_none", pc.is_null(used.column("mark")))
    times = used.group_by(["lead", "value"], use_threads=False).aggregate([("first_ms", "min"), ("last_ms", "max")])
    order = [("lead", ASCENDING), ("value", ASCENDING)]
    best = used.sort_by([*order, ("has_none", ASCENDING), ("last_ms", DESCENDING), ("place", ASCENDING)])
    best = once(best, "value")
    times = times.sort_by(order)
    return pa.table(
        {
            "lead": best.column("lead"),
            "value": best.column("value"),
            "mark": best.column("mark"),
            "url": column(pages, "url").take(column(best, "place")),
            "first_ms": times.column("first_ms_min"),
            "last_ms": times.column("last_ms_max"),
        }
    )


def _detail(value: str, mark: str | None, url: str, first_ms: int, last_ms: int) -> str:
    """The path of a page may hold a contact, too: then the page is left out."""
    path = "".join(url.split("/", 3)[3:])
    is_shown = url and len(url) <= MAX_PAGE_CHARS and without_contacts(path) == path
    return pack_detail(
        TechnologyDetail(
            value=value,
            marks=(_mark(*msgspec.json.decode(mark)),) if mark else (),
            page=url if is_shown else None,
            first_seen_ms=first_ms,
            last_seen_ms=last_ms,
        )
    )


def _mark(kind: MarkKind, rule: str, excerpt: str) -> Mark:
    return Mark(kind=kind, rule=rule, excerpt=excerpt)
