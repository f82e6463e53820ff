"""Mails that the service writes to people: sent at once, or after the answer, which must not tell what was mailed."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Coroutine
from typing import Any

from siteglass.errors import Unavailable
from siteglass.people.problems import PeopleError
from siteglass.platform.mailer import Mailer, MailError
from siteglass.settings import variable

log = logging.getLogger("siteglass.people.mails")

MAX_WAITING = 100
DELAY_S = (0.1, 0.5)


class Letters:
    """Mails of one worker."""

    def __init__(self, mailer: Mailer | None) -> None:
        self._mailer = mailer
        self._waiting: set[asyncio.Task[None]] = set()

    def require(self) -> None:
        """Raise PeopleError if none can be sent."""
        if self._mailer is None:
            raise PeopleError(f"This service cannot send mail: {variable('mail_url')} is not set.")

    async def send(self, to: str, subject: str, text: str) -> None:
        """Raises Unavailable if the mail is not taken."""
        if self._mailer is None:
            return
        try:
            await self._mailer.send(to, subject, text)
        except MailError as error:
            raise Unavailable(f"mail cannot be sent: {error}", has_price=False) from None

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it after the answer. Bounded: beyond it nothing is done."""
        if len(self._waiting) >= MAX_WAITING:
            work.close()
            log.warning("mail dropped", extra={"reason": "too many wait"})
            return

        async def logged() -> None:
            # Not at once: the very next request of the same caller would be slower by this work, and tell of it.
            await asyncio.sleep(random.uniform(*DELAY_S))  # noqa: S311 - no secret
            try:
                await work
            except Unavailable as error:
                log.warning("mail failed", extra={"reason": error.reason})

        task = asyncio.create_task(logged())
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    async def close(self) -> None:
        """Wait for those that are on their way: each has a deadline."""
        while self._waiting:  # one may start others
            await asyncio.gather(*self._waiting, return_exceptions=True)
