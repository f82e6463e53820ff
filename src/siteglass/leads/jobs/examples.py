"""Examples of jobs, made by the code that returns them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from msgspec import to_builtins

from siteglass.leads.downloads.jobs import Download
from siteglass.leads.jobs.responses import JobDeletedResponse, JobQuote, jobs_response, show
from siteglass.web.operations import Examples, one_example

_MADE = datetime(2026, 11, 16, 14, 0, 3, tzinfo=UTC)
_JOB = Download(
    id=12,
    account_id=1,
    person_id=None,
    kind="enrich",
    title="",
    request="",
    key_family=3,
    fingerprint=None,
    format="csv",
    columns="siteglass",
    wanted=20_000,
    max_credits=15_000,
    left_out=0,
    state="running",
    reason="",
    stop_wanted=False,
    pages=52,
    next_page="5200",
    rows=5_200,
    lead_credits=3_910,
    api_credits=1,
    bytes=0,
    made_at=_MADE,
    moved_at=_MADE,
    ended_at=None,
    lease=1,
)
_STOPPED = replace(
    _JOB,
    id=11,
    kind="search",
    wanted=5_000,
    state="ended",
    reason="The account has too few credits for the next leads.",
    rows=1_800,
    lead_credits=1_500,
    api_credits=0,
    max_credits=5_000,
    ended_at=datetime(2026, 11, 16, 13, 4, 41, tzinfo=UTC),
)

NEW_JOBS: Examples = {
    "domains": {
        "summary": "Enrich domains",
        "value": {
            "domains": ["example.com", "https://www.example.org/about"],
            "select": ["domain", "emails", "phones"],
            "max_lead_credits": 15_000,
        },
    },
    "list": {"summary": "Ask for the price of a list", "value": {"list": "customers", "dry_run": True}},
    "search": {
        "summary": "Get the leads of a search",
        "value": {
            "search": {"query": "slow Shopify stores in Texas", "exclude_lists": ["received"]},
            "max_leads": 5_000,
        },
    },
}


def jobs() -> Examples:
    """All jobs."""
    return one_example("The jobs.", jobs_response([_JOB, _STOPPED]))


def started() -> Examples:
    """A job that was started, and the price of one."""
    price = JobQuote(dry_run=True, api_credits=1, lead_credits=14_210, total=20_000, found=14_210, estimated=True)
    return {
        "job": {"summary": "The job.", "value": to_builtins(show(replace(_JOB, state="queued", rows=0, pages=0)))},
        "price": {"summary": "The price alone", "value": to_builtins(price)},
    }


def job() -> Examples:
    """A job."""
    return one_example("The job.", show(_JOB))


def deleted() -> Examples:
    """A job that is gone."""
    return one_example("The job is gone.", JobDeletedResponse(deleted=11))


def ndjson() -> str:
    """Results as JSON lines."""
    return (
        '{"status":"success","domain":"example.com","data":{"domain":"example.com","emails":["jo@example.com"]}}\n'
        '{"status":"not_found","domain":"nobody.example.org","message":"No data found for nobody.example.org"}\n'
        '{"status":"not_bought","domain":"example.org"}\n'
    )


def csv() -> str:
    """Results as a table."""
    return "sent,status,domain,business_name,email\nexample.com,success,example.com,Example,jo@example.com\n"
