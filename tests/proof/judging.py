"""Gives a history to the verifier, the program in `judge/`, and reads its verdict."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import go_tools

GOOD, BAD = 0, 1


class Unreadable(Exception):
    """The verifier could not read the history: the harness is wrong, nothing was verified."""


@dataclass(frozen=True)
class Verdict:
    """What the verifier found; `checks` are the names of the checks that failed."""

    good: bool
    figures: dict[str, Any]

    @property
    def checks(self) -> set[str]:
        return set(self.figures["broken"])


def judge(history: Path, *, seconds: float = 30, memory_mib: int = 4_096) -> Verdict:
    """The verdict on a file of operations."""
    words = [str(go_tools.judge()), "-seconds", str(seconds), "-memory-mib", str(memory_mib)]
    with history.open("rb") as lines:
        done = subprocess.run(words, stdin=lines, capture_output=True, check=False)
    if done.returncode not in (GOOD, BAD):
        raise Unreadable(done.stderr.decode(errors="replace"))
    figures = json.loads(done.stdout)
    assert figures["good"] == (done.returncode == GOOD)
    return Verdict(figures["good"], figures)
