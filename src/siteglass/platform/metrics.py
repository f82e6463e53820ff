"""What the service counts about itself; `/metrics` shows it. Labels never hold a key, an address or a caller's text."""

from __future__ import annotations

import logging
import time

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
LEDGER_MONTHS_MISSING = Gauge(
    "siteglass_ledger_months_missing", "Months, this one and those ahead, without a partition of the ledger"
)
LEDGER_STRAY_ROWS = Gauge("siteglass_ledger_stray_rows", "Rows of the ledger that are not in the partition of a month")
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
    "Time that a search waited for the language model",
    buckets=(0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 5),
)


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
