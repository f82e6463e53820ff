"""A walk under way: its steps, its journal and its output file, moved in the one order that is safe.

The I/O of the network is not here: both clients send what `next_call` says and hand in what came.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from siteglass_client.answers import Answer
from siteglass_client.calls import Call
from siteglass_client.errors import ResumeError, ServiceError
from siteglass_client.journal import Journal, sync_folder
from siteglass_client.outputs import Form, Sink
from siteglass_client.walk import Steps

Row = Mapping[str, Any]


class HasRows(Protocol):
    """A page or a batch."""

    @property
    def rows(self) -> Sequence[Row]: ...


Step = TypeVar("Step", bound=HasRows)


@dataclass(frozen=True)
class Output:
    """Where rows go, and how each is serialized."""

    path: Path
    form: Form
    flat: Callable[[Row], Row]


@dataclass(frozen=True)
class Export:
    """A file that was written."""

    path: Path
    rows: int
    """Rows of the file, those of earlier runs of the same resume file included."""
    credits_used: int
    api_credits_used: int
    stopped: str
    """`end`, or the limit that ended it: `max_leads`, `max_lead_credits`."""


def fingerprint(asked: Mapping[str, Any]) -> str:
    """A short name of what was asked for."""
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:32]


class Run(Generic[Step]):
    """One walk from its start, or from where the last run left it."""

    def __init__(
        self, steps: Steps[Step], purpose: Mapping[str, Any], resume: Path | None, output: Output | None
    ) -> None:
        self.steps = steps
        self._output = output
        self._output_bytes = 0
        self._journal: Journal | None = None
        self._sink: Sink | None = None
        try:
            if resume is not None:
                target = None if output is None else f"{output.form.name} {output.path.name}"
                self._go_on(resume, {**purpose, "output": target})
            if output is not None:
                durable = resume is not None
                self._sink = Sink(output.path, output.form, durable=durable, keep_bytes=self._output_bytes or None)
                if durable:
                    sync_folder(output.path)
        except BaseException:
            self.close()
            raise

    def _go_on(self, resume: Path, purpose: Mapping[str, Any]) -> None:
        """Open the resume file and restore its state."""
        journal = self._journal = Journal(resume, purpose)
        output = self._output
        if journal.is_new and output is not None and output.path.exists() and output.path.stat().st_size > 0:
            # Paid-for leads may be in it, of a run whose resume file has another name.
            raise ResumeError(
                f"{output.path} exists, but {resume} does not. Delete the first, or pass the file that belongs to it."
            )
        journal.begin(purpose)
        for state in journal.states:
            self.steps.restore(state)
        self._output_bytes = journal.output_bytes

    @property
    def uses_files(self) -> bool:
        return self._journal is not None or self._sink is not None

    def first_call(self) -> Call | None:
        """What to send first: what was in flight when the last run ended, or the next page."""
        pending = None if self._journal is None else self._journal.pending
        if pending is not None:
            self.steps.check_pending(pending)
            return pending
        return self._asking(self.steps.next_call())

    def _asking(self, call: Call | None) -> Call | None:
        if self._journal is not None:
            self._journal.asking(call)
        return call

    def refused(self, call: Call, error: ServiceError) -> Call | None:
        """What to send instead of a call that was refused; raises the error if there is nothing."""
        return self._asking(self.steps.refused(call, error))

    def took(self, answer: Answer) -> Step:
        """The page of an answer, written to the output."""
        step = self.steps.took(answer)
        if self._sink is not None and self._output is not None:
            self._output_bytes = self._sink.write([self._output.flat(row) for row in step.rows])
        return step

    def passed(self) -> Call | None:
        """The page is where it belongs: note that. Returns what to send next."""
        call = self.steps.next_call()
        if self._journal is not None:
            self._journal.passed(self.steps.state(), call, self._output_bytes)
        return call

    def finish(self) -> None:
        """The walk is over."""
        if self._sink is not None:
            self._sink.finish()

    def close(self) -> None:
        """Let go of the files."""
        if self._sink is not None:
            self._sink.close()
        if self._journal is not None:
            self._journal.close()
