"""The metrics of services that run in the process of a test, as monitoring reads them: over HTTP, on their own port."""

from __future__ import annotations

import atexit
import contextlib
import functools
import re

import httpx

from siteglass.platform.metrics_server import serving_metrics
from siteglass.settings import Settings
from testing.ports import free_port

_SAMPLE = re.compile(r"^(?P<name>[a-z_]+)(?:\{(?P<labels>[^}]*)\})? (?P<value>\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')

# Serves until the tests end, while threads still run: the server must be able to end its own.
_open = contextlib.ExitStack()
atexit.register(_open.close)


@functools.cache
def _port() -> int:
    port = free_port()
    _open.enter_context(serving_metrics(Settings(metrics_port=port)))
    return port


def scrape(port: int | None = None) -> str:
    """All metrics at this port; without one, those of this process."""
    response = httpx.get(f"http://127.0.0.1:{port or _port()}/metrics", timeout=30, trust_env=False)
    return response.raise_for_status().text


def total(text: str, metric: str, **labels: str) -> float | None:
    """The sum of the samples of a metric that have these labels; None: there is none."""
    samples = [
        float(sample["value"])
        for sample in _SAMPLE.finditer(text)
        if sample["name"] == metric and labels.items() <= dict(_LABEL.findall(sample["labels"] or "")).items()
    ]
    return sum(samples) if samples else None
