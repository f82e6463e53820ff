"""What list builders get: the 45 searches written beforehand, and the first ten leads of 20 trades.

python -m bench.trade_searches ask BASE_URL API_KEY FILE      ask a running demo, and keep what it answers
python -m bench.trade_searches page BEFORE AFTER              both side by side, for people to judge
python -m bench.trade_searches twenty BASE_URL API_KEY        titles and descriptions of ten leads for each trade
python -m bench.trade_searches same BASE_URL API_KEY          other words and languages for a trade: the same leads
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path
from typing import Any

from siteglass_client import Siteglass

CORPUS = Path("testing/corpus/trades")
SHOWN = 3
OF_A_TRADE = 10
MAX_COMPARED = 5_000
# The same trade in English, German and French, and other English words for a roofer.
SAME = (
    ("dentists in Germany", "Zahnärzte in Deutschland", "dentistes en Allemagne"),
    ("hotels in Italy", "Hotels in Italien", "hôtels en Italie"),
    ("bakeries in France", "Bäckereien in Frankreich", "boulangeries en France"),
    ("accountants in the US", "Steuerberater in den USA", "comptables aux États-Unis"),
    ("roofers in Florida", "roofing in Florida", "roofing contractors in Florida", "roofing company in Florida"),
)


def searches() -> list[tuple[str, str]]:
    """Each search with what would satisfy whoever typed it."""
    with (CORPUS / "list_builder_searches.tsv").open() as rows:
        return [(row["query"], row["note"]) for row in csv.DictReader(rows, delimiter="\t")]


def ask(client: Siteglass) -> list[dict[str, Any]]:
    """Reading, count and first names of each search."""
    asked = []
    for query, _ in searches():
        search = client.search(query, select=["domain", "business_name", "title"], limit=SHOWN, max_leads=SHOWN)
        read = search.interpret()
        # What yields no condition is refused, and costs nothing.
        leads = list(search) if read.conditions else []
        asked.append(
            {
                "query": query,
                "directives": read.directives,
                "unused": [" ".join(words.text for words in note.words) for note in read.unsupported],
                "count": read.total_results if read.conditions else None,
                "leads": [f"{one.business_name or one.domain}: {one.title}" for one in leads],
            }
        )
    return asked


def page(before: Path, after: Path) -> str:
    """Two answers to each search, as a page."""
    lines = ["# 45 searches of people who build lists, before and after trades", ""]
    old, new = json.loads(before.read_text()), json.loads(after.read_text())
    for (query, note), *answers in zip(searches(), old, new, strict=True):
        lines += [f"## {query}", "", f"Wanted: {note}", "", "| | reading | not used | leads | first names |"]
        lines.append("| --- | --- | --- | --- | --- |")
        for name, one in zip(("before", "after"), answers, strict=True):
            reading = " ".join(f"`{line}`" for line in one["directives"]).replace("|", "\\|")
            leads = "; ".join(one["leads"]).replace("|", "\\|")
            count = "refused" if one["count"] is None else one["count"]
            lines.append(f"| {name} | {reading} | {', '.join(one['unused'])} | {count} | {leads} |")
        lines.append("")
    return "\n".join(lines)


def twenty(client: Siteglass) -> str:
    """The first leads of each trade, as people judge them: by title and description alone."""
    lines: list[str] = []
    for row in (CORPUS / "twenty_trades.txt").read_text().splitlines():
        trade = row.split("\t")[0]
        leads = client.search(
            filters={"trades": [trade]}, select=["title", "description"], limit=OF_A_TRADE, max_leads=OF_A_TRADE
        )
        lines.append(f"## {trade}")
        lines += [f"- {one.title} / {one.description}" for one in leads]
    return "\n".join(lines)


def same(client: Siteglass) -> str:
    """How many leads each wording finds, and whether they are the same ones."""
    lines = []
    for wordings in SAME:
        walks = [client.search(wording, select=["domain"], max_leads=MAX_COMPARED) for wording in wordings]
        found = [[lead.domain for lead in walk] for walk in walks]
        verdict = "same" if all(some == found[0] for some in found) else "DIFFERENT"
        lines.append(f"{verdict}: " + "; ".join(f"{w} {len(some)}" for w, some in zip(wordings, found, strict=True)))
    return "\n".join(lines)


def main() -> None:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("ask", "page", "twenty", "same"))
    parser.add_argument("arguments", nargs="+")
    options = parser.parse_args()
    given = options.arguments
    if options.command == "page":
        print(page(Path(given[0]), Path(given[1])))
        return
    with Siteglass(given[1], given[0]) as client:
        if options.command == "ask":
            Path(given[2]).write_text(json.dumps(ask(client), ensure_ascii=False, indent=1))
        else:
            print(twenty(client) if options.command == "twenty" else same(client))


if __name__ == "__main__":
    main()
