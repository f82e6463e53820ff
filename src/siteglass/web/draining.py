"""A worker that must stop says so first, and answers requests until load balancers have noticed."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from types import FrameType

log = logging.getLogger("siteglass.server")

STATE_KEY = "drain"
"""Where the connections of a worker find its Drain: in the state of its lifespan."""


class Drain:
    """Whether the worker is stopping. `/readyz` then returns 503, and every response closes its connection."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.begun = False

    def catch_signal(self) -> None:
        """From now on SIGTERM begins the drain, and reaches uvicorn only at its end. A second one ends it at once.

        SIGINT stays as it is: nobody wants to wait after Ctrl-C.
        """
        if threading.current_thread() is not threading.main_thread():
            return  # such as a service inside a test: it gets no signals
        stop = signal.getsignal(signal.SIGTERM)
        if not callable(stop):
            return
        loop = asyncio.get_running_loop()

        def begin(number: int, frame: FrameType | None) -> None:
            if self.begun or not self._seconds:
                stop(number, frame)
                return
            self.begun = True
            loop.call_soon_threadsafe(wait)

        def wait() -> None:
            log.info("draining", extra={"seconds": self._seconds})
            loop.call_later(self._seconds, stop, signal.SIGTERM, None)

        signal.signal(signal.SIGTERM, begin)

    async def readiness(self) -> str | None:
        """Why the worker is not ready, or None."""
        return "the worker is stopping" if self.begun else None
