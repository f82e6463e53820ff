"""What the rounds say: medians with their spread, and the tables of bench/results/against.md."""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from bench.overhead.measure import ACCOUNTS_KIND, BARE, CLIENT, ENGINES, KEYED, NEW, OLD, SEARCH, SIDES, kind_of

PROCESSES = ("service", *ENGINES, CLIENT, "all")
FIGURES = ("per_second", "p50_ms", "p99_ms", "requests_each", "bytes_sent_each", "bytes_received_each")

Spread = dict[str, float]
Found = dict[str, Any]

HOW = """\
# A request against bare OpenSearch and against an older commit

Written by `make long-against`. One run alternates three sides that do the same work: the service of this checkout
(new), the service at an older commit (old), and bare OpenSearch.

- **Bare OpenSearch** receives the frozen request: byte for byte what the old service sends to the engine for the same
  request. Its cost does not change when the service asks the engine for less, so ratios of two runs can be compared.
- **Both services** load the same leads, each with its own code. They run as with `siteglass serve`: one worker, a key,
  the limit in Redis and a durable charge before the response.
- **Requests** come from the old checkout's seeded mix (`bench/overhead/mix.py`). Most searches have one to three
  conditions. Later pages are 30 %; a page has 20 or 100 leads.
- **Connections** come from one load generator, each with one request at a time.
- **Idempotency-Key**: in rows that name it, every request has a new one, and the service stores its response.
- **Cached**: every request was sent once on every side before. OpenSearch has its files in memory and the counts of
  first pages in its request cache. The service caches a key for a second and the opt-out list for 20, and no responses.
- **CPU of all processes** is that of Python, PostgreSQL, Redis, OpenSearch and the load generator, including their
  background work.
"""


def _over_rounds(values: Iterable[float]) -> Spread:
    all_ = list(values)
    return {"median": round(statistics.median(all_), 4), "min": round(min(all_), 4), "max": round(max(all_), 4)}


def summary(samples: list[Found]) -> list[Found]:
    """For each kind and number of connections: medians over the rounds, ratios and differences within a round."""
    cells = list(dict.fromkeys((sample["kind"], sample["connections"]) for sample in samples))
    return [_cell(kind, connections, samples) for kind, connections in cells]


def _cell(kind: str, connections: int, samples: list[Found]) -> Found:
    sides = {
        side: sorted(
            (s for s in samples if (s["kind"], s["connections"], s["side"]) == (kind, connections, side)),
            key=lambda s: s["round"],
        )
        for side in SIDES
    }
    cell: Found = {"kind": kind, "connections": connections}
    for side, found in sides.items():
        cell[side] = {name: _over_rounds(sample[name] for sample in found) for name in FIGURES}
        cell[side]["cpu_ms"] = {
            name: _over_rounds(sample["cpu_ms_each"][name] for sample in found) for name in PROCESSES
        }
    for side in (OLD, NEW):
        rounds = list(zip(sides[BARE], sides[side], strict=True))
        cell[side]["times_bare_per_second"] = _over_rounds(s["per_second"] / bare["per_second"] for bare, s in rounds)
        cell[side]["added_p50_ms"] = _over_rounds(s["p50_ms"] - bare["p50_ms"] for bare, s in rounds)
    rounds = list(zip(sides[OLD], sides[NEW], strict=True))
    cell["new_to_old"] = {
        "cpu": _over_rounds(new["cpu_ms_each"]["all"] / old["cpu_ms_each"]["all"] for old, new in rounds),
        "per_second": _over_rounds(new["per_second"] / old["per_second"] for old, new in rounds),
    }
    return cell


# --- aims -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure that the new service must reach, without and with an Idempotency-Key."""

    title: str
    kind: str
    connections: int
    bound: float
    figure: Callable[[Found], Spread]
    at_least: bool = False


def _cpu(process: str) -> Callable[[Found], Spread]:
    return lambda cell: cell[NEW]["cpu_ms"][process]


def _new(name: str) -> Callable[[Found], Spread]:
    return lambda cell: cell[NEW][name]


def _to_old(name: str) -> Callable[[Found], Spread]:
    return lambda cell: cell["new_to_old"][name]


AIMS = (
    Aim("CPU of all processes per search, times that of the old service", SEARCH, 8, 0.5, _to_old("cpu")),
    Aim("CPU of all processes per search, times that of the old service", SEARCH, 32, 0.5, _to_old("cpu")),
    Aim("CPU of Python per search, ms", SEARCH, 8, 1.5, _cpu("service")),
    Aim("CPU of Python per search, ms", SEARCH, 32, 1.5, _cpu("service")),
    Aim("CPU of PostgreSQL per search, ms", SEARCH, 8, 0.5, _cpu("postgres")),
    Aim("CPU of PostgreSQL per search, ms", SEARCH, 32, 0.35, _cpu("postgres")),
    Aim("p50 of a search above bare, ms", SEARCH, 1, 2.5, _new("added_p50_ms")),
    Aim("p50 of an enrichment of 1 above bare, ms", kind_of(1), 1, 1.3, _new("added_p50_ms")),
    Aim("enrichments of 100 per second, times the old service", kind_of(100), 1, 2.0, _to_old("per_second"), True),
    Aim("searches per second, times bare", SEARCH, 8, 0.8, _new("times_bare_per_second"), True),
    Aim("searches per second, times bare", SEARCH, 32, 0.8, _new("times_bare_per_second"), True),
)


def _aims(cells: list[Found]) -> str:
    by_place = {(cell["kind"], cell["connections"]): cell for cell in cells}

    def measured(aim: Aim, kind: str) -> tuple[str, bool]:
        spread = aim.figure(by_place[kind, aim.connections])
        median = spread["median"]
        return _with_spread(spread, 2), median >= aim.bound if aim.at_least else median <= aim.bound

    def row(aim: Aim) -> tuple[str, ...]:
        (plain, is_reached), (keyed, is_reached_keyed) = measured(aim, aim.kind), measured(aim, aim.kind + KEYED)
        reached = "yes" if is_reached and is_reached_keyed else "**no**"
        return aim.title, str(aim.connections), plain, keyed, f"{'≥' if aim.at_least else '≤'} {aim.bound:g}", reached

    titles = ("new service", "connections", "measured", "with Idempotency-Key", "aim", "reached")
    return _table(titles, map(row, AIMS))


# --- tables ---------------------------------------------------------------------------------------


def _with_spread(spread: Spread, digits: int) -> str:
    return f"{spread['median']:,.{digits}f} ({spread['min']:,.{digits}f}–{spread['max']:,.{digits}f})"


def _plain(spread: Spread, digits: int = 2) -> str:
    return f"{spread['median']:,.{digits}f}"


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _table(titles: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join([_row(titles), _row("---" for _ in titles), *(_row(row) for row in rows)])


def _headline(cells: list[Found]) -> str:
    return _table(
        ("request", "connections", "CPU of all processes, ms: bare", "old", "new", "new ÷ old",
         "p50 above bare, ms: old", "new"),
        (
            (
                cell["kind"], str(cell["connections"]), _plain(cell[BARE]["cpu_ms"]["all"]),
                _with_spread(cell[OLD]["cpu_ms"]["all"], 2), _with_spread(cell[NEW]["cpu_ms"]["all"], 2),
                _with_spread(cell["new_to_old"]["cpu"], 2), _with_spread(cell[OLD]["added_p50_ms"], 2),
                _with_spread(cell[NEW]["added_p50_ms"], 2),
            )
            for cell in cells
        ),
    )  # fmt: skip


def _throughput(cells: list[Found]) -> str:
    return _table(
        ("request", "connections", "bare, /s", "old, /s", "new, /s", "old ÷ bare", "new ÷ bare", "new ÷ old"),
        (
            (
                cell["kind"], str(cell["connections"]), *(_plain(cell[side]["per_second"], 0) for side in SIDES),
                *(_with_spread(cell[side]["times_bare_per_second"], 2) for side in (OLD, NEW)),
                _with_spread(cell["new_to_old"]["per_second"], 2),
            )
            for cell in cells
        ),
    )  # fmt: skip


def _by_process(cells: list[Found]) -> str:
    def spent(cell: Found, name: str) -> str:
        return " / ".join(_plain(cell[side]["cpu_ms"][name]) for side in SIDES)

    return _table(
        ("request", "connections", "Python", "PostgreSQL", "Redis", "OpenSearch", "load generator"),
        (
            (cell["kind"], str(cell["connections"]), *(spent(cell, name) for name in ("service", *ENGINES, CLIENT)))
            for cell in cells
        ),
    )


def _latency(cells: list[Found]) -> str:
    return _table(
        ("request", "connections", "bare p50", "old p50", "new p50", "bare p99", "old p99", "new p99"),
        (
            (
                cell["kind"],
                str(cell["connections"]),
                *(_with_spread(cell[side]["p50_ms"], 2) for side in SIDES),
                *(_with_spread(cell[side]["p99_ms"], 1) for side in SIDES),
            )
            for cell in cells
        ),
    )


def _dropped(result: Found) -> str:
    reasons = "; ".join(f"{count} ({reason})" for reason, count in result["dropped"].items())
    return f"Searches that were drawn and not measured: {reasons}." if reasons else "No search had to be left out."


def _filled(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


def page(result: Found) -> str:
    """The page of a run: how it was measured, and its tables."""
    cells, size, searched = result["summary"], result["size"], result["recorded"][SEARCH]
    load = ", ".join(f"{value:.1f}" for value in result["machine"]["load_average"])
    accounts = ACCOUNTS_KIND.removeprefix(f"{SEARCH}, ")
    measured = f"""
        New: {result["commits"][NEW]}. Old: {result["commits"][OLD]}. {size["leads"]:,} leads in one segment each,
        {searched["distinct"]:,} distinct searches, {size["rounds"]} rounds of {size["seconds"]:g} s a side. A search
        has {searched["leads_each"]:.1f} leads and {searched["engine_requests_each"]:.2f} frozen engine requests on
        average;
        {searched["without_leads"]} have no leads. Measured on {result["date"]} with {result["machine"]["cores"]} cores,
        load average at the end {load}."""
    compared = f"""
        Both services returned the same leads in the same order and the same total for all {searched["same_leads"]:,}
        searches, with equal fields in {searched["same_records"]:,} of them. {_dropped(result)}"""
    explained = f"""
        All requests are those of one account, except in the row with {accounts}. The tables show medians of the
        rounds, with minimum and maximum in brackets; ratios and differences are taken within each round."""
    return f"""{HOW}
{_filled(measured)}

{_filled(compared)}

{_filled(explained)}

{_headline(cells)}

{_aims(cells)}

Throughput, against bare OpenSearch with the frozen request:

{_throughput(cells)}

CPU per request by process, ms, bare / old / new:

{_by_process(cells)}

Time of a request, ms:

{_latency(cells)}
"""
