"""The routes of the service."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from siteglass.access.keys import Caller
from siteglass.billing import receipts, standing
from siteglass.billing.credits import Bill, Mark
from siteglass.billing.endpoints import (
    account_answer,
    is_request_id,
    ledger_answer,
    read_ledger,
    read_usage,
    receipt_answer,
    too_many_rows,
    usage_answer,
)
from siteglass.errors import NotFound, Unavailable
from siteglass.index import generations
from siteglass.leads import enrich, evidence, interpret, search
from siteglass.leads import sandbox as test_mode
from siteglass.leads.charging import Offer, charged
from siteglass.leads.values import read_values, values_answer
from siteglass.openapi import document
from siteglass.openapi.pages import OptOutPage, docs_page
from siteglass.platform.schema import is_current
from siteglass.privacy.endpoints import (
    asked_answer,
    contact,
    done_answer,
    read_ask,
    read_body,
    read_confirm,
    take_ask,
    take_confirm,
)
from siteglass.query import completion
from siteglass.web.guard import Call, OpenOperation, Operation, Service, answered, guarded, take_rest
from siteglass.web.operations import (
    ACCOUNT,
    DOCS,
    DOMAINS_PER_UNIT,
    ENRICH,
    EVIDENCE,
    HEALTHZ,
    INTERPRET,
    INTERPRET_UNITS,
    LEDGER,
    METRICS,
    OPENAPI,
    OPT_OUT,
    OPT_OUT_CONFIRM,
    OPT_OUT_PAGE,
    PAGE,
    READYZ,
    RECEIPT,
    SEARCH,
    USAGE,
    VALUES,
    Declared,
)
from siteglass.web.parameters import read_no_parameters
from siteglass.web.requests import Spending, read_enrich, read_json, read_nothing, read_page, read_search
from siteglass.web.responses import ESTIMATED, NOTES_HEADER, answer, enrich_body, evidence_body, search_body


async def _search(service: Service, _request: Request, caller: Caller, _call: Call, body: dict[str, Any]) -> Offer:
    now_ms = service.backends.clock.now_ms()
    cursors_expired = False
    if caller.test:
        body, cursors_expired = await test_mode.meet(body)
    asked, spending = read_search(body, now_ms)
    if service.language_model is not None:
        asked = replace(asked, meaning=await interpret.with_model(service.language_model, asked.meaning, body, now_ms))
    page = await search.first_page(service.backends, service.names_for(caller), service.hidden, asked)
    explained = interpret.explained(asked.meaning) if asked.explain else None
    notes = {NOTES_HEADER: str(interpret.note_count(asked.meaning))}
    sealed_s = 0 if cursors_expired else now_ms // 1000
    return _offer("search", service, caller, page, spending, sealed_s, explained, notes)


async def _page(service: Service, request: Request, caller: Caller, _call: Call, body: dict[str, Any]) -> Offer:
    now_s = service.backends.clock.now_ms() // 1000
    here = service.sealer.open(request.path_params["cursor"], _holder(caller), now_s)
    limit, spending = read_page(body, here.limit)
    page = await search.later_page(
        service.backends, service.names_for(caller), service.hidden, replace(here, limit=limit)
    )
    return _offer("page", service, caller, page, spending, now_s)


def _holder(caller: Caller) -> str:
    """Whose a cursor is: those of test keys are of no use to others of the account."""
    return f"test {caller.account_id}" if caller.test else str(caller.account_id)


def _offer(
    operation: Literal["search", "page"],
    service: Service,
    caller: Caller,
    page: search.SearchPage,
    spending: Spending,
    now_s: int,
    explained: dict[str, Any] | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Offer:
    return Offer(
        Bill(operation, 0, page.marks, spending.max_lead_credits),
        search_body(page, service.sealer, _holder(caller), now_s, explained),
        {"total_results": page.total},
        spending.dry_run,
        {**headers, **(ESTIMATED if page.total_estimated else {})},
    )


async def _interpret(service: Service, request: Request, caller: Caller, call: Call) -> Response:
    backends = service.backends
    body = await read_json(request, backends.settings.max_body_bytes)
    now_ms = backends.clock.now_ms()
    asked, _spending = read_search(body, now_ms)
    await take_rest(service, caller, call, INTERPRET_UNITS)
    meaning = asked.meaning
    if service.language_model is not None:
        meaning = await interpret.with_model(service.language_model, meaning, body, now_ms)
    total = await interpret.count(backends, service.names_for(caller), meaning)
    notes = {NOTES_HEADER: str(interpret.note_count(meaning))}
    told = {**interpret.explained(meaning), "total_results": total.count}
    return answer(told, headers={**notes, **(ESTIMATED if total.estimated else {})})


async def _enrich(service: Service, _request: Request, caller: Caller, call: Call, body: dict[str, Any]) -> Offer:
    backends = service.backends
    asked = read_enrich(body, backends.settings.max_enrich_domains)
    await take_rest(service, caller, call, -(-len(asked.domains) // DOMAINS_PER_UNIT))
    if caller.test:
        enriched = await test_mode.enriched(backends, service.hidden, asked.domains, asked.select)
    else:
        enriched = await enrich.enrich(backends, service.names, service.hidden, asked.domains, asked.select)
    bill = Bill("enrich", 1, enriched.marks, asked.spending.max_lead_credits)
    return Offer(bill, enrich_body(enriched), {"found": len(bill.leads)}, asked.spending.dry_run)


async def _evidence(service: Service, request: Request, caller: Caller, _call: Call, body: dict[str, Any]) -> Offer:
    read_no_parameters(request.query_params)
    read_nothing(body)
    asked = request.path_params["domain"]
    names = service.names_for(caller)
    found = await evidence.evidence(service.backends, names, service.hidden, caller, asked)
    if caller.test:
        found = test_mode.seen(found)
    # The lead itself was paid for before: it is named in the receipt, and free.
    return Offer(Bill("evidence", 1, [(found.domain, Mark.PAID_BEFORE)]), evidence_body(found), {}, dry_run=False)


async def _values(_service: Service, request: Request, _caller: Caller, _call: Call) -> Response:
    asked = read_values(request.path_params["field"], request.query_params)
    # Not in the way of others: the first one of a kind sorts its keys.
    found, more = await asyncio.to_thread(completion.complete, asked.kind, asked.text, asked.limit, asked.country)
    return values_answer(asked, found, more)


async def _account(service: Service, request: Request, caller: Caller, _call: Call) -> Response:
    backends = service.backends
    read_no_parameters(request.query_params)
    seen = await standing.overview(backends.postgres, caller, timeout_ms=backends.settings.postgres_timeout_ms)
    return account_answer(seen, backends.settings.max_enrich_domains)


async def _usage(service: Service, request: Request, caller: Caller, _call: Call) -> Response:
    backends = service.backends
    today = datetime.fromtimestamp(backends.clock.now_ms() / 1000, UTC).date()
    asked = read_usage(request.query_params, today)
    timeout_ms = backends.settings.postgres_timeout_ms
    days = (asked.first, asked.last)
    rows = await receipts.usage(backends.postgres, caller.account_id, *days, asked.key_id, timeout_ms=timeout_ms)
    if rows is None:
        raise too_many_rows()
    return usage_answer(asked, rows)


async def _ledger(service: Service, request: Request, caller: Caller, _call: Call) -> Response:
    backends = service.backends
    asked = read_ledger(request.query_params, ",".join(request.headers.getlist("accept")))
    timeout_ms = backends.settings.postgres_timeout_ms
    found = await receipts.entries(backends.postgres, caller.account_id, asked.wanted, timeout_ms=timeout_ms)
    return ledger_answer(asked, found)


async def _receipt(service: Service, request: Request, caller: Caller, _call: Call) -> Response:
    backends = service.backends
    read_no_parameters(request.query_params)
    request_id = request.path_params["request_id"]
    timeout_ms = backends.settings.postgres_timeout_ms
    found = None
    if is_request_id(request_id):
        found = await receipts.of_request(backends.postgres, caller.account_id, request_id, timeout_ms=timeout_ms)
    if not found:
        raise NotFound(request.url.path[:200], receipt=True)
    return receipt_answer(request_id, found)


async def _opt_out(service: Service, request: Request, call: Call) -> Response:
    backends = service.backends
    # Read first: a slip of the pen is not to cost one of the few requests an hour.
    purpose, value = read_ask(await read_body(service, request, call), contact(backends.settings))
    await take_ask(service, request, call, value)
    return asked_answer(await service.door.ask(purpose, value, backends.clock.now_ms() // 1000))


async def _opt_out_confirm(service: Service, request: Request, call: Call) -> Response:
    backends = service.backends
    ticket, code = read_confirm(await read_body(service, request, call))
    await take_confirm(service, request, call, ticket)
    return done_answer(await service.door.confirm(backends, service.names, ticket, code))


async def _healthz(_service: Service, _request: Request, _call: Call) -> Response:
    return answer({"status": "ok"})


async def _readyz(service: Service, _request: Request, _call: Call) -> Response:
    backends = service.backends
    reason = await generations.readiness(backends, service.names)
    if reason is None and not await is_current(backends.postgres, backends.settings.postgres_timeout_ms):
        reason = "the tables or functions in PostgreSQL are older than this build: run `siteglass migrate`"
    if reason is not None:
        raise Unavailable(f"not ready: {reason}")
    await service.hidden.require_fresh()
    return answer({"status": "ready"})


async def _metrics(_service: Service, _request: Request, _call: Call) -> Response:
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


async def _openapi(service: Service, _request: Request, _call: Call) -> Response:
    return answer(document(service.backends.settings))


def _guarded(declared: Declared, work: Operation) -> Route:
    return Route(declared.path, guarded(declared.name, declared.scope, work), methods=[declared.method])


def _open(declared: Declared, work: OpenOperation) -> Route:
    return Route(declared.path, answered(declared.name, work), methods=[declared.method])


def routes() -> list[Route]:
    """All routes; the hot ones are plain, so that nothing stands between reading and answering."""
    docs, opt_out_page = docs_page(), OptOutPage()
    return [
        _guarded(SEARCH, charged(_search)),
        _guarded(PAGE, charged(_page, may_be_empty=True)),
        _guarded(INTERPRET, _interpret),
        _guarded(ENRICH, charged(_enrich)),
        _guarded(EVIDENCE, charged(_evidence, may_be_empty=True)),
        _guarded(VALUES, _values),
        _guarded(ACCOUNT, _account),
        _guarded(USAGE, _usage),
        _guarded(LEDGER, _ledger),
        _guarded(RECEIPT, _receipt),
        _open(OPT_OUT, _opt_out),
        _open(OPT_OUT_CONFIRM, _opt_out_confirm),
        _open(OPT_OUT_PAGE, opt_out_page.page),
        _open(HEALTHZ, _healthz),
        _open(READYZ, _readyz),
        _open(METRICS, _metrics),
        _open(OPENAPI, _openapi),
        _open(DOCS, docs.page),
        # Parts of the pages, not operations: they stand in no document.
        Route(docs.files.route, answered("docs", docs.file), include_in_schema=False),
        Route(opt_out_page.files.route, answered("opt_out_page", opt_out_page.file), include_in_schema=False),
    ]
