"""The responses of operations on watches."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta

from siteglass.leads.lists.responses import time_text
from siteglass.leads.rows import LeadRow
from siteglass.leads.watches.previews import NewLeads
from siteglass.leads.watches.runs import MAX_LISTED, Run
from siteglass.leads.watches.schedule import WEEKDAYS, Every
from siteglass.leads.watches.watches import MAX_MATCHES, MAX_RECIPIENTS, Watch
from siteglass.web.messages import Count, Id, Record, ResponseBody, Time
from siteglass.web.operations import MAX_LIMIT

WATCHES_PATH = "/v1/watches"
_FOUND_BY = "exactly these leads are found by a search with it in `only_lists`"


class WatchShown(ResponseBody):
    """A watch, and when it runs."""

    search: Annotated[str, Meta(description="Name of the saved search, and of the watch.")]
    filters: Annotated[
        Record, Meta(description="What is watched: the search as it was read when the watch was created.")
    ]
    every: Every
    weekday: Annotated[str, Meta(description="The day of a weekly watch; null for a daily one.")] | None
    hour: Annotated[int, Meta(ge=0, le=23, description="The hour at which it runs, in `time_zone`.")]
    time_zone: str
    paused: bool
    mail_to: Annotated[list[str], Meta(max_length=MAX_RECIPIENTS, description="People who get the new leads.")]
    add_to_list: Annotated[str, Meta(description="The list that gets the leads that runs buy; empty: none.")]
    max_lead_credits: (
        Annotated[Count, Meta(description="The most that a run buys; null: nothing. People set it in the dashboard.")]
        | None
    )
    created_at: Time
    last_run_at: Annotated[Time, Meta(description="Time of the last run; null if there was none.")] | None
    next_run_at: Annotated[Time, Meta(description="Time of the next run; null while it is paused.")] | None


class WatchesResponse(ResponseBody):
    """The watches of the account."""

    watches: Annotated[list[WatchShown], Meta(description="Those on searches that your key sees, by name.")]


class RunShown(ResponseBody):
    """A run of a watch."""

    run: Annotated[Id, Meta(description="Number of the run.")]
    ran_at: Time
    outcome: Annotated[
        Literal["baseline", "compared", "too_many", "unreadable"],
        Meta(
            description="`baseline`: the first run, after which leads count as new. `compared`: a later one. "
            f"`too_many`: more than {MAX_MATCHES:,} leads match. `unreadable`: the search names a list or a value "
            "that is gone; create the watch again."
        ),
    ]
    matches: Annotated[Count, Meta(description="Leads that matched, before the lists of the search applied.")]
    new_leads: Annotated[Count, Meta(description="Matches that no earlier run found.")]
    reread: Annotated[
        Count,
        Meta(
            description="Leads that match since a new release of the service read their sites differently. They are "
            "not among the new ones."
        ),
    ]
    list: Annotated[str, Meta(description=f"Name of the new leads: {_FOUND_BY}. Null if there are none.")] | None


class WatchRunsResponse(ResponseBody):
    """The runs of a watch."""

    search: Annotated[str, Meta(description="Name of the watch.")]
    runs: Annotated[list[RunShown], Meta(max_length=MAX_LISTED, description="The last 30 days, the newest first.")]


class NewLeadShown(ResponseBody):
    """A new lead without its contacts."""

    domain: Annotated[str, Meta(description="Empty where the plan hides names.")]
    business_name: str
    title: str
    kind: Annotated[str, Meta(description="What the business is, in words.")]
    place: str
    technologies: Annotated[str, Meta(description="The first of them, and how many more there are.")]
    score: Annotated[int, Meta(ge=0, le=100)] | None
    contacts: Annotated[str, Meta(description="How many contacts it has, in words.")]


class WatchRunResponse(RunShown):
    """A run with its new leads."""

    leads: Annotated[
        list[NewLeadShown],
        Meta(max_length=MAX_LIMIT, description="The first new leads, without contacts, as far as the plan shows them."),
    ]
    more: Annotated[Count, Meta(description="New leads that are not shown here.")]


class WatchDeletedResponse(ResponseBody):
    """A watch that was deleted."""

    deleted: Annotated[str, Meta(description="Name of the watch.")]


def _time(at: datetime | None) -> str | None:
    return None if at is None else time_text(at)


def show(watch: Watch) -> WatchShown:
    """A watch as responses show it."""
    terms, when = watch.terms, watch.terms.schedule
    return WatchShown(
        search=watch.name,
        filters={**watch.filters, **watch.lists.sent},
        every=when.every,
        weekday=WEEKDAYS[when.weekday] if when.every == "week" else None,
        hour=when.hour,
        time_zone=when.time_zone,
        paused=terms.paused,
        mail_to=list(terms.mail_to),
        add_to_list=terms.add_to_list,
        max_lead_credits=terms.max_lead_credits,
        created_at=time_text(watch.made_at),
        last_run_at=_time(watch.ran_at),
        next_run_at=None if terms.paused else time_text(watch.next_run_at),
    )


def watches_response(watches: Sequence[Watch]) -> WatchesResponse:
    """All watches that the caller sees."""
    return WatchesResponse(watches=list(map(show, watches)))


def _run(run: Run) -> dict[str, Any]:
    return {
        "run": run.id,
        "ran_at": time_text(run.ran_at),
        "outcome": run.outcome,
        "matches": run.matches,
        "new_leads": run.new_leads,
        "reread": run.reread,
        "list": run.list_name if run.new_leads else None,
    }


def runs_response(watch: Watch, runs: Sequence[Run]) -> WatchRunsResponse:
    """The runs of a watch."""
    return WatchRunsResponse(search=watch.name, runs=[RunShown(**_run(run)) for run in runs])


def run_response(run: Run, found: NewLeads) -> WatchRunResponse:
    """A run with its new leads as they are now."""
    shown = list(map(_lead, found.shown))
    return WatchRunResponse(**_run(run), leads=shown, more=max(0, found.total - len(shown)))


def _lead(row: LeadRow) -> NewLeadShown:
    return NewLeadShown(
        domain=row.domain,
        business_name=row.name,
        title=row.title,
        kind=row.kind,
        place=row.place,
        technologies=row.technologies,
        score=row.score,
        contacts=row.contacts,
    )
