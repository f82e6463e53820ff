"""The pages that mailed links lead to: a new password, and an invitation to an account."""

from __future__ import annotations

from starlette.responses import Response

from siteglass.dashboard.explore.address import EXPLORE
from siteglass.dashboard.guard import SIGN_IN, Dashboard, DeclaredPage, Visit, see_other
from siteglass.dashboard.refusals import status_of
from siteglass.dashboard.sign_in import MAX_EMAIL_CHARS, MAX_PASSWORD_CHARS
from siteglass.people import links, people
from siteglass.people.links import Link, Purpose
from siteglass.people.passwords import MIN_CHARS
from siteglass.people.problems import PeopleError

MAX_TOKEN_CHARS = 100


async def show_forgot(dashboard: Dashboard, visit: Visit) -> Response:
    """Where somebody asks for a new password."""
    return dashboard.page(visit, "forgot.html", asked=False, problem="", email="")


async def forgot(dashboard: Dashboard, visit: Visit) -> Response:
    """The same answer, after the same time, whether or not there is such a person."""
    email = visit.form.get("email")[:MAX_EMAIL_CHARS]
    try:
        await dashboard.sign_in.ask_for_reset(email, visit.address)
    except PeopleError as error:
        return dashboard.page(visit, "forgot.html", status_of(error), asked=False, problem=str(error), email=email)
    return dashboard.page(visit, "forgot.html", asked=True, problem="", email=email)


async def _link(dashboard: Dashboard, visit: Visit, purpose: Purpose) -> Link | None:
    token = visit.request.path_params["token"][:MAX_TOKEN_CHARS]
    return await links.look_at(dashboard.backends.postgres, purpose, token)


async def show_reset(dashboard: Dashboard, visit: Visit) -> Response:
    """The form for a new password, if the link works."""
    return _reset_form(dashboard, visit, await _link(dashboard, visit, "reset"))


def _reset_form(dashboard: Dashboard, visit: Visit, link: Link | None, problem: str = "") -> Response:
    status = 404 if link is None else 422 if problem else 200
    return dashboard.page(visit, "reset.html", status, link=link, problem=problem, least=MIN_CHARS)


async def reset(dashboard: Dashboard, visit: Visit) -> Response:
    """Another password; then sign in with it."""
    token = visit.request.path_params["token"][:MAX_TOKEN_CHARS]
    try:
        await dashboard.sign_in.reset(token, visit.form.get("password")[:MAX_PASSWORD_CHARS])
    except PeopleError as error:
        return _reset_form(dashboard, visit, await _link(dashboard, visit, "reset"), str(error))
    visit.sign_in_as(None)
    return see_other(f"{SIGN_IN}?done=password-reset")


async def show_join(dashboard: Dashboard, visit: Visit) -> Response:
    """An invitation: a form for new people, a button for people who are signed in."""
    return await _join_form(dashboard, visit)


async def _join_form(dashboard: Dashboard, visit: Visit, name: str = "", error: PeopleError | None = None) -> Response:
    link = await _link(dashboard, visit, "invite")
    is_known = link is not None and await _is_known(dashboard, link.email)
    status = 404 if link is None else 200 if error is None else 422
    return dashboard.page(
        visit, "join.html", status, link=link, is_known=is_known, name=name, least=MIN_CHARS,
        field=error.field if error else "", problem=str(error or ""),
    )  # fmt: skip


async def _is_known(dashboard: Dashboard, email: str) -> bool:
    return await people.find(dashboard.backends.postgres, email) is not None


async def join(dashboard: Dashboard, visit: Visit) -> Response:
    """Take an invitation up."""
    token, form = visit.request.path_params["token"][:MAX_TOKEN_CHARS], visit.form
    name = form.get("name")[:1_000]
    try:
        if visit.session is None:
            password = form.get("password")[:MAX_PASSWORD_CHARS]
            passed = await dashboard.sign_in.join_as_new(token, name, password, visit.browser)
            visit.sign_in_as(passed.token, passed.known)
        else:
            visit.sign_in_as(await dashboard.sign_in.join(token, visit.session, visit.cookie))
    except PeopleError as error:
        return await _join_form(dashboard, visit, name, error)
    return see_other(f"{EXPLORE}?done=joined")


PAGES = (
    DeclaredPage("forgot", "GET", "/dashboard/forgot", show_forgot, role=""),
    DeclaredPage("forgot.ask", "POST", "/dashboard/forgot", forgot, role=""),
    DeclaredPage("reset", "GET", "/dashboard/reset/{token}", show_reset, role=""),
    DeclaredPage("reset.password", "POST", "/dashboard/reset/{token}", reset, role=""),
    DeclaredPage("join", "GET", "/dashboard/join/{token}", show_join, role=""),
    DeclaredPage("join.accept", "POST", "/dashboard/join/{token}", join, role=""),
)
