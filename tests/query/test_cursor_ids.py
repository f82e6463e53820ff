"""Cursors of before: whatever is added to the catalogue, they mean what they meant when they were sealed."""

from __future__ import annotations

import importlib
import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import siteglass.query
from siteglass.errors import InvalidCursor
from siteglass.query import cursor, fields
from siteglass.query.cursor import Continuation, CursorSealer

# Sealed before fields and orders had numbers of their own, with each field and each order among them.
GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[2] / "testing/corpus/cursors.json").read_text())
LIFE_S = 72 * 3_600

# Numbers are only ever added here. One that a field or an order had stays its own, even when it is gone.
SELECT_IDS = {
    "domain": 0, "business_name": 1, "title": 2, "description": 3, "emails": 4, "phones": 5, "language": 6,
    "spending": 7, "country": 8, "state": 9, "city": 10, "technologies": 11, "links": 12, "score": 13,
    "social_links": 14, "crawled_at": 15, "favicon": 16, "url": 17, "keywords": 18, "pages": 19, "service_type": 20,
    "categories_uses": 21, "offers": 22, "load_time_ms": 23, "not_secure": 24, "not_responsive": 25,
    "missing_sitemap": 26, "missing_schema": 27, "missing_robot": 28, "missing_heading": 29,
    "missing_description": 30, "updated_at": 31, "trades": 32, "trade_sources": 33,
    "emails_detail": 34, "phones_detail": 35, "technologies_detail": 36,
}  # fmt: skip
SORT_IDS = {
    "-score": 0, "score, unknown first": 1, "score": 5, "-spending": 2, "-crawled_at": 3, "domain": 4,
}  # fmt: skip


def test_numbers_are_unique_and_never_reused() -> None:
    declared = {f.name: f.show.cursor_id for f in fields.FIELDS if f.show and f.show.search}
    assert declared == SELECT_IDS
    assert fields.SORT_IDS == SORT_IDS
    for numbers in (SELECT_IDS, SORT_IDS):
        assert len(set(numbers.values())) == len(numbers)
    assert set(fields.SEARCH_SELECTABLE) == set(declared)
    assert all(f.show.cursor_id is None for f in fields.FIELDS if f.show and not f.show.search)


def _golden(one: dict[str, Any], make: Any = cursor) -> Continuation:
    continuation: Continuation = make.Continuation(
        one["filters"],
        None if one["select"] is None else tuple(one["select"]),
        one["sort"],
        GOLDEN["limit"],
        make.Position(one["key"], GOLDEN["domain"], one["backward"], GOLDEN["width"]),
        GOLDEN["total"],
        None if one["total_estimated"] else 0,  # they say no error
        GOLDEN["result_id"],
    )
    return continuation


def _opened(sealed: str, make: Any = cursor) -> Continuation:
    sealer = make.CursorSealer([GOLDEN["secret"]], LIFE_S)
    continuation: Continuation = sealer.open(sealed, GOLDEN["account"], GOLDEN["issued_at_s"] + LIFE_S)
    return continuation


@pytest.mark.promise("cursor.whole_search")
def test_golden_cursors_mean_what_they_meant() -> None:
    for one in GOLDEN["cursors"]:
        assert _opened(one["cursor"]) == _golden(one)
    since_then = {"trades", "trade_sources", "emails_detail", "phones_detail", "technologies_detail"}
    assert {name for one in GOLDEN["cursors"] for name in one["select"] or ()} == set(SELECT_IDS) - since_then
    assert {one["sort"] for one in GOLDEN["cursors"]} == set(SORT_IDS) - {"score"}  # which is newer


@pytest.fixture
def with_catalogue(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """The module of cursors, over a catalogue with another source."""

    def imported(source: str) -> Any:
        changed = types.ModuleType("siteglass.query.fields")
        exec(compile(source, "fields.py", "exec"), changed.__dict__)  # noqa: S102 - our own source, with a row more
        monkeypatch.setitem(sys.modules, "siteglass.query.fields", changed)
        monkeypatch.delitem(sys.modules, "siteglass.query.cursor")
        monkeypatch.setattr(siteglass.query, "cursor", cursor)
        return importlib.import_module("siteglass.query.cursor")

    return imported


@pytest.mark.promise("cursor.whole_search")
def test_rows_that_are_added_change_no_cursor(with_catalogue: Callable[[str], Any]) -> None:
    """A field and an order in the middle of the catalogue, a year after."""
    source = Path(fields.__file__).read_text()
    number = ", cursor_id=99" if "cursor_id" in source else ""
    row = f'    Field("founded", "Year of foundation", 1999, show=Show("integer", "select"{number})),\n'
    first_row, first_sort = '    Field("domain",', '("-score",' if not number else '{"-score": 0,'
    assert source.count(first_row) == source.count(first_sort) == 1
    source = source.replace(first_row, row + first_row)
    source = source.replace(
        first_sort, first_sort[0] + ('"founded": 99, ' if number else '"founded", ') + first_sort[1:]
    )

    later = with_catalogue(source)

    for one in GOLDEN["cursors"]:
        assert _opened(one["cursor"], later) == _golden(one, later)
    sealed = later.CursorSealer([GOLDEN["secret"]], LIFE_S).seal(
        later.Continuation({}, ("founded", "domain"), "founded", 1, later.Position(1, "a.example"), 1, 0, "0" * 32),
        GOLDEN["account"],
        GOLDEN["issued_at_s"],
    )
    again = _opened(sealed, later)
    assert (again.select, again.sort) == (("founded", "domain"), "founded")
    with pytest.raises(InvalidCursor):  # of a field that is gone: refused, never read as another
        _opened(sealed)


def test_what_is_sealed_today_is_sealed_as_before() -> None:
    """Workers of the release before can open it while both run."""
    sealer = CursorSealer([GOLDEN["secret"]], LIFE_S)
    for one in GOLDEN["cursors"]:
        assert sealer.seal(_golden(one), GOLDEN["account"], GOLDEN["issued_at_s"]) == one["cursor"]
