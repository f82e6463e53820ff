"""Requests at a steady rate, each at its time, whether or not the earlier ones were answered."""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from abc import ABC, abstractmethod
from typing import Self

import httpx

MAX_CONNECTIONS, KEPT_CONNECTIONS = 500, 50
CLIENT_TIMEOUT_S = 30


class SteadyLoad(ABC):
    """Sends from a separate thread, from the beginning of a block to its end."""

    def __init__(self, url: str, api_key: str, rate: float, *, tls: ssl.SSLContext | bool = True) -> None:
        self._url, self._api_key, self._rate, self._tls = url, api_key, rate, tls
        self._stop = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._send_all()), daemon=True)
        self._began = 0.0

    @abstractmethod
    async def send(self, client: httpx.AsyncClient) -> None:
        """Send one request, and note what became of it."""

    def now_s(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._began

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Send no more, and wait for what is under way."""
        self._stop.set()
        self._thread.join()

    async def _send_all(self) -> None:
        limits = httpx.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=KEPT_CONNECTIONS)
        headers = {"X-API-Key": self._api_key}
        async with (
            httpx.AsyncClient(
                base_url=self._url,
                headers=headers,
                limits=limits,
                timeout=CLIENT_TIMEOUT_S,
                trust_env=False,
                verify=self._tls,
            ) as client,
            asyncio.TaskGroup() as under_way,
        ):
            sent = 0
            while not self._stop.is_set():
                under_way.create_task(self.send(client))
                sent += 1
                await asyncio.sleep(max(0.0, sent / self._rate - self.now_s()))
