"""One visit to a domain: robots.txt, the home page, its sitemap and key pages, one request after the other.

Everything a visit learns is a step, acknowledged before its next request: whoever takes the domain over after a kill
continues there. Redirects are addresses like others, so each asks robots.txt of where it leads. Those to other
domains are kept in the archive, which makes aliases of them, and not followed.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import yarl

from siteglass.crawl.archive import Archive
from siteglass.crawl.choice import key_pages, registrable_of, resolved, sitemap
from siteglass.crawl.counts import Counts
from siteglass.crawl.fetcher import Fetcher, NotFetched
from siteglass.crawl.frontier import MAX_ROBOTS_BYTES, NOT_MODIFIED, Frontier, TakenDomain
from siteglass.crawl.gate import MARGIN_MS, MAX_DELAY_MS, Gate, NotYet
from siteglass.crawl.refusals import Refusals
from siteglass.crawl.results import (
    DnsRecords,
    Finish,
    Found,
    Kind,
    KnownPage,
    NoAnswer,
    Response,
    RobotsText,
    Step,
)
from siteglass.crawl.robots import Rules, rules_of
from siteglass.crawl.uplink import Uplink
from siteglass.errors import Unavailable
from siteglass.ingest.facts import page_digest
from siteglass.ingest.http_responses import Answer, NotAnHttpResponse, plain_body
from siteglass.settings import Settings

MAX_HOPS = 5
MAX_VALIDATOR_CHARS = 200
UNREADABLE = 599
# Mercator's rule: a site is left alone for ten times as long as it needed for its last answer.
RESPONSE_TIMES = 10
# How long a visit waits for an engine, or for its turn at a crowded address. Then its domain is left as it is, and the
# visit continues when its lease is over. To end it would lose the pages that are left.
MAX_WAIT_S = 600
ENGINE_RETRY_S = 2.0
# How often a name is asked for that DNS does not answer, since a resolver can be busy. A name without an address ends
# the visit.
DNS_TRIES = 3
DNS_RETRY_S = 5.0
AFTER_SUCCESS = timedelta(days=30)
AFTER_FAILURE = timedelta(days=1)
# As rare as the visits to a site that never changes, so that dead domains do not use up the budget of a day.
MAX_AFTER_FAILURE = timedelta(days=180)
MAX_RETRY_AFTER = timedelta(days=7)


class _EndOfVisit(Exception):
    """Nothing more is fetched from the domain in this visit."""

    def __init__(self, again_in: timedelta | None = None) -> None:
        super().__init__()
        self.again_in = again_in


@dataclass(frozen=True, slots=True)
class Crew:
    """What all visits of a fetcher share."""

    settings: Settings
    frontier: Frontier
    gate: Gate
    fetcher: Fetcher
    archive: Archive
    refusals: Refusals
    uplink: Uplink
    counts: Counts


class Visit:
    """Of one domain, which this fetcher holds the lease of."""

    def __init__(self, crew: Crew, taken: TakenDomain) -> None:
        self._crew = crew
        self.domain = taken.domain
        self._failures = taken.failures
        self._left_today = crew.settings.crawl_requests_per_day - taken.sent_today
        self._seen = set(taken.seen)
        self._wanted = list(taken.wanted)
        self._least_ms = self._own_delay_ms = min(crew.settings.crawl_domain_delay_ms, MAX_DELAY_MS)
        self._delay_ms = max(self._least_ms, taken.delay_ms)
        self._free_at = 0.0
        self._unreported = 0
        self._has_home = taken.has_home
        self._earlier = taken.earlier
        self._known = taken.known
        self._is_changed = False
        self._is_tried = self._is_answered = self._is_silent = False
        self._end = taken.rest
        self._rules_of: dict[str, Rules | NoAnswer] = {}
        if not self._wanted and not self._seen:
            self._wanted = [Found(f"https://{taken.domain}/", Kind.HOME)]

    async def run(self) -> None:
        """To its end. Cancelled, it leaves the rest to whoever takes the domain next."""
        again_in, is_cut_short = None, False
        try:
            while self._wanted:
                self._wanted.sort(key=lambda found: found.kind)
                await self._take_step(self._wanted.pop(0))
        except _EndOfVisit as end:
            again_in, is_cut_short = end.again_in, True  # the address that was about to be fetched is missing, too
        if self._is_silent and not self._is_answered:
            self._crew.uplink.note_silent_visit()
        is_failure = None if is_cut_short and not self._is_tried else not self._has_home
        if again_in is None:
            after_failure = min(AFTER_FAILURE * 2 ** min(self._failures, 8), MAX_AFTER_FAILURE)
            again_in = after_failure if is_failure else AFTER_SUCCESS
        again_in = max(again_in, self._end or again_in)
        dns = await self._look_up() if self._has_home else None
        await self._put(finished=Finish(again_in, is_failure, self._is_changed, is_cut_short), dns=dns)
        self._crew.counts.end_domain(is_failure=not self._has_home)

    async def give_up(self) -> None:
        """End it as a failure."""
        await self._put(finished=Finish(max(AFTER_FAILURE, self._end or AFTER_FAILURE), True, is_partial=True))
        self._crew.counts.end_domain(is_failure=True)

    async def _take_step(self, address: Found) -> None:
        """Fetch an address, if that is allowed, and note what it leads to."""
        if address.url in self._seen:
            return
        self._seen.add(address.url)
        origin = str(yarl.URL(address.url).origin())
        rules = await self._rules(origin)
        if isinstance(rules, NoAnswer):
            await self._miss(address, rules)
        elif not rules.allows(address.url):
            await self._miss(address, NoAnswer.ROBOTS if rules.read is None else NoAnswer.FORBIDDEN)
        elif rules.delay_ms <= MAX_DELAY_MS or address.kind == Kind.HOME:
            self._least_ms = max(self._least_ms, min(rules.delay_ms, MAX_DELAY_MS))
            longer_ms = max(0, self._least_ms - self._delay_ms)  # counted from robots.txt, which asks for it
            self._delay_ms += longer_ms
            self._free_at += longer_ms / 1000
            try:
                response = await self._fetch(address.url, self.domain, known=self._known.get(address.url))
            except NotFetched as error:
                await self._miss(address, error.reason)
            else:
                await self._note(address, response, rules)

    async def _miss(self, address: Found, reason: NoAnswer) -> None:
        """Note an address without an answer; another form of a home page's address may have one."""
        self._crew.counts.add_error(reason)
        others: tuple[Found, ...] = ()
        if address.kind == Kind.HOME and reason not in (NoAnswer.FORBIDDEN, NoAnswer.ROBOTS) and not self._has_home:
            url = yarl.URL(address.url)
            if url.scheme == "https" and reason not in (NoAnswer.NAME, NoAnswer.REFUSED_ADDRESS):
                others = (Found(str(url.with_scheme("http")), Kind.HOME, address.hops),)
            elif reason == NoAnswer.NAME and url.raw_host == self.domain:
                others = (Found(f"https://www.{self.domain}/", Kind.HOME, address.hops),)
        await self._put(done=(address.url, int(reason)), found=self._new(others))

    async def _note(self, address: Found, response: Response, rules: Rules) -> None:
        """Archive an answer, and queue what it leads to."""
        others: list[Found] = []
        known, page = self._known.get(address.url), None
        if response.status == NOT_MODIFIED and known is not None:
            page = _validated(known, response)
            response = replace(response, unchanged=known)
            if address.kind == Kind.HOME:
                self._has_home = True
                others = list(self._earlier)
        elif 300 <= response.status < 400:
            target = resolved(response.url, response.header("location"))
            if target and registrable_of(target) != self.domain:
                self._has_home = self._has_home or address.kind == Kind.HOME  # it is an alias of another one
            elif target and address.hops < MAX_HOPS:
                others = [Found(target, address.kind, address.hops + 1)]
        elif address.kind == Kind.HOME and response.status < 300:
            self._has_home = True
            others = [sitemap(response.url, rules.sitemaps, self.domain), *key_pages(response, self.domain)]
        if 200 <= response.status < 300 and (digest := _digest(response)):
            page = _validated(KnownPage(digest, _time_of(response)), response)
            self._is_changed = self._is_changed or (known is not None and known.digest != digest)
            # With other headers than before, an equal body may say something else.
            if known is not None and known.digest == digest and not response.header("x-robots-tag"):
                page, response = page._replace(full_at=known.full_at), replace(response, unchanged=known)
        self._crew.counts.add_page(response)
        await self._put(done=(address.url, response.status), page=page, found=self._new(others), responses=(response,))

    def _new(self, found: tuple[Found, ...] | list[Found]) -> tuple[Found, ...]:
        queued = {one.url for one in self._wanted}
        new = tuple(one for one in found if one.url not in self._seen and one.url not in queued)
        self._wanted.extend(new)
        return new

    # --- robots.txt -------------------------------------------------------------------------------

    async def _rules(self, origin: str) -> Rules | NoAnswer:
        """The rules of an origin, at most a day old; or why it cannot be reached at all."""
        if origin not in self._rules_of:
            robots = await self._crew.frontier.robots(origin)
            if robots is None or robots.next_url:
                robots = await self._fetch_robots(robots or RobotsText(origin=origin, next_url=f"{origin}/robots.txt"))
            self._rules_of[origin] = NoAnswer(robots.status) if robots.status < 0 else rules_of(robots)
        return self._rules_of[origin]

    async def _fetch_robots(self, robots: RobotsText) -> RobotsText:
        """Fetch robots.txt from where it is, over redirects, also to other domains, as RFC 9309 says.

        That a site could not be reached is asked again in the next visit.
        """
        while robots.next_url:
            url = robots.next_url
            try:
                response = await self._fetch(url, registrable_of(url), least_bytes=MAX_ROBOTS_BYTES)
            except NotFetched as error:
                # A target that cannot be reached says nothing of our origin, except that its rules are not known.
                reason = NoAnswer.ROBOTS if robots.hops else error.reason
                return RobotsText(origin=robots.origin, status=int(reason))
            self._crew.counts.add_robots()
            target = resolved(url, response.header("location")) if 300 <= response.status < 400 else ""
            if target and registrable_of(target) and robots.hops < MAX_HOPS:
                robots = replace(robots, status=response.status, hops=robots.hops + 1, next_url=target)
            else:
                robots = _robots_text(robots.origin, response)
            await self._put(robots=robots, responses=(response,))
        return robots

    # --- one request ------------------------------------------------------------------------------

    async def _look_up(self) -> DnsRecords | None:
        """What DNS says of the domain; None of one that must not be fetched from."""
        with suppress(Unavailable):
            if not await self._crew.refusals.refuses(self.domain):
                return await self._crew.fetcher.look_up(self.domain)
        return None

    async def _fetch(self, url: str, domain: str, *, known: KnownPage | None = None, least_bytes: int = 0) -> Response:
        """One request, when it may be sent; raises NotFetched and _EndOfVisit."""
        give_up, tries = time.monotonic() + MAX_WAIT_S, DNS_TRIES
        while True:
            if self._end is not None or self._left_today <= 0:
                raise _EndOfVisit(self._end or timedelta(days=1))
            self._is_tried = True
            await asyncio.sleep(max(0.0, self._free_at - time.monotonic()))
            wait_s = ENGINE_RETRY_S
            try:
                await self._crew.gate.ready()
                async with self._crew.fetcher.near(url):
                    if await self._crew.refusals.refuses(yarl.URL(url).raw_host or ""):
                        raise _EndOfVisit(AFTER_SUCCESS)
                    response = await self._crew.fetcher.get(
                        url, lambda address: self._turn(domain, address, url), known=known, least_bytes=least_bytes
                    )
                break
            except NotFetched as error:
                if error.reason == NoAnswer.TOO_SLOW:
                    self._slow_down(self._crew.settings.crawl_timeout_ms, "")
                tries -= 1
                if not (error.may_pass and tries):
                    self._is_silent = self._is_silent or error.is_silence
                    if error.is_silence and self._crew.uplink.is_lost:
                        raise Unavailable(f"{self.domain}: nobody answers, nor do other sites") from error
                    raise
                wait_s = DNS_RETRY_S
            except NotYet as error:
                wait_s = error.wait_ms / 1000
            except Unavailable:
                pass  # without the opt-out list nothing is fetched
            if time.monotonic() + wait_s > give_up:
                raise Unavailable(f"{self.domain}: no request could be sent for {MAX_WAIT_S} s")
            await asyncio.sleep(wait_s)
        self._is_answered = True
        self._crew.uplink.note_answer(url)
        # What another domain asks for, to which robots.txt is redirected, is about itself.
        self._slow_down(response.took_ms, response.header("retry-after") if domain == self.domain else "")
        return response

    async def _turn(self, domain: str, address: str, url: str) -> None:
        """Wait for the gate, and record the request that is sent now."""
        await self._crew.gate.wait(domain, address, self._delay_ms if domain == self.domain else self._own_delay_ms)
        self._crew.archive.note_send(domain, address, url)
        self._crew.counts.add_request()
        self._unreported += 1
        self._left_today -= 1
        self._free_at = time.monotonic() + (self._delay_ms + MARGIN_MS) / 1000

    def _slow_down(self, took_ms: int, retry_after: str) -> None:
        """How long the site is left alone from now on, and after this answer."""
        asked_ms = _retry_after_ms(retry_after)
        if asked_ms > MAX_DELAY_MS:
            self._end = min(timedelta(milliseconds=asked_ms), MAX_RETRY_AFTER)
        sent_at = self._free_at - self._delay_ms / 1000  # and the margin
        self._delay_ms = min(MAX_DELAY_MS, max(self._least_ms, RESPONSE_TIMES * took_ms, asked_ms))
        self._free_at = max(sent_at, 0.0) + self._delay_ms / 1000

    async def _put(
        self,
        *,
        done: tuple[str, int] | None = None,
        found: tuple[Found, ...] = (),
        page: KnownPage | None = None,
        robots: RobotsText | None = None,
        dns: DnsRecords | None = None,
        finished: Finish | None = None,
        responses: tuple[Response, ...] = (),
    ) -> None:
        sent, self._unreported = self._unreported, 0
        step = Step(
            domain=self.domain,
            delay_ms=self._delay_ms,
            sent=sent,
            done=done,
            found=found,
            page=page,
            robots=robots,
            dns=dns,
            rest=self._end,
            finished=finished,
            responses=responses,
        )
        await self._crew.archive.put(step)


def _robots_text(origin: str, response: Response) -> RobotsText:
    """A text that cannot be decoded may forbid anything, so it counts as an error of the server."""
    try:
        content = plain_body(Answer(response.status, response.headers, response.body))[:MAX_ROBOTS_BYTES]
    except NotAnHttpResponse:
        return RobotsText(origin=origin, status=UNREADABLE if response.status < 300 else response.status)
    return RobotsText(origin=origin, status=response.status, content=content)


def _digest(response: Response) -> str:
    """Of a page as `ingest` reads it; "" if it cannot."""
    try:
        return page_digest(plain_body(Answer(response.status, response.headers, response.body)))
    except NotAnHttpResponse:
        return ""


def _validated(page: KnownPage, response: Response) -> KnownPage:
    """With what the site wants to be asked by the next time; 304 may leave out what stayed."""
    etag, modified = response.header("etag") or page.etag, response.header("last-modified") or page.modified
    return page._replace(etag=etag if _is_sendable(etag) else "", modified=modified if _is_sendable(modified) else "")


def _is_sendable(text: str) -> bool:
    return len(text) <= MAX_VALIDATOR_CHARS and text.isascii() and text.isprintable()


def _time_of(response: Response) -> datetime:
    return datetime.fromtimestamp(response.sent_at_ms / 1000, UTC)


def _retry_after_ms(text: str) -> int:
    """Seconds or a date; 0 if it is neither."""
    if text.isascii() and text.isdigit():
        return int(text[:9]) * 1000
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return 0
    left = (at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime.now(UTC)
    return max(0, left // timedelta(milliseconds=1))
