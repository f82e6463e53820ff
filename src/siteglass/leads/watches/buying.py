"""Buys the new leads of a run: a download of them, in the name of the person who set the ceiling.

A lead costs a credit at most, so a download of as many leads as the ceiling has credits stays under it. The download
has a key of the run: however often a run is delivered, it is started once.
"""

from __future__ import annotations

import logging
import zlib
from dataclasses import dataclass
from typing import Final

import orjson

from siteglass.access.browsing import browser_terms, chargeable
from siteglass.errors import AccountSuspended, BadRequest, NotFound
from siteglass.leads.downloads.columns import COLUMN_SETS
from siteglass.leads.downloads.enriching import ENRICH_SELECT
from siteglass.leads.downloads.jobs import (
    MAX_KEPT_OF_WATCHES,
    Download,
    Downloads,
    FileGone,
    NewDownload,
    TooManyDownloads,
)
from siteglass.leads.lists.lists import Lists
from siteglass.leads.watches.runs import BOUGHT, OpenRun, Runs
from siteglass.leads.watches.watches import search_new_leads
from siteglass.platform.postgres import Postgres

log = logging.getLogger("siteglass.watches")

# Viewers don't spend credits; somebody who became one or left buys nothing more.
_BUYER = """
SELECT p.name FROM {schema}.people p JOIN {schema}.members m ON m.person_id = p.id
WHERE p.id = $1 AND m.account_id = $2 AND m.role <> 'viewer'
"""
_IS_INTERNAL = """
SELECT l.is_internal FROM {schema}.accounts a JOIN {schema}.plans l ON l.name = a.plan WHERE a.id = $1
"""
# Noted among the people who have the mail, as BOUGHT is: all of them get the same mail.
_FULL, _SUSPENDED, _BUYER_LEFT, _PAUSED = -1, -2, -3, -4
_NOTHING: Final = {
    _FULL: f"Nothing was bought: the account keeps at most {MAX_KEPT_OF_WATCHES} files of watches. Delete one under "
    "Files.",
    _SUSPENDED: "Nothing was bought: the account is suspended.",
    _BUYER_LEFT: "Nothing was bought: the person who set the ceiling may buy no more.",
    _PAUSED: "Nothing was bought: the watch is paused.",
}


@dataclass(frozen=True, slots=True)
class Purchase:
    """What was bought of a run, or is being bought."""

    says: str = ""
    """For people; empty if nothing was to be bought."""
    is_open: bool = False


class RunBuyer:
    """Buys new leads, and puts them on the list of the watch."""

    def __init__(self, postgres: Postgres, runs: Runs, lists: Lists) -> None:
        self._postgres = postgres
        self._runs = runs
        self._downloads = Downloads(postgres)
        self._lists = lists

    async def buy(self, open_run: OpenRun) -> Purchase:
        """Start the download of a run, or see how far it is; once it has ended, its leads are on the list."""
        terms, decided = open_run.watch.terms, open_run.run.mailed
        if terms.max_lead_credits is None or terms.buyer_id is None or open_run.watch.test:
            return Purchase()
        for refusal in _NOTHING.keys() & {*decided}:
            return Purchase(_NOTHING[refusal])
        form_key = f"{open_run.run.list_name}-{open_run.run.ran_at:%Y%m%d%H%M%S}"
        download = await self._downloads.of_form(open_run.watch.account_id, form_key)
        if download is None and BOUGHT in decided:
            return Purchase("Leads of this run were bought; their file was deleted.")
        if download is None:
            started = await self._start(open_run, form_key, terms.buyer_id, terms.max_lead_credits)
            if isinstance(started, int):
                await self._runs.note_mailed(open_run, started)
                return Purchase(_NOTHING[started])
            download = started
        if BOUGHT not in decided:
            await self._runs.note_mailed(open_run, BOUGHT)
        if download.is_open:
            return Purchase(is_open=True)
        said = f"{download.rows:,} of them were bought for {download.lead_credits:,} lead credits; see Files."
        if await self._is_internal(open_run.watch.account_id):
            said = f"Your account got {download.rows:,} of them; see Files."
        elif download.reason:
            said += f" {download.reason}"
        if terms.add_to_list and download.rows:
            said += await self._add_to_list(open_run, download)
        return Purchase(said)

    async def _is_internal(self, account_id: int) -> bool:
        """Whether pages and mails of the account mention no credits."""
        row = await self._postgres.fetchrow(_IS_INTERNAL, account_id)
        return row is not None and bool(row["is_internal"])

    async def _start(self, open_run: OpenRun, form_key: str, person_id: int, ceiling: int) -> Download | int:
        """The download, or why nothing is bought."""
        watch, run = open_run.watch, open_run.run
        row = await self._postgres.fetchrow(_BUYER, person_id, watch.account_id)
        if row is None:
            return _BUYER_LEFT
        if watch.terms.paused:
            return _PAUSED
        try:
            terms = await browser_terms(self._postgres, watch.account_id, person_id)
        except AccountSuspended:
            return _SUSPENDED
        await chargeable(self._postgres, terms.caller, person_id, row["name"])
        wanted = min(run.new_leads, ceiling)
        search = search_new_leads(watch.filters, watch.lists.exclude, run.list_name)
        # A lead without an address would take the place of one that is bought, and costs nothing to see anyway.
        body = {**search, "has_email": True, "sort": "-score", "select": list(ENRICH_SELECT)}
        new = NewDownload(
            watch.account_id,
            person_id,
            form_key,
            "search",
            f"{watch.name}: new on {run.ran_at:%d %b %Y}",
            orjson.dumps(body).decode(),
            "csv",
            next(iter(COLUMN_SETS)),
            wanted,
            wanted,
        )
        try:
            return await self._downloads.create(new)
        except TooManyDownloads:
            return _FULL

    async def _add_to_list(self, open_run: OpenRun, download: Download) -> str:
        name, account_id = open_run.watch.terms.add_to_list, open_run.watch.account_id
        try:
            domains = [
                record["domain"]
                async for page in self._downloads.pages(download)
                for record in orjson.loads(zlib.decompress(page))["results"]
            ]
            try:
                list_ = await self._lists.find(account_id, name)
            except NotFound:
                list_ = await self._lists.create(account_id, name)
            await self._lists.add(list_, [(domain,) for domain in domains])
        except (BadRequest, NotFound, FileGone) as error:
            log.warning("leads not added to a list", extra={"watch": open_run.watch.id, "reason": type(error).__name__})
            return f" They could not be added to the list {name}."
        return f" They are on the list {name}."
