"""Delivers the new leads of runs: buys them if the watch has a ceiling, and mails them to the people whom it names.

A run is open until all of them have the mail, and each who has it is noted at once. A worker that is killed after the
mail server took a mail, and before that is noted, sends it again with the same Message-ID.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from siteglass.errors import BadRequest, Unavailable
from siteglass.leads.endpoints import LeadEndpoints
from siteglass.leads.watches.buying import RunBuyer
from siteglass.leads.watches.mails import write_run_mail
from siteglass.leads.watches.previews import NewLeads, preview_run
from siteglass.leads.watches.runs import OpenRun, Run, RunLost, Runs
from siteglass.people.secrecy import Secrecy
from siteglass.platform.mailer import MailDeferred, Mailer, MailError, MailExtras, MailRefused

log = logging.getLogger("siteglass.watches")

DELIVER_EVERY_S = 5.0
LOOK_AGAIN_AFTER = timedelta(seconds=5)
"""While the leads of a run are being bought."""
MAIL_AGAIN_AFTER = timedelta(minutes=15)
GIVE_UP_AFTER = timedelta(days=3)
UNSUBSCRIBE = "/dashboard/unsubscribe/"
UNSUBSCRIBE_USE = "unsubscribe"
EXPLORE = "/dashboard/explore"
_LINK_LIFE_S = 400 * 86_400


def explore_path(run: Run) -> str:
    """The page of the dashboard with exactly the new leads of a run."""
    return f"{EXPLORE}?received=1&only={run.list_name}"


@dataclass(frozen=True, slots=True)
class RunMailer:
    """What sends the mails, and where their links lead."""

    mailer: Mailer
    secrecy: Secrecy
    url: str
    """The address of the service for people."""

    def explore_url(self, open_run: OpenRun) -> str:
        """Where exactly the new leads are shown; empty for made-up ones, which the dashboard does not show."""
        return "" if open_run.watch.test else self.url + explore_path(open_run.run)

    def unsubscribe_url(self, open_run: OpenRun, person_id: int) -> str:
        """Where a person stops the mails of a watch without signing in."""
        values = [open_run.watch.id, person_id]
        expires_s = int(open_run.run.ran_at.timestamp()) + _LINK_LIFE_S
        return f"{self.url}{UNSUBSCRIBE}{self.secrecy.seal_token(UNSUBSCRIBE_USE, values, expires_s)}"


class Deliveries:
    """Takes open runs and delivers them, one at a time. Every worker of the service has one."""

    def __init__(
        self, runs: Runs, leads: LeadEndpoints, sandbox: LeadEndpoints, buyer: RunBuyer, mailer: RunMailer | None
    ) -> None:
        self._runs = runs
        self._leads: Mapping[bool, LeadEndpoints] = {False: leads, True: sandbox}
        self._buyer = buyer
        self._mailer = mailer

    async def work(self) -> None:
        """Deliver all open runs; raises Unavailable if one failed. It is open again after its lease."""
        while (open_run := await self._runs.claim_open()) is not None:
            try:
                await self._deliver(open_run)
            except RunLost:
                log.info("lost a run", extra={"watch": open_run.watch.id, "run": open_run.run.id})

    async def _deliver(self, open_run: OpenRun) -> None:
        now = datetime.now(UTC)
        if now - open_run.run.ran_at > GIVE_UP_AFTER:
            log.warning("gave up a run", extra={"watch": open_run.watch.id, "run": open_run.run.id})
            return await self._runs.close(open_run)
        purchase = await self._buyer.buy(open_run)
        if purchase.is_open:
            return await self._runs.postpone(open_run, now + LOOK_AGAIN_AFTER)
        if open_run.recipients and self._mailer is not None and not await self._mail(open_run, purchase.says):
            return await self._runs.postpone(open_run, now + MAIL_AGAIN_AFTER)
        return await self._runs.close(open_run)

    async def _mail(self, open_run: OpenRun, bought: str) -> bool:
        """Mail to all who don't have it; returns whether nobody is left. Raises Unavailable if mail can't be sent."""
        assert self._mailer is not None  # noqa: S101 - the caller has looked
        try:
            new = await preview_run(self._leads[open_run.watch.test], open_run.watch, open_run.run)
        except BadRequest:  # a list or value of the search is gone, as the next run will say
            log.warning("run not mailed", extra={"watch": open_run.watch.id, "run": open_run.run.id})
            return True
        if not new.total:
            return True  # all were opted out since, or match no more
        is_done = True
        for person_id, address in open_run.recipients:
            try:
                await self._send(self._mailer, open_run, new, bought, person_id, address)
            except MailDeferred:
                is_done = False
                continue
            except MailRefused as error:
                log.warning("recipient not notified", extra={"watch": open_run.watch.id, "reason": str(error)})
            except MailError as error:
                raise Unavailable(f"mail: {error}") from None
            await self._runs.note_mailed(open_run, person_id)
        return is_done

    @staticmethod
    async def _send(
        sender: RunMailer, open_run: OpenRun, new: NewLeads, bought: str, person_id: int, address: str
    ) -> None:
        unsubscribe = sender.unsubscribe_url(open_run, person_id)
        mail = write_run_mail(open_run, new, bought, sender.explore_url(open_run), unsubscribe)
        key = f"watch-run.{open_run.run.id}.{person_id}.{open_run.run.ran_at.timestamp():.6f}"
        await sender.mailer.send(address, mail.subject, mail.text, MailExtras(mail.html, unsubscribe, key))
