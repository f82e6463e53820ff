"""Whoever follows the worked examples of CONTRIBUTING.md ends green, and each planted defect has its place."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import first_change
import planted_defects
from tests.docs.blocks import ROOT


def _run(*words: str) -> str:
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("example", first_change.HEADINGS)
def test_the_files_of_an_example_are_those_that_the_guide_lists(example: str) -> None:
    edited = [edit.file for edit in first_change.load_edits()[example]]
    listed = first_change.listed_files(example)
    assert listed
    named = [next((entry for entry in listed if file == entry or file.startswith(entry)), file) for file in edited]
    assert set(named) == set(listed)
    # A folder stands for one file in it.
    assert len(set(edited)) == len(listed)


@pytest.mark.xdist_group("docs")
def test_whoever_follows_the_examples_ends_green() -> None:
    assert _run("scripts/first_change.py").endswith("both changes are green\n")


@pytest.mark.nightly
@pytest.mark.xdist_group("docs")
def test_all_checks_are_green_after_the_examples() -> None:
    assert _run("scripts/first_change.py", "--all").endswith("both changes are green\n")


def _marks(path: Path, name: str) -> list[str]:
    """The decorators of a test, and what its whole file is marked with."""
    body = ast.parse(path.read_text("utf-8")).body
    (test,) = [one for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name == name]
    of_file = [one.value for one in body if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "pytestmark"]
    return [ast.unparse(mark) for mark in (*test.decorator_list, *of_file)]


@pytest.mark.parametrize("defect", planted_defects.load_defects(), ids=lambda defect: defect.name)
def test_a_planted_defect_has_one_place_and_a_test_of_every_change(defect: planted_defects.Defect) -> None:
    source = (ROOT / "src/siteglass" / defect.file).read_text("utf-8")
    assert defect.planted(source) != source
    file, _, name = defect.test.partition("::")
    assert not [mark for mark in _marks(ROOT / file, name.partition("[")[0]) if "night" in mark]


@pytest.mark.nightly
def test_each_planted_defect_is_noticed() -> None:
    assert "defects were noticed" in _run("scripts/planted_defects.py")
