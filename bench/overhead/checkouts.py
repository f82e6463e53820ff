"""Two checkouts of the service at work at the same time, each with its own code, Python, index and tables."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.overhead.wire import Address

HERE = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("side.py")


@dataclass(frozen=True, slots=True)
class Checkout:
    """A folder with the code of one commit, and the Python that has its dependencies."""

    folder: Path
    python: Path


THIS = Checkout(HERE, Path(sys.executable))


def other(folder: Path) -> Checkout:
    """Another checkout, in which `make setup` was run."""
    python = folder.resolve() / ".venv/bin/python"
    if not python.exists():
        raise RuntimeError(f"{folder} is not ready: run `make setup` there")
    return Checkout(folder.resolve(), python)


@dataclass(frozen=True, slots=True)
class Order:
    """What a side loads and draws."""

    leads: int
    accounts: int
    file: str = ""
    """Parquet file of the leads; empty: the side makes it."""
    drawn: str = ""
    """File for the requests that the side draws; empty: it draws none."""
    searches: int = 0
    enrichments: tuple[int, ...] = ()
    enrichments_each: int = 0


class Side:
    """A checkout whose service runs."""

    def __init__(self, process: asyncio.subprocess.Process, ready: dict[str, Any]) -> None:
        self._process = process
        self.address = Address(*ready["address"])
        self.pid: int = ready["pid"]
        self.keys: list[str] = ready["keys"]
        self.file: str = ready["file"]

    @contextlib.asynccontextmanager
    async def copy(self, engine: Address) -> AsyncIterator[Address]:
        """A second service with the same settings, but another address of the engine. A side can have one."""
        await _send(self._process, f"http://{engine.host}:{engine.port}")
        yield Address(*(await _receive(self._process))["address"])
        await _send(self._process, "")


@contextlib.asynccontextmanager
async def serving(checkout: Checkout, order: Order) -> AsyncIterator[Side]:
    """The service of a checkout, once it is ready; all that it made is gone afterwards."""
    path = os.pathsep.join((str(checkout.folder), str(checkout.folder / "src")))
    process = await asyncio.create_subprocess_exec(
        str(checkout.python),
        "-P",
        str(SCRIPT),
        json.dumps(asdict(order)),
        cwd=checkout.folder,
        env={**os.environ, "PYTHONPATH": path},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # what ends this process must not end that one: it removes what it made
    )
    try:
        yield Side(process, await _receive(process))
    finally:
        assert process.stdin
        process.stdin.close()
        await process.wait()


async def _send(process: asyncio.subprocess.Process, line: str) -> None:
    assert process.stdin
    process.stdin.write(line.encode() + b"\n")
    await process.stdin.drain()


async def _receive(process: asyncio.subprocess.Process) -> dict[str, Any]:
    assert process.stdout
    line = await process.stdout.readline()
    if not line:
        raise RuntimeError("a side has ended; its error is above")
    answer: dict[str, Any] = json.loads(line)
    return answer
