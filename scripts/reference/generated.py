"""The command line of scripts that generate one file from the code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path


def write_or_check(path: Path, build: Callable[[], str], source: str) -> None:
    """Write the file; with --check write nothing, and fail if it is not what its source says."""
    parser = argparse.ArgumentParser(description=f"Write {path.name} from {source}.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the file is out of date")
    options = parser.parse_args()
    text = build()
    is_current = path.exists() and path.read_text() == text
    if options.check:
        if not is_current:
            sys.exit(f"{path.name} is not what {source} say. Run: make reference")
        return
    path.write_text(text)
    print(f"{path.name}: {'unchanged' if is_current else 'changed'}")
