"""Writes docs/reference/ from the code that knows: the catalogue, the settings, the commands.

python scripts/build_reference.py            write the pages
python scripts/build_reference.py --check    write nothing; fail if a page is not what the code says
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from reference.language import directives_page, values_page
from reference.leads import leads_page
from reference.natural import natural_language_page
from reference.operating import commands_page, headers_page, settings_page
from reference.receipts import receipts_page
from reference.records import fields_page, filters_page

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
NOTICE = "<!-- Generated from the code by `make reference` (scripts/build_reference.py). Do not edit it here. -->"
PAGES: dict[str, tuple[str, Callable[[], str]]] = {
    "fields.md": ("the fields of a lead in a response", fields_page),
    "filters.md": ("filters and other fields of a request", filters_page),
    "natural-language.md": ("what a sentence in `query` means", natural_language_page),
    "directives.md": ("the language of `wrapped_query`", directives_page),
    "values.md": ("known values of filters", values_page),
    "receipts.md": ("account, usage and ledger", receipts_page),
    "headers.md": ("response headers", headers_page),
    "settings.md": ("environment variables of the service", settings_page),
    "leads.md": ("files of leads to load", leads_page),
    "commands.md": ("the command line", commands_page),
}


def build() -> dict[str, str]:
    """The text of every page by its name."""
    pages = {name: f"{NOTICE}\n{page()}" for name, (_, page) in PAGES.items()}
    listed = "\n".join(f"- [{name}]({name}): {about}" for name, (about, _) in PAGES.items())
    return {"README.md": f"{NOTICE}\n# Reference\n\n{listed}\n", **pages}


def drifted(folder: Path, pages: dict[str, str]) -> list[str]:
    """Names of pages that are missing, old, or that nothing makes any more."""
    there = {path.name: path.read_text() for path in folder.glob("*.md")}
    return sorted(name for name in there.keys() | pages.keys() if there.get(name) != pages.get(name))


def main() -> None:
    parser = argparse.ArgumentParser(description="Write docs/reference/ from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is not what the code says")
    options = parser.parse_args()
    pages = build()
    wrong = drifted(FOLDER, pages)
    if options.check:
        if wrong:
            sys.exit(f"docs/reference/ is not what the code says ({', '.join(wrong)}). Run: make reference")
        return
    for name in wrong:
        if name in pages:
            (FOLDER / name).write_text(pages[name])
        else:
            (FOLDER / name).unlink()
    print(f"docs/reference/: {len(pages)} pages, {len(wrong)} changed")


if __name__ == "__main__":
    main()
