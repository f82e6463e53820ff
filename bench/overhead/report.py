"""What the rounds say: medians with their spread, the tables of docs/performance.md and the plots."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.overhead.measure import BARE, SEARCH, SERVICE

# Aims for a search: milliseconds that the service may add.
MOST_PYTHON_MS, MOST_POSTGRES_MS, MOST_P50_MS = 1.5, 0.6, 3.0
PROCESSES = ("service", "postgres", "redis", "opensearch", "client")
SECTION = re.compile(r"(<!-- overhead: made by bench\.overhead -->\n).*?(<!-- end of overhead -->)", re.DOTALL)

Spread = dict[str, float]


def _over_rounds(values: Iterable[float]) -> Spread:
    found = list(values)
    return {"median": round(statistics.median(found), 4), "min": round(min(found), 4), "max": round(max(found), 4)}


def summary(samples: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each kind and number of connections: medians over the rounds, ratios and differences within a round."""
    cells = list(dict.fromkeys((sample["kind"], sample["connections"]) for sample in samples))
    return [_cell(kind, connections, samples) for kind, connections in cells]


def _cell(kind: str, connections: int, samples: list[dict[str, Any]]) -> dict[str, Any]:
    sides = {
        side: sorted(
            (s for s in samples if (s["kind"], s["connections"], s["side"]) == (kind, connections, side)),
            key=lambda s: s["round"],
        )
        for side in (BARE, SERVICE)
    }
    rounds = list(zip(sides[BARE], sides[SERVICE], strict=True))
    cell: dict[str, Any] = {
        "kind": kind,
        "connections": connections,
        "throughput_ratio": _over_rounds(ours["per_second"] / bare["per_second"] for bare, ours in rounds),
        "added_p50_ms": _over_rounds(ours["p50_ms"] - bare["p50_ms"] for bare, ours in rounds),
        "added_p99_ms": _over_rounds(ours["p99_ms"] - bare["p99_ms"] for bare, ours in rounds),
        "added_cpu_ms": {
            name: _over_rounds(ours["cpu_ms_each"][name] - bare["cpu_ms_each"][name] for bare, ours in rounds)
            for name in PROCESSES
        },
    }
    for side, found in sides.items():
        cell[side] = {
            name: _over_rounds(sample[name] for sample in found)
            for name in ("per_second", "p50_ms", "p99_ms", "requests_each", "bytes_sent_each", "bytes_received_each")
        }
        cell[side]["cpu_ms"] = {
            name: _over_rounds(sample["cpu_ms_each"][name] for sample in found) for name in PROCESSES
        }
    return cell


# --- tables ---------------------------------------------------------------------------------------


def _with_spread(spread: Spread, digits: int) -> str:
    return f"{spread['median']:,.{digits}f} ({spread['min']:,.{digits}f}–{spread['max']:,.{digits}f})"


def _plain(spread: Spread, digits: int = 2) -> str:
    return f"{spread['median']:,.{digits}f}"


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _table(titles: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join([_row(titles), _row("---" for _ in titles), *(_row(row) for row in rows)])


def _aims(cells: list[dict[str, Any]]) -> str:
    searches = [cell for cell in cells if cell["kind"] == SEARCH]
    one = searches[0]
    python = [cell["added_cpu_ms"]["service"]["median"] for cell in searches]
    postgres = [cell["added_cpu_ms"]["postgres"]["median"] for cell in searches]
    at = "/".join(str(cell["connections"]) for cell in searches)
    aims = (
        (f"CPU of Python per search, ms, at {at} connections", python, MOST_PYTHON_MS),
        (f"CPU of PostgreSQL per search, ms, at {at} connections", postgres, MOST_POSTGRES_MS),
        (f"added p50 of a search, ms, at {one['connections']}", [one["added_p50_ms"]["median"]], MOST_P50_MS),
    )
    rows = (
        (what, " / ".join(f"{value:.2f}" for value in found), f"≤ {most}", "yes" if max(found) <= most else "**no**")
        for what, found, most in aims
    )
    return _table(("added by the service", "measured", "aim", "reached"), rows)


def section(result: dict[str, Any]) -> str:
    """The generated part of docs/performance.md."""
    cells, size = result["summary"], result["size"]
    searched = result["recorded"][SEARCH]
    speed = _table(
        ("request", "connections", "bare, /s", "service, /s", "ratio", "bare p50", "service p50", "bare p99",
         "service p99", "added p50"),
        (
            (
                cell["kind"], str(cell["connections"]), _plain(cell[BARE]["per_second"], 0),
                _plain(cell[SERVICE]["per_second"], 0), _with_spread(cell["throughput_ratio"], 3),
                _with_spread(cell[BARE]["p50_ms"], 2), _with_spread(cell[SERVICE]["p50_ms"], 2),
                _with_spread(cell[BARE]["p99_ms"], 1), _with_spread(cell[SERVICE]["p99_ms"], 1),
                _with_spread(cell["added_p50_ms"], 2),
            )
            for cell in cells
        ),
    )  # fmt: skip
    spent = _table(
        ("request", "connections", "Python", "PostgreSQL", "Redis", "OpenSearch, bare → service",
         "load generator, bare → service"),
        (
            (
                cell["kind"], str(cell["connections"]),
                *(_with_spread(cell["added_cpu_ms"][name], 2) for name in ("service", "postgres", "redis")),
                *(
                    f"{_plain(cell[BARE]['cpu_ms'][name])} → {_plain(cell[SERVICE]['cpu_ms'][name])}"
                    for name in ("opensearch", "client")
                ),
            )
            for cell in cells
        ),
    )  # fmt: skip
    sent = _table(
        ("request", "bare, sent", "bare, received", "service, sent", "service, received"),
        (
            (
                cell["kind"],
                *(
                    _plain(cell[side][name], 0)
                    for side in (BARE, SERVICE)
                    for name in ("bytes_sent_each", "bytes_received_each")
                ),
            )
            for cell in cells
            if cell["connections"] == cells[0]["connections"]
        ),
    )
    load = ", ".join(f"{value:.1f}" for value in result["machine"]["load_average"])
    return f"""
{result["leads"]:,} leads in one segment, {searched["distinct"]:,} distinct searches, {size["rounds"]} rounds.
A search has {searched["leads_each"]:.1f} leads and {searched["engine_requests_each"]:.2f} engine requests on average;
{searched["without_leads"]} have no leads. Measured on {result["date"]} with {result["machine"]["cores"]} cores, load
average at the end {load}. In all {searched["same_leads"]:,} searches and all enrichments, both sides returned the same
leads. The tables show medians of the rounds, with minimum and maximum in brackets.

{_aims(cells)}

Throughput and time (ms). The ratio and the added p50 are taken within each round.

{speed}

CPU per request, ms. OpenSearch and the load generator work on both sides.

{spent}

Bytes per request, heads and bodies.

{sent}

![Throughput of the service against bare OpenSearch](images/performance/overhead-throughput.svg)
![p50 and p99 of both sides](images/performance/overhead-latency.svg)
![CPU per request by process](images/performance/overhead-cpu.svg)
"""


def write_section(page: Path, text: str) -> None:
    """Put the generated part between its markers; a page without them is made of it alone."""
    if page.exists():
        before = page.read_text()
        after, found = SECTION.subn(lambda markers: markers[1] + text + markers[2], before)
        if not found:
            raise RuntimeError(f"{page} has no place for the generated part")
    else:
        page.parent.mkdir(parents=True, exist_ok=True)
        after = f"<!-- overhead: made by bench.overhead -->\n{text}<!-- end of overhead -->\n"
    page.write_text(after)
