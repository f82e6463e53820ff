"""create_app(settings): lifespan, routes, error handlers. Assembly only."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rapidfuzz import fuzz, process
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route

from siteglass import __version__
from siteglass.access import health as postgres_health
from siteglass.access.key_uses import WRITE_EVERY_S as WRITE_USES_EVERY_S
from siteglass.access.keys import Keys
from siteglass.access.lifecycle import ERASE_EVERY_S, erase_closed
from siteglass.access.limits import open_limits
from siteglass.access.request_counts import WRITE_EVERY_S as WRITE_COUNTS_EVERY_S
from siteglass.access.request_counts import RequestCounts
from siteglass.admin.endpoints import admin_routes
from siteglass.admin.operations import Desk
from siteglass.billing.answers import FORGET_EVERY_S, forget_answers
from siteglass.billing.balance_mails import MAIL_EVERY_S, mail_low_balances
from siteglass.billing.endpoints import BillingEndpoints
from siteglass.billing.expiry import EXPIRE_EVERY_S, expire_credits
from siteglass.billing.heads import REPORT_EVERY_S as REPORT_ROOT_EVERY_S
from siteglass.billing.heads import SEAL_EVERY_S, Sealer, report_root
from siteglass.billing.in_doubt import NOTE_EVERY_S as NOTE_DOUBTS_EVERY_S
from siteglass.billing.in_doubt import REPORT_EVERY_S as REPORT_DOUBTS_EVERY_S
from siteglass.billing.in_doubt import report_unsettled
from siteglass.billing.ledger_months import CREATE_EVERY_S, create_ledger_months
from siteglass.billing.operations import LEDGER, RECEIPT
from siteglass.billing.received import READ_EVERY_S, read_long_ledgers
from siteglass.billing.roots import open_root_keys
from siteglass.dashboard.guard import HOME
from siteglass.dashboard.landing import Landing
from siteglass.dashboard.routes import open_dashboard
from siteglass.dashboard.routes import routes as dashboard_routes
from siteglass.errors import Internal, MethodNotAllowed, NotFound
from siteglass.index import generations
from siteglass.index import health as index_health
from siteglass.index.facets import BaseCounter
from siteglass.index.index import Index, open_index
from siteglass.index.value_counts import ValueCounter
from siteglass.leads.charging import AccountCharger
from siteglass.leads.downloads.jobs import FORGET_EVERY_S as FORGET_DOWNLOADS_EVERY_S
from siteglass.leads.downloads.jobs import Downloads
from siteglass.leads.downloads.uploads import Uploads
from siteglass.leads.downloads.working import WORK_EVERY_S, DownloadWorker
from siteglass.leads.endpoints import LeadEndpoints
from siteglass.leads.jobs.endpoints import JobEndpoints, refuse_test_key
from siteglass.leads.language_model import open_language_model
from siteglass.leads.lists.endpoints import ListEndpoints
from siteglass.leads.lists.lists import NUMBER_EVERY_S, Lists
from siteglass.leads.lists.selection import ListFilter
from siteglass.leads.operations import PAGE, SEARCH, VALUES, VALUES_PATH
from siteglass.leads.sandbox import SandboxCharger, SandboxEndpoints
from siteglass.leads.searches.endpoints import SearchEndpoints
from siteglass.leads.searches.searches import SavedSearches
from siteglass.leads.watches.buying import RunBuyer
from siteglass.leads.watches.delivering import DELIVER_EVERY_S, Deliveries, RunMailer
from siteglass.leads.watches.endpoints import WatchEndpoints
from siteglass.leads.watches.running import WORK_EVERY_S as RUN_WATCHES_EVERY_S
from siteglass.leads.watches.running import WatchRunner
from siteglass.leads.watches.runs import FORGET_EVERY_S as FORGET_RUNS_EVERY_S
from siteglass.leads.watches.runs import Runs
from siteglass.leads.watches.watches import Watches
from siteglass.openapi.endpoints import document_route
from siteglass.openapi.operations import OPERATIONS
from siteglass.people import sessions
from siteglass.people.failed_sign_ins import NOTE_EVERY_S as NOTE_HOURS_EVERY_S
from siteglass.people.failed_sign_ins import WRITE_EVERY_S as WRITE_FAILURES_EVERY_S
from siteglass.people.failed_sign_ins import note_past_hours
from siteglass.people.passwords import Passwords
from siteglass.people.second_factor import RESEAL_EVERY_S
from siteglass.people.secrecy import Secrecy
from siteglass.people.sign_in import SignIn
from siteglass.platform import metrics
from siteglass.platform.backends import Clock, open_backends
from siteglass.platform.backup_info import REPORT_EVERY_S as REPORT_BACKUPS_EVERY_S
from siteglass.platform.backup_info import report_backups
from siteglass.platform.job_leases import REPORT_REFRESH_EVERY_S, JobLeases, report_refresh
from siteglass.platform.jobs import Job, JobRunner
from siteglass.platform.logs import configure_logs, log_fault, new_request_id
from siteglass.platform.mailer import open_mailer
from siteglass.platform.postgres import Postgres
from siteglass.platform.schema import is_current
from siteglass.platform.tracing import open_tracing
from siteglass.privacy.code_mails import CodeMails
from siteglass.privacy.control import open_control
from siteglass.privacy.endpoints import PrivacyEndpoints
from siteglass.privacy.operations import OPT_OUT_PAGE
from siteglass.privacy.opt_out import SETTLE_EVERY_S, settle
from siteglass.privacy.received_counts import COUNT_EVERY_S, count_received
from siteglass.privacy.subject_requests import SubjectRequests
from siteglass.privacy.tickets import TicketSealer
from siteglass.query import natural
from siteglass.query.cursor import CursorSealer
from siteglass.settings import Settings, SettingsError, load_settings, variable
from siteglass.suppression.filter import REFRESH_EVERY_S, SuppressionFilter, hidden_countries
from siteglass.suppression.journal import open_journal
from siteglass.suppression.values import Hasher
from siteglass.web.address import public_url
from siteglass.web.docs import Docs
from siteglass.web.draining import STATE_KEY, Drain
from siteglass.web.guard import Guard, Handler
from siteglass.web.health import REPORT_EVERY_S as REPORT_READINESS_EVERY_S
from siteglass.web.health import ReadinessCheck, health_routes, report_readiness
from siteglass.web.operations import Operation
from siteglass.web.responses import error_response
from siteglass.web.served import NOTE_EVERY_S, ServedAddresses

if TYPE_CHECKING:
    from siteglass.web.agents.endpoint import AgentEndpoint

Handlers = Mapping[Operation, Handler]

REPORT_QUEUES_EVERY_S = 5.0


def create_app(settings: Settings, clock: Clock | None = None) -> Starlette:
    """The service for these settings. Connections are made when the first request needs them."""
    try:
        sealer = CursorSealer(settings.cursor_secrets, settings.cursor_life_s)
    except ValueError as error:
        raise SettingsError(f"{variable('cursor_secrets')}: {error}.") from None
    backends = open_backends(settings, clock)
    keys = Keys(backends.postgres, settings.key_secrets, settings.postgres_timeout_ms)
    counts = RequestCounts(backends.postgres)
    limiter, claims = open_limits(settings)
    tracing = open_tracing(settings)
    guard = Guard(keys, counts, limiter, tracing)
    served = ServedAddresses(settings)
    index = open_index(backends)
    oldest_made_at = partial(generations.oldest_made_at, index)
    hasher = Hasher(settings)
    journal = open_journal(settings, hasher)
    hidden = SuppressionFilter(backends.postgres, hasher, hidden_countries(settings), oldest_made_at, journal)
    lists, sandbox_lists = Lists(index, test=False), Lists(index.sandbox(), test=True)
    language_model = open_language_model(settings, backends.clock)
    mailer = open_mailer(settings)
    root_keys = open_root_keys(settings)
    code_mails = None if mailer is None else CodeMails(mailer, limiter)
    door = SubjectRequests(TicketSealer(settings.cursor_secrets), code_mails, open_control(settings))
    secrecy = Secrecy(settings.dashboard_secrets) if settings.dashboard_secrets else None
    # Without a dashboard, nobody has an address, and nobody could unsubscribe.
    run_mailer = RunMailer(mailer, secrecy, public_url(settings)) if mailer and secrecy else None
    drain = Drain(settings.drain_s)
    readiness = [drain.readiness, *_readiness_checks(index, hidden)]

    async def report_queues() -> None:
        backends.postgres.report()
        backends.opensearch.report()
        charger.report()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[dict[str, Drain]]:
        _read_tables()
        async with backends, contextlib.nullcontext() if agents is None else agents.running():
            limiter.start()
            tracing.start()
            deliveries = Deliveries(runs, live, sandbox, RunBuyer(backends.postgres, runs, lists), run_mailer)
            downloads = Downloads(backends.postgres)
            leases = JobLeases(backends.postgres, settings.index_prefix)
            jobs = [
                Job("key uses", WRITE_USES_EVERY_S, keys.uses.write, at_close=True),
                Job("request counts", WRITE_COUNTS_EVERY_S, counts.write, at_close=True),
                Job("charges in doubt", NOTE_DOUBTS_EVERY_S, charger.in_doubt.note),
                Job("ledger months", CREATE_EVERY_S, partial(create_ledger_months, backends.postgres, backends.clock)),
                Job("expired credits", EXPIRE_EVERY_S, partial(expire_credits, backends.postgres), shared=True),
                Job("suppressed leads", REFRESH_EVERY_S, hidden.refresh),
                Job("unsettled suppressions", SETTLE_EVERY_S, partial(settle, index), shared=True),
                Job("long ledgers", READ_EVERY_S, partial(read_long_ledgers, backends.postgres), shared=True),
                Job("old answers", FORGET_EVERY_S, partial(forget_answers, backends.postgres), shared=True),
                Job("new leads of lists", NUMBER_EVERY_S, lists.number_new_leads, shared=True),
                # Not shared: workers share the downloads and watches among themselves, each of which has a lease.
                Job("downloads", WORK_EVERY_S, DownloadWorker(downloads, live, charger, lists).work),
                Job("old downloads", FORGET_DOWNLOADS_EVERY_S, downloads.forget_old, shared=True),
                Job("watches", RUN_WATCHES_EVERY_S, WatchRunner(runs, live, sandbox).work),
                Job("new leads of watches", DELIVER_EVERY_S, deliveries.work),
                Job("old watch runs", FORGET_RUNS_EVERY_S, runs.forget_old, shared=True),
                Job(
                    "closed accounts",
                    ERASE_EVERY_S,
                    partial(erase_closed, backends.postgres, settings.closed_account_days),
                    shared=True,
                ),
                Job("served address", NOTE_EVERY_S, served.note),
                Job("queue lengths", REPORT_QUEUES_EVERY_S, report_queues),
                Job("unsettled charges", REPORT_DOUBTS_EVERY_S, partial(report_unsettled, backends.postgres)),
                Job("readiness", REPORT_READINESS_EVERY_S, partial(report_readiness, readiness)),
                Job("refresh age", REPORT_REFRESH_EVERY_S, partial(report_refresh, leases)),
                Job("generation health", index_health.REPORT_EVERY_S, partial(index_health.report_generation, index)),
            ]
            if settings.backup_info:
                reporting = partial(report_backups, Path(settings.backup_info))
                jobs.append(Job("backup age", REPORT_BACKUPS_EVERY_S, reporting))
            if root_keys is not None:
                sealer = Sealer(backends.postgres, backends.clock, root_keys, Path(settings.root_file))
                jobs += [
                    Job("signed roots", SEAL_EVERY_S, sealer.seal, shared=True),
                    Job("root age", REPORT_ROOT_EVERY_S, partial(report_root, backends.postgres)),
                ]
            sign_in = None if secrecy is None else SignIn(backends, secrecy, Passwords(), mailer)
            if sign_in is not None:
                desk = Desk(index, sign_in, leases, readiness)
                app.state.dashboard = open_dashboard(backends, sign_in, live, charger, lists, claims, desk)
                forget_old = partial(sessions.forget_old, backends.postgres, sign_in.lifetimes)
                jobs += [
                    Job("failed sign-ins", WRITE_FAILURES_EVERY_S, sign_in.failures.write, at_close=True),
                    Job(
                        "hours of sign-ins",
                        NOTE_HOURS_EVERY_S,
                        partial(note_past_hours, backends.postgres),
                        shared=True,
                    ),
                    Job("old sessions", sessions.FORGET_EVERY_S, forget_old, shared=True),
                    Job("sealed second factors", RESEAL_EVERY_S, sign_in.factors.reseal, shared=True),
                    Job("old uploads", FORGET_DOWNLOADS_EVERY_S, Uploads(backends.postgres).forget_old, shared=True),
                ]
            counting = partial(count_received, backends.postgres, mailer, public_url(settings) + OPT_OUT_PAGE.path)
            jobs.append(Job("received counts", COUNT_EVERY_S, counting, shared=True))
            if mailer is not None:
                mailing = partial(mail_low_balances, backends.postgres, mailer, public_url(settings) + HOME)
                jobs.append(Job("balance mails", MAIL_EVERY_S, mailing, shared=True))
            housekeeping = JobRunner(jobs, leases)
            housekeeping.start()
            metrics.WORKERS.set(1)
            metrics.BUILD.labels(__version__).set(1)
            metrics.CONNECTIONS_MAX.set(settings.max_connections)
            drain.catch_signal()
            yield {STATE_KEY: drain}
            await housekeeping.close()
            await charger.close()
            if code_mails is not None:
                await code_mails.close()
            await limiter.close()
            await claims.close()
            await served.close()
            await tracing.close()
            if sign_in is not None:
                await sign_in.close()
            if language_model is not None:
                await language_model.close()
            if mailer is not None:
                mailer.close()

    # Test keys complete values as other keys do.
    counter = ValueCounter(index)
    charger = AccountCharger(backends, claims)
    live = LeadEndpoints(
        index, sealer, hidden, guard, charger, counter, BaseCounter(index), ListFilter(lists), language_model
    )
    made_up = index.sandbox()
    sandbox = SandboxEndpoints(
        made_up,
        sealer,
        hidden,
        guard,
        SandboxCharger(settings),
        counter,
        BaseCounter(made_up),
        ListFilter(sandbox_lists),
        language_model,
    )
    docs = Docs()
    saved, sandbox_saved = SavedSearches(backends.postgres, test=False), SavedSearches(backends.postgres, test=True)
    watches, sandbox_watches = Watches(backends.postgres, test=False), Watches(backends.postgres, test=True)
    runs = Runs(backends.postgres)
    jobs_of_keys = JobEndpoints(backends, live, charger, lists).handlers()
    routes = [
        *_routes(guard, live.handlers(), sandbox.handlers()),
        *_routes(
            guard,
            ListEndpoints(lists, guard, settings.max_body_bytes).handlers(),
            ListEndpoints(sandbox_lists, guard, settings.max_body_bytes).handlers(),
        ),
        *_routes(
            guard,
            SearchEndpoints(saved, live).handlers(),
            SearchEndpoints(sandbox_saved, sandbox).handlers(),
        ),
        *_routes(
            guard,
            WatchEndpoints(watches, runs, saved, live).handlers(),
            WatchEndpoints(sandbox_watches, runs, sandbox_saved, sandbox).handlers(),
        ),
        *_routes(guard, jobs_of_keys, dict.fromkeys(jobs_of_keys, refuse_test_key)),
        *BillingEndpoints(backends).routes(guard),
        *PrivacyEndpoints(index, door, limiter).routes(guard),
        *health_routes(guard, readiness),
        document_route(guard, settings),
        *docs.routes(guard),
        *Landing(settings, sandbox, limiter, docs.files_address).routes(guard),
    ]
    agents = _agents(settings, guard, backends.postgres)
    if agents is not None:
        routes.append(agents.route)
    routes.extend(admin_routes(settings, guard, lambda request: request.app.state.dashboard.desk))
    if secrecy is not None:
        routes.extend(dashboard_routes(settings))
    app = Starlette(
        routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _http_error, Exception: _fault}
    )
    # A path with one slash too many gets our 404, which names the right path; Starlette has no option for this.
    app.router.redirect_slashes = False
    return app


def _agents(settings: Settings, guard: Guard, postgres: Postgres) -> AgentEndpoint | None:
    """The endpoint for agents, if what it needs is installed: it is imported only then."""
    if any(find_spec(name) is None for name in ("mcp", "siteglass_client")):
        return None
    from siteglass.web.agents.endpoint import AgentEndpoint

    return AgentEndpoint(settings, guard, postgres)


def _routes(guard: Guard, live: Handlers, sandbox: Handlers) -> list[Route]:
    return [guard.route(operation, handler, sandbox[operation]) for operation, handler in live.items()]


def _readiness_checks(index: Index, hidden: SuppressionFilter) -> list[ReadinessCheck]:
    """Whether searches can be answered and charged. Redis is not asked: without it, each worker limits by itself."""

    async def tables() -> str | None:
        if await is_current(index.postgres):
            return None
        return "the tables or functions in PostgreSQL are older than this build: run `siteglass migrate`"

    async def suppression_list() -> None:
        await hidden.require_fresh()

    return [
        partial(generations.readiness, index),
        partial(index_health.readiness, index),
        partial(postgres_health.readiness, index.postgres),
        tables,
        suppression_list,
    ]


@cache
def _read_tables() -> None:
    """Read the words of sentences before the first request, not by it; and keep the collector out of them.

    They are some hundred thousand objects that live as long as the worker: looking through them stopped it for 50 ms.
    """
    gc.disable()
    try:
        natural.load()
        gc.freeze()
    finally:
        gc.enable()


def _allowed_methods(request: Request) -> list[str]:
    allowed: set[str] = set()
    for route in request.app.router.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            allowed |= getattr(route, "methods", None) or set()
    return sorted(allowed - {"HEAD"})


def _meant(path: str) -> str | None:
    """The operation that a wrong path ends like, or else resembles as a whole."""
    asked = path.rstrip("/").lower()
    for above, below in ((SEARCH.path, PAGE), (LEDGER.path, RECEIPT), (VALUES_PATH, VALUES)):
        if asked.startswith(above + "/"):
            return f"{below.method} {below.path}"
    by_path = {declared.path: declared for declared in OPERATIONS if declared not in (PAGE, RECEIPT, VALUES)}
    by_path[VALUES_PATH] = VALUES  # which has nothing at the path above it
    by_end = {path.rpartition("/")[2]: path for path in by_path}
    # The last part first: /v1/search means /v1/leads/search, though /v1/searches is nearer.
    meant = by_end.get(asked.rpartition("/")[2])
    if meant is None:
        # /v1/leads, as near to search as to enrich, and /v1/leads/export stay below.
        near = process.extractOne(asked, by_path.keys(), scorer=fuzz.ratio, score_cutoff=76)
        meant = near[0] if near else None
    return f"{by_path[meant].method} {by_path[meant].path}" if meant else None


async def _http_error(request: Request, error: Any) -> Response:
    """The framework's own refusals, in our form."""
    path = request.url.path[:200]
    response = error_response(
        MethodNotAllowed(request.method, _allowed_methods(request))
        if error.status_code == 405
        else NotFound(path, _meant(path))
    )
    response.headers["X-Request-Id"] = new_request_id()
    return response


async def _fault(_request: Request, error: Exception) -> Response:
    request_id = new_request_id()
    log_fault(request_id, error)
    response = error_response(Internal())
    response.headers["X-Request-Id"] = request_id
    return response


def from_environment() -> Starlette:
    """What a worker process runs."""
    settings = load_settings()
    configure_logs(settings.log_level)
    return create_app(settings)
