"""The responses of operations on jobs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta

from siteglass.leads.downloads.jobs import KEPT_FOR, Download
from siteglass.leads.lists.responses import time_text
from siteglass.leads.responses import Quote
from siteglass.web.messages import Count, Id, ResponseBody, Time

JOBS_PATH = "/v1/jobs"


class JobShown(ResponseBody):
    """A job, and how far it is."""

    job: Annotated[Id, Meta(description="Number of the job. Ledger entries of its charges have it, too.")]
    kind: Annotated[Literal["enrich", "search"], Meta(description="Whether it enriches domains or returns leads.")]
    state: Annotated[
        Literal["queued", "running", "done", "stopped"],
        Meta(description="`stopped`: it ended before all was bought; `reason` says why."),
    ]
    reason: Annotated[str, Meta(description="Why it stopped, as a text for people.")] | None
    total: Annotated[Count, Meta(description="Different domains to enrich, or the maximum number of leads.")]
    done: Annotated[Count, Meta(description="Domains or leads that are among the results.")]
    not_bought: Annotated[
        Count,
        Meta(description="After it stopped: domains that are left, or how many more leads there can be at most."),
    ]
    api_credits: Annotated[Count, Meta(description="API credits charged so far.")]
    lead_credits: Annotated[Count, Meta(description="Lead credits charged so far.")]
    max_lead_credits: Annotated[Count, Meta(description="Maximum lead credits of the job.")]
    created_at: Time
    ended_at: Annotated[Time, Meta(description="Null until it has ended.")] | None
    deleted_at: (
        Annotated[Time, Meta(description=f"When it is deleted with its results, {KEPT_FOR.days} days after its end.")]
        | None
    )
    results: Annotated[str, Meta(description="Path of the results.")]


class JobsResponse(ResponseBody):
    """The jobs of the account."""

    jobs: Annotated[list[JobShown], Meta(description="Jobs that API keys of the account started, the newest first.")]


class JobQuote(Quote):
    """The price of a job, if `dry_run` was asked for."""

    total: Annotated[Count, Meta(description="Different domains to enrich, or leads that would be returned.")]
    found: Annotated[Count, Meta(description="Leads found for the domains, or all matches of the search.")]
    estimated: Annotated[
        bool,
        Meta(
            description="Whether the price is estimated: from a sample of many domains, or for a search with an "
            "estimated total. That of a search for fewer leads than match is the highest possible one."
        ),
    ]


class JobDeletedResponse(ResponseBody):
    """A job that was deleted."""

    deleted: Annotated[Id, Meta(description="Number of the job.")]


def _time(at: datetime | None) -> str | None:
    return None if at is None else time_text(at)


def show(job: Download) -> JobShown:
    """A job as responses show it."""
    # How it ended early matters to people alone, who read the reason.
    stopped = job.state in ("stopped", "ended")
    return JobShown(
        job=job.id,
        kind=job.kind,
        state="stopped" if job.state == "ended" else job.state,
        reason=job.reason or None,
        total=job.wanted,
        done=job.rows,
        not_bought=job.wanted - job.rows if stopped else 0,
        api_credits=job.api_credits,
        lead_credits=job.lead_credits,
        max_lead_credits=job.max_credits,
        created_at=time_text(job.made_at),
        ended_at=_time(job.ended_at),
        deleted_at=_time(job.kept_until),
        results=f"{JOBS_PATH}/{job.id}/results",
    )


def jobs_response(jobs: Sequence[Download]) -> JobsResponse:
    """All jobs of the account's keys."""
    return JobsResponse(jobs=list(map(show, jobs)))
