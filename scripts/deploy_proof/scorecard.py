"""The steps of the proof: each says what it does, has a deadline, and leaves a line of the scorecard."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType

from testing.progress import say


class ProofError(Exception):
    """What the proof was to show is not so; the message says what was found instead."""


@dataclass(slots=True)
class Step:
    """A part of the proof."""

    title: str
    seconds: float = 0.0
    findings: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """A result, for the screen now and for the page at the end."""
        self.findings.append(text)
        say(f"  {text}")


@dataclass(slots=True)
class Scorecard:
    """All steps so far, and where the proof did something else than the guide says."""

    steps: list[Step] = field(default_factory=list)

    @contextlib.contextmanager
    def step(self, title: str, deadline_s: int) -> Iterator[Step]:
        """A step that is interrupted when its time is over, whatever it waits for."""

        def overdue(_signal: int, _frame: FrameType | None) -> None:
            raise ProofError(f"{title}: not done within {deadline_s} s")

        step = Step(title)
        self.steps.append(step)
        say(f"{len(self.steps)}. {title} (at most {deadline_s} s)")
        before = signal.signal(signal.SIGALRM, overdue)
        signal.alarm(deadline_s)
        started = time.monotonic()
        try:
            yield step
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
            step.seconds = time.monotonic() - started
        say(f"  done in {step.seconds:.0f} s")

    def table(self) -> str:
        """The scorecard as a table of Markdown."""
        rows = [
            f"| {number} | {step.title} | {step.seconds:.0f} | {'; '.join(step.findings)} |"
            for number, step in enumerate(self.steps, 1)
        ]
        return "\n".join(["| | step | seconds | result |", "| --- | --- | --- | --- |", *rows])


PAGE = """## Deployment

Run on {date} by `make deploy-proof`, from {previous} to {this}. It took {minutes:.0f} minutes on {cores} cores (load
average {load_before} before, {load_after} after).

It installs Siteglass on a bare Debian with the commands of [Install on Debian](guides/install-on-debian.md). It
upgrades, breaks and restores it with those of the other guides. The commands are read from the guides, so a guide that
does not work fails here.

{table}

**How it is checked:**

- **Requests** come at {rate} a second through haproxy and TLS: searches and enrichments, each with its own
  Idempotency-Key. A request that fails is repeated until it is answered.
- **Answers** are compared with a scan of all leads.
- **Money:** every answer is charged once, with the right amount, and the ledger has no other charge. The
  [verifier](../testing/fault_runs/verifier.py) knows only the leads and the ledger.
- **Faults** are `kill -9`. A part is started again after {fault_s} s; nothing else is touched.

**Where it differs from an installation:**

{deviations}

**What it does not show:**

- systemd does not run in a chroot: the sandbox of the units, their timers and their restarts after a crash are only
  validated (`make deploy-check`).
- One machine: a lost network between two machines is shown under
  [Lost machines](#lost-machines-and-connections), not here.
- Object storage for backups was not tried.
"""
DEVIATIONS = (
    "A program of {systemctl} lines replaces `systemctl`. It starts what the units start, with their user, "
    "settings and secrets.",
    "The Debian root has `sudo`, as servers have, and takes the settings of apt and pip from the machine of the proof.",
    "Servers of packages are not started when they are installed, but when the guide first starts them.",
    "OpenSearch is not in Debian: scripts/engines.py starts it outside of the root, with a haproxy that has "
    "`deploy/haproxy/opensearch.cfg`.",
    "The public certificate is one of the authority that `deploy/prepare` made: nobody else signs one for localhost.",
    "Both releases are installed before the start. After that, there is only a separate loopback network, so all ports "
    "are the usual ones.",
    "The files of deploy/ are those of this release also for the previous one, except for its lock.",
)
