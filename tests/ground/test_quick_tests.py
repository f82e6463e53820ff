"""`make quick`: its list names what exists, and its guard stops what a pure test must not do."""

from __future__ import annotations

import subprocess
import sys

import pytest

from testing.quick_tests import QUICK, is_quick

PROGRAM = """
import sys
from testing import quick_tests
sys.addaudithook(quick_tests._guard)
try:
    exec(sys.argv[1])
except quick_tests.NotPureError as error:
    print(error)
"""


def test_everything_listed_exists() -> None:
    assert [str(path) for path in QUICK if not path.exists()] == []
    assert all(is_quick(path) for path in QUICK)
    assert not is_quick(QUICK[0].parent)


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("import redis.asyncio", "a quick test imported redis"),
        ("from siteglass import app", "a quick test imported siteglass.app"),
        ("import socket; socket.create_connection(('127.0.0.1', 9))", "a quick test opened a connection"),
        ("import siteglass.query.directives", ""),
    ],
)
def test_the_guard(statement: str, told: str) -> None:
    """In a separate process: an audit hook stays for as long as the process lives."""
    command = [sys.executable, "-c", PROGRAM, statement]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.startswith(told)
    assert bool(done.stdout) == bool(told)
