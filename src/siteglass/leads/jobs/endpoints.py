"""Jobs over HTTP."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import AsyncIterator

import orjson
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from siteglass.access.keys import Caller
from siteglass.billing.credits import cap_left
from siteglass.errors import BadRequest, CreditCapExceeded, Forbidden, IdempotencyMismatch, NotFound, Problem, repeated
from siteglass.leads import interpret
from siteglass.leads.charging import AccountCharger, Retry, read_retry
from siteglass.leads.downloads.batches import pack_domains
from siteglass.leads.downloads.jobs import MAX_KEPT, Download, Downloads, FileGone, NewDownload, TooManyDownloads
from siteglass.leads.downloads.working import CANCELLED
from siteglass.leads.endpoints import LeadEndpoints
from siteglass.leads.jobs.operations import (
    CANCEL_JOB,
    CREATE_JOB,
    CREATE_UNITS,
    CSV,
    DELETE_JOB,
    DOMAINS_PER_UNIT,
    JOB,
    JOB_RESULTS,
    JOBS,
    MAX_BODY_BYTES,
    NDJSON,
    PRICE_UNITS,
    RESULTS_PER_UNIT,
)
from siteglass.leads.jobs.prices import enrichment_price, search_price
from siteglass.leads.jobs.requests import MAX_BULK, JobRequest, read_format, read_job, read_no_fields
from siteglass.leads.jobs.responses import JobDeletedResponse, jobs_response, show
from siteglass.leads.jobs.results import csv_pieces, ndjson_pieces, result_pages
from siteglass.leads.lists.lists import Lists
from siteglass.leads.requests import further_units
from siteglass.leads.search import SearchRequest
from siteglass.platform.backends import Backends
from siteglass.web.guard import Call, Handler
from siteglass.web.operations import Operation
from siteglass.web.parameters import read_no_parameters
from siteglass.web.requests import read_json
from siteglass.web.responses import json_response

_MAX_NUMBER_CHARS = 18


async def refuse_test_key(_request: Request, _caller: Caller, _call: Call) -> Response:
    """What callers with a test key get."""
    raise Forbidden(test=True)


class JobEndpoints:
    """The operations on the jobs of API keys."""

    def __init__(self, backends: Backends, leads: LeadEndpoints, charger: AccountCharger, lists: Lists) -> None:
        self._leads = leads
        self._charger = charger
        self._lists = lists
        self._backends = backends
        self._jobs = Downloads(backends.postgres, of_keys=True)

    def handlers(self) -> dict[Operation, Handler]:
        """The handler of each operation."""
        return {
            JOBS: self.jobs,
            CREATE_JOB: self.create,
            JOB: self.job,
            CANCEL_JOB: self.cancel,
            DELETE_JOB: self.delete,
            JOB_RESULTS: self.results,
        }

    async def jobs(self, request: Request, caller: Caller, _call: Call) -> Response:
        """All jobs of the account's keys."""
        read_no_parameters(request.query_params)
        return json_response(jobs_response(await self._jobs.of_account(caller.account_id)))

    async def create(self, request: Request, caller: Caller, call: Call) -> Response:
        """Start a job, or return the one that the same request started before; or only the price."""
        body = await read_json(request, MAX_BODY_BYTES)
        retry = read_retry(request, body)
        units = CREATE_UNITS + (PRICE_UNITS if body.get("dry_run") is True else 0)
        if isinstance(search := body.get("search"), dict):
            units += further_units(search)
        if isinstance(sent := body.get("domains"), list):
            units += len(sent) // DOMAINS_PER_UNIT
        await self._leads.guard.take_rest(caller, call, units)
        wanted = read_job(body, self._leads.index.clock.now_ms())
        if retry is not None and not wanted.spending.dry_run:
            # Before lists are read: one that has changed or is gone does not matter to a job that was started.
            earlier = await self._jobs.of_form(caller.account_id, _form_key(retry))
            if earlier is not None:
                return _started(earlier, retry.fingerprint)
        if wanted.wanted is not None:
            return await self._search(caller, wanted, wanted.wanted, retry)
        domains = await self._domains(caller, wanted)
        if wanted.spending.dry_run:
            return json_response(await enrichment_price(self._leads, self._charger, caller, domains))
        source = await asyncio.to_thread(pack_domains, domains)
        request_json = orjson.dumps({"select": wanted.select}).decode()
        return await self._start(caller, wanted, retry, len(domains), request_json, source)

    async def _search(self, caller: Caller, wanted: JobRequest, search: SearchRequest, retry: Retry | None) -> Response:
        """Start the job of a search, or return its price."""
        _require_search(caller)
        interpret.refuse_if_empty(search.meaning)
        await self._leads.lists.select(caller.account_id, search.lists)
        if wanted.spending.dry_run:
            return json_response(await search_price(self._leads, caller, wanted, search))
        return await self._start(caller, wanted, retry, wanted.max_leads, orjson.dumps(wanted.search).decode(), None)

    async def _domains(self, caller: Caller, wanted: JobRequest) -> list[str]:
        """The domains to enrich, each once."""
        if wanted.list_name is None:
            return wanted.domains or []
        list_ = await self._lists.find(caller.account_id, wanted.list_name)
        domains = await self._lists.domains(list_, "", MAX_BULK + 1)
        if not 1 <= len(domains) <= MAX_BULK:
            message = f"a job enriches 1 to {MAX_BULK:,} domains; this list has {list_.domains:,}"
            raise BadRequest([Problem("list", message)])
        return domains

    async def _start(
        self,
        caller: Caller,
        wanted: JobRequest,
        retry: Retry | None,
        total: int,
        request_json: str,
        source: bytes | None,
    ) -> Response:
        cap = wanted.spending.max_lead_credits
        new = NewDownload(
            account_id=caller.account_id,
            person_id=None,
            form_key=secrets.token_hex(16) if retry is None else _form_key(retry),
            kind="search" if source is None else "enrich",
            title="",
            request=request_json,
            format="csv",
            columns="siteglass",
            wanted=total,
            max_credits=total if cap is None else min(cap, total),
            source=source,
            key_family=caller.family_id,
            fingerprint=None if retry is None else retry.fingerprint,
        )
        try:
            job = await self._jobs.create(new)
        except TooManyDownloads:
            message = f"the keys of an account keep at most {MAX_KEPT} jobs; delete one with DELETE /v1/jobs/{{job}}"
            raise BadRequest([Problem("body", message)]) from None
        return _started(job, new.fingerprint)

    async def job(self, request: Request, caller: Caller, _call: Call) -> Response:
        """How far a job is."""
        read_no_parameters(request.query_params)
        return json_response(show(await self._find(request, caller)))

    async def cancel(self, request: Request, caller: Caller, _call: Call) -> Response:
        """Stop a job; what was paid for stays."""
        read_no_fields(await read_json(request, self._leads.index.settings.max_body_bytes, may_be_empty=True))
        job = await self._find(request, caller)
        await self._jobs.stop(caller.account_id, job.id, CANCELLED)
        return json_response(show(await self._find(request, caller)))

    async def delete(self, request: Request, caller: Caller, _call: Call) -> Response:
        """Delete a job that has ended, with its results."""
        read_no_parameters(request.query_params)
        job = await self._find(request, caller)
        if job.is_open:
            raise BadRequest([Problem("job", f"the job is {job.state}; cancel it first, and delete it once it ended")])
        await self._jobs.delete(caller.account_id, job.id)
        return json_response(JobDeletedResponse(deleted=job.id))

    async def results(self, request: Request, caller: Caller, call: Call) -> Response:
        """What was paid for until now."""
        format_ = read_format(request.query_params)
        job = await self._find(request, caller)
        if job.kind == "search":
            _require_search(caller)
        if job.key_family != caller.family_id:
            left = await cap_left(self._backends.postgres, caller)
            if left is not None and job.lead_credits > left:
                # A key that may not buy these leads does not get them through a key that could.
                raise CreditCapExceeded("the key's daily lead cap allows", need=job.lead_credits, left=left)
        await self._leads.guard.take_rest(caller, call, -(-job.rows // RESULTS_PER_UNIT))
        pages = result_pages(self._backends, self._jobs, job)
        try:
            if format_ == "csv":
                return await _streamed(csv_pieces(job, pages), f"{CSV}; charset=utf-8")
            return await _streamed(ndjson_pieces(pages), NDJSON)
        except FileGone:
            raise NotFound(str(job.id), missing="job") from None

    async def _find(self, request: Request, caller: Caller) -> Download:
        number = request.path_params["job"]
        if number.isascii() and number.isdigit() and len(number) <= _MAX_NUMBER_CHARS:
            found = await self._jobs.find(caller.account_id, int(number))
            if found is not None:
                return found
        raise NotFound(repeated(number), missing="job")


def _form_key(retry: Retry) -> str:
    """What a job keeps of an Idempotency-Key."""
    return hashlib.sha256(retry.key.encode()).hexdigest()


def _started(job: Download, fingerprint: bytes | None) -> Response:
    """The job that was started by a request, which must have been the same one."""
    if job.fingerprint != fingerprint:
        raise IdempotencyMismatch
    return json_response(show(job))


def _require_search(caller: Caller) -> None:
    """The operations need `enrich`; the leads of a search need its scope, too."""
    if "search" not in caller.scopes:
        raise Forbidden("search")


async def _streamed(pieces: AsyncIterator[bytes], media_type: str) -> Response:
    """The pieces as they are made. What fails until the first one is an error response."""
    first = await anext(pieces, b"")

    async def whole() -> AsyncIterator[bytes]:
        yield first
        async for piece in pieces:
            yield piece

    return StreamingResponse(whole(), media_type=media_type)
