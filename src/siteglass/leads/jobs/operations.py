"""The operations on jobs."""

from __future__ import annotations

from starlette.datastructures import QueryParams

from siteglass.errors import (
    CreditCapExceeded,
    IdempotencyMismatch,
    NotFound,
    PayloadTooLarge,
    QueryError,
    UnsupportedMediaType,
)
from siteglass.leads.downloads.jobs import KEPT_FOR, MAX_KEPT
from siteglass.leads.jobs import examples
from siteglass.leads.jobs.requests import (
    MAX_BULK,
    JobBody,
    JobParameters,
    JobResultsParameters,
    read_format,
    read_job,
    read_no_fields,
)
from siteglass.leads.jobs.responses import JOBS_PATH, JobDeletedResponse, JobQuote, JobShown, JobsResponse
from siteglass.web.operations import READING_LEADS, Operation, Success
from siteglass.web.parameters import read_no_parameters

MAX_BODY_BYTES = 4 * 1024 * 1024
CREATE_UNITS = 4
DOMAINS_PER_UNIT = 5_000
"""Of the rate limit, for reading a body and keeping its domains."""
PRICE_UNITS = 4
"""Looking domains up, or counting leads, for a price."""
RESULTS_PER_UNIT = 1_000
NDJSON, CSV = "application/x-ndjson", "text/csv"

_ONE = JOBS_PATH + "/{job}"

JOBS = Operation(
    "jobs",
    "GET",
    JOBS_PATH,
    READING_LEADS,
    "Jobs",
    "Get the jobs",
    "Returns the jobs that keys of the account started and that were not deleted yet.",
    Success("The jobs.", (JobsResponse,), examples.jobs),
    scope="enrich",
    mistake=lambda: read_no_parameters(QueryParams("verbose=1")),
)
CREATE_JOB = Operation(
    "create_job",
    "POST",
    JOBS_PATH,
    (*READING_LEADS, PayloadTooLarge, UnsupportedMediaType, IdempotencyMismatch, QueryError),
    "Jobs",
    "Start a job",
    f"Enriches up to {MAX_BULK:,} domains, sent or from a list. Or returns up to as many leads of a search: then the "
    "key also needs the scope `search`. The results equal those of plain requests. An enrichment costs one API "
    "credit in all and one lead credit for each lead found, however many of the domains find it. A search costs one "
    "lead credit for each lead with an email address. Credits are taken batch by batch. When they run out, or a cap "
    "does, the job ends as `stopped`: what was paid for stays. With the `Idempotency-Key` of an earlier request, "
    "returns the job that it started, as long as that is kept. "
    f"The keys of an account keep at most {MAX_KEPT} jobs. Test keys have none. "
    f"Uses {CREATE_UNITS} units of the rate limit, {PRICE_UNITS} more with `dry_run`, and one for every "
    f"{DOMAINS_PER_UNIT:,} domains that are sent.",
    Success("The job, or its price.", (JobShown, JobQuote), examples.started),
    scope="enrich",
    body=JobBody,
    body_examples=examples.NEW_JOBS,
    max_body_bytes=MAX_BODY_BYTES,
    has_key=True,
    mistake=lambda: read_job({"domains": [], "select": ["email"]}, 0),
)
JOB = Operation(
    "job",
    "GET",
    _ONE,
    (*READING_LEADS, NotFound),
    "Jobs",
    "Get a job",
    "Returns how far a job is and what it has cost.",
    Success("The job.", (JobShown,), examples.job),
    scope="enrich",
    parameters=JobParameters,
    mistake=lambda: read_no_parameters(QueryParams("verbose=1")),
)
CANCEL_JOB = Operation(
    "cancel_job",
    "POST",
    _ONE + "/cancel",
    (*READING_LEADS, NotFound, PayloadTooLarge, UnsupportedMediaType),
    "Jobs",
    "Cancel a job",
    "Stops a job after the batch that is being bought. What was paid for stays. Nothing changes if the job has ended.",
    Success("The job.", (JobShown,), examples.job),
    scope="enrich",
    parameters=JobParameters,
    mistake=lambda: read_no_fields({"force": True}),
)
DELETE_JOB = Operation(
    "delete_job",
    "DELETE",
    _ONE,
    (*READING_LEADS, NotFound),
    "Jobs",
    "Delete a job",
    "Deletes a job that has ended, with its results. A job that has not ended is refused: cancel it first.",
    Success("The job is gone.", (JobDeletedResponse,), examples.deleted),
    scope="enrich",
    parameters=JobParameters,
    mistake=lambda: read_no_parameters(QueryParams("force=1")),
)
JOB_RESULTS = Operation(
    "job_results",
    "GET",
    _ONE + "/results",
    (*READING_LEADS, NotFound, CreditCapExceeded),
    "Jobs",
    "Get the results of a job",
    "Returns what was paid for until now, as JSON lines or a table. An enrichment has an item for each domain, a "
    "search its leads: then the key also needs the scope `search`. Results are complete once the job has ended. "
    "Domains that a stopped job did not buy come last, "
    f"with the status `not_bought`. Results are kept for {KEPT_FOR.days} days after the end. What opted out since is "
    "left out each time. A key with a daily cap gets the results of another key only as far as its cap allows. "
    f"Uses one unit of the rate limit for every {RESULTS_PER_UNIT:,} results.",
    Success("The results.", other_media={NDJSON: examples.ndjson, CSV: examples.csv}),
    scope="enrich",
    parameters=JobResultsParameters,
    mistake=lambda: read_format(QueryParams("format=xlsx")),
)

OPERATIONS = (JOBS, CREATE_JOB, JOB, CANCEL_JOB, DELETE_JOB, JOB_RESULTS)
