"""Checks that docs, templates, messages, help texts, docstrings and comments are plain English.

python scripts/check_english.py               fail if an area listed as clean in check_english.toml has a finding
python scripts/check_english.py AREA ...      print the findings of these areas, files or folders
python scripts/check_english.py --count       print how many findings there are, by area and by kind
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from english.rules import KINDS, Hit, hits
from english.texts import Text, all_texts

ROOT = Path(__file__).parents[1]
CONFIGURATION = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class Finding:
    """A text that breaks a rule."""

    text: Text
    hit: Hit

    def __str__(self) -> str:
        return f"{self.text.path}:{self.text.line}: {self.hit.kind}: '{self.hit.words}': write {self.hit.advice}"


@dataclass(frozen=True)
class Configuration:
    """Areas that must stay clean, and what is overlooked."""

    clean: tuple[str, ...]
    exceptions: tuple[dict[str, str], ...]

    @classmethod
    def read(cls, path: Path = CONFIGURATION) -> Configuration:
        """From the file; every entry must give a reason."""
        data = tomllib.loads(path.read_text("utf-8"))
        exceptions = data.get("exception", [])
        for entry in exceptions:
            if not entry.get("reason", "").strip():
                raise SystemExit(f"{path.name}: the entry for {entry.get('path')!r} has no reason. Add one.")
        return cls(tuple(data.get("clean", [])), tuple(exceptions))

    def exception(self, text: Text, hit: Hit) -> dict[str, str] | None:
        """The entry that allows this finding."""
        for entry in self.exceptions:
            if text.path.startswith(entry["path"]) and hit.kind == entry["kind"] and entry["text"] in text.text:
                return entry
        return None


def findings(texts: Iterable[Text], configuration: Configuration) -> tuple[list[Finding], list[dict[str, str]]]:
    """What is wrong, and the exceptions that nothing needs."""
    found: list[Finding] = []
    needed: list[dict[str, str]] = []
    for text in texts:
        for hit in hits(text.text):
            if entry := configuration.exception(text, hit):
                needed.append(entry)
            else:
                found.append(Finding(text, hit))
    return found, [entry for entry in configuration.exceptions if entry not in needed]


def counts(found: Iterable[Finding]) -> dict[str, dict[str, int]]:
    """How many findings each area has of each kind."""
    numbers: dict[str, Counter[str]] = {}
    for finding in found:
        numbers.setdefault(finding.text.area, Counter())[finding.hit.kind] += 1
    return {area: {kind: kinds[kind] for kind in KINDS if kinds[kind]} for area, kinds in sorted(numbers.items())}


def table(numbers: dict[str, dict[str, int]]) -> str:
    """The counts as lines of text: one per kind, with a column per area."""
    areas = sorted(numbers)
    width = max(map(len, (*KINDS, "total"))) + 2
    rows = [("kind", *areas, "total")]
    for kind in KINDS:
        row = [numbers[area].get(kind, 0) for area in areas]
        if any(row):
            rows.append((kind, *map(str, row), str(sum(row))))
    totals = [sum(numbers[area].values()) for area in areas]
    rows.append(("total", *map(str, totals), str(sum(totals))))
    widths = [width, *(max(len(row[column]) for row in rows) + 2 for column in range(1, len(rows[0])))]
    return "\n".join(
        row[0].ljust(widths[0]) + "".join(cell.rjust(space) for cell, space in zip(row[1:], widths[1:], strict=True))
        for row in rows
    )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Check the English of docs, templates, messages and comments.")
    parser.add_argument("areas", nargs="*", help="print the findings of these areas, files or folders")
    parser.add_argument("--count", action="store_true", help="print the number of findings by kind and area")
    options = parser.parse_args()
    texts = all_texts(ROOT)
    configuration = Configuration.read()
    found, unneeded = findings(texts, configuration)
    if options.count:
        print(table(counts(found)))
        return
    wanted = tuple(options.areas) or configuration.clean
    files = tuple(each for each in options.areas if "/" in each or "." in each)
    shown = [one for one in found if one.text.area in wanted or one.text.path.startswith(files or "\0")]
    for finding in shown:
        print(finding)
    for entry in unneeded if not options.areas else ():
        print(f"{CONFIGURATION.name}: nothing needs the exception {entry['text']!r} in {entry['path']}: remove it")
    if shown or (unneeded and not options.areas):
        sys.exit(1)


if __name__ == "__main__":
    main()
