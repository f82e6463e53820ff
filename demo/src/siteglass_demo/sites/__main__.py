"""`python -m siteglass_demo.sites --count 2000 --seed 1 --files 4 FOLDER`: made-up sites as WARC files with labels."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from siteglass_demo.sites.writing import LABELS, write_folder


def main() -> None:
    """Write the files, tell how far it is."""
    parser = argparse.ArgumentParser(
        prog="python -m siteglass_demo.sites", description="Made-up web sites as WARC files."
    )
    parser.add_argument("folder", type=Path, help="where sites-*.warc.gz and labels.ndjson go")
    parser.add_argument("--count", type=int, default=1_000, help="number of sites (1000)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other sites (1)")
    parser.add_argument("--files", type=int, default=1, help="number of WARC files (1)")
    parser.add_argument("--corrupt-percent", type=float, default=0, help="share of broken records (0)")
    given = parser.parse_args()
    started, told = time.monotonic(), 0.0

    def progress(sites: int, captures: int) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told >= 0.5 or sites == given.count:
            told = now
            rate = captures / max(now - started, 0.001)
            line = f"\r{sites:,} of {given.count:,} sites, {captures:,} captures, {rate:,.0f} captures/s"
            print(line, end="", file=sys.stderr, flush=True)

    write_folder(
        given.folder,
        given.count,
        given.seed,
        files=given.files,
        corrupt_percent=given.corrupt_percent,
        on_progress=progress,
    )
    print(f"\nwrote {given.files} files and {LABELS} to {given.folder}", file=sys.stderr)


if __name__ == "__main__":
    main()
