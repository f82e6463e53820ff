"""Mails with codes, at the pace of the service: what all callers together ask for beyond it waits, and is not refused.

So somebody with many networks cannot take the right to opt out from others, and the service does not flood mailboxes.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque

from siteglass.access.limits import RateLimiter
from siteglass.errors import Unavailable
from siteglass.platform.mailer import Mailer, MailError
from siteglass.platform.metrics import OPT_OUT_MAILS, OPT_OUT_MAILS_WAITING
from siteglass.privacy import limits

log = logging.getLogger("siteglass.privacy.code_mails")

# So that a code, which is valid for an hour from the request, arrives within half of it.
MAX_DELAY_S = 1_800
RETRY_AFTER_S = 600


class CodeMails:
    """Mails of one worker; those that wait are sent in their order."""

    def __init__(self, mailer: Mailer, limiter: RateLimiter) -> None:
        self._mailer = mailer
        self._limiter = limiter
        self._waiting: deque[tuple[str, str, str]] = deque()
        self._sender: asyncio.Task[None] | None = None

    async def send(self, to: str, subject: str, text: str) -> None:
        """Send a mail now or later. Raises MailError if it is sent now and not taken, Unavailable if too many wait."""
        if not self._waiting and await self._wait_s() == 0:
            OPT_OUT_MAILS.labels("sent").inc()
            await self._mailer.send(to, subject, text)
            return
        if len(self._waiting) >= MAX_DELAY_S * limits.ALL_MAILS.rate_per_s / self._limiter.workers:
            OPT_OUT_MAILS.labels("refused").inc()
            raise Unavailable("too many mails with codes wait", RETRY_AFTER_S, has_price=False)
        OPT_OUT_MAILS.labels("delayed").inc()
        self._waiting.append((to, subject, text))
        OPT_OUT_MAILS_WAITING.set(len(self._waiting))
        if self._sender is None or self._sender.done():
            self._sender = asyncio.create_task(self._send_waiting())

    async def close(self) -> None:
        """Stop. Mails that wait are dropped: their recipients can ask again."""
        if self._sender is not None:
            self._sender.cancel()
            await asyncio.gather(self._sender, return_exceptions=True)
        if self._waiting:
            log.warning("mails dropped", extra={"mails": len(self._waiting)})

    async def _wait_s(self) -> float:
        policy = limits.ALL_MAILS
        verdict = await self._limiter.take("opt-out-mails", "opt-out-mails", policy, policy)
        return 0 if verdict.allowed else verdict.retry_after_s

    async def _send_waiting(self) -> None:
        while self._waiting:
            if wait_s := await self._wait_s():
                await asyncio.sleep(wait_s)
                continue
            mail = self._waiting.popleft()
            OPT_OUT_MAILS_WAITING.set(len(self._waiting))
            try:
                await self._mailer.send(*mail)
            except MailError as error:
                log.warning("delayed mail failed", extra={"reason": str(error)})
