"""Overview and usage of an account whose past is known: exact figures, empty states, hostile names, CSV."""

from __future__ import annotations

import asyncio
import csv
import html
import io
import json
import re
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from siteglass.dashboard.rendering import mean
from siteglass.platform.postgres import Postgres
from testing.accounts import open_key, owner, pay
from testing.dashboard.history import History, written
from testing.dashboard.visitors import Office, Visitor
from testing.service import API_KEY
from tests.accounts.writing import as_owner


@pytest.fixture(scope="module")
def past(the_office: Office, today: date) -> History:
    """An account with twelve keys and two thousand entries, the newest of today."""
    return written(the_office.settings, the_office.account(), 2_000, 12)


@pytest.fixture(scope="module")
def visitor(the_office: Office, past: History) -> Visitor:
    return the_office.visitor(the_office.somebody(past.account_id, role="viewer"))


@pytest.fixture(scope="module")
def newcomer(the_office: Office) -> Visitor:
    return the_office.visitor(the_office.somebody(the_office.account(api=10_000_000, lead=1_000_000_000_000)))


def charts(page: str) -> dict[str, dict[str, Any]]:
    """What the script of the page draws, by the number of the chart's element."""
    found = re.findall(r'<div class="chart[^"]*" id="([^"]*)" role="img" aria-label="[^"]+" data-chart="([^"]*)"', page)
    return {name: json.loads(html.unescape(data)) for name, data in found}


def lines(chart: dict[str, Any]) -> dict[str, list[int]]:
    return {line["label"]: line["values"] for line in chart["lines"]}


def figures(page: str) -> list[str]:
    """The values of tiles."""
    return [re.sub("<[^>]*>", "", value) for value in re.findall(r'<p class="tile-value[^"]*">(.*?)</p>', page)]


def by_day(past: History, place: int, days: int, **wanted: object) -> list[int]:
    return [past.credits(place, day=past.today - timedelta(days=days - 1 - n), **wanted) for n in range(days)]


@pytest.mark.promise("feature.dashboard")
def test_the_overview_tells_what_is_left_and_what_was_used(visitor: Visitor, past: History) -> None:
    page = visitor.get("/dashboard").text
    ends = past.expiring[0][0]
    assert figures(page) == [f"{past.api:,}", f"{past.lead:,}", f"{ends.day} {ends:%b %Y}"]
    told = re.findall(r"<dt>([^<]*)</dt><dd>(.*?)</dd>", page)
    spoken = [(name, re.sub("<[^>]*>", "", value)) for name, value in told]
    for place, left in ((1, past.api), (2, past.lead)):
        pace = sum(by_day(past, place, 8)[:-1]) / 7
        until = (datetime.now(UTC) + timedelta(days=left / pace)).date()
        tile = spoken[3 * (place - 1) : 3 * place]
        assert tile == [
            ("Used today", f"{past.credits(place, day=past.today):,}"),
            ("Pace, last 7 days", f"{mean(pace)} a day"),
            ("Lasts until", f"{until.day} {until:%b %Y}"),
        ]
    assert spoken[6:9] == [("API credits", "20"), ("Lead credits", "10"), ("Later", "1 more date")]
    drawn = charts(page)
    assert lines(drawn["credits"]) == {"API credits": by_day(past, 1, 30), "Lead credits": by_day(past, 2, 30)}
    assert drawn["credits"]["days"][-1] == past.today.isoformat()
    newest = [row["seq"] for row in past.rows][:-6:-1]
    assert [int(seq) for seq in re.findall(r'href="/dashboard/ledger/(\d+)"', page)] == newest
    assert "first-call" not in page


def test_who_never_asked_is_told_how_to_begin(newcomer: Visitor) -> None:
    page = newcomer.get("/dashboard").text
    assert figures(page)[:2] == ["10,000,000", "1,000,000,000,000"]
    assert page.count("<dt>Pace</dt><dd>known after a full day</dd>") == 2
    assert page.count("<dt>Lasts until</dt><dd>known after a full day</dd>") == 2
    assert 'href="/dashboard/keys"' in page
    call = html.unescape(re.findall(r'<code id="first-call"[^>]*>([^<]*)</code>', page)[0])
    assert call.startswith(f'curl -s "{newcomer.url}/v1/leads/search" \\\n')
    body = json.loads(call.partition("-d '")[2].removesuffix("'"))
    answer = httpx.post(f"{newcomer.url}/v1/leads/search", json=body, headers={"X-API-Key": API_KEY}, trust_env=False)
    assert answer.json()["error"] != "INVALID_REQUEST"
    assert charts(page) == {}
    assert "uplot" not in page


@pytest.mark.parametrize(("opened_ago", "title"), [(0, "today"), (3, "last 4 days"), (300, "last 30 days")])
def test_charts_of_a_new_account_begin_on_the_day_it_was_opened(
    the_office: Office, today: date, opened_ago: int, title: str
) -> None:
    account = the_office.account(api=100, lead=1_000)

    async def begin(postgres: Postgres) -> None:
        caller, _ = await open_key(postgres, account)
        await pay(postgres, caller, 2, 3)
        made = "UPDATE {schema}.accounts SET created_at = now() - make_interval(days => $2) WHERE id = $1"
        await as_owner(the_office.settings.postgres_dsn, postgres, made, account, opened_ago)

    the_office.do(begin)
    visitor = the_office.visitor(the_office.somebody(account))
    days = [(today - timedelta(days=ago)).isoformat() for ago in reversed(range(min(opened_ago + 1, 30)))]
    page = visitor.get("/dashboard").text
    assert charts(page)["credits"]["days"] == days
    assert {name: values[-1] for name, values in lines(charts(page)["credits"]).items()} == {
        "API credits": 2,
        "Lead credits": 3,
    }
    assert f"Credits used, {title}</h2>" in page
    assert f"Requests, {title}</h2>" in page
    # Charges of part of a day foretell nothing.
    assert page.count("<dt>Lasts until</dt><dd>known after a full day</dd>") == 2
    assert charts(visitor.get("/dashboard/usage?days=30").text)["by-key"]["days"] == days
    csv_name = visitor.get("/dashboard/usage.csv?days=30").headers["content-disposition"]
    assert csv_name == f'attachment; filename="siteglass-usage-{days[0]}-{today}.csv"'
    named = f"first={today - timedelta(days=9)}&last={today}"
    assert len(charts(visitor.get(f"/dashboard/usage?{named}").text)["by-key"]["days"]) == 10


def test_a_balance_that_is_used_up_warns(the_office: Office) -> None:
    page = the_office.visitor(the_office.somebody()).get("/dashboard").text
    assert page.count('<section class="tile warn"') == 2
    assert page.count("<dd>none left</dd>") == 2


async def _set_balance(office: Office, account_id: int, api: int) -> None:
    connection = await asyncpg.connect(owner(office.settings.postgres_dsn))
    await connection.execute(
        f"UPDATE {office.settings.postgres_schema}.balances SET api = $2 WHERE account_id = $1", account_id, api
    )
    await connection.close()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0"),
        (0.04, "0"),
        (7.0, "7"),
        (12.34, "12.3"),
        (99.94, "99.9"),
        (99.96, "100"),
        (340.3, "340"),
        (1e7, "10,000,000"),
    ],
)
def test_a_mean_has_tenths_below_100(value: float, said: str) -> None:
    assert mean(value) == said


def test_what_failed_has_the_colour_of_something_bad(visitor: Visitor) -> None:
    page = visitor.get("/dashboard").text
    assert re.findall(r'swatch colour-(\w+)"></span><span class="legend-label" title="(\w+)', page)[-4:] == [
        ("1", "Answered"),
        ("2", "Refused"),
        ("3", "Rate"),
        ("bad", "Failed"),
    ]
    sheets = re.findall(r'href="(\S+(?:tokens|app)\.css)"', page)
    # light, dark, and where it is used
    assert "".join(visitor.get(sheet).text for sheet in sheets).count("--chart-bad") == 3


@pytest.mark.parametrize(("days", "tone"), [(6, "warn"), (9, "")])
def test_a_balance_that_soon_is_used_up_warns(the_office: Office, days: int, tone: str) -> None:
    past = written(the_office.settings, the_office.account(), 1_500, 1)
    pace = sum(by_day(past, 1, 8)[:-1]) / 7
    asyncio.run(_set_balance(the_office, past.account_id, int(pace * days)))
    page = the_office.visitor(the_office.somebody(past.account_id)).get("/dashboard").text
    assert re.findall(r'<section class="tile (\w*)" aria-label="(\w+) credits">', page) == [(tone, "API"), ("", "Lead")]


@pytest.mark.promise("feature.dashboard")
def test_usage_is_drawn_by_operation_key_and_outcome(visitor: Visitor, past: History) -> None:
    for kind, place in (("api", 1), ("lead", 2)):
        page = visitor.get(f"/dashboard/usage?days=90&credits={kind}").text
        drawn = charts(page)
        operations = sorted({operation for _, _, operation in past.usage})
        of_each = {name: by_day(past, place, 90, operation=name) for name in operations}
        assert lines(drawn["by-operation"]) == {name: values for name, values in of_each.items() if any(values)}
        both = {key: past.credits(1, key=key) + past.credits(2, key=key) for key in past.key_ids}
        top = sorted(both, key=lambda key: (-both[key], key))[:5]
        expected = {past.names[key]: by_day(past, place, 90, key=key) for key in top}
        others = [by_day(past, place, 90, key=key) for key in past.key_ids if key not in top]
        expected["other keys"] = [sum(day) for day in zip(*others, strict=True)]
        assert lines(drawn["by-key"]) == expected
        outcomes: Counter[str] = Counter()
        for (_, _, _, outcome), count in past.requests.items():
            outcomes[outcome] += count
        totals = {label: sum(values) for label, values in lines(drawn["requests"]).items()}
        words = {"ok": "Answered", "refused": "Refused", "limited": "Rate-limited", "failed": "Failed"}
        assert totals == {word: outcomes[outcome] for outcome, word in words.items()}
        api, lead, requests = past.credits(1), past.credits(2), outcomes.total()
        assert figures(page) == [f"{number:,}" for number in (api, lead, requests, requests - outcomes["ok"])]


def test_a_table_says_the_same_as_its_chart(visitor: Visitor, past: History) -> None:
    page = visitor.get("/dashboard/usage?days=7&credits=lead").text
    drawn = charts(page)["by-operation"]
    table = re.findall(r"<table>.*?</table>", page, re.DOTALL)[0]
    heads = re.findall(r'title="([^"]*)">', table)
    assert heads == [line["label"] for line in drawn["lines"]]
    cells = [re.findall(r'<td class="number">([^<]*)</td>', row) for row in re.findall(r"<tr>.*?</tr>", table)[1:]]
    columns = [[f"{value:,}" for value in reversed(line["values"])] for line in drawn["lines"]]
    assert cells[:-1] == [list(row) for row in zip(*columns, strict=True)]
    assert cells[-1] == [f"{sum(line['values']):,}" for line in drawn["lines"]]


def test_days_of_ones_own_are_shown_and_too_many_are_refused(visitor: Visitor, today: date) -> None:
    first = today - timedelta(days=365)
    page = visitor.get(f"/dashboard/usage?first={first}&last={today}").text
    assert charts(page)["by-key"]["days"][0] == first.isoformat()
    assert len(charts(page)["by-key"]["days"]) == 366
    one = visitor.get(f"/dashboard/usage?first={today}&last={today}&credits=lead").text
    assert charts(one)["by-key"]["days"] == [today.isoformat()]
    for wrong in (f"first={first - timedelta(days=1)}&last={today}", f"first={today}&last={first}", "first=soon"):
        page = visitor.get(f"/dashboard/usage?{wrong}").text
        assert 'role="alert"' in page
        assert len(charts(page)["by-key"]["days"]) == 30
    for odd in ("first=0001-01-01&last=0001-01-01", "last=0001-01-02", "last=9999-12-31", "days=0", "credits=x"):
        assert visitor.get(f"/dashboard/usage?{odd}").status_code == 200


def test_usage_without_any_has_no_empty_grid(newcomer: Visitor) -> None:
    page = newcomer.get("/dashboard/usage").text
    assert charts(page) == {}
    assert page.count('<p class="empty-title">') == 3
    assert figures(page) == ["0", "0", "0", "0"]


def test_usage_as_csv_is_what_was_charged_and_no_formula(visitor: Visitor, past: History) -> None:
    answer = visitor.get("/dashboard/usage.csv?days=90")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    first = past.today - timedelta(days=89)
    name = f"siteglass-usage-{first}-{past.today}.csv"
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    rows = list(csv.reader(io.StringIO(answer.text, newline="")))
    assert rows[0] == ["day", "operation", "key_id", "key_name", "requests", "api_credits", "lead_credits"]
    expected = [
        [day.isoformat(), operation, str(key), _safe(past.names[key]), *map(str, used)]
        for (key, day, operation), used in past.usage.items()
    ]
    assert rows[1:] == sorted(expected, key=lambda row: (row[0], row[1], int(row[2])))
    assert any(row[3] == "'=cmd|' /C calc'!A0" for row in rows)


def _safe(name: str) -> str:
    return f"'{name}" if name.startswith("=") else name


@pytest.mark.parametrize("path", ["/dashboard", "/dashboard/usage", "/dashboard/ledger"])
def test_hostile_names_are_text(visitor: Visitor, path: str) -> None:
    page = visitor.get(path).text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert not re.search(r"<script(?! nonce=)", page)
    assert "<img src=x" not in page
    assert not re.search(r"""\s(?:style|on\w+|hx-on\S*)=["']""", re.sub(r'"[^"]*"', '""', page))
