"""A plugin of pytest for the previous release's tests: this release makes their tables.

The previous `siteglass migrate` would refuse tables of a newer release, and would make its own otherwise. So the one
function that makes tables for the tests is replaced, before any of them is imported.
"""

from __future__ import annotations

import asyncio
import os
import sys

import pytest

from testing import accounts

_MIGRATE = """
import asyncio, sys
from siteglass.platform import schema
asyncio.run(schema.migrate(*sys.argv[1:]))
print("made by", schema.HEAD)
"""
_made: list[str] = []


async def _make_schema(dsn: str, name: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _MIGRATE, accounts.owner(dsn), name, dsn),
        env={**os.environ, "PYTHONPATH": os.environ["DEPLOY_PROOF_TABLES_OF"]},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, problem = await process.communicate()
    if process.returncode != 0:
        raise RuntimeError(problem.decode())
    _made.append(out.decode().strip())


accounts.make_schema = _make_schema


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say who made the tables, so that the proof can see that the replacement worked."""
    for line in sorted(set(_made)):
        terminalreporter.write_line(line)
