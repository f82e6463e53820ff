"""Works off jobs: buys one page after the other, as the person or key that started the job, and keeps each page.

Every page is charged under a key made of the job and the number of the page. A worker may be killed at any moment. The
one that takes the job next asks for the same page, and gets the response that was paid for. So the charges of a job
are what its pages say.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import orjson
from starlette.responses import Response

from siteglass.access.browsing import browser_terms
from siteglass.access.keys import Caller, family_caller
from siteglass.billing.answers import compress
from siteglass.errors import (
    AccountSuspended,
    CreditCapExceeded,
    IdempotencyInProgress,
    InsufficientCredits,
    PayloadTooLarge,
    SiteglassError,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from siteglass.leads.charging import AccountCharger, FindOffer, Offer, Retry
from siteglass.leads.downloads.batches import LEADS, batch_offer, unpack_domains
from siteglass.leads.downloads.enriching import ENRICH_SELECT, found_domains
from siteglass.leads.downloads.jobs import BoughtPage, Download, Downloads, FileGone, LeaseLost
from siteglass.leads.endpoints import LeadEndpoints
from siteglass.leads.lists.lists import DOWNLOADED, Lists
from siteglass.leads.requests import EnrichRequest, Spending
from siteglass.platform.logs import new_request_id
from siteglass.web.guard import Call
from siteglass.web.operations import MAX_LIMIT

log = logging.getLogger("siteglass.downloads")

WORK_EVERY_S = 1.0
RETRY_AFTER = timedelta(seconds=2)
# Responses are stored for 24 hours under their keys. For so long, a page is found that was paid for and
# not kept. A job that was idle for longer must not ask for it again.
MAX_PAUSE = timedelta(hours=20)
SLICE_S = 5.0
"""For which a job has a worker; then a job of another account has it, if one waits."""
PAGES_AT_ONCE = 100
"""Whose leads are read."""

NO_CREDITS = "The account has too few credits for the next leads."
NO_PRICE = "The next leads would cost more than the price that you agreed to."
DAILY_CAP = "A daily cap on credits is reached."
NOT_ALLOWED = "The person who started it can no longer spend credits of this account."
SUSPENDED = "The account was suspended. What was bought until then is in the file."
TOO_LONG = "The service was unavailable for too long."
TOO_LARGE = "The file has reached its maximum size."
KEY_ENDED = "The API key that started it was revoked, or has expired."
CAP_REACHED = "The job has reached its max_lead_credits."
CANCELLED = "It was cancelled."


class DownloadWorker:
    """Takes jobs and works them off, one at a time. Every worker of the service has one."""

    def __init__(self, downloads: Downloads, leads: LeadEndpoints, charger: AccountCharger, lists: Lists) -> None:
        self._downloads = downloads
        self._leads = leads
        self._charger = charger
        self._lists = lists
        # Of the last enrichment: unpacking a large table takes a third of a second, and a job has 200 pages.
        self._found: tuple[int, list[str]] = (0, [])
        # Of the last enrichment of a key: its leads on so many pages.
        self._charged: tuple[int, int, set[str]] = (0, 0, set())

    async def work(self) -> None:
        """Work until no job is left."""
        while (download := await self._downloads.claim()) is not None:
            try:
                await self._work_on(download)
            except (LeaseLost, FileGone):
                log.info("lost a download", extra={"download": download.id})

    async def _work_on(self, download: Download) -> None:
        """Buy pages until the job ends, or has to wait, or the turn of others comes."""
        ends_s = time.monotonic() + SLICE_S
        while time.monotonic() < ends_s:
            if datetime.now(UTC) - download.moved_at > MAX_PAUSE:
                return await self._downloads.end(download, "ended", TOO_LONG)
            try:
                response = await self._next_page(download)
            except (Unavailable, TooManyRequests, IdempotencyInProgress) as error:
                reason = error.reason if isinstance(error, Unavailable) else error.code
                log.info("download waits", extra={"download": download.id, "reason": reason})
                return await self._downloads.postpone(download, RETRY_AFTER)
            except SiteglassError as error:
                return await self._downloads.end(download, "ended", _reason(error, download))
            if response is None:
                return await self._downloads.end(download, "stopped", CANCELLED if download.key_family else "")
            download = await self._keep(download, response)
            if not download.next_page or download.rows >= download.wanted:
                return await self._downloads.end(download, "done")
            if download.bytes > download.max_bytes:
                return await self._downloads.end(download, "ended", TOO_LARGE)
        return await self._downloads.postpone(download, timedelta(0))

    async def _next_page(self, download: Download) -> Response | None:
        """The next page, charged now or by a worker that was killed afterwards; None if the job is to stop."""
        retry = page_key(download)
        if download.stop_wanted:
            return await self._find_paid(download)
        try:
            caller = await self._caller(download)
        except (Unauthorized, AccountSuspended):
            # The page may have been paid for before.
            if (paid := await self._find_paid(download)) is not None:
                return paid
            raise
        request_id = f"{new_request_id()}-{_source(download)}"
        if download.person_id is not None:  # the request that started a key's job took its units
            await self._leads.guard.take(caller, Call(request_id), 1)
        limit = min(MAX_LIMIT, download.wanted - download.rows)
        if download.kind == "enrich":
            await self._prepare(download)
        find = self._find_batch if download.key_family and download.kind == "enrich" else self._find
        while True:
            try:
                return await self._charger.charge_once(find(download, caller, limit), caller, request_id, retry)
            except PayloadTooLarge:  # nothing was charged
                if limit == 1:
                    raise
                limit = max(1, limit // 10)
            except (InsufficientCredits, CreditCapExceeded):
                # People agreed to a price. A key's job goes as far as the credits do.
                if limit == 1 or download.person_id is not None:
                    raise
                limit //= 2

    async def _find_paid(self, download: Download) -> Response | None:
        """The next page if an earlier worker charged it and was killed before it kept it."""
        # Whoever paid may no longer be a caller.
        payer = Caller(
            download.account_id, 0, download.key_family or 0, frozenset(), "", 0, 0, person_id=download.person_id
        )
        earlier = await self._charger.find_earlier(payer, page_key(download))
        return earlier if isinstance(earlier, Response) else None

    async def _caller(self, download: Download) -> Caller:
        """Who pays: the person or the key that started the job."""
        postgres = self._leads.index.postgres
        if download.person_id is not None:
            return (await browser_terms(postgres, download.account_id, download.person_id)).caller
        return await family_caller(postgres, download.account_id, download.key_family or 0)

    def _find_batch(self, download: Download, caller: Caller, limit: int) -> FindOffer:
        """What finds the next batch of a key's enrichment."""

        async def find() -> Offer:
            first = int(download.next_page or 0)
            domains, select = self._found[1][first : first + limit], tuple(orjson.loads(download.request)["select"])
            spending = Spending(False, download.max_credits - download.lead_credits)
            # Nobody sends a domain of a job again, so a batch whose look-ups failed in part is not bought.
            offer = await self._leads.find_enrichment(caller, EnrichRequest(domains, select, spending), is_whole=True)
            return batch_offer(offer, self._charged[2], is_first=not download.pages)

        return find

    async def _prepare(self, download: Download) -> None:
        """Read the domains of an enrichment, and the leads that earlier pages of a key's were charged for.

        This has no deadline, and what was read is kept if it fails: a worker that takes a long job over would else
        start again each time.
        """
        if self._found[0] != download.id:
            unpack = found_domains if download.key_family is None else unpack_domains
            self._found = (download.id, await asyncio.to_thread(unpack, await self._downloads.source(download)))
        if download.key_family is None:
            return
        if self._charged[0] != download.id:
            self._charged = (download.id, 0, set())
        _job, pages, leads = self._charged
        while pages < download.pages:
            end = min(download.pages, pages + PAGES_AT_ONCE)
            leads.update(await self._downloads.leads(download, pages, end))
            self._charged = (download.id, end, leads)
            pages = end

    def _find(self, download: Download, caller: Caller, limit: int) -> FindOffer:
        """What finds the next page. It never costs more than is left of the price."""
        if download.kind == "enrich":
            first = int(download.next_page or 0)
            domains = self._found[1][first : first + limit]
            spending = Spending(False, download.max_credits - download.lead_credits)
            wanted = EnrichRequest(domains, ENRICH_SELECT, spending)
            return partial(self._leads.find_enrichment, caller, wanted, is_whole=True)
        terms = {"limit": limit, "max_lead_credits": download.max_credits - download.lead_credits}
        if download.next_page:
            return partial(self._leads.later_page, caller, download.next_page, terms)
        now_s = self._leads.index.clock.now_ms() // 1000
        return partial(self._leads.first_page, caller, {**orjson.loads(download.request), **terms}, now_s)

    async def _keep(self, download: Download, response: Response) -> Download:
        """Keep a page that is paid for. The list first: a page that is kept is not looked at again."""
        answer: dict[str, Any] = orjson.loads(response.body)
        results = answer["results"]
        if download.kind == "enrich":
            done = int(download.next_page or 0) + len(results)
            next_page = str(done) if done < download.wanted else ""
            content: dict[str, Any] = {name: answer[name] for name in ("results", LEADS) if name in answer}
        else:
            next_page = (answer["next"] or "").rpartition("/")[2]
            content = {"filters": {}, "results": results}
        if download.person_id is not None:
            await self._note_downloaded(download.account_id, [record["domain"] for record in results])
        page = BoughtPage(
            compress(orjson.dumps(content)),
            len(results),
            int(response.headers["x-credits-lead-used"]),
            int(response.headers["x-credits-api-used"]),
            next_page,
            answer.get(LEADS),
        )
        return await self._downloads.store(download, page)

    async def _note_downloaded(self, account_id: int, domains: Sequence[str]) -> None:
        if domains:
            list_ = await self._lists.find(account_id, DOWNLOADED)
            await self._lists.add(list_, [(domain,) for domain in domains])


def page_key(download: Download) -> Retry:
    """The key under which the next page of a job is charged. By its form, `charge` stores free pages as well."""
    # No Idempotency-Key has a space, so callers cannot use up the keys of their jobs.
    form = "download-{}-{}" if download.key_family is None else "job {} {}"
    key = form.format(download.id, download.pages)
    return Retry(key, hashlib.sha256(key.encode()).digest())


def _source(download: Download) -> str:
    """Where the leads were bought, as the ledger shows it."""
    if download.key_family is not None:
        return f"job-{download.id}"
    return "upload" if download.kind == "enrich" else "download"


def _reason(error: SiteglassError, download: Download) -> str:
    match error:
        case InsufficientCredits():
            return NO_CREDITS
        case CreditCapExceeded():
            if "max_lead_credits" not in error.message:
                return DAILY_CAP
            return NO_PRICE if download.key_family is None else CAP_REACHED
        case Unauthorized():
            return NOT_ALLOWED if download.key_family is None else KEY_ENDED
        case AccountSuspended():
            return SUSPENDED
    return error.message
