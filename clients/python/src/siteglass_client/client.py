"""The synchronous client."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from types import TracebackType
from typing import Any

import httpx

from siteglass_client.answers import MAX_ANSWER_BYTES, Answer, Evidence, JsonLines, read_answer, read_evidence
from siteglass_client.calls import (
    JOBS_PATH,
    LIST_PAGE,
    LISTS_PATH,
    SEARCHES_PATH,
    WATCHES_PATH,
    Call,
    Moment,
    common_headers,
    enrich_job_body,
    evidence_call,
    get,
    job_path,
    ledger_call,
    list_parts,
    list_path,
    post,
    receipt_call,
    saved_search_path,
    search_body,
    start_job,
    values_call,
    watch_path,
    watch_terms,
    with_lists,
)
from siteglass_client.configuration import Configuration
from siteglass_client.deprecated import lead_credits
from siteglass_client.errors import ConnectionFailed, ServiceError, SiteglassError
from siteglass_client.filters import Filters
from siteglass_client.items import Item, KnownValues, sum_changes
from siteglass_client.messages import (
    Account,
    DomainList,
    Job,
    JobPrice,
    Lead,
    LedgerEntry,
    ListChange,
    NewLeads,
    Receipt,
    SavedSearch,
    SavedSearchCount,
    Usage,
    Watch,
    WatchRun,
)
from siteglass_client.plans import saved_plan
from siteglass_client.retrying import Tries
from siteglass_client.search import Enrichment, Search


class Siteglass:
    """A client of the service. Use it as a context manager, or close it.

    `api_key` and `base_url` come from SITEGLASS_API_KEY and SITEGLASS_URL if they are not given. `timeout_s` is for one
    attempt, `deadline_s` for a call with all its attempts and waits. `transport` replaces the network, for tests.
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout_s: float = 30.0,
        deadline_s: float = 120.0,
        max_attempts: int = 10,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._configuration = Configuration(api_key, base_url, timeout_s, deadline_s, max_attempts)
        self._http = httpx.Client(
            base_url=self._configuration.base_url,
            headers=common_headers(self._configuration.api_key),
            limits=httpx.Limits(max_connections=20, max_keepalive_connections=4),
            follow_redirects=False,  # the key goes to the address that was given, and nowhere else
            transport=transport,
        )
        self._answered = False

    def __repr__(self) -> str:
        return f"Siteglass({self._configuration!r})"

    def __enter__(self) -> Siteglass:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def search(
        self,
        query: str | None = None,
        *,
        filters: Filters | Mapping[str, Any] | None = None,
        wrapped_query: str | None = None,
        select: Sequence[str] | None = None,
        sort: str | None = None,
        strict: bool = False,
        require: Sequence[str] | None = None,
        exclude_lists: Sequence[str] = (),
        only_lists: Sequence[str] = (),
        limit: int = 100,
        max_leads: int | None = None,
        max_lead_credits: int | None = None,
        resume: str | os.PathLike[str] | None = None,
        max_credits: int | None = None,
    ) -> Search:
        """A search by a sentence, filters or directives; nothing is sent before it is used.

        `limit` is the size of a page. `max_leads` and `max_lead_credits` end the walk: it is the longest start of the
        search that keeps both. `resume` is a file from which the same call goes on after it was interrupted, without
        paying twice. `strict` refuses a sentence that was not surely understood. `require` lists words of the
        sentence that the text of the sites must contain, such as words that the interpretation reports as not used.
        Leads on one of `exclude_lists` are left out; with `only_lists`, so are leads on none of them. The list `paid`
        has what the account has paid for.
        """
        filters = with_lists(filters, exclude_lists, only_lists)
        return Search(
            self._send,
            query,
            filters,
            wrapped_query,
            select,
            sort,
            strict,
            require,
            limit,
            max_leads,
            lead_credits(max_lead_credits, max_credits),
            resume,
        )

    def enrich(
        self,
        domains: Iterable[str],
        *,
        select: Sequence[str] | None = None,
        max_lead_credits: int | None = None,
        resume: str | os.PathLike[str] | None = None,
        max_credits: int | None = None,
    ) -> Enrichment:
        """What is stored of domains, any number of them, in batches of 100; nothing is sent before it is used.

        A batch costs an API credit, and a lead credit for each domain found; a domain that the list repeats is paid
        once. With `max_lead_credits`, which counts lead credits, later domains may get no item.
        """
        return Enrichment(self._send, domains, select, lead_credits(max_lead_credits, max_credits), resume)

    def evidence(self, domain: str) -> Evidence:
        """Show where and when each address and number of a lead was seen. Free, for leads that were paid for.

        Raises Forbidden if the account did not pay for it, by a search or an enrichment, and NotFound if there is none.
        """
        return read_evidence(self._send(evidence_call(domain)))

    def values(
        self, field: str, text: str = "", *, country: str | None = None, limit: int | None = None
    ) -> KnownValues:
        """Values of a field, such as `technologies` or `city`, that complete a text. Free."""
        return KnownValues(self._send(values_call(field, text, country, limit)).body)

    def lists(self) -> list[DomainList]:
        """The lists of the account, by name; `paid` and `downloaded` are built in. Free."""
        return [DomainList(each) for each in self._send(get(LISTS_PATH)).body["lists"]]

    def create_list(self, name: str) -> DomainList:
        """A new, empty list. Free."""
        return DomainList(self._send(post(LISTS_PATH, {"name": name})).body)

    def delete_list(self, name: str) -> None:
        """Delete a list with its domains. Free."""
        self._send(Call("DELETE", list_path(name)))

    def list_domains(self, name: str) -> Iterator[str]:
        """The domains of a list in alphabetical order, page after page. Free."""
        call: Call | None = get(list_path(name, "/domains"), limit=LIST_PAGE)
        while call is not None:
            body = self._send(call).body
            yield from body["domains"]
            call = get(body["next"]) if body["next"] else None

    def add_to_list(self, name: str, domains: Iterable[str]) -> ListChange:
        """Add domains to a list, any number of them, in parts of 2,000; repeating it is safe. Free."""
        return self._change_list(list_path(name, "/domains"), domains)

    def remove_from_list(self, name: str, domains: Iterable[str]) -> ListChange:
        """Remove domains from a list, any number of them; repeating it is safe. Free."""
        return self._change_list(list_path(name, "/remove"), domains)

    def _change_list(self, path: str, domains: Iterable[str]) -> ListChange:
        if isinstance(domains, str):
            raise TypeError("domains must be a list of domains, not a string")
        return sum_changes([self._send(post(path, {"domains": part})).body for part in list_parts(domains)])

    def saved_searches(self) -> list[SavedSearch]:
        """The searches that this key saved, and those that other keys of the account share; by name. Free."""
        return [SavedSearch(each) for each in self._send(get(SEARCHES_PATH)).body["searches"]]

    def saved_search(
        self,
        name: str,
        *,
        max_leads: int | None = None,
        max_lead_credits: int | None = None,
        resume: str | os.PathLike[str] | None = None,
        max_credits: int | None = None,
    ) -> Search:
        """A saved search, to be walked or counted as `search` is. To save one, use `save` of a search."""
        most = lead_credits(max_lead_credits, max_credits)
        return Search(self._send, *saved_plan(self.saved_searches(), name, max_leads, most, resume))

    def count_saved_search(self, name: str) -> SavedSearchCount:
        """How many leads match a saved search now, and at the last count; the service stores the new count. Free."""
        return SavedSearchCount(self._send(get(saved_search_path(name, "/count"))).body)

    def delete_saved_search(self, name: str) -> None:
        """Delete a saved search. Free."""
        self._send(Call("DELETE", saved_search_path(name)))

    def watches(self) -> list[Watch]:
        """The watches on searches that this key sees, by name. Free."""
        return [Watch(each) for each in self._send(get(WATCHES_PATH)).body["watches"]]

    def create_watch(
        self,
        search: str,
        *,
        every: str | None = None,
        weekday: str | None = None,
        hour: int | None = None,
        time_zone: str | None = None,
        mail_to: Iterable[str] | None = None,
        paused: bool | None = None,
    ) -> Watch:
        """Run a saved search every `day` or `week`, and report the leads that no earlier run found. Free."""
        terms = watch_terms(every, weekday, hour, time_zone, mail_to, paused)
        return Watch(self._send(post(WATCHES_PATH, {"search": search, **terms})).body)

    def change_watch(
        self,
        name: str,
        *,
        every: str | None = None,
        weekday: str | None = None,
        hour: int | None = None,
        time_zone: str | None = None,
        mail_to: Iterable[str] | None = None,
        paused: bool | None = None,
    ) -> Watch:
        """Change what is given, or pause it. After a pause, the next run reports all that came meanwhile. Free."""
        terms = watch_terms(every, weekday, hour, time_zone, mail_to, paused)
        return Watch(self._send(post(watch_path(name), terms)).body)

    def delete_watch(self, name: str) -> None:
        """Delete a watch with its runs; the saved search stays. Free."""
        self._send(Call("DELETE", watch_path(name)))

    def watch_runs(self, name: str) -> list[WatchRun]:
        """The runs of a watch in the last 30 days, the newest first. Free."""
        return [WatchRun(each) for each in self._send(get(watch_path(name, "/runs"))).body["runs"]]

    def watch_run(self, name: str, run: int) -> NewLeads:
        """A run with its first new leads, without contacts. To get them, search with `only_lists=[run.list]`. Free."""
        return NewLeads(self._send(get(watch_path(name, f"/runs/{run}"))).body)

    def enrich_job(
        self,
        domains: Iterable[str] = (),
        *,
        list_name: str | None = None,
        select: Sequence[str] | None = None,
        max_lead_credits: int | None = None,
        idempotency_key: str | None = None,
    ) -> Job:
        """Start a job that enriches up to 100,000 domains, or those of a list, for one API credit in all.

        Each lead found costs a lead credit, once. The same `idempotency_key` returns the job that it started.
        """
        body = enrich_job_body(domains, list_name, select, max_lead_credits)
        return Job(self._send(start_job(body, idempotency_key)).body)

    def enrich_job_price(self, domains: Iterable[str] = (), *, list_name: str | None = None) -> JobPrice:
        """The price of such a job, estimated if the domains are many. Free."""
        return JobPrice(self._send(post(JOBS_PATH, {**enrich_job_body(domains, list_name), "dry_run": True})).body)

    def search_job(
        self,
        query: str | None = None,
        *,
        max_leads: int,
        filters: Filters | Mapping[str, Any] | None = None,
        wrapped_query: str | None = None,
        select: Sequence[str] | None = None,
        sort: str | None = None,
        max_lead_credits: int | None = None,
        idempotency_key: str | None = None,
    ) -> Job:
        """Start a job that returns up to 100,000 leads of a search, for a lead credit each that has an address."""
        search = search_body(query, filters, wrapped_query, select, sort, strict=False)
        body = {"search": search, "max_leads": max_leads, "max_lead_credits": max_lead_credits}
        return Job(self._send(start_job(body, idempotency_key)).body)

    def jobs(self) -> list[Job]:
        """The jobs of the account's keys, the newest first. Free."""
        return [Job(each) for each in self._send(get(JOBS_PATH)).body["jobs"]]

    def job(self, job: int) -> Job:
        """How far a job is. Free."""
        return Job(self._send(get(job_path(job))).body)

    def wait_for_job(self, job: int, *, every_s: float = 1.0, on_state: Callable[[Job], object] | None = None) -> Job:
        """The job once it has ended; `on_state` gets each state on the way. Free."""
        while True:
            state = self.job(job)
            if on_state is not None:
                on_state(state)
            if state.ended_at is not None:
                return state
            time.sleep(every_s)

    def cancel_job(self, job: int) -> Job:
        """Stop a job after the batch that is being bought; what was paid for stays. Free."""
        return Job(self._send(post(job_path(job, "/cancel"), {})).body)

    def delete_job(self, job: int) -> None:
        """Delete a job that has ended, with its results. Free."""
        self._send(Call("DELETE", job_path(job)))

    def job_items(self, job: int) -> Iterator[Item]:
        """The items of an enrichment that were paid for, and those with the status `not_bought`. Free, for 7 days."""
        for record in self._records(get(job_path(job, "/results"))):
            yield Item(record)

    def job_leads(self, job: int) -> Iterator[Lead]:
        """The leads of a search that were paid for. Free, for 7 days."""
        for record in self._records(get(job_path(job, "/results"))):
            yield Lead(record)

    def account(self) -> Account:
        """Show balances, prices, limits and the current key. Free."""
        return Account(self._send(get("/v1/account")).body)

    def usage(
        self, *, first_day: date | str | None = None, last_day: date | str | None = None, key_id: int | None = None
    ) -> Usage:
        """Credits by day, operation and key: the last 30 days, or up to 366 that are named. Free."""
        return Usage(self._send(get("/v1/usage", from_=first_day, to=last_day, key=key_id)).body)

    def ledger(
        self,
        *,
        since: Moment = None,
        until: Moment = None,
        key_id: int | None = None,
        request_id: str | None = None,
    ) -> Iterator[LedgerEntry]:
        """Every change of the balance, the newest first, page after page. Free."""
        call: Call | None = ledger_call(since, until, key_id, request_id)
        while call is not None:
            body = self._send(call).body
            yield from map(LedgerEntry, body["entries"])
            call = get(body["next"]) if body["next"] else None

    def receipt(self, request_id: str) -> Receipt:
        """What one request cost, domain by domain. Free."""
        return Receipt(self._send(receipt_call(request_id)).body)

    def _send(self, call: Call) -> Answer:
        """The answer, however many attempts it takes within the deadline; the same request each time."""
        tries = Tries(self._configuration.policy, time.monotonic(), answered_before=self._answered)
        while True:
            try:
                answer = self._attempt(call, tries)
                self._answered = True
                return replace(answer, tried_before=True) if tries.unsure else answer
            except (ServiceError, ConnectionFailed) as error:
                self._answered = self._answered or isinstance(error, ServiceError)
                failure: SiteglassError = error
            wait_s = tries.wait_s(failure, time.monotonic())
            if wait_s is None:
                raise tries.outcome(failure) from failure.__cause__
            time.sleep(wait_s)

    def _records(self, call: Call) -> Iterator[dict[str, Any]]:
        """The records of a response as they come. Once one was returned, nothing is repeated."""
        tries = Tries(self._configuration.policy, time.monotonic(), answered_before=self._answered)
        while True:
            lines, started = JsonLines(), False
            try:
                with self._http.stream(
                    call.method, call.path, headers=call.headers(), timeout=self._configuration.timeout_s
                ) as response:
                    if response.status_code != httpx.codes.OK:
                        read_answer(response.status_code, response.headers, response.read(), time.time())
                    for piece in response.iter_bytes():
                        for record in lines.records(piece):
                            started = True
                            yield record
                return
            except httpx.HTTPError as error:
                failure: SiteglassError = ConnectionFailed(f"{type(error).__name__}: {error}")
            except ServiceError as error:
                failure = error
            wait_s = None if started else tries.wait_s(failure, time.monotonic())
            if wait_s is None:
                raise tries.outcome(failure)
            time.sleep(wait_s)

    def _attempt(self, call: Call, tries: Tries) -> Answer:
        timeout_s = min(self._configuration.timeout_s, tries.left_s(time.monotonic()))
        ends_s = time.monotonic() + timeout_s
        try:
            with self._http.stream(
                call.method, call.path, content=call.content(), headers=call.headers(), timeout=timeout_s
            ) as response:
                content = bytearray()
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > MAX_ANSWER_BYTES:
                        raise ConnectionFailed(f"the response is larger than {MAX_ANSWER_BYTES} bytes")
                    if time.monotonic() > ends_s:
                        raise ConnectionFailed(f"the response was not complete after {timeout_s:.0f} s")
        except httpx.HTTPError as error:
            raise ConnectionFailed(f"{type(error).__name__}: {error}") from error
        return read_answer(response.status_code, response.headers, bytes(content), time.time())
