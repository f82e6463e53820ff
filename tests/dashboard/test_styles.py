"""Colours, sizes and distances are in one file; every other stylesheet names them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT

SHEETS = sorted((ROOT / "src" / "siteglass").glob("**/static/*.css"))
TOKENS = next(sheet for sheet in SHEETS if sheet.name == "tokens.css")
# Relative to the text, the window or the room that is left: such lengths follow from where they are.
LITERAL = re.compile(r"#[0-9a-f]{3,8}\b|\b(rgb|hsl|color)\(|\b(white|black)\b|(?<![\w-])[\d.]+(px|rem|pt)\b")


def declarations(text: str) -> list[tuple[str, str]]:
    """Properties with their values, without comments and the widths at which a layout changes."""
    plain = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.findall(r"^\s*([\w-]+):\s*([^;{}]+);", plain, re.MULTILINE)


@pytest.mark.parametrize("sheet", [sheet for sheet in SHEETS if sheet != TOKENS], ids=lambda sheet: sheet.name)
def test_no_colour_and_no_size_but_those_of_the_one_file(sheet: Path) -> None:
    text = sheet.read_text("utf-8")
    assert [pair for pair in declarations(text) if LITERAL.search(pair[1])] == []
    known = {name for name, _ in declarations(TOKENS.read_text("utf-8"))}
    used = set(re.findall(r"var\((--[\w-]+)\)", text))
    assert used
    assert used <= known


def test_every_colour_and_size_is_used() -> None:
    everything = "".join(path.read_text("utf-8") for path in [*SHEETS, *SHEETS[0].parent.glob("*.js")])
    names = {name for name, _ in declarations(TOKENS.read_text("utf-8")) if name.startswith("--")}
    assert {name for name in names if f"var({name})" not in everything} <= {"--grid"}


def test_widths_at_which_the_layout_changes_are_two() -> None:
    found = {size for sheet in SHEETS for size in re.findall(r"@media \(width \S+ (\S+)\)", sheet.read_text("utf-8"))}
    assert found == {"40rem", "60rem"}
