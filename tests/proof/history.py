"""What clients did and saw: written line by line so that a kill loses nothing, merged into one history afterwards.

A client writes a line before it sends and another when it has its answer, each by one system call. A process that is
killed between the two leaves an operation whose outcome nobody knows. Times are of the machine's monotonic clock, which
all processes share.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

import orjson

Kind = Literal["grant", "charge", "refund", "read"]
Outcome = Literal["granted", "charged", "refused", "replayed", "mismatch", "refunded", "read", "unknown", "unsent"]


_MAY_BE_0 = frozenset(("client", "balance_api", "balance_lead"))


@dataclass(slots=True)
class Operation:
    """One line of the history; the verifier's `history.go` says what each field is."""

    account: str
    client: int
    kind: Kind
    call: int = 0
    key: str = ""
    fingerprint: str = ""
    api: int = 0
    lead: int = 0
    of: int = 0
    request: str = ""
    outcome: Outcome = "unknown"
    balance_api: int | None = None
    balance_lead: int | None = None
    seq: int = 0
    answer: str = ""
    returned: int = 0

    def given(self) -> dict[str, Any]:
        """What is not as it always is; a balance of 0 says something."""
        every = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in every.items() if value or (value == 0 and name in _MAY_BE_0)}

    def line(self) -> bytes:
        """As the verifier reads it."""
        spelled = self.given()
        spelled["return"] = spelled.pop("returned", 0)
        return orjson.dumps(spelled) + b"\n"


@dataclass(slots=True)
class Log:
    """The file of one client process. Opened again after a kill, it knows what was left without an answer, and how many
    charges each of its clients had."""

    path: Path
    _file: int = -1
    next_call: int = 0
    open_calls: dict[int, Operation] = field(default_factory=dict)
    charges: Counter[int] = field(default_factory=Counter)

    def __enter__(self) -> Self:
        if self.path.exists():
            answered = set()
            for number, operation in _read(self.path).items():
                self.next_call = number + 1
                if operation.outcome == "charged":
                    self.charges[operation.client] += 1
                if operation.outcome != "unknown":
                    answered.add((operation.account, operation.key, operation.fingerprint))
                self.open_calls[number] = operation
            self.open_calls = {
                number: operation
                for number, operation in self.open_calls.items()
                if (operation.account, operation.key, operation.fingerprint) not in answered
            }
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        # A kill in the middle of a line: what follows must not be glued to it.
        os.write(self._file, b"\n")
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def call(self, operation: Operation) -> int:
        """Before it is sent."""
        number, self.next_call = self.next_call, self.next_call + 1
        operation.call = time.monotonic_ns()
        os.write(self._file, orjson.dumps({"n": number, **operation.given()}) + b"\n")
        return number

    def answer(self, number: int, outcome: Outcome, **seen: Any) -> None:
        """When its answer is there."""
        line = {"n": number, "outcome": outcome, "returned": time.monotonic_ns(), **seen}
        os.write(self._file, orjson.dumps(line) + b"\n")

    def note(self, what: str, text: str) -> None:
        """What is not an operation: an error that no fault explains, a retry, an answer that says to wait."""
        os.write(self._file, orjson.dumps({"note": what, "text": text}) + b"\n")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        for line in file:
            try:
                yield orjson.loads(line)
            except orjson.JSONDecodeError:
                continue  # cut off by a kill, or empty


def _read(path: Path) -> dict[int, Operation]:
    operations: dict[int, Operation] = {}
    for line in _lines(path):
        if "note" in line:
            continue
        number = line.pop("n")
        if number in operations:
            for name, value in line.items():
                setattr(operations[number], name, value)
        else:
            operations[number] = Operation(**line)
    return operations


def read_logs(paths: Iterable[Path]) -> list[Operation]:
    """All operations of all clients; not what was never sent, nor reads that came to nothing."""
    found = [operation for path in sorted(paths) for operation in _read(path).values()]
    return [o for o in found if o.outcome != "unsent" and (o.kind, o.outcome) != ("read", "unknown")]


def read_notes(paths: Iterable[Path], what: str) -> list[str]:
    """The texts of one kind of note."""
    return [line["text"] for path in sorted(paths) for line in _lines(path) if line.get("note") == what]


def write_history(path: Path, operations: Iterable[Operation]) -> None:
    """The file that the verifier reads."""
    with path.open("wb") as file:
        file.writelines(operation.line() for operation in operations)


class Progress:
    """Counts the charges in growing logs, reading each byte once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._places: dict[Path, int] = {}
        self.charges = 0

    def look(self) -> int:
        """How many charges were answered by now."""
        for path in self._folder.glob("*.log"):
            with path.open("rb") as file:
                file.seek(self._places.get(path, 0))
                new = file.read()
            whole = new.rfind(b"\n") + 1
            self._places[path] = self._places.get(path, 0) + whole
            self.charges += new[:whole].count(b'"outcome":"charged"')
        return self.charges
