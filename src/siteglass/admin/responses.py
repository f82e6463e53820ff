"""The responses of operations of operators. Rows of a table are those that the operations themselves return."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta

from siteglass.access.accounts import Account
from siteglass.access.audit import AuditRow
from siteglass.access.keys import KeyRow
from siteglass.admin.lookup import AccessRequest
from siteglass.admin.operators import Operator
from siteglass.billing.receipts import Entry
from siteglass.leads.reports import Report
from siteglass.people.links import Invitation
from siteglass.people.members import Member
from siteglass.platform.job_leases import SharedJob
from siteglass.web.messages import Count, ResponseBody


class AccountsResponse(ResponseBody):
    """Accounts that were found."""

    accounts: list[Account]
    next_after: Annotated[int, Meta(description="What to send as `after` for the next ones; null: no more.")] | None


class AccountResponse(ResponseBody):
    """An account as it is now."""

    account: Account


class KeyShown(ResponseBody):
    """A key."""

    id: int
    name: str
    shown: Annotated[str, Meta(description="Its beginning and its end.")]
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


class EntryShown(ResponseBody):
    """A row of the ledger."""

    seq: int
    at: datetime
    kind: str
    operation: str
    api: int
    lead: int
    request_id: Annotated[str, Meta(description="Of a charge; of other rows the reference.")]
    by: str
    key_id: int | None
    refers_to: Annotated[int, Meta(description="The charge that a refund gives back.")] | None


class AccountDetails(ResponseBody):
    """An account with its people, keys, last ledger rows and last actions."""

    account: Account
    people: list[Member]
    invitations: list[Invitation]
    keys: list[KeyShown]
    entries: Annotated[list[EntryShown], Meta(description="The newest first.")]
    actions: Annotated[list[AuditRow], Meta(description="From the audit log, the newest first.")]


class RequestDetails(ResponseBody):
    """What a request cost, and how it was read."""

    entries: list[EntryShown]
    domains: Annotated[dict[str, Count], Meta(description="How many domains were charged, or why they were free.")]
    reading: (
        Annotated[
            dict[str, Any],
            Meta(
                description="The filters of the search as it was read. Null if the response is not kept: only those to "
                "requests with an Idempotency-Key are, for a day."
            ),
        ]
        | None
    )


class InvitedResponse(ResponseBody):
    """An invitation that was sent."""

    link: Annotated[str, Meta(description="Works once, for seven days. Give it to nobody but the one invited.")]


class ReportsResponse(ResponseBody):
    """Values that customers reported as wrong, by number."""

    reports: list[Report]


class ResolvedResponse(ResponseBody):
    """What became of a report."""

    effects: list[str]


class OptOutShown(ResponseBody):
    """A suppressed value."""

    kind: str
    value: Annotated[str, Meta(description="A domain, or the beginning of a hash.")]
    at: datetime
    actor: str
    reason: str


class PrivacyResponse(ResponseBody):
    """Requests of people the data is about; the newest first."""

    opt_outs: list[OptOutShown]
    access: Annotated[list[AccessRequest], Meta(description="Requests for access of the last days.")]


class GenerationShown(ResponseBody):
    """A generation of the data."""

    name: str
    documents: Count
    health: str
    live: bool
    source: str
    made_at: datetime | None


class ServiceResponse(ResponseBody):
    """Engines, jobs, data and money."""

    problems: Annotated[list[str], Meta(description="Why this instance is not ready; empty: it is.")]
    jobs: list[SharedJob]
    generations: list[GenerationShown]
    ages: Annotated[
        dict[str, Count], Meta(description="Leads of the live generation that were crawled within so many days.")
    ]
    money: dict[str, int]


class OperatorsResponse(ResponseBody):
    """People who run the service."""

    operators: list[Operator]


def key_shown(key: KeyRow) -> KeyShown:
    """A key without what only its account needs."""
    return KeyShown(**{name: getattr(key, name) for name in KeyShown.__struct_fields__})


def entry_shown(entry: Entry) -> EntryShown:
    """A ledger row without its domains."""
    return EntryShown(**{name: getattr(entry, name) for name in EntryShown.__struct_fields__})
