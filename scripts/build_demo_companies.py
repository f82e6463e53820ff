"""Reads the made-up web pages of the demo's companies, and writes their leads and evidence: `make demo-companies`.

The result is committed, so that `make demo` need not read some 14,000 pages first. Of some companies there is a second,
earlier crawl, see `siteglass_demo.sites.history`. Run it after each change of
extraction, merge or of the pages themselves; `tests/ingest/test_demo_companies.py` fails until then.
"""

from __future__ import annotations

import os
import sys

from siteglass.platform.progress import progress
from siteglass_demo.leads import COMPANIES
from siteglass_demo.sites.build import build
from siteglass_demo.sites.companies import draw_companies


def main() -> None:
    """Draw the sites, read their pages with all processors, write the files."""
    with progress("Reading pages, %", 100) as advance_to:
        count = build(draw_companies(), COMPANIES, workers=os.cpu_count() or 1, on_progress=advance_to)
    print(f"{count:,} companies in {COMPANIES}", file=sys.stderr)


if __name__ == "__main__":
    main()
