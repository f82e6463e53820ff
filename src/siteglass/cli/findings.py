"""What a check of `siteglass doctor` is, what it looks at, and what it reports."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from siteglass.index.index import Index, open_index
from siteglass.platform.backends import Backends
from siteglass.settings import Settings

DEADLINE_S = 4.0
DEADLINE_MS = int(DEADLINE_S * 1000)
# Workers look for each entry once more some ten minutes after it was listed.
OPT_OUT_OVERDUE = timedelta(hours=1)
MAX_SKEW_S = 1.0
GB = 10**9

State = Literal["ok", "warning", "wrong", "skipped"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found; `mend` is a command or a setting, and empty when there is nothing to fix."""

    state: State
    found: str
    mend: str = ""
    check: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A row of a table of checks."""

    name: str
    look: Callable[[Patient], Awaitable[Finding]]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Patient:
    """What is looked at. `make_all`: the one command that makes tables, accounts and leads, where there is one."""

    backends: Backends
    make_all: str | None = None

    @property
    def settings(self) -> Settings:
        return self.backends.settings

    @property
    def index(self) -> Index:
        return open_index(self.backends)
