"""The structure that docs/architecture.md promises: packages, sizes, names, and imports without a cycle."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

from tests.docs.blocks import ROOT, blocks

PACKAGE = ROOT / "src" / "siteglass"
MAX_TOP_LEVEL = 20
# Functions that are more complex than ruff's C901 allows. None may be added; whoever simplifies one removes its line.
TOO_COMPLEX = {
    "index/compile.py:_ways",
    "query/natural/choice.py:_entity",
    "suppression/redaction.py:_without",
}
UNCOUNTED = {"__init__.py", "__main__.py", "__pycache__", "py.typed"}


def _modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    paths = {path: path.relative_to(PACKAGE.parent).with_suffix("").parts for path in PACKAGE.rglob("*.py")}
    return {".".join(parts).removesuffix(".__init__"): path for path, parts in paths.items()}


def _top_level() -> set[str]:
    return {path.name for path in PACKAGE.iterdir()} - UNCOUNTED


def test_the_drawing_names_every_package_and_module_at_the_top() -> None:
    (drawing,) = [block.text for block in blocks(ROOT / "docs/architecture.md") if "src/siteglass/" in block.text]
    drawn = re.findall(r"^  ([\w.]+)/? ", drawing, re.MULTILINE)
    assert sorted(drawn) == sorted(_top_level())


def test_the_top_level_stays_small() -> None:
    assert len(_top_level()) <= MAX_TOP_LEVEL


def test_no_other_function_is_excused_from_the_limit_of_complexity() -> None:
    excused = {
        f"{path.relative_to(PACKAGE).as_posix()}:{name}"
        for path in PACKAGE.rglob("*.py")
        for name in re.findall(r"def (\w+)\(.*# noqa: C901", path.read_text("utf-8"))
    }
    assert excused == TOO_COMPLEX


def test_no_two_classes_of_a_package_share_a_name() -> None:
    places: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for name, path in _modules().items():
        package = ".".join(name.split(".")[:2])
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[package, node.name].append(name)
    assert {key: modules for key, modules in places.items() if len(modules) > 1} == {}


def test_imports_have_no_cycle() -> None:
    modules = _modules()
    graph: dict[str, set[str]] = {}
    for name, path in modules.items():
        imported = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module in modules:
                inside = {f"{node.module}.{alias.name}" for alias in node.names}
                imported |= inside & modules.keys() or {node.module}
        graph[name] = imported - {name}
    TopologicalSorter(graph).prepare()  # raises CycleError, which lists the modules of the cycle
