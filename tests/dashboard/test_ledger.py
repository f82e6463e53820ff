"""The ledger page and its entries: filters, paging by numbers, one entry in full, CSV, what is not there."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from siteglass.billing import ledger_csv
from siteglass.billing.ledger_csv import NAMED_COLUMNS
from testing.dashboard.history import HOSTILE_NAMES, History, written
from testing.dashboard.visitors import Office, Visitor

PAGE = 50
Row = dict[str, Any]


@pytest.fixture(scope="module")
def past(the_office: Office) -> History:
    return written(the_office.settings, the_office.account(), 2_100, 6, seed=2)


@pytest.fixture(scope="module")
def visitor(the_office: Office, past: History) -> Visitor:
    return the_office.visitor(the_office.somebody(past.account_id, role="viewer"))


def numbers(page: str) -> list[int]:
    return [int(seq) for seq in re.findall(r'<td><a href="/dashboard/ledger/(\d+)"', page)]


def link(page: str, name: str) -> str | None:
    found = re.search(rf'<a class="button" id="{name}" href="([^"]*)" hx-get="([^"]*)"', page)
    assert found is None or found.group(1) == found.group(2)
    return html.unescape(found.group(1)) if found else None


def newest_first(past: History, wanted: Callable[[Row], bool]) -> list[int]:
    return [row["seq"] for row in reversed(past.rows) if wanted(row)]


def walked(visitor: Visitor, path: str | None, name: str = "older") -> list[list[int]]:
    pages = []
    while path is not None:
        page = visitor.get(path).text
        pages.append(numbers(page))
        path = link(page, name)
    return pages


def test_times_have_seconds(visitor: Visitor, past: History) -> None:
    newest = past.rows[-1]
    at = newest["at"]
    said = f"{at.day} {at:%b %Y, %H:%M:%S} UTC</time>"
    for path in ("/dashboard", "/dashboard/ledger", f"/dashboard/ledger/{newest['seq']}"):
        assert said in visitor.get(path).text, path


def test_every_entry_is_on_one_page_and_the_way_back_is_the_same(visitor: Visitor, past: History) -> None:
    down = walked(visitor, "/dashboard/ledger")
    assert [seq for page in down for seq in page] == list(range(2_100, 0, -1))
    assert {len(page) for page in down} == {PAGE}
    page = visitor.get(f"/dashboard/ledger?before={PAGE + 1}").text
    assert link(page, "older") is None
    up = walked(visitor, link(page, "newer"), "newer")
    assert up == down[-2::-1]


FILTERS: list[tuple[str, Callable[[Row, History], bool]]] = [
    ("kind=refund", lambda row, _: row["kind"] == "refund"),
    ("kind=grant", lambda row, _: row["kind"] == "grant"),
    ("key={key}", lambda row, past: row["actor_id"] == str(past.key_ids[1])),
    ("first={day}&last={day}", lambda row, past: row["at"].date() == _day(past)),
    ("last={day}&kind=charge", lambda row, past: row["at"].date() <= _day(past) and row["kind"] == "charge"),
    ("request={request}", lambda row, past: row["request_id"] == past.rows[-1]["request_id"]),
]


def _day(past: History) -> Any:
    return past.rows[-1]["at"].date() - timedelta(days=20)


@pytest.mark.parametrize(("query", "holds"), FILTERS, ids=[query for query, _ in FILTERS])
def test_filters_let_through_what_fits_and_nothing_else(
    visitor: Visitor, past: History, query: str, holds: Callable[[Row, History], bool]
) -> None:
    request = past.rows[-1]["request_id"]
    path = "/dashboard/ledger?" + query.format(key=past.key_ids[1], day=_day(past), request=request)
    expected = newest_first(past, lambda row: holds(row, past))
    assert expected
    assert [seq for page in walked(visitor, path) for seq in page] == expected
    rows = list(csv.DictReader(io.StringIO(visitor.get(path.replace("ledger?", "ledger.csv?")).text, newline="")))
    assert [int(row["seq"]) for row in rows] == expected


def test_filters_that_cannot_be_read_are_named(visitor: Visitor) -> None:
    for wrong in ("kind=gift", "key=x", "first=soon", "first=2026-02-02&last=2026-02-01", "request=" + "x" * 101):
        page = visitor.get(f"/dashboard/ledger?{wrong}")
        assert page.status_code == 200
        assert 'role="alert"' in page.text
        assert len(numbers(page.text)) == PAGE
    for odd in ("before=0", "before=x", "after=999999999999999999", "last=9999-12-31", "first=0001-01-01", "key=7" * 9):
        assert visitor.get(f"/dashboard/ledger?{odd}").status_code == 200


def test_nothing_yet_and_nothing_that_fits_are_told_apart(the_office: Office, visitor: Visitor) -> None:
    new = the_office.visitor(the_office.somebody()).get("/dashboard/ledger").text
    assert "No entries yet" in new
    assert '<form class="filters' not in new
    assert ".csv" not in new
    none = visitor.get("/dashboard/ledger?kind=adjust&last=2000-01-01").text
    assert "No matching entries" in none
    assert '<option value="adjust" selected>' in none


@pytest.mark.parametrize("enriched", [False, True])
def test_an_entry_is_told_domain_by_domain(visitor: Visitor, past: History, enriched: bool) -> None:
    row = next(
        row
        for row in reversed(past.rows)
        if "<script>" in row["domains"] and (row["operation"] == "enrich") is enriched
    )
    page = visitor.get(f"/dashboard/ledger/{row['seq']}").text
    told = re.findall(r'<span class="breaks">(.*?)</span></td><td[^>]*>(.*?)</td><td[^>]*>(.*?)</td>', page)
    words = {
        "c": ("We have data for this domain." if enriched else "It has an email address.", "1 lead credit"),
        "n": ("We have no email address for it.", "free"),
        "u": ("We have no data for this domain.", "free"),
        "p": ("You already paid for it.", "free"),
    }
    expected = [(line[2:], *words[line[0]]) for line in row["domains"].split("\n")]
    assert [tuple(map(html.unescape, cells)) for cells in told] == expected
    assert row["hash"].hex() in page
    assert row["request_id"] in page
    assert html.escape(past.names[int(row["actor_id"])]).replace("&#x27;", "&#39;").replace("&quot;", "&#34;") in page
    assert "<script>alert" not in page
    charged = sum(price == "1 lead credit" for _, _, price in expected)
    assert f"{charged} charged, {len(expected) - charged} free" in page


def test_what_corrected_an_entry_stands_with_it(visitor: Visitor, past: History) -> None:
    refund = next(row for row in reversed(past.rows) if row["kind"] == "refund")
    page = visitor.get(f"/dashboard/ledger/{refund['refers_to']}").text
    assert numbers(page) == [refund["seq"]]
    page = visitor.get(f"/dashboard/ledger/{refund['seq']}").text
    assert f'<a href="/dashboard/ledger/{refund["refers_to"]}">' in page


def test_credits_that_expired_at_another_time_do_not_belong_together(visitor: Visitor, past: History) -> None:
    expired = [row["seq"] for row in past.rows if row["kind"] == "expire"]
    assert len(expired) == 2
    assert numbers(visitor.get(f"/dashboard/ledger/{expired[1]}").text) == []


def test_numbers_that_are_not_there_are_not_found(visitor: Visitor) -> None:
    for seq in ("0", "2101", "999999999999999999", "1" * 19, "x", "-1", "1.5", "%31%00"):
        answer = visitor.get(f"/dashboard/ledger/{seq}")
        assert (answer.status_code, "Page not found" in answer.text) == (404, True), seq


def test_another_account_sees_nothing_of_it(the_office: Office, past: History) -> None:
    other = the_office.visitor(the_office.somebody(the_office.account(api=5)))
    assert other.get(f"/dashboard/ledger/{past.rows[-1]['seq']}").status_code == 404
    for query in (f"key={past.key_ids[0]}", f"request={past.rows[-1]['request_id']}"):
        assert numbers(other.get(f"/dashboard/ledger?{query}").text) == []
        assert other.get(f"/dashboard/ledger.csv?{query}").text.count("\n") == 1
    assert html.escape(HOSTILE_NAMES[0]) not in other.get("/dashboard/ledger").text


def test_the_file_has_every_entry_and_no_formula(visitor: Visitor, past: History) -> None:
    answer = visitor.get("/dashboard/ledger.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    assert answer.headers["content-disposition"] == f'attachment; filename="siteglass-ledger-{today}.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert tuple(rows[0]) == NAMED_COLUMNS
    assert [int(row["seq"]) for row in rows] == list(range(2_100, 0, -1))
    for told, row in zip(rows, reversed(past.rows), strict=True):
        assert (int(told["api_credits"]), int(told["lead_credits"])) == (row["api"], row["lead"])
        assert told["hash"] == row["hash"].hex()
    assert "'=cmd|' /C calc'!A0" in {row["key_name"] for row in rows}
    assert not [value for row in rows for value in row.values() if value.startswith(("=", "@"))]


def test_a_file_that_is_cut_is_said_to_be(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    page = visitor.get("/dashboard/ledger").text
    assert "at most 100,000 entries" in page
    assert "more: set a last day" not in page
    monkeypatch.setattr("siteglass.dashboard.ledger.MAX_CSV_ROWS", 2_000)
    monkeypatch.setattr(ledger_csv, "MAX_CSV_ROWS", 2_000)
    assert "There are more: set a last day" in visitor.get("/dashboard/ledger").text
    assert "There may be more: set a last day" in visitor.get("/dashboard/ledger?kind=charge").text
    assert visitor.get("/dashboard/ledger.csv").text.count("\n") == 2_001
