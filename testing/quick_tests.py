"""The pure tests, which `make quick` runs without engines: pytest's options for them, and a guard that keeps them pure.

Under `--quick` a test that opens a connection, or imports the service or a driver, fails at the line that does it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1] / "tests"

# Folders and files under tests/. What is listed needs no engine, and nothing of BANNED. All of it takes less than
# a minute on two cores: tests of thousands of random inputs stay off the list.
QUICK = [
    TESTS / name
    for name in (
        "bench/test_nl_sentences.py",
        "bench/test_read_backs.py",
        "deploy/test_rules.py",
        "ground/test_english.py",
        "ground/test_imports.py",
        "ground/test_quick_tests.py",
        "index/test_documents.py",
        "index/test_mapping.py",
        "ingest/contacts",
        "ingest/content",
        "ingest/imports/test_mistakes.py",
        "ingest/imports/test_tables.py",
        "ingest/store/test_folding.py",
        "ingest/technologies",
        "query/test_cursor_ids.py",
        "query/test_directive_corpus.py",
        "query/test_natural.py",
        "query/test_natural_laws.py",
        "query/test_natural_probes.py",
        "query/test_natural_traps.py",
        "query/test_read_back.py",
        "query/test_roundtrip.py",
        "query/test_trade_words.py",
        "query/test_trades.py",
        "query/test_vocabulary.py",
        "query/test_vocabulary_places.py",
        "sites",
        "suppression/test_spellings.py",
        "test_cli_interpret.py",
        "test_demo.py",
        "test_lead_files.py",
    )
]

BANNED = {
    "aiohttp",
    "alembic",
    "asyncpg",
    "httpx",
    "mcp",
    "playwright",
    "pyspark",
    "redis",
    "siteglass.app",
    "sqlalchemy",
    "starlette",
    "uvicorn",
}
_CONNECTING = {"socket.bind", "socket.connect", "socket.getaddrinfo"}


class NotPureError(RuntimeError):
    """A quick test did what only other tests may do; not an ImportError, which code may expect and swallow."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Two halves of the suite."""
    group = parser.getgroup("siteglass")
    group.addoption("--quick", action="store_true", help="only the pure tests, which need no engines")
    group.addoption("--not-quick", action="store_true", help="all but the pure tests")


def pytest_configure(config: pytest.Config) -> None:
    """Guard this process. An audit hook cannot be removed again, so only runs of quick tests alone get it."""
    if config.getoption("quick"):
        sys.addaudithook(_guard)


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _CONNECTING:
        raise NotPureError(f"a quick test opened a connection ({event}); take it off the list in {__file__}")
    if event == "import":
        name = arguments[0]
        if name in BANNED or name.partition(".")[0] in BANNED:
            raise NotPureError(
                f"a quick test imported {name}; import it elsewhere, or take it off the list in {__file__}"
            )


def is_quick(path: Path) -> bool:
    """Whether a file or folder is on the list, by itself or by a folder above."""
    return any(path.is_relative_to(entry) for entry in QUICK)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the other half before it is imported: importing it is most of what collecting costs."""
    if config.getoption("quick"):
        above = any(entry.is_relative_to(collection_path) for entry in QUICK)
        return None if above or is_quick(collection_path) else True
    if config.getoption("not_quick") and is_quick(collection_path):
        return True
    return None
