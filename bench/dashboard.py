"""How long the service takes for every page of the dashboard, for an account with a long ledger.

    python -m bench.dashboard [--entries 1000000] [--keys 20] [--crowd 1000] [--rounds 50] [--keep]

Time from request to the whole page, seen by a client on the same machine; of a file, to its first bytes. Uses its own
tables, dropped afterwards. A second account has a crowd: so many people, and so many keys, 100 of which work.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx

from bench.common import write_result
from siteglass.dashboard.guard import DeclaredPage
from siteglass.dashboard.new_key import MAX_STANDING
from siteglass.dashboard.people_page import PAGE_PEOPLE
from siteglass.dashboard.routes import PAGES
from siteglass_demo.leads import generate
from testing.accounts import drop_schema
from testing.dashboard.actions import many_keys, many_people
from testing.dashboard.history import History, written
from testing.dashboard.visitors import Office, Somebody, office
from testing.progress import say

LEADS = tuple(generate(100, 1))  # pages of lists and searches need some
TARGET_MS = 50
WARM_UP = 3


@dataclass(frozen=True, slots=True)
class Place:
    """Something to ask for."""

    name: str
    path: str

    @property
    def is_file(self) -> bool:
        """Whether it is as long as the ledger."""
        return self.path.partition("?")[0].endswith(".csv")


def _filled(declared: DeclaredPage, history: History, person_id: int) -> str:
    """The path of a page with what is there: entries and keys of the history, who is signed in; else nothing's name."""
    known = {"seq": history.rows[-1]["seq"] // 2, "key_id": history.key_ids[0], "person_id": person_id}
    return re.sub(r"\{(\w+)(?::\w+)?\}", lambda found: str(known.get(found.group(1), "1")), declared.path)


def places(history: History, person_id: int) -> list[Place]:
    """Every page, and some again with what makes them look deeper."""
    pages = [Place(page.name, _filled(page, history, person_id)) for page in PAGES if page.method == "GET"]
    newest, key = history.rows[-1], history.key_ids[-1]
    first, last = (newest["at"].date().replace(day=1).isoformat(), newest["at"].date().isoformat())
    more = {
        "usage, 7 days": "/dashboard/usage?days=7",
        "usage, 90 days": "/dashboard/usage?days=90&credits=lead",
        # the widest that can be asked for; the history fills the last 90 days of it
        "usage, 366 days": f"/dashboard/usage?first={newest['at'].date() - timedelta(days=365)}&last={last}",
        "ledger, in its middle": f"/dashboard/ledger?before={newest['seq'] // 2}",
        "ledger, back to newer": f"/dashboard/ledger?after={newest['seq'] // 2}",
        "ledger, refunds": "/dashboard/ledger?kind=refund",
        "ledger, nothing of a kind": "/dashboard/ledger?kind=adjust&last=2000-01-01",
        "ledger, one key": f"/dashboard/ledger?key={key}",
        "ledger, charges of one key this month": f"/dashboard/ledger?kind=charge&key={key}&first={first}&last={last}",
        "ledger, one request": f"/dashboard/ledger?request={newest['request_id']}",
    }
    return [*pages, *(Place(name, path) for name, path in more.items())]


def _ask(client: httpx.Client, place: Place) -> tuple[float, int]:
    """Milliseconds and status."""
    started = time.perf_counter()
    with client.stream("GET", place.path) as answer:
        if place.is_file:
            next(answer.iter_raw(), b"")
        else:
            answer.read()
        return (time.perf_counter() - started) * 1e3, answer.status_code


def crowd_places(crowd: int) -> list[Place]:
    """The pages that list what an account may have a thousand of."""
    last = max(1, crowd // PAGE_PEOPLE)
    pages = {"keys": "/dashboard/keys", "people": "/dashboard/people", "people, last": f"/dashboard/people?page={last}"}
    return [Place(f"{name}, in a crowd", path) for name, path in pages.items()]


def measure(made: Office, who: Somebody, asked: list[Place], rounds: int) -> dict[str, dict[str, Any]]:
    """Median and 95th percentile of each page, asked for in turn so that all share what else the machine does.

    Files afterwards: one that is broken off keeps the service busy a moment longer.
    """
    visitor = made.visitor(who)
    cookies = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    times: dict[str, list[float]] = {place.name: [] for place in asked}
    statuses: dict[str, int] = {}
    with httpx.Client(base_url=made.url, headers={"Cookie": cookies}, timeout=60, trust_env=False) as client:
        for are_files in (False, True):
            for number in range(WARM_UP + rounds):
                for place in asked:
                    if place.is_file is not are_files:
                        continue
                    took_ms, statuses[place.name] = _ask(client, place)
                    if number >= WARM_UP:
                        times[place.name].append(took_ms)
    return {name: {"status": statuses[name], **_spread(took)} for name, took in times.items()}


def _spread(took_ms: list[float]) -> dict[str, float]:
    ordered = sorted(took_ms)
    return {
        "median_ms": round(ordered[len(ordered) // 2], 1),
        "p95_ms": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))], 1),
    }


def run(made: Office, entries: int, keys: int, rounds: int, crowd: int = 1_000) -> dict[str, Any]:
    """Fill the accounts and measure."""
    say(f"writing {entries:,} entries")
    history = written(made.settings, made.account(), entries, keys)
    crowded = made.somebody()
    many_people(made, crowded.account_id, crowd, "Somebody")
    many_keys(made, crowded.account_id, min(crowd, MAX_STANDING))
    many_keys(made, crowded.account_id, max(0, crowd - MAX_STANDING), revoked=True)
    say("asking for pages")
    who = made.somebody(history.account_id)
    pages = measure(made, who, places(history, who.id), rounds) | measure(made, crowded, crowd_places(crowd), rounds)
    slowest = max(pages, key=lambda name: pages[name]["median_ms"])
    return {
        "entries": entries,
        "keys": keys,
        "crowd": crowd,
        "rounds": rounds,
        "target_median_ms": TARGET_MS,
        "slowest": {"page": slowest, **pages[slowest]},
        "pages": pages,
    }


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=20)
    parser.add_argument("--crowd", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, office("bench-dashboard", Path(folder), LEADS) as made:
        try:
            figures = run(made, options.entries, options.keys, options.rounds, options.crowd)
        finally:
            asyncio.run(drop_schema(made.settings.postgres_dsn, made.settings.postgres_schema))
    sizes = f"--entries {options.entries} --keys {options.keys} --crowd {options.crowd}"
    command = f"python -m bench.dashboard {sizes} --rounds {options.rounds}"
    write_result("dashboard", figures, command, keep=options.keep)


if __name__ == "__main__":
    main()
