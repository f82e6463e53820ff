"""Reads uploaded files in a separate process with little CPU time and memory.

A file of a few kilobytes can be made to need minutes and gigabytes.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys

from siteglass.access.limits.claims import Claims
from siteglass.corpus.tables import TableError
from siteglass.errors import Unavailable
from siteglass.leads.downloads import uploaded_table

MAX_PROCESSES = 2
"""Of one worker."""
MAX_WAIT_S = 10.0
"""For another account's file."""
# Longer than the process's CPU time: on a busy machine it may have to wait for a processor.
_DEADLINE_S = 15.0
# With spaces, which an Idempotency-Key cannot have.
_CLAIM = "an uploaded file is read"
# What the limits of the process end it with: CPU time, or memory that a library did not get.
_LIMIT_SIGNALS = frozenset({-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGABRT, -signal.SIGSEGV})


class AlreadyReading(Exception):
    """Another file of the account is being read."""


class TableReader:
    """Reads the files that people upload to one worker."""

    def __init__(self, claims: Claims) -> None:
        self._claims = claims
        self._processes = asyncio.Semaphore(MAX_PROCESSES)

    async def read(self, account_id: int, request_id: str, content: bytes) -> bytes:
        """The packed table of a file; raises TableError, AlreadyReading or Unavailable."""
        async with self._claims.held(account_id, _CLAIM, request_id) as is_ours:
            if not is_ours:
                raise AlreadyReading
            try:
                await asyncio.wait_for(self._processes.acquire(), MAX_WAIT_S)
            except TimeoutError:
                raise Unavailable("files of other accounts are being read") from None
            try:
                return await asyncio.to_thread(_read, content)
            finally:
                self._processes.release()


def _read(content: bytes) -> bytes:
    # Isolated and without environment: what is wrong with a file must not find the service's secrets.
    command = [sys.executable, "-I", "-m", uploaded_table.__name__]
    try:
        done = subprocess.run(command, input=content, capture_output=True, env={}, timeout=_DEADLINE_S, check=False)
    except subprocess.TimeoutExpired:
        raise Unavailable("the process that reads an uploaded file got too little processor time") from None
    if done.returncode == uploaded_table.REFUSED:
        raise TableError(done.stdout.decode())
    if done.returncode in _LIMIT_SIGNALS:
        raise TableError(
            "Reading the file takes too long or too much memory. Save the table as CSV, with fewer columns."
        )
    if done.returncode:
        problem = done.stderr[-2000:].decode(errors="replace")
        raise RuntimeError(f"the process that reads an uploaded file failed: {problem}")
    return done.stdout
