"""The operations of operators, each declared once: the console's pages and forms and the admin API are made of these.

Each calls the function that the command of the same name calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

from starlette.datastructures import QueryParams

from siteglass.access import accounts, audit, lifecycle
from siteglass.access.keys import list_keys
from siteglass.admin import lookup, operators
from siteglass.admin.operators import DeskRole
from siteglass.admin.requests import (
    AccountChangeBody,
    AccountPath,
    AccountsParameters,
    FindBody,
    GrantBody,
    InvitationBody,
    NewAccountBody,
    OperatorBody,
    PersonPath,
    ReasonBody,
    RefundBody,
    ReportPath,
    ReportsParameters,
    RequestPath,
    ResolutionBody,
    read_given,
)
from siteglass.admin.responses import (
    AccountDetails,
    AccountResponse,
    AccountsResponse,
    GenerationShown,
    InvitedResponse,
    OperatorsResponse,
    OptOutShown,
    PrivacyResponse,
    ReportsResponse,
    RequestDetails,
    ResolvedResponse,
    ServiceResponse,
    entry_shown,
    key_shown,
)
from siteglass.billing import credits, receipts
from siteglass.corpus.domains import registrable
from siteglass.crawl.frontier import Frontier
from siteglass.errors import (
    BadRequest,
    Forbidden,
    Internal,
    NotFound,
    PayloadTooLarge,
    Problem,
    Unavailable,
    UnsupportedMediaType,
)
from siteglass.index import generations
from siteglass.index.index import Index
from siteglass.leads import reports
from siteglass.people import links, members
from siteglass.people.problems import PeopleError
from siteglass.people.sign_in import SignIn
from siteglass.platform.job_leases import JobLeases
from siteglass.platform.opensearch import EngineError
from siteglass.platform.postgres import Postgres
from siteglass.suppression import entries as opt_outs
from siteglass.web.health import ReadinessCheck
from siteglass.web.messages import Parameters, RequestBody, ResponseBody
from siteglass.web.operations import Operation, Success
from siteglass.web.parameters import read_no_parameters

API = "/admin/v1"
SHOWN_ROWS = 20
SHOWN_PEOPLE = 100


@dataclass(frozen=True, slots=True)
class Desk:
    """What the operations work with; one per worker."""

    index: Index
    sign_in: SignIn
    leases: JobLeases
    readiness: Sequence[ReadinessCheck]

    @property
    def postgres(self) -> Postgres:
        """The service's tables."""
        return self.index.postgres


@dataclass(frozen=True, slots=True)
class Act:
    """What somebody does: who, for the audit log, where, and what they sent."""

    actor: str
    where: Any
    """What the path and the query say, as the operation's `parameters` declare it."""
    body: Any


Run = Callable[[Desk, Act], Awaitable[ResponseBody]]
Does = TypeVar("Does", bound=Run)
OPERATIONS: dict[Operation, Run] = {}
_READING: Final = (BadRequest, Forbidden, NotFound, Internal, Unavailable)


def declare(
    name: str,
    method: str,
    path: str,
    role: DeskRole,
    summary: str,
    response: type[ResponseBody],
    *,
    parameters: type[Parameters] | None = None,
    body: type[RequestBody] | None = None,
) -> Callable[[Does], Does]:
    """The function below is this operation, and its docstring the description."""

    def mistake() -> None:
        if (read := body or parameters) is not None:
            read_given(read, {"verbose": 1}, as_text=False)
        read_no_parameters(QueryParams("verbose=1"))

    def declared(run: Does) -> Does:
        operation = Operation(
            name,
            method,
            API + path,
            (*_READING, PayloadTooLarge, UnsupportedMediaType) if body else _READING,
            "Console",
            summary,
            run.__doc__ or "",
            Success(response.__doc__ or "", (response,)),
            scope=role,
            parameters=parameters,
            body=body,
            mistake=mistake,
        )
        OPERATIONS[operation] = run
        return run

    return declared


# --- accounts ---------------------------------------------------------------------------------------------


@declare(
    "list_accounts", "GET", "/accounts", "support", "List accounts", AccountsResponse, parameters=AccountsParameters
)
async def list_accounts(desk: Desk, act: Act) -> AccountsResponse:
    """By number."""
    return await _accounts(desk, "", act.where.after)


@declare("find_accounts", "POST", "/accounts/find", "support", "Find accounts", AccountsResponse, body=FindBody)
async def find_accounts(desk: Desk, act: Act) -> AccountsResponse:
    """By name, number, address or domain of a member, beginning of a key, or ID of a request."""
    return await _accounts(desk, act.body.find, act.body.after)


async def _accounts(desk: Desk, text: str, after: int) -> AccountsResponse:
    found = await lookup.find_accounts(desk.postgres, text, after)
    return AccountsResponse(found, found[-1].id if len(found) == lookup.MAX_FOUND else None)


@declare(
    "get_account", "GET", "/accounts/{account_id}", "support", "Get an account", AccountDetails, parameters=AccountPath
)
async def get_account(desk: Desk, act: Act) -> AccountDetails:
    """With its people, invitations, keys, and its newest ledger rows and actions."""
    postgres, number = desk.postgres, act.where.account_id
    account = await _account(postgres, number)
    people = await members.members_page(postgres, number, 1, size=SHOWN_PEOPLE)
    rows = await receipts.entries(postgres, number, receipts.EntryFilter(SHOWN_ROWS))
    return AccountDetails(
        account,
        list(people.members) if people else [],
        await links.invitations_of(postgres, number),
        [key_shown(key) for key in await list_keys(postgres, number)],
        [entry_shown(row) for row in rows[:SHOWN_ROWS]],
        await audit.audit_page(postgres, number, limit=SHOWN_ROWS),
    )


async def _account(postgres: Postgres, number: int) -> accounts.Account:
    found = await accounts.list_accounts(postgres, number - 1, most=1)
    if not found or found[0].id != number:
        raise NotFound(str(number), missing="account")
    return found[0]


@declare(
    "get_request", "GET", "/accounts/{account_id}/requests/{request_id}", "support", "Get a request", RequestDetails,
    parameters=RequestPath,
)  # fmt: skip
async def get_request(desk: Desk, act: Act) -> RequestDetails:
    """What a request of an account cost, what refers to it, and how its search was read."""
    number, request_id = act.where.account_id, act.where.request_id
    found = await receipts.of_request(desk.postgres, number, request_id)
    if not found:
        raise NotFound(request_id, missing="receipt")
    marks = Counter(mark.name.lower() for _, domains in found for _, mark in domains)
    reading = await lookup.reading_of(desk.postgres, number, request_id)
    return RequestDetails([entry_shown(entry) for entry, _ in found], dict(marks), reading)


@declare("create_account", "POST", "/accounts", "operator", "Create an account", AccountResponse, body=NewAccountBody)
async def create_account(desk: Desk, act: Act) -> AccountResponse:
    """With an empty balance and no key."""
    number = await accounts.create_account(desk.postgres, act.body.name, act.body.plan, actor=act.actor)
    return AccountResponse(await _account(desk.postgres, number))


@declare(
    "change_account", "POST", "/accounts/{account_id}", "operator", "Change an account", AccountResponse,
    parameters=AccountPath, body=AccountChangeBody,
)  # fmt: skip
async def change_account(desk: Desk, act: Act) -> AccountResponse:
    """Another name, another plan or both."""
    await lifecycle.change_account(
        desk.postgres, act.where.account_id, name=act.body.name, plan=act.body.plan, actor=act.actor
    )
    return AccountResponse(await _account(desk.postgres, act.where.account_id))


@declare(
    "suspend_account", "POST", "/accounts/{account_id}/suspend", "operator", "Suspend an account", AccountResponse,
    parameters=AccountPath, body=ReasonBody,
)  # fmt: skip
async def suspend_account(desk: Desk, act: Act) -> AccountResponse:
    """It is not charged from now on, and every worker refuses it within a second; its ledger stays readable."""
    await lifecycle.suspend(desk.postgres, act.where.account_id, act.body.reason, actor=act.actor)
    return AccountResponse(await _account(desk.postgres, act.where.account_id))


@declare(
    "resume_account", "POST", "/accounts/{account_id}/resume", "operator", "Resume an account", AccountResponse,
    parameters=AccountPath,
)  # fmt: skip
async def resume_account(desk: Desk, act: Act) -> AccountResponse:
    """Ends a suspension, or opens a closed account again before its data is removed. Revoked keys stay revoked."""
    await lifecycle.resume(desk.postgres, act.where.account_id, actor=act.actor)
    return AccountResponse(await _account(desk.postgres, act.where.account_id))


@declare(
    "close_account", "POST", "/accounts/{account_id}/close", "operator", "Close an account", AccountResponse,
    parameters=AccountPath, body=ReasonBody,
)  # fmt: skip
async def close_account(desk: Desk, act: Act) -> AccountResponse:
    """Its keys, sessions and invitations end now, and its data is removed later. Ledger and audit log stay."""
    await lifecycle.close(desk.postgres, act.where.account_id, act.body.reason, actor=act.actor)
    return AccountResponse(await _account(desk.postgres, act.where.account_id))


@declare(
    "grant_credits", "POST", "/accounts/{account_id}/grants", "operator", "Grant credits", AccountResponse,
    parameters=AccountPath, body=GrantBody,
)  # fmt: skip
async def grant_credits(desk: Desk, act: Act) -> AccountResponse:
    """Once for a reference."""
    days = act.body.expires_in_days
    ends = None if days is None else datetime.now(UTC) + timedelta(days=days)
    number, given = act.where.account_id, act.body
    await credits.grant(desk.postgres, number, given.api, given.lead, act.actor, given.reference, ends)
    return AccountResponse(await _account(desk.postgres, number))


@declare(
    "refund_charge", "POST", "/accounts/{account_id}/refunds", "operator", "Refund a charge", AccountResponse,
    parameters=AccountPath, body=RefundBody,
)  # fmt: skip
async def refund_charge(desk: Desk, act: Act) -> AccountResponse:
    """All that is left of it, or these amounts; never more than it took, and once for a reference."""
    number, given = act.where.account_id, act.body
    await credits.refund(
        desk.postgres, number, given.row, given.api, given.lead, act.actor, given.reference, given.reason
    )
    return AccountResponse(await _account(desk.postgres, number))


@declare(
    "invite_person", "POST", "/accounts/{account_id}/invitations", "operator", "Invite somebody", InvitedResponse,
    parameters=AccountPath, body=InvitationBody,
)  # fmt: skip
async def invite_person(desk: Desk, act: Act) -> InvitedResponse:
    """Emails a link to join the account, if mail is set up."""
    account = await _account(desk.postgres, act.where.account_id)
    if account.state in ("closed", "erased"):
        raise accounts.AccountError(f"Account {account.id} is closed: nobody can join it.")
    by = ("operator", act.actor)
    return InvitedResponse(await desk.sign_in.invite(act.body.email, act.body.role, account.id, account.name, by))


# --- reports and requests of people -----------------------------------------------------------------------


@declare("get_reports", "GET", "/reports", "support", "List reports", ReportsResponse, parameters=ReportsParameters)
async def get_reports(desk: Desk, act: Act) -> ReportsResponse:
    """Values that customers reported as wrong, at most 200. A value is shown while the lead shows it."""
    return ReportsResponse(await reports.list_reports(desk.index, act.where.after, every=act.where.all))


@declare(
    "resolve_report", "POST", "/reports/{report_id}/resolve", "operator", "Resolve a report", ResolvedResponse,
    parameters=ReportPath, body=ResolutionBody,
)  # fmt: skip
async def resolve_report(desk: Desk, act: Act) -> ResolvedResponse:
    """With one effect or several. Safe to repeat."""

    async def refetch(domain: str) -> int:
        frontier = await Frontier.open(desk.index.settings)
        try:
            return await frontier.add([registrable(domain)], datetime.now(UTC))
        finally:
            await frontier.close()

    return ResolvedResponse(
        await reports.resolve_report(
            desk.index, act.where.report_id, act.body.effects, actor=act.actor, refetch=refetch
        )
    )


@declare("get_privacy", "GET", "/privacy", "support", "List requests of people", PrivacyResponse)
async def get_privacy(desk: Desk, _act: Act) -> PrivacyResponse:
    """The newest opt-outs, and requests for access of the last days. Addresses and numbers are not stored."""
    newest = await opt_outs.newest(desk.postgres, SHOWN_PEOPLE)
    return PrivacyResponse(
        [OptOutShown(one.kind.value, one.shown, one.at, one.actor, one.reason) for one in newest],
        await lookup.access_requests(desk.postgres, SHOWN_PEOPLE),
    )


# --- the service ------------------------------------------------------------------------------------------


@declare("get_service", "GET", "/service", "support", "Get the state of the service", ServiceResponse)
async def get_service(desk: Desk, _act: Act) -> ServiceResponse:
    """Engines, jobs, age and sources of the data, and money. What cannot be read is among the problems."""
    problems, shown, ages = [], [], {}
    for check in desk.readiness:
        try:
            problem = await check()
        except Unavailable as error:
            problem = error.reason
        if problem is not None:
            problems.append(problem)
    try:
        for one in await generations.status(desk.index):
            made_at = desk.index.names.made_at(one.name)
            shown.append(GenerationShown(one.name, one.documents, one.health, one.live, one.source, made_at))
        ages = {f"{days} days": count for days, count in await lookup.lead_ages(desk.index)}
    except (EngineError, Unavailable) as error:
        problems.append(f"the age of the data is not known ({type(error).__name__})")
    money = await lookup.money(desk.postgres, datetime.now(UTC))
    return ServiceResponse(list(dict.fromkeys(problems)), await desk.leases.jobs(), shown, ages, money)


@declare("get_operators", "GET", "/operators", "support", "List who runs the service", OperatorsResponse)
async def get_operators(desk: Desk, _act: Act) -> OperatorsResponse:
    """Operators first."""
    return OperatorsResponse(await operators.list_operators(desk.postgres))


@declare(
    "set_operator", "POST", "/operators", "operator", "Let somebody run the service", OperatorsResponse,
    body=OperatorBody,
)  # fmt: skip
async def set_operator(desk: Desk, act: Act) -> OperatorsResponse:
    """Somebody who signs in to this service with two steps. Support reads, an operator also acts."""
    await operators.set_operator(desk.postgres, act.body.email, act.body.role, actor=act.actor)
    return await get_operators(desk, act)


@declare(
    "remove_operator", "POST", "/operators/{person_id}/remove", "operator", "Take a role away", OperatorsResponse,
    parameters=PersonPath,
)  # fmt: skip
async def remove_operator(desk: Desk, act: Act) -> OperatorsResponse:
    """They run the service no longer, from their next request on."""
    await operators.remove_operator(desk.postgres, act.where.person_id, actor=act.actor)
    return await get_operators(desk, act)


async def perform(operation: Operation, desk: Desk, act: Act) -> ResponseBody:
    """Do it; raises BadRequest for what it refuses, in the words of the command line."""
    try:
        return await OPERATIONS[operation](desk, act)
    except accounts.UnconfirmedError:
        # With the same reference it is done once.
        raise Unavailable("a change of a balance was not confirmed", has_price=False) from None
    except (accounts.AccountError, PeopleError, opt_outs.SuppressionError) as error:
        raise BadRequest([Problem(getattr(error, "field", "") or "body", str(error))]) from None
