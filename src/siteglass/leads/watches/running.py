"""Runs watches that are due: what matches now and was not seen before.

The search runs without its lists, so that a lead that leaves a list is not news; the lists apply to what is reported.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime

from pyroaring import BitMap

from siteglass.errors import BadRequest
from siteglass.index import generations
from siteglass.index.compile import compile_criteria
from siteglass.index.index import Index
from siteglass.index.lead_numbers import highest_number, match_domains, match_numbers, numbered_in
from siteglass.leads.endpoints import LeadEndpoints
from siteglass.leads.lists.bitmaps import pack
from siteglass.leads.watches.runs import DueWatch, Found, RunLost, Runs
from siteglass.leads.watches.watches import MAX_MATCHES
from siteglass.query.body import read_meaning
from siteglass.query.criteria import Criteria

log = logging.getLogger("siteglass.watches")

WORK_EVERY_S = 5.0


class WatchRunner:
    """Takes watches that are due and runs them, one at a time. Every worker of the service has one."""

    def __init__(self, runs: Runs, leads: LeadEndpoints, sandbox: LeadEndpoints) -> None:
        self._runs = runs
        self._leads: Mapping[bool, LeadEndpoints] = {False: leads, True: sandbox}

    async def work(self) -> None:
        """Run all watches that are due. One that fails is due again after its lease; its error is raised at the end."""
        failed: dict[int, Exception] = {}
        while (due := await self._runs.claim()) is not None and due.watch.id not in failed:
            try:
                found = await self._find(due)
                await self._runs.record(due, found, due.watch.terms.schedule.next_after(datetime.now(UTC)))
            except RunLost:
                log.info("lost a watch", extra={"watch": due.watch.id})
            except Exception as error:
                log.warning("watch failed", extra={"watch": due.watch.id, "reason": type(error).__name__})
                failed[due.watch.id] = error
        for failure in failed.values():
            raise failure

    async def _find(self, due: DueWatch) -> Found:
        leads = self._leads[due.watch.test]
        while True:
            live = await generations.live_build(leads.index)
            found = await self._compare(leads, due, live[1])
            # If a rebuild was promoted meanwhile, its leads were taken for those of the build before.
            if await generations.live_build(leads.index) == live:
                return found

    async def _compare(self, leads: LeadEndpoints, due: DueWatch, build: str) -> Found:
        watch, index = due.watch, leads.index
        # Before the matches: a lead that is added meanwhile counts as newer than this run.
        highest = await highest_number(index)
        try:
            criteria = read_meaning(watch.filters, index.clock.now_ms()).criteria
            selection, _ = await leads.lists.select(watch.account_id, watch.lists)
        except BadRequest:
            return Found("unreadable", due.highest_no, due.build)
        matches = await match_numbers(index, compile_criteria(criteria), MAX_MATCHES)
        if len(matches) > MAX_MATCHES:
            return Found("too_many", due.highest_no, due.build, len(matches))
        now = BitMap(matches)
        if due.seen is None:
            return Found("baseline", highest, build, len(now), now)
        seen = BitMap.deserialize(due.seen)
        new = now - seen
        reread = await self._reread(index, due, new, build)
        reported: dict[int, str] = {}
        if fresh := new - reread:
            query = compile_criteria(Criteria(), (numbered_in(pack(fresh)),))
            reported = await match_domains(index, query, len(fresh))
            # By the rows of the lists: their bitmaps lack leads that are new, and what is seen is never reported again.
            unwanted = await leads.lists.unwanted(selection, list(reported.values()))
            reported = {number: domain for number, domain in reported.items() if domain not in unwanted}
        return Found("compared", highest, build, len(now), seen | now, tuple(reported.items()), len(reread))

    async def _reread(self, index: Index, due: DueWatch, new: BitMap, build: str) -> BitMap:
        """The new matches that are news only because another release built the index, which may read sites differently.

        A lead is real news if the last comparison did not know it, or if it has a newer fact: it was crawled since, or
        imports or places have changed.
        """
        known = BitMap(number for number in new if number <= due.highest_no)
        if build == due.build or not known or due.compared_at is None:
            return BitMap()
        since = {"gt": due.compared_at.isoformat()}
        changed = {"bool": {"should": [{"range": {name: since}} for name in ("crawled_at", "newest_at")]}}
        query = compile_criteria(Criteria(), (numbered_in(pack(known)), changed))
        return known - BitMap(await match_numbers(index, query, len(known)))
