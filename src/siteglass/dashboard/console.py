"""The console of people who run the service: a page for each operation that reads, a form for each that acts.

The operations are those of the admin API; a form has the fields of their bodies.
"""

from __future__ import annotations

import uuid
from functools import partial

from starlette.responses import Response

from siteglass.access.accounts import list_plans
from siteglass.admin.operations import API, OPERATIONS, Act, perform
from siteglass.admin.operators import TOKEN_LIFE, actor_of, make_token
from siteglass.admin.requests import read_given
from siteglass.admin.responses import AccountResponse, AccountsResponse, InvitedResponse
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit, see_other
from siteglass.dashboard.refusals import NOT_THERE
from siteglass.errors import BadRequest, NotFound, Unavailable
from siteglass.web.messages import names_of
from siteglass.web.operations import Operation

CONSOLE = "/admin"
OPERATORS = CONSOLE + "/operators"
MAY_BE_DONE = "This may have been done. Send the form again as it is: with the same reference, it is done once."
# The operations that read, each with its template.
_TEMPLATES = {
    "list_accounts": "console_accounts.html",
    "find_accounts": "console_accounts.html",
    "get_account": "console_account.html",
    "get_request": "console_request.html",
    "get_reports": "console_reports.html",
    "get_privacy": "console_privacy.html",
    "get_service": "console_service.html",
    "get_operators": "console_operators.html",
}
_BY_NAME = {operation.name: operation for operation in OPERATIONS}
# The page that has the form of an operation, by how its path begins; the first that fits.
_PAGE_OF_FORM = (
    (f"{API}/accounts/{{account_id}}", "get_account"),
    (f"{API}/accounts", "list_accounts"),
    (f"{API}/reports", "get_reports"),
    (f"{API}/operators", "get_operators"),
)


def _act(visit: Visit, operation: Operation) -> Act:
    """What somebody does on a page, from its address and its form; raises BadRequest. Empty fields are not given, and
    neither are those that the form showed as they are sent: somebody else may have changed them meanwhile."""
    where = body = None
    if (kind := operation.parameters) is not None:
        asked = {name: visit.query.get(name) for name in names_of(kind) if visit.query.get(name)}
        path = {name: value for name, value in visit.request.path_params.items() if name in names_of(kind)}
        where = read_given(kind, {**asked, **path}, as_text=True)
    if operation.body is not None:
        form = visit.form
        typed = {
            name: form.get(name).strip()
            for name in names_of(operation.body)
            if form.get(name).strip() and form.is_changed(name)
        }
        body = read_given(operation.body, {**typed, **_choices(visit, operation)}, as_text=True)
    return Act(actor_of(visit.who.person_id), where, body)


def _choices(visit: Visit, operation: Operation) -> dict[str, list[str]]:
    """The field of which several can be chosen."""
    return {"effects": visit.form.all("effects")} if operation.name == "resolve_report" else {}


async def _show(operation: Operation, dashboard: Dashboard, visit: Visit) -> Response:
    return await _page(operation, dashboard, visit)


async def _page(
    operation: Operation, dashboard: Dashboard, visit: Visit, problem: str = "", status: int = 422
) -> Response:
    """What an operation reads; with a problem, as the page of the form that it is about."""
    try:
        found = await perform(operation, dashboard.desk, _act(visit, operation))
    except (BadRequest, NotFound):
        raise NOT_THERE from None
    if operation.name == "find_accounts" and isinstance(found, AccountsResponse) and len(found.accounts) == 1:
        return see_other(f"{CONSOLE}/accounts/{found.accounts[0].id}")
    return dashboard.page(
        visit, _TEMPLATES[operation.name], status if problem else 200, found=found, problem=problem,
        # A form that is sent twice changes a balance once.
        reference=visit.form.get("reference") or f"console {uuid.uuid4()}", typed=visit.form,
        plans=[plan.name for plan in await list_plans(dashboard.backends.postgres)],
    )  # fmt: skip


async def _do(operation: Operation, dashboard: Dashboard, visit: Visit) -> Response:
    """What the form says; one that cannot be carried out is shown again with the reason."""
    page = next(name for path, name in _PAGE_OF_FORM if operation.path.startswith(path))
    try:
        done = await perform(operation, dashboard.desk, _act(visit, operation))
    except BadRequest as error:
        return await _page(_BY_NAME[page], dashboard, visit, error.message)
    except NotFound:
        raise NOT_THERE from None
    except Unavailable:
        if not visit.form.get("reference"):
            raise
        # Shown with the same reference: a new one would do it twice.
        return await _page(_BY_NAME[page], dashboard, visit, MAY_BE_DONE, status=503)
    ids = {**visit.request.path_params}
    if isinstance(done, AccountResponse):
        ids["account_id"], page = done.account.id, "get_account"
    back = CONSOLE + _BY_NAME[page].path.removeprefix(API).format(**ids)
    if isinstance(done, InvitedResponse):
        return _shown_once(dashboard, visit, "The link of the invitation", done.link, back)
    return see_other(f"{back}?done={operation.name.replace('_', '-')}")


def _shown_once(dashboard: Dashboard, visit: Visit, title: str, text: str, back: str) -> Response:
    return dashboard.page(visit, "console_shown.html", title=title, text=text, back=back)


async def _new_token(dashboard: Dashboard, visit: Visit) -> Response:
    """A token for a program of the signed-in person, with the same role."""
    token = await make_token(dashboard.backends.postgres, visit.who.person_id)
    hours = int(TOKEN_LIFE.total_seconds()) // 3600
    return _shown_once(dashboard, visit, f"A token for {hours} hours", token, OPERATORS)


async def _home(_dashboard: Dashboard, _visit: Visit) -> Response:
    return see_other(f"{CONSOLE}/accounts")


def _declared(operation: Operation) -> DeclaredPage:
    reads = operation.name in _TEMPLATES
    handler = partial(_show if reads else _do, operation)
    path = CONSOLE + operation.path.removeprefix(API)
    return DeclaredPage(
        f"console.{operation.name}", operation.method, path, handler, desk=operation.scope, fresh=not reads
    )


PAGES = (
    DeclaredPage("console", "GET", CONSOLE, _home, desk="support"),
    DeclaredPage("console.token", "POST", OPERATORS + "/token", _new_token, desk="support", fresh=True),
    *map(_declared, OPERATIONS),
)
