"""The pages to sign in and out: password, then a code where there is a second factor; and the password once more."""

from __future__ import annotations

from starlette.responses import Response

from siteglass.dashboard.explore.address import EXPLORE
from siteglass.dashboard.guard import CONFIRM, HOME, SIGN_IN, Dashboard, DeclaredPage, Visit, own_path, see_other
from siteglass.dashboard.refusals import NOT_THERE, status_of
from siteglass.people import people, providers, sessions
from siteglass.people.problems import PeopleError, TooManyAttempts
from siteglass.people.sign_in import PasswordResult

MAX_EMAIL_CHARS = 254
MAX_PASSWORD_CHARS = 1_000


def _next_path(text: str) -> str:
    """Where somebody continues: the page that they asked for, or else the one where leads are found."""
    path = own_path(text)
    return EXPLORE if path == HOME else path


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """The form; people who are signed in are redirected."""
    if visit.session is not None:
        return see_other(_next_path(visit.query.get("next")))
    return await _form(dashboard, visit, next_path=_next_path(visit.query.get("next")))


async def _form(
    dashboard: Dashboard, visit: Visit, *, next_path: str, email: str = "", error: PeopleError | None = None
) -> Response:
    return dashboard.page(
        visit, "sign_in.html", status_of(error), email=email, next_path=next_path, problem=str(error or ""),
        has_providers=await providers.is_any(dashboard.backends.postgres),
    )  # fmt: skip


async def with_password(dashboard: Dashboard, visit: Visit) -> Response:
    """The password; then the session, or the form for the code."""
    email, password = visit.form.get("email")[:MAX_EMAIL_CHARS], visit.form.get("password")[:MAX_PASSWORD_CHARS]
    next_path = _next_path(visit.form.get("next"))
    try:
        passed = await dashboard.sign_in.with_password(email, password, visit.browser)
    except PeopleError as error:
        return await _form(dashboard, visit, next_path=next_path, email=email, error=error)
    if passed.step:
        return _code_form(dashboard, visit, passed.step, next_path)
    return await signed_in(dashboard, visit, passed, next_path)


def _code_form(
    dashboard: Dashboard, visit: Visit, step: str, next_path: str, error: PeopleError | None = None
) -> Response:
    return dashboard.page(
        visit, "sign_in_code.html", status_of(error), step=step, next_path=next_path, problem=str(error or "")
    )


async def with_code(dashboard: Dashboard, visit: Visit) -> Response:
    """The code of the second factor, then the session."""
    step, next_path = visit.form.get("step"), _next_path(visit.form.get("next"))
    try:
        passed = await dashboard.sign_in.with_code(step, visit.form.get("code"), visit.browser)
    except PeopleError as error:
        if error.field != "code" and not isinstance(error, TooManyAttempts):
            return await _form(dashboard, visit, next_path=next_path, error=error)
        return _code_form(dashboard, visit, step, next_path, error)
    return await signed_in(dashboard, visit, passed, next_path)


async def signed_in(dashboard: Dashboard, visit: Visit, passed: PasswordResult, next_path: str) -> Response:
    """A new session: the browser's previous session ends, so that nobody can have planted it."""
    if visit.session is not None:
        await _end(dashboard, visit)
    visit.sign_in_as(passed.token, passed.known)
    return see_other(next_path)


async def _end(dashboard: Dashboard, visit: Visit) -> None:
    who = visit.who
    await sessions.end(dashboard.backends.postgres, who.person_id, who.id)


async def sign_out(dashboard: Dashboard, visit: Visit) -> Response:
    """End the session."""
    await _end(dashboard, visit)
    visit.sign_in_as(None)
    return see_other(f"{SIGN_IN}?done=signed-out")


async def show_confirm(dashboard: Dashboard, visit: Visit) -> Response:
    """The password once more, before something that matters."""
    return _confirm_form(dashboard, visit, own_path(visit.query.get("next")))


def _confirm_form(dashboard: Dashboard, visit: Visit, next_path: str, error: PeopleError | None = None) -> Response:
    return dashboard.page(visit, "confirm.html", status_of(error), next_path=next_path, problem=str(error or ""))


async def confirm(dashboard: Dashboard, visit: Visit) -> Response:
    """Redirect to the page that was requested."""
    next_path, form = own_path(visit.form.get("next")), visit.form
    password = form.get("password")[:MAX_PASSWORD_CHARS]
    try:
        token = await dashboard.sign_in.prove_again(visit.who, visit.cookie, password, form.get("code"))
    except PeopleError as error:
        return _confirm_form(dashboard, visit, next_path, error)
    visit.sign_in_as(token)
    return see_other(next_path)


async def show_accounts(dashboard: Dashboard, visit: Visit) -> Response:
    """The accounts of the signed-in person, to choose from."""
    accounts = await people.accounts_of(dashboard.backends.postgres, visit.who.person_id)
    return dashboard.page(visit, "accounts.html", accounts=accounts)


async def switch(dashboard: Dashboard, visit: Visit) -> Response:
    """Look at another account of the same person."""
    account_id = visit.form.number("account") or 0
    token = await sessions.renew(dashboard.backends.postgres, visit.cookie, account_id=account_id)
    if token is None:
        raise NOT_THERE
    visit.sign_in_as(token)
    return see_other(f"{HOME}?done=switched")


PAGES = (
    DeclaredPage("sign_in", "GET", SIGN_IN, show, role=""),
    DeclaredPage("sign_in.password", "POST", SIGN_IN, with_password, role=""),
    DeclaredPage("sign_in.code", "POST", "/dashboard/sign-in/code", with_code, role=""),
    DeclaredPage("sign_out", "POST", "/dashboard/sign-out", sign_out),
    DeclaredPage("confirm", "GET", CONFIRM, show_confirm),
    DeclaredPage("confirm.password", "POST", CONFIRM, confirm),
    DeclaredPage("accounts", "GET", "/dashboard/accounts", show_accounts),
    DeclaredPage("switch", "POST", "/dashboard/accounts", switch),
)
