"""The page at /: what this service is, and a search box for people without an account.

Their searches are answered by the sandbox of test keys, never by the index: nobody lists the base without a key.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import orjson
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from siteglass.access.keys import Caller
from siteglass.access.limits import Policy, RateLimiter
from siteglass.dashboard.examples import EXAMPLES
from siteglass.dashboard.explore.address import EXPLORE, SELECT, apply_changes
from siteglass.dashboard.explore.chips import Chip, make_chips
from siteglass.dashboard.explore.notes import SearchHint, make_hints
from siteglass.dashboard.forms import Form
from siteglass.dashboard.guard import SIGN_IN
from siteglass.dashboard.rendering import make_environment
from siteglass.errors import BadRequest, SiteglassError
from siteglass.leads.charging import find_offer
from siteglass.leads.rows import LeadRow, bought_row
from siteglass.leads.sandbox import SandboxEndpoints
from siteglass.people.secrecy import bucket
from siteglass.settings import Settings
from siteglass.web.address import household
from siteglass.web.guard import Call, Guard
from siteglass.web.operations import LANDING
from siteglass.web.pages import HEADERS, site_header

SHOWN = 5
MAX_CHARS = 200
# People without an account share this, so that they cannot slow down those with one.
_EVERYBODY = Policy(10, 60)
_NOBODY = Caller(0, 0, 0, frozenset({"search"}), "", 0, 0, test=True)
# As for every other page without a sign-in, but for the search form.
_POLICY = HEADERS["Content-Security-Policy"].replace("form-action 'none'", "form-action 'self'")
_HEADERS = {**HEADERS, "Content-Security-Policy": _POLICY, "Cache-Control": "no-store"}


@dataclass(frozen=True, slots=True)
class SandboxResults:
    """What a search without an account finds, or why it finds nothing."""

    chips: Sequence[Chip] = ()
    hints: Sequence[SearchHint] = ()
    total: int = 0
    rows: Sequence[LeadRow] = ()
    problem: str = ""


class Landing:
    """The page, with a search box unless the settings switch it off."""

    def __init__(self, settings: Settings, sandbox: SandboxEndpoints, limiter: RateLimiter, files: str) -> None:
        # No language model: each question may cost the operator money, and no stranger's words leave this machine.
        self._sandbox = replace(sandbox, language_model=None)
        self._limiter = limiter
        self._per_hour = settings.landing_searches_per_hour
        self._template = make_environment().get_template("landing.html")
        sign_in = f'<a class="at-end" href="{SIGN_IN}">Sign in</a>' if settings.dashboard_secrets else ""
        self._known = {
            "files": files,
            "header": Markup(site_header(f"{files}/icon.svg", end=sign_in)),  # noqa: S704 - ours
            "has_dashboard": bool(settings.dashboard_secrets),
            "is_demo": bool(settings.demo_networks),
            "can_search": self._per_hour > 0,
            "examples": EXAMPLES,
            "explore": EXPLORE,
            "sign_in": SIGN_IN,
            "max_chars": MAX_CHARS,
        }

    def routes(self, guard: Guard) -> list[Route]:
        """The page."""
        return [guard.open_route(LANDING, self._page)]

    async def _page(self, request: Request, _call: Call) -> Response:
        words = request.query_params.get("q", "").strip()
        results = await self._search(request, words) if words and self._per_hour else None
        html = self._template.render(**self._known, words=words, results=results)
        return Response(html.encode(), 200, _HEADERS, "text/html")

    async def _search(self, request: Request, words: str) -> SandboxResults:
        if len(words) > MAX_CHARS:
            return SandboxResults(problem=f"Use at most {MAX_CHARS} characters here; the search has {len(words):,}.")
        if wait_s := await self._wait_s(request):
            wait = f"{math.ceil(wait_s)} s" if wait_s < 60 else f"{math.ceil(wait_s / 60)} min"
            return SandboxResults(problem=f"Too many searches without an account. Try again in {wait}.")
        try:
            return await self._find(words)
        except BadRequest as error:
            return SandboxResults(problem=error.problems[0].message)
        except SiteglassError:
            return SandboxResults(problem="The search box is unavailable at the moment. Try again later.")

    async def _wait_s(self, request: Request) -> float:
        """Count a search of this network, and of everybody without an account; seconds to wait if that is too many."""
        network = bucket("landing", household(request.client.host if request.client else "")).hex()
        own = Policy(self._per_hour / 3600, self._per_hour)
        verdict = await self._limiter.take("landing", f"landing-from-{network}", _EVERYBODY, own)
        return 0 if verdict.allowed else max(1, verdict.retry_after_s)

    async def _find(self, words: str) -> SandboxResults:
        sandbox, now_ms = self._sandbox, self._sandbox.index.clock.now_ms()
        body = {"query": words, "limit": SHOWN, "select": list(SELECT)}
        meaning = sandbox.read(body).meaning
        explored, _ = apply_changes(meaning, Form(), now_ms)
        if explored.is_empty:
            return SandboxResults(
                problem=f"No place, trade, technology or other property of a business is in these "
                f"words. Try “{EXAMPLES[0]}”."
            )
        offer = await find_offer(sandbox.index.settings, lambda: sandbox.first_page(_NOBODY, body, now_ms // 1000))
        page = orjson.loads(offer.body)
        return SandboxResults(
            chips=make_chips(explored, meaning),
            hints=make_hints(explored, meaning),
            total=page["total_results"],
            rows=[bought_row(record) for record in page["results"]],
        )
