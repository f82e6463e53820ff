"""Markdown of the reference pages: tables, and values as code."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any


def code(text: str) -> str:
    """Text as code inside a table."""
    return f"`{_keep_bars(text)}`" if text else ""


def plain(text: str) -> str:
    """Text inside a table; outside of code, `<` would begin a tag."""
    return _keep_bars(re.sub(r"(`[^`]*`)|<", lambda match: match[1] or "&lt;", text))


def _keep_bars(text: str) -> str:
    """A bar would end the cell, even inside code."""
    return text.replace("|", "\\|")


def json_code(value: Any) -> str:
    """A JSON value as code inside a table."""
    return code(json.dumps(value, ensure_ascii=False))


def paragraph(text: str) -> str:
    """Prose, wrapped as the other pages are."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(line.replace("|  |", "| |").replace("|  |", "| |") for line in lines) + "\n"
