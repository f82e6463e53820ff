"""Writes a section of a page whose other sections are kept."""

from __future__ import annotations

from pathlib import Path


def write_section(page: Path, section: str) -> None:
    """Replace the section of the page that has the same heading of the second level, up to the next such heading."""
    heading, _, _ = section.partition("\n")
    before, found, rest = page.read_text().partition(f"{heading}\n")
    if not found:
        raise ValueError(f"{page} has no section {heading!r}; add the heading where it belongs")
    _, following, after = rest.partition("\n## ")
    page.write_text(f"{before}{section.rstrip()}\n{following}{after}")
