"""Decision 0003 lists every library that we ship with, and `src` imports each of them and no others."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT

SOURCE = ROOT / "src" / "siteglass"
# Starlette loads python-multipart where a form brings a file, and pyspark demands pandas for functions over Arrow data.
LOADED_BY_OTHERS = {"python-multipart", "pandas"}
# Several distributions share this package, so that a module does not say which one it is of.
SHARED_PACKAGES = {"opentelemetry"}


def _declared(extra: str | None) -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    requirements = project["dependencies"] if extra is None else project["optional-dependencies"][extra]
    return [re.split(r"[\[<>=]", requirement)[0] for requirement in requirements]


def _listed(heading: str) -> list[str]:
    """The first column of the table under a heading of the decision."""
    page = (ROOT / "docs/decisions/libraries.md").read_text("utf-8")
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| (\w[\w-]*) \|", section, re.MULTILINE)[1:]  # without the head of the table


def _imported_by(path: Path) -> Iterator[str]:
    """The top-level modules that a file imports, of the standard library and our own as well."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _libraries(folder: Path) -> set[str]:
    """The distributions that a folder imports, under the names that pyproject.toml uses."""
    distributions = packages_distributions()
    modules = {module for path in folder.rglob("*.py") for module in _imported_by(path)}
    modules -= sys.stdlib_module_names | {"siteglass", "siteglass_client"} | SHARED_PACKAGES
    return {name.lower().replace("_", "-") for module in modules for name in distributions[module]}


@pytest.mark.parametrize(
    ("heading", "extra"), [("The service", None), ("Traces", "tracing"), ("Agents", "agents"), ("The ingest", "ingest")]
)
def test_the_decision_lists_every_runtime_dependency_once(heading: str, extra: str | None) -> None:
    assert sorted(_listed(heading)) == sorted(_declared(extra))


def test_every_runtime_dependency_is_imported_and_every_import_declared() -> None:
    declared = {*_declared(None), *_declared("agents"), *_declared("ingest")}
    assert _libraries(SOURCE) == declared - LOADED_BY_OTHERS


def test_packages_that_several_distributions_share_are_imported_by_one_module() -> None:
    importing = [path.name for path in SOURCE.rglob("*.py") if SHARED_PACKAGES & set(_imported_by(path))]
    assert importing == ["otlp.py"]


def test_a_worker_loads_neither_migrations_nor_a_second_framework() -> None:
    script = "import sys, siteglass.app; print(*{'alembic', 'sqlalchemy', 'fastapi', 'pydantic'} & sys.modules.keys())"
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert finished.stdout.split() == []
