"""Put small defects (mutants) into a part of the source, and list those that its tests do not notice.

    make mutants OF=suppression/values.py BY="tests/suppression/test_spellings.py" ARGS="--count 20 --seed 1"

Each mutant changes one expression of a function: a comparison, `and` or `or`, a sign, a number, a condition. The tests
run until one fails, against a copy of `src`. A survivor is either harmless or shows a missing test: read it.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
TIMEOUT_S = 120  # a mutant may loop without end: that is noticed, too

_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


@dataclass(frozen=True)
class Mutant:
    """One changed expression; `start` and `end` are bytes of the file."""

    path: Path
    function: str
    line: int
    start: int
    end: int
    before: str
    after: str

    def source(self) -> bytes:
        """The file with the change."""
        source = self.path.read_bytes()
        return source[: self.start] + f"({self.after})".encode() + source[self.end :]


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions and methods, not those inside of functions: these are part of their function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        else:
            yield from _functions(child)


def _expressions(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all in it that runs: no annotations; no f-strings, whose parts have wrong positions before 3.12."""
    if isinstance(node, ast.JoinedStr | ast.arguments):
        return
    yield node
    for field, value in ast.iter_fields(node):
        if field not in ("annotation", "returns"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _expressions(child)


def _change(node: ast.AST) -> tuple[ast.expr, str] | None:
    """The expression to replace, and what replaces it."""
    match node:
        case ast.Compare(left, [first, *others], comparators):
            return node, ast.unparse(ast.Compare(left, [_OPPOSITES[type(first)](), *others], comparators))
        case ast.BoolOp(op, values):
            return node, ast.unparse(ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values))
        case ast.BinOp(left, ast.Add(), right):
            return node, ast.unparse(ast.BinOp(left, ast.Sub(), right))
        case ast.BinOp(left, ast.Sub(), right):
            return node, ast.unparse(ast.BinOp(left, ast.Add(), right))
        case ast.Constant(bool(value)):
            return node, str(not value)
        case ast.Constant(int(value)):
            return node, str(value + 1)
        case ast.If(test) | ast.IfExp(test) | ast.While(test):
            return test, ast.unparse(ast.UnaryOp(ast.Not(), test))
    return None


def find_mutants(path: Path) -> Iterator[Mutant]:
    """All mutants of a file."""
    source = path.read_bytes()
    line_starts = [0]
    for line in source.splitlines(keepends=True):
        line_starts.append(line_starts[-1] + len(line))
    for function in _functions(ast.parse(source)):
        for change in (_change(node) for statement in function.body for node in _expressions(statement)):
            if change is not None:
                target, after = change
                start = line_starts[target.lineno - 1] + target.col_offset
                end = line_starts[(target.end_lineno or 0) - 1] + (target.end_col_offset or 0)
                yield Mutant(path, function.name, target.lineno, start, end, ast.unparse(target), after)


def separate_environment() -> dict[str, str]:
    """Our environment for a run of tests that is no part of the run that may have started us: each run finally deletes
    what is under its prefix in the engines."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return {**ours, "PYTEST_XDIST_TESTRUNUID": uuid.uuid4().hex}


def run_tests(copy: Path, tests: list[str], timeout_s: float) -> subprocess.CompletedProcess[str]:
    """What pytest says with the copy in place of `src`; raises TimeoutExpired."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = {**separate_environment(), "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout_s)


def tests_fail(copy: Path, tests: list[str]) -> bool:
    """Whether a test fails, or does not end, with the copy in place of `src`."""
    try:
        return bool(run_tests(copy, tests, TIMEOUT_S).returncode)
    except subprocess.TimeoutExpired:
        return True


def main() -> None:
    """Draw mutants by a seed, and print each with what became of it."""
    parser = argparse.ArgumentParser(description="Small defects that tests do not notice.")
    parser.add_argument("part", help="a file or folder of src/siteglass, such as suppression/values.py")
    parser.add_argument("tests", nargs="+", help="tests to run, as pytest takes them")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "src/siteglass", copy / "siteglass")
        if tests_fail(copy, options.tests):
            sys.exit("The tests fail without any mutant: fix them first.")
        part = copy / "siteglass" / options.part
        paths = [part] if part.is_file() else sorted(part.rglob("*.py"))
        mutants = [mutant for path in paths for mutant in find_mutants(path)]
        drawn = random.Random(options.seed).sample(mutants, min(options.count, len(mutants)))  # noqa: S311 (repeatable, not secret)
        survivors = 0
        for mutant in drawn:
            source = mutant.path.read_bytes()
            mutant.path.write_bytes(mutant.source())
            caught = tests_fail(copy, options.tests)
            mutant.path.write_bytes(source)
            survivors += not caught
            place = f"{mutant.path.relative_to(copy)}:{mutant.line} {mutant.function}"
            print(f"{'caught  ' if caught else 'SURVIVED'} {place}: {mutant.before} -> {mutant.after}", flush=True)
        print(f"{survivors} of {len(drawn)} survived, of {len(mutants):,} places")


if __name__ == "__main__":
    main()
