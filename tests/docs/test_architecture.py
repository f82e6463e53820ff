"""The drawing of the rooms names every module, and none that is not there."""

from __future__ import annotations

import re

from tests.docs.blocks import ROOT, blocks

PACKAGE = ROOT / "src" / "siteglass"
ROOMS = ("api", "dashboard", "index", "accounts", "people", "limits", "query")
UNNAMED = {"__init__", "__pycache__", "py", "vocabulary.json"}


def _drawn() -> str:
    (drawing,) = [block.text for block in blocks(ROOT / "docs/architecture.md") if "src/siteglass/" in block.text]
    return drawing


def _names(folder: str = "") -> set[str]:
    return {path.stem for path in (PACKAGE / folder).iterdir()} - UNNAMED


def test_every_module_and_room_has_its_place() -> None:
    rooms = re.findall(r"^  (\w+)/", _drawn(), re.MULTILINE)
    assert {*rooms, *re.findall(r"\b(\w+)\.py\b", _drawn())} == _names()


def test_every_module_of_a_room_is_named_in_it() -> None:
    for room in ROOMS:
        found = re.search(rf"^  {room}/ (.*?)(?=^  \S|\Z)", _drawn(), re.MULTILINE | re.DOTALL)
        assert found, room
        listed = set(re.findall(r"\w+", found[1].partition(": ")[2]))
        assert listed == _names(room), room
