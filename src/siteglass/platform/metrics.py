"""What the service counts about itself; `metrics_server` shows it. Labels never hold a key or a caller's text, and have
few values: operations, outcomes, jobs, and the nodes of the settings.

Every gauge says how those of several workers become one (decision 0035). Times are seconds since 1970, so that an age
grows while nobody sets it.
"""

from __future__ import annotations

import logging
import time
from functools import cache

from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Counter("siteglass_requests", "Answers by operation and status", ["operation", "status"])
REQUEST_SECONDS = Histogram(
    "siteglass_request_seconds",
    "Time from the first byte read to the last byte written",
    ["operation"],
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
PAGES_WIDENED = Counter("siteglass_pages_widened", "Looks further, for pages that were not full within their window")
OPENSEARCH_RETRIES = Counter("siteglass_opensearch_retries", "Second attempts of engine requests, on another node")
TOTALS_SAMPLED = Counter("siteglass_totals_sampled", "Totals estimated because the exact count took too long")
FACETS_SAMPLED = Counter("siteglass_facets_sampled", "Responses with facets estimated from a sample")
OPT_OUT_MAILS = Counter(
    "siteglass_opt_out_mails",
    "Mails with codes, by outcome: sent at once, delayed by the pace of the service, or refused because too many wait",
    ["outcome"],
)
OPT_OUT_MAILS_WAITING = Gauge(
    "siteglass_opt_out_mails_waiting",
    "Mails with codes that wait for the pace of the service",
    multiprocess_mode="livesum",
)
LEDGER_MONTHS_MISSING = Gauge(
    "siteglass_ledger_months_missing",
    "Months, this one and those ahead, without a partition of the ledger",
    multiprocess_mode="livemostrecent",
)
LEDGER_STRAY_ROWS = Gauge(
    "siteglass_ledger_stray_rows",
    "Rows of the ledger that are not in the partition of a month",
    multiprocess_mode="livemostrecent",
)
LANGUAGE_MODEL_READINGS = Counter(
    "siteglass_language_model_readings",
    "Sentences that a language model was to read, by what became of it: answered, cached, resting after failures, "
    "malformed, or the failure",
    ["outcome"],
)
LANGUAGE_MODEL_REJECTIONS = Counter(
    "siteglass_language_model_rejections",
    "Conditions of a language model that were not taken, by what was wrong with them",
    ["reason"],
)
LANGUAGE_MODEL_SECONDS = Histogram(
    "siteglass_language_model_seconds",
    "Time that a reading waited for the language model",
    buckets=(0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 5),
)

READY = Gauge(
    "siteglass_ready", "1 if all workers are ready, as /readyz says, 0 if one is not", multiprocess_mode="livemin"
)
WORKERS = Gauge("siteglass_workers", "Workers that serve requests", multiprocess_mode="livesum")
BUILD = Gauge("siteglass_build_info", "1 for the version that runs", ["version"], multiprocess_mode="livemax")
CONNECTIONS = Gauge("siteglass_connections", "Open connections of callers", multiprocess_mode="livesum")
CONNECTIONS_MAX = Gauge(
    "siteglass_connections_max", "Connections that all workers accept together", multiprocess_mode="livesum"
)

_ENGINE_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
OPENSEARCH_SECONDS = Histogram(
    "siteglass_opensearch_seconds",
    "Time of attempts to call OpenSearch, by node and outcome. Partial: a shard did not respond. Refused: 4xx. "
    "Error: 5xx. Failed: no connection. Canceled: the caller left.",
    ["node", "outcome"],
    buckets=_ENGINE_BUCKETS,
)
OPENSEARCH_NODE_IN = Gauge(
    "siteglass_opensearch_node_in",
    "1 if all workers send requests to the node, 0 if one has taken it out",
    ["node"],
    multiprocess_mode="livemin",
)
OPENSEARCH_RUNNING = Gauge(
    "siteglass_opensearch_calls_running", "Calls to OpenSearch under way or waiting", multiprocess_mode="livesum"
)
OPENSEARCH_WAITING = Gauge(
    "siteglass_opensearch_calls_waiting",
    "Calls to OpenSearch that wait because the worker has as many under way as it may",
    multiprocess_mode="livesum",
)
POSTGRES_SECONDS = Histogram(
    "siteglass_postgres_seconds",
    "Time from asking for a PostgreSQL connection to giving it back, by outcome. Unreached: no connection was "
    "available. Unconfirmed: no standby has the commit.",
    ["outcome"],
    buckets=_ENGINE_BUCKETS,
)
POSTGRES_UP = Gauge(
    "siteglass_postgres_up", "1 if PostgreSQL answers all workers, 0 if not", multiprocess_mode="livemin"
)
POOL_MAX = Gauge(
    "siteglass_postgres_pool_max", "PostgreSQL connections that all workers may open", multiprocess_mode="livesum"
)
POOL_IN_USE = Gauge(
    "siteglass_postgres_pool_in_use", "PostgreSQL connections that are in use", multiprocess_mode="livesum"
)
POOL_WAITING = Gauge(
    "siteglass_postgres_pool_waiting", "Callers that wait for a PostgreSQL connection", multiprocess_mode="livesum"
)

CHARGE_SECONDS = Histogram(
    "siteglass_charge_seconds",
    "Time of charges by outcome. Kept: a request with the same key was charged before. Refused: by credits, caps, key "
    "or lists. Unavailable: not charged. Doubt: the confirmation was lost.",
    ["outcome"],
    buckets=_ENGINE_BUCKETS,
)
CHARGES_IN_DOUBT = Counter("siteglass_charges_in_doubt", "Charges whose confirmation was lost")
CHARGES_WAITING = Gauge("siteglass_charges_waiting", "Charges that wait for their batch", multiprocess_mode="livesum")
CHARGES_UNRESOLVED = Gauge(
    "siteglass_charges_unresolved",
    "Unconfirmed charges of which no worker knows yet whether they were written",
    multiprocess_mode="livesum",
)
CHARGES_UNSETTLED = Gauge(
    "siteglass_charges_unsettled",
    "Charges that were written and whose caller got no response; `siteglass credits in-doubt` lists them",
    multiprocess_mode="livemostrecent",
)
LIMITS_LOCAL = Gauge(
    "siteglass_limits_local", "Workers that apply rate limits without Redis", multiprocess_mode="livesum"
)

JOB_RUNS = Counter("siteglass_job_runs", "Runs of jobs by outcome: ok or failed", ["job_name", "outcome"])
JOB_FAILING = Gauge(
    "siteglass_job_failing", "Workers in which the last run of a job failed", ["job_name"], multiprocess_mode="livesum"
)
JOB_SUCCESS = Gauge(
    "siteglass_job_last_success_timestamp_seconds",
    "When a worker last ran a job without an error, or found that another one had; the longest ago of all workers",
    ["job_name"],
    multiprocess_mode="livemin",
)
JOB_PERIOD = Gauge(
    "siteglass_job_period_seconds", "Time between two runs of a job", ["job_name"], multiprocess_mode="livemax"
)
SUPPRESSION_READ = Gauge(
    "siteglass_suppression_read_timestamp_seconds",
    "When the worker with the oldest suppression list read it; 0: a worker has not read it yet",
    multiprocess_mode="livemin",
)
GENERATION_STATUS = Gauge(
    "siteglass_generation_status",
    "1 for the health of the live generation: green, yellow, red, or unknown if OpenSearch does not say",
    ["status"],
    multiprocess_mode="livemostrecent",
)
GENERATION_MADE = Gauge(
    "siteglass_generation_made_timestamp_seconds",
    "When the live generation was created",
    multiprocess_mode="livemostrecent",
)
ARCHIVE_FAILING = Gauge(
    "siteglass_archive_failing",
    "1 if PostgreSQL archives its changes and the last attempt failed",
    multiprocess_mode="livemostrecent",
)
REFRESH_FINISHED = Gauge(
    "siteglass_refresh_finished_timestamp_seconds",
    "When `siteglass refresh run` last finished, or first started if it never did; 0: it never ran",
    multiprocess_mode="livemostrecent",
)
ROOT_WRITTEN = Gauge(
    "siteglass_root_timestamp_seconds",
    "When the newest signed root of ledger and audit log was written; 0: never",
    multiprocess_mode="livemostrecent",
)
BACKUP_MADE = Gauge(
    "siteglass_backup_timestamp_seconds",
    "When the newest backup without an error was complete",
    ["stanza"],
    multiprocess_mode="livemostrecent",
)

CRAWL_REQUESTS = Counter("siteglass_crawl_requests", "Requests that the crawler sent")
CRAWL_ANSWERS = Counter(
    "siteglass_crawl_answers",
    "Responses to the crawler by outcome: page, unchanged, moved, error, or robots for a robots.txt",
    ["outcome"],
)
CRAWL_PROBLEMS = Counter("siteglass_crawl_problems", "Addresses that the crawler has no response of", ["reason"])
CRAWL_DOMAINS = Counter("siteglass_crawl_domains", "Visits that ended, by outcome: home or none", ["outcome"])
CRAWL_VISITS = Gauge("siteglass_crawl_visits", "Domains that the crawler is working on", multiprocess_mode="livesum")
CRAWL_PAUSED = Gauge(
    "siteglass_crawl_paused", "1 while the crawler waits because no site answers it", multiprocess_mode="livesum"
)


# Looking up the labels of a metric costs as much as counting, so what every request counts is looked up once.


@cache
def opensearch_seconds(node: str, outcome: str) -> Histogram:
    """The times of one node and outcome."""
    return OPENSEARCH_SECONDS.labels(node, outcome)


@cache
def postgres_seconds(outcome: str) -> Histogram:
    """The times of one outcome."""
    return POSTGRES_SECONDS.labels(outcome)


@cache
def charge_seconds(outcome: str) -> Histogram:
    """The times of one outcome."""
    return CHARGE_SECONDS.labels(outcome)


def record_response(
    told: logging.Logger, name: str, request_id: str, status: int, started_s: float, **fields: int | float | str
) -> None:
    """Count an answer and write its line with these fields; `started_s` is when its request came, by
    time.perf_counter."""
    seconds = time.perf_counter() - started_s
    REQUESTS.labels(name, status).inc()
    REQUEST_SECONDS.labels(name).observe(seconds)
    told.info(
        "answered",
        extra={"request_id": request_id, "operation": name, "status": status, "ms": round(seconds * 1e3, 2), **fields},
    )
