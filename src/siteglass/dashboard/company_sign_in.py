"""The pages to sign in with a company's account: an address, the way to its provider, and the way back."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.responses import Response

from siteglass.dashboard.explore.address import EXPLORE
from siteglass.dashboard.guard import HOME, VERIFIER_COOKIE, Dashboard, DeclaredPage, Visit, own_path, see_other
from siteglass.dashboard.refusals import NOT_THERE, status_of
from siteglass.dashboard.sign_in import MAX_EMAIL_CHARS
from siteglass.people import sessions
from siteglass.people.problems import PeopleError
from siteglass.people.providers import CALLBACK
from siteglass.people.secrecy import new_token

_PATH = "/dashboard/sign-in/company"
MAX_CODE_CHARS = 4_000


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """Asks for the address, which leads to the provider."""
    return _form(dashboard, visit, visit.query.get("next"))


def _form(
    dashboard: Dashboard, visit: Visit, next_path: str, email: str = "", error: PeopleError | None = None
) -> Response:
    return dashboard.page(
        visit, "sign_in_company.html", status_of(error), address="", email=email, next_path=own_path(next_path),
        problem=str(error or ""),
    )  # fmt: skip


async def start(dashboard: Dashboard, visit: Visit) -> Response:
    """The way to the provider."""
    email, next_path = visit.form.get("email")[:MAX_EMAIL_CHARS], own_path(visit.form.get("next"))
    verifier = new_token()
    try:
        address = await dashboard.sign_in.company.start(email, next_path, verifier, visit.address)
    except PeopleError as error:
        return _form(dashboard, visit, next_path, email, error)
    return _continue(dashboard, visit, address, verifier)


async def start_again(dashboard: Dashboard, visit: Visit) -> Response:
    """The same for somebody who is signed in, before something that matters."""
    if visit.who.checked_at is None:
        raise NOT_THERE
    verifier = new_token()
    next_path = own_path(visit.form.get("next"))
    address = await dashboard.sign_in.company.start_again(visit.who, next_path, verifier, visit.address)
    return _continue(dashboard, visit, address, verifier)


def _continue(dashboard: Dashboard, visit: Visit, address: str, verifier: str) -> Response:
    """A page that leads on by itself: the policy of our pages lets no form end at another site, also by redirect."""
    visit.set_cookies[VERIFIER_COOKIE] = verifier
    return dashboard.page(
        visit, "sign_in_company.html", address=address, host=urlsplit(address).netloc, email="", next_path="",
        problem="",
    )  # fmt: skip


async def back(dashboard: Dashboard, visit: Visit) -> Response:
    """Back from the provider: a new session; the browser's previous one ends."""
    verifier = visit.request.cookies.get(VERIFIER_COOKIE, "")
    visit.set_cookies[VERIFIER_COOKIE] = ""
    state, code = visit.query.get("state"), visit.query.get("code")[:MAX_CODE_CHARS]
    account_id, issuer = visit.number("account_id"), visit.query.get("iss")
    try:
        if refused := visit.query.get("error"):
            raise PeopleError(f"Your company's account did not let you in: it answers {refused[:40]!r}.")
        entered = await dashboard.sign_in.company.finish(account_id, state, code, issuer, verifier, visit.browser)
    except PeopleError as error:
        return _form(dashboard, visit, HOME, error=error)
    if visit.session is not None:
        await sessions.end(dashboard.backends.postgres, visit.session.person_id, visit.session.id)
    visit.sign_in_as(entered.token)
    path = own_path(entered.next_path)
    return see_other(EXPLORE if path == HOME else path)


PAGES = (
    DeclaredPage("company", "GET", _PATH, show, role=""),
    DeclaredPage("company.start", "POST", _PATH, start, role=""),
    DeclaredPage("company.again", "POST", _PATH + "/again", start_again),
    DeclaredPage("company.back", "GET", CALLBACK + "/{account_id}", back, role=""),
)
