"""The bodies and parameters of operations of operators, and what reads them: JSON of a program, or a form's fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from siteglass.admin.operators import DeskRole
from siteglass.errors import BadRequest, Problem
from siteglass.leads.reports import Effect
from siteglass.people.people import Role
from siteglass.web.messages import Id, Parameters, RequestBody, names_of
from siteglass.web.requests import unknown_fields

MOST_CREDITS = 1_000_000_000_000
MAX_DAYS = 36_500
# Of a row in PostgreSQL.
MAX_NUMBER = 2**63 - 1

Given = TypeVar("Given", bound=msgspec.Struct)
Credits = Annotated[int, Meta(ge=0, le=MOST_CREDITS)]
Reason = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        description="Why; people and callers of the account see it. Must not contain contact data.",
    ),
]
Reference = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=100,
        description="An invoice or ticket. The same reference never changes a balance twice.",
    ),
]
AccountId = Annotated[Id, Meta(le=MAX_NUMBER, description="Number of the account.")]

After = Annotated[int, Meta(ge=0, le=MAX_NUMBER, description="Accounts after this number.")]


class AccountPath(Parameters):
    """Which account."""

    account_id: AccountId


class RequestPath(Parameters):
    """Which request of which account."""

    account_id: AccountId
    request_id: Annotated[str, Meta(max_length=100, description="`X-Request-Id` of the response.")]


class ReportPath(Parameters):
    """Which report."""

    report_id: Annotated[Id, Meta(le=MAX_NUMBER, description="Number of the report.")]


class PersonPath(Parameters):
    """Which person."""

    person_id: Annotated[Id, Meta(le=MAX_NUMBER, description="Number of the person.")]


class AccountsParameters(Parameters):
    """Which accounts."""

    after: After = 0


class FindBody(RequestBody):
    """What an account is found by. It is sent in a body, because addresses are logged and remembered."""

    find: Annotated[
        str,
        Meta(
            max_length=300,
            description="Name or a part of it, number, address of a member or its domain, beginning of a key, or "
            "ID of a request. Empty: every account.",
        ),
    ] = ""
    after: After = 0


class ReportsParameters(Parameters):
    """Which reports."""

    after: Annotated[int, Meta(ge=0, le=MAX_NUMBER, description="Reports after this number.")] = 0
    all: Annotated[bool, Meta(description="Also those that are resolved.")] = False


class NewAccountBody(RequestBody):
    """An account to open."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    plan: Annotated[str, Meta(max_length=40)] = "standard"


class AccountChangeBody(RequestBody):
    """What becomes different about an account."""

    name: Annotated[str, Meta(min_length=1, max_length=200, description="Another name.")] | None = None
    plan: Annotated[str, Meta(max_length=40, description="Another plan; workers follow within 1 s.")] | None = None


class ReasonBody(RequestBody):
    """Why an account is suspended or closed."""

    reason: Reason


class GrantBody(RequestBody):
    """Credits to give."""

    reference: Reference
    api: Credits = 0
    lead: Credits = 0
    expires_in_days: (
        Annotated[int, Meta(ge=1, le=MAX_DAYS, description="Unused credits expire after this time.")] | None
    ) = None


class RefundBody(RequestBody):
    """A charge to give back: all that is left of it, or these amounts."""

    reference: Reference
    row: Annotated[Id, Meta(le=MAX_NUMBER, description="Ledger row of the charge.")]
    reason: Annotated[
        str, Meta(min_length=1, max_length=200, description="For the audit log. Must not contain contact data.")
    ]
    api: Credits | None = None
    lead: Credits | None = None


class InvitationBody(RequestBody):
    """Whom to invite to an account."""

    email: Annotated[str, Meta(max_length=254)]
    role: Role = "owner"


class ResolutionBody(RequestBody):
    """What to do about a report."""

    effects: Annotated[
        list[Effect],
        Meta(
            min_length=1,
            max_length=4,
            description="`hide` suppresses the value for good, `refund` gives one lead credit back, `refetch` has the "
            "site fetched now, `dismiss` does nothing.",
        ),
    ]


class OperatorBody(RequestBody):
    """A person who is to run the service."""

    email: Annotated[str, Meta(max_length=254)]
    role: DeskRole


def read_given(kind: type[Given], given: Mapping[str, Any], *, as_text: bool) -> Given:
    """A body or parameters; raises BadRequest. `as_text`: every value is a text, as in addresses and forms."""
    if problems := [
        *unknown_fields(dict(given), names_of(kind)),
        *(Problem(name, "must not contain the character U+0000") for name in given if "\0" in str(given[name])),
    ]:
        raise BadRequest(problems)
    stripped = {name: value.strip() if isinstance(value, str) else value for name, value in given.items()}
    try:
        return msgspec.convert(stripped, kind, strict=not as_text)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        # `.row` of a field, nothing of the whole; a missing field is named in the message.
        raise BadRequest([Problem(place.strip("`.") or "body", what)]) from None
