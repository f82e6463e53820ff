"""The checks and steps around every page: session, role, where a form came from, errors as pages, log, metrics."""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlsplit

from jinja2 import Environment
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from siteglass.access.accounts import AccountError
from siteglass.access.keys import Caller
from siteglass.admin.operations import Desk
from siteglass.admin.operators import DESK_ROLES
from siteglass.dashboard.forms import MAX_BODY_BYTES, Form, read_form, read_query
from siteglass.dashboard.refusals import (
    AT_THE_COMPANY,
    FORM_TOO_OLD,
    NO_SECOND_FACTOR,
    NOT_ALLOWED,
    NOT_FROM_HERE,
    NOT_NOW,
    NOT_THERE,
    OUR_FAULT,
    SIGN_IN_FIRST,
    PageRefusal,
    suspended,
)
from siteglass.dashboard.rendering import DONE, HEADERS, html_answer
from siteglass.errors import AccountSuspended, Unavailable
from siteglass.leads.charging import AccountCharger
from siteglass.leads.downloads.files import DownloadFiles
from siteglass.leads.downloads.reading import TableReader
from siteglass.leads.endpoints import LeadEndpoints
from siteglass.leads.lists.lists import Lists
from siteglass.leads.searches.searches import SavedSearches
from siteglass.leads.watches.watches import Watches
from siteglass.people import sessions
from siteglass.people.people import ROLES
from siteglass.people.problems import PeopleError
from siteglass.people.sessions import Browser, Session
from siteglass.people.sign_in import KNOWN_LIFE_S, SignIn
from siteglass.platform.backends import Backends
from siteglass.platform.logs import log_fault, new_request_id
from siteglass.platform.metrics import record_response
from siteglass.web.address import origin_of
from siteglass.web.guard import Call
from siteglass.web.page_files import PageFiles

log = logging.getLogger("siteglass.dashboard")

HOME = "/dashboard"
SIGN_IN = "/dashboard/sign-in"
CONFIRM = "/dashboard/confirm"
SET_UP = "/dashboard/security/second-factor"
SESSION_COOKIE = "__Host-siteglass"
FORM_COOKIE = "__Host-siteglass-form"
KNOWN_COOKIE = "__Host-siteglass-known"
VERIFIER_COOKIE = "__Host-siteglass-verifier"
"""Of a browser that is on its way to a provider and back."""
FRESH_FOR = timedelta(minutes=10)
"""A key is made, and whatever else matters is done, this long after the password was given."""
CLIENT_GONE = 499
# Where a person may be sent after signing in: a page of dashboard or console. Never a path that a browser could take
# for another host.
_OWN_PATH = re.compile(r"/(?:dashboard|admin)(/[A-Za-z0-9_.-]+)*(\?[A-Za-z0-9_.=&%+*~-]*)?")
# What people of a suspended account may do: read what it has and did, revoke keys, and look after their own sign-in.
_WHILE_SUSPENDED = re.compile(
    r"overview|(usage|ledger)(\..+)?|plan|settings|audit|keys?|key\.revoke.*|security.*|sign_out|confirm.*|company\.again|accounts|switch"
)
# What people may do who lack the second factor that their account requires: set it up, or go elsewhere.
_BEFORE_SET_UP = re.compile(r"security\.set_up.*|sign_out|confirm.*|accounts|switch")
# What a session that began at a provider cannot do: it reaches one account, and proves who it is there.
_NOT_FROM_THE_COMPANY = re.compile(r"security.*|accounts|switch|confirm\.password|join\.accept")
LABELS = {"lead": "Lead credits", "api": "API credits"}
INTERNAL_LABELS = {"lead": "Leads", "api": "Enrichments"}
# The address of a search can hold a cursor.
MAX_PATH_CHARS = 8_000


@dataclass(frozen=True, slots=True)
class Dashboard:
    """What the pages work with; made once per worker."""

    backends: Backends
    sign_in: SignIn
    leads: LeadEndpoints
    charger: AccountCharger
    lists: Lists
    searches: SavedSearches
    watches: Watches
    download_files: DownloadFiles
    table_reader: TableReader
    files: PageFiles
    templates: Environment
    origin: str
    """Where forms come from, as browsers spell it; empty: wherever the page was asked for."""
    desk: Desk

    async def take_units(self, visit: Visit, caller: Caller, units: int) -> None:
        """Take from the rate limit of the account, which people share with its keys; raises TooManyRequests."""
        await self.leads.guard.take(caller, Call(visit.request_id), min(units, caller.burst))

    def service_address(self, visit: Visit) -> str:
        """Where programs call the service: as it is set, or as the page was asked for."""
        return (self.backends.settings.public_url or str(visit.request.base_url)).rstrip("/")

    def page(
        self,
        visit: Visit,
        template: str,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        /,
        **known: Any,
    ) -> Response:
        """A page from its template, which knows `visit`, `file` and what is given."""
        html = self.templates.get_template(template).render(
            visit=visit,
            file=self.files.path,
            done=DONE.get(visit.query.get("done"), ""),
            fresh_minutes=FRESH_FOR.seconds // 60,
            operator=self.backends.settings.sales_email,
            is_demo=bool(self.backends.settings.demo_networks),
            **known,
        )
        return html_answer(html, visit.nonce, status, headers)


@dataclass(slots=True)
class Visit:
    """One request of somebody: who it is, and what they sent."""

    request: Request
    request_id: str
    query: Form
    session: Session | None = None
    form: Form = field(default_factory=Form)
    nonce: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    cookie: str = ""
    """What a form's token belongs to: the session's, or that of somebody who is not signed in."""
    token: str = ""
    """What forms carry."""
    set_cookies: dict[str, str] = field(default_factory=dict)

    @property
    def who(self) -> Session:
        """The session of a page that asks for one."""
        if self.session is None:
            raise NOT_ALLOWED
        return self.session

    def may(self, role: str) -> bool:
        """Whether who is signed in has this role, or more."""
        return self.session is not None and ROLES.index(self.session.role) >= ROLES.index(role)

    def may_at_desk(self, role: str) -> bool:
        """Whether who is signed in runs the service in this role, or in one that may do more."""
        desk = None if self.session is None else self.session.desk
        return desk is not None and DESK_ROLES.index(desk) >= DESK_ROLES.index(role)

    @property
    def address(self) -> str:
        """Where the request comes from; behind a trusted proxy what the proxy saw."""
        return self.request.client.host[:50] if self.request.client else ""

    @property
    def browser(self) -> Browser:
        """The browser, as it says of itself, and what it keeps."""
        known = self.request.cookies.get(KNOWN_COOKIE, "")
        return Browser(self.request.headers.get("user-agent", ""), self.address, known)

    @property
    def path(self) -> str:
        """The path of the page."""
        return self.request.url.path

    @property
    def is_internal(self) -> bool:
        """Whether pages mention leads and no credits, because the account is within the company and pays nothing."""
        return self.session is not None and self.session.is_internal

    @property
    def is_from_company(self) -> bool:
        """Whether who is signed in came through the provider of the account."""
        return self.session is not None and self.session.checked_at is not None

    @property
    def unit(self) -> str:
        """What getting a lead takes."""
        return "lead" if self.is_internal else "credit"

    @property
    def labels(self) -> Mapping[str, str]:
        """The names of both kinds of credits."""
        return INTERNAL_LABELS if self.is_internal else LABELS

    @property
    def must_set_up(self) -> bool:
        """Whether the person lacks the second factor that the account requires."""
        return self.session is not None and self.session.second_factor_required and not self.session.has_second_factor

    @property
    def wants_part(self) -> bool:
        """Whether htmx sent the request: it follows redirects by itself and needs them in another header."""
        return "hx-request" in self.request.headers

    def number(self, name: str) -> int:
        """A number in the path; raises PageRefusal if it is not a number."""
        found = Form([(name, self.request.path_params[name])]).number(name)
        if found is None:
            raise NOT_THERE
        return found

    def sign_in_as(self, token: str | None, known: str = "") -> None:
        """The answer carries this session from now on; None: none. `known`: what the browser keeps beyond it."""
        self.set_cookies[SESSION_COOKIE] = token or ""
        if known:
            self.set_cookies[KNOWN_COOKIE] = known


Handler = Callable[[Dashboard, Visit], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class DeclaredPage:
    """One page or form: where it is, who may have it, and whether the password must have been given just now."""

    name: str
    method: str
    path: str
    handler: Handler
    role: str = "viewer"
    """The least role; empty: nobody need be signed in."""
    desk: str = ""
    """In the console, which belongs to no account: the least role there."""
    fresh: bool = False
    by_link: bool = False
    """Whether the address itself proves who may do it: mail programs post to it, with no token and from no page."""
    max_bytes: int = MAX_BODY_BYTES
    """How long the body of the form may be."""
    max_file_bytes: int = 0
    """The largest file that its form may bring."""


def see_other(where: str) -> Response:
    """Go there with GET."""
    return Response(status_code=303, headers={**HEADERS, "Location": where})


def own_path(text: str) -> str:
    """The page of the dashboard to continue to; the overview if the path is not one."""
    return text if _OWN_PATH.fullmatch(text) and len(text) <= MAX_PATH_CHARS else HOME


def guarded(declared: DeclaredPage) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that shows the page to people who may see it. It checks in this order: origin, session, token, role,
    account, second factor, freshness."""

    async def endpoint(request: Request) -> Response:
        started = time.perf_counter()
        dashboard: Dashboard = request.app.state.dashboard
        visit = Visit(request, new_request_id(), read_query(request))
        try:
            response = await _answer(dashboard, declared, visit)
        except PageRefusal as refused:
            response = _refusal(dashboard, visit, refused)
        except (PeopleError, AccountError) as error:
            response = _refusal(dashboard, visit, PageRefusal(400, "This cannot be done", str(error)))
        except AccountSuspended as error:  # after the session was found
            response = _refusal(dashboard, visit, suspended(error.reason))
        except Unavailable as error:
            log.warning("unavailable", extra={"request_id": visit.request_id, "reason": error.reason})
            response = _refusal(dashboard, visit, NOT_NOW)
            response.headers["Retry-After"] = "5"
        except ClientDisconnect:
            response = Response(status_code=CLIENT_GONE)
        except Exception as error:
            log_fault(visit.request_id, error)
            response = _refusal(dashboard, visit, OUR_FAULT)
        _finish(visit, response)
        record_response(log, f"dashboard.{declared.name}", visit.request_id, response.status_code, started)
        return response

    return endpoint


async def _answer(dashboard: Dashboard, declared: DeclaredPage, visit: Visit) -> Response:
    request = visit.request
    changes = request.method not in ("GET", "HEAD")
    is_form = changes and not declared.by_link
    if is_form:
        _check_origin(dashboard, request)
        visit.form = await read_form(request, declared.max_bytes, declared.max_file_bytes)
    await _find_session(dashboard, declared, visit)
    if is_form and not dashboard.sign_in.secrecy.is_form_token(visit.cookie, visit.form.get("token")):
        raise FORM_TOO_OLD
    if visit.is_from_company and _NOT_FROM_THE_COMPANY.fullmatch(declared.name):
        raise AT_THE_COMPANY
    if declared.desk:
        _require_desk(visit, declared.desk)
    elif declared.role:
        if visit.session is None:
            return _go(visit, SIGN_IN, next_path=None if changes else _asked_path(request))
        if not visit.may(declared.role):
            raise NOT_ALLOWED
        if visit.session.suspended is not None and not _WHILE_SUSPENDED.fullmatch(declared.name):
            raise suspended(visit.session.suspended)
        if visit.must_set_up and not _BEFORE_SET_UP.fullmatch(declared.name):
            return _go(visit, SET_UP, next_path=None)
    if declared.fresh and not visit.who.is_fresh(FRESH_FOR):
        back = came_from(request) if changes else _asked_path(request)
        return _go(visit, CONFIRM, next_path=back)
    return await declared.handler(dashboard, visit)


def _require_desk(visit: Visit, role: str) -> None:
    """Raise PageRefusal unless who is signed in runs the service; nobody else learns that there is a console."""
    if visit.session is None:
        raise SIGN_IN_FIRST
    if not visit.may_at_desk("support"):
        raise NOT_THERE
    if not visit.session.has_second_factor:
        raise NO_SECOND_FACTOR
    if not visit.may_at_desk(role):
        raise NOT_ALLOWED


def _check_origin(dashboard: Dashboard, request: Request) -> None:
    """Raise PageRefusal unless a page of the dashboard sent the form: the browser says so in one of two headers."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    own = dashboard.origin or origin_of(str(request.base_url))
    from_here = origin is not None and origin == own
    # Either header may be missing, from older browsers; what is there must agree.
    if site not in (None, "same-origin") or (origin is not None and not from_here) or (site is None and origin is None):
        raise NOT_FROM_HERE


async def _find_session(dashboard: Dashboard, declared: DeclaredPage, visit: Visit) -> None:
    cookies = visit.request.cookies
    given = cookies.get(SESSION_COOKIE, "")
    if given:
        visit.session = await _session(dashboard, declared, given)
    if visit.session is not None:
        visit.cookie = given
    else:
        visit.cookie = cookies.get(FORM_COOKIE, "")
        if not visit.cookie:
            visit.cookie = visit.set_cookies[FORM_COOKIE] = secrets.token_urlsafe(32)
    visit.token = dashboard.sign_in.secrecy.form_token(visit.cookie)


async def _session(dashboard: Dashboard, declared: DeclaredPage, token: str) -> Session | None:
    """The session of a cookie, as its provider lets the person in now. Raises Unavailable and PeopleError where
    somebody must be signed in: while the provider does not answer, people can sign in otherwise, and sign out."""
    postgres, lifetimes = dashboard.backends.postgres, dashboard.sign_in.lifetimes
    found = await sessions.find(postgres, token, lifetimes)
    if found is None or found.checked_at is None or declared.name == "sign_out":
        return found
    try:
        if await dashboard.sign_in.company.is_unchanged(found):
            return found
    except (Unavailable, PeopleError):
        if declared.role:
            raise
        return None
    return await sessions.find(postgres, token, lifetimes)


def _asked_path(request: Request) -> str:
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


def came_from(request: Request) -> str:
    """The page with the form, as the browser reports it; only a page of the dashboard is accepted."""
    try:
        there = urlsplit(request.headers.get("referer", ""))
    except ValueError:
        return HOME
    return own_path(there.path + (f"?{there.query}" if there.query else ""))


def _go(visit: Visit, where: str, next_path: str | None) -> Response:
    """Send somebody to sign in or to confirm, and then back."""
    target = where + (f"?next={quote(next_path, safe='')}" if next_path and next_path != HOME else "")
    if visit.wants_part:
        return Response(status_code=204, headers={**HEADERS, "HX-Redirect": target})
    return see_other(target)


def _refusal(dashboard: Dashboard, visit: Visit, refused: PageRefusal) -> Response:
    return dashboard.page(visit, "refusal.html", refused.status, refused=refused)


def _finish(visit: Visit, response: Response) -> None:
    response.headers["X-Request-Id"] = visit.request_id
    for name, value in visit.set_cookies.items():
        # Without Max-Age: it ends with the browser, and the service ends it earlier. Lax: links in mails find it.
        life = f"; Max-Age={KNOWN_LIFE_S}" if name == KNOWN_COOKIE else "" if value else "; Max-Age=0"
        site = "Strict" if name == FORM_COOKIE else "Lax"
        response.headers.append("Set-Cookie", f"{name}={value}; Path=/; Secure; HttpOnly; SameSite={site}{life}")
