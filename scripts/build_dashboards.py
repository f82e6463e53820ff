"""Writes the dashboards for Grafana: deploy/grafana/*.json.

python scripts/build_dashboards.py            write them
python scripts/build_dashboards.py --check    write nothing; fail if a file is out of date

Here a panel is a line or two. The files are what Grafana imports; their data source is chosen then.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

FOLDER = Path(__file__).parents[1] / "deploy" / "grafana"
# What rates are taken over; Grafana computes it from the interval of the scrapes.
RATE = "$__rate_interval"
COLUMNS, ROW_HEIGHT, PANELS_PER_ROW = 24, 8, 3
SOURCE = {"type": "prometheus", "uid": "${source}"}
# The requests that the objective of availability counts, as in deploy/prometheus/slo.yaml.
COUNTED = 'operation!~"healthz|readyz|landing|docs|api_reference|openapi"'

Kind = Literal["timeseries", "stat"]


@dataclass(frozen=True)
class Panel:
    """One diagram: queries by the name of their lines, which may use labels as {{name}}."""

    title: str
    unit: str
    description: str
    queries: dict[str, str]
    kind: Kind = "timeseries"
    maximum: float | None = None

    def json(self, number: int) -> dict[str, Any]:
        """As Grafana stores it."""
        width = COLUMNS // PANELS_PER_ROW
        place = {
            "x": number % PANELS_PER_ROW * width,
            "y": number // PANELS_PER_ROW * ROW_HEIGHT,
            "w": width,
            "h": ROW_HEIGHT,
        }
        limits = {"min": 0} | ({} if self.maximum is None else {"max": self.maximum})
        return {
            "id": number + 1,
            "type": self.kind,
            "title": self.title,
            "description": self.description,
            "datasource": SOURCE,
            "gridPos": place,
            "fieldConfig": {"defaults": {"unit": self.unit, **limits}, "overrides": []},
            "options": {"legend": {"displayMode": "list", "placement": "bottom"}} if self.kind == "timeseries" else {},
            "targets": [
                {"refId": chr(ord("A") + place), "datasource": SOURCE, "expr": query, "legendFormat": name}
                for place, (name, query) in enumerate(self.queries.items())
            ],
        }


@dataclass(frozen=True)
class Dashboard:
    """A page of panels."""

    title: str
    description: str
    panels: list[Panel] = field(default_factory=list)

    def queries(self) -> Iterator[str]:
        """Every query, as Prometheus can read it."""
        for panel in self.panels:
            for query in panel.queries.values():
                yield query.replace(RATE, "5m")

    def json(self, uid: str) -> dict[str, Any]:
        """As Grafana imports it."""
        source = {"name": "source", "label": "Data source", "type": "datasource", "query": "prometheus"}
        return {
            "uid": uid,
            "title": self.title,
            "description": self.description,
            "tags": ["siteglass"],
            "schemaVersion": 39,
            "editable": True,
            "refresh": "30s",
            "time": {"from": "now-6h", "to": "now"},
            "templating": {"list": [source]},
            "panels": [panel.json(number) for number, panel in enumerate(self.panels)],
        }


def _quantiles(metric: str, by: str = "", where: str = "") -> dict[str, str]:
    """The median and the 99th percentile of a histogram."""
    labels = f"le, {by}" if by else "le"
    prefix = f"{{{{{by}}}}} " if by else ""
    rate = f"sum by ({labels}) (rate({metric}_bucket{where}[{RATE}]))"
    return {f"{prefix}p{percent}": f"histogram_quantile({percent / 100}, {rate})" for percent in (50, 99)}


SERVICE = Dashboard(
    "Siteglass: service",
    "What callers see: objectives, requests, latency and charges.",
    [
        Panel(
            "Failed requests",
            "percentunit",
            "Part of the API's requests that were answered with a 5xx. The objective allows 0.1%.",
            {
                "5 minutes": "siteglass:availability_errors:ratio_rate5m",
                "1 hour": "siteglass:availability_errors:ratio_rate1h",
                "6 hours": "siteglass:availability_errors:ratio_rate6h",
            },
        ),
        Panel(
            "Slow requests",
            "percentunit",
            "Part of searches, pages and enrichments that took longer than a second. The objective allows 1%.",
            {
                "5 minutes": "siteglass:latency_errors:ratio_rate5m",
                "1 hour": "siteglass:latency_errors:ratio_rate1h",
            },
        ),
        Panel(
            "Charges without a known result",
            "percentunit",
            "Part of charges that were not written, or whose confirmation was lost. The objective allows 0.1%.",
            {
                "5 minutes": "siteglass:charge_errors:ratio_rate5m",
                "1 hour": "siteglass:charge_errors:ratio_rate1h",
            },
        ),
        Panel(
            "Requests by operation",
            "reqps",
            "Responses per second, without those to load balancers and readers of the docs.",
            {"{{operation}}": f"sum by (operation) (rate(siteglass_requests_total{{{COUNTED}}}[{RATE}]))"},
        ),
        Panel(
            "Responses by status",
            "reqps",
            "Responses per second. 402 means that an account has too few credits, 429 that it calls too fast.",
            {"{{status}}": f"sum by (status) (rate(siteglass_requests_total{{{COUNTED}}}[{RATE}]))"},
        ),
        Panel(
            "Time of requests",
            "s",
            "From the first byte read to the last byte written.",
            _quantiles("siteglass_request_seconds", "operation", '{operation=~"search|page|enrich|facets|interpret"}'),
        ),
        Panel(
            "Charges by outcome",
            "ops",
            "Charges per second: charged, kept (charged before), refused, unavailable, or unconfirmed (doubt).",
            {"{{outcome}}": f"sum by (outcome) (rate(siteglass_charge_seconds_count[{RATE}]))"},
        ),
        Panel(
            "Time of charges", "s", "From the end of the search to the commit.", _quantiles("siteglass_charge_seconds")
        ),
        Panel(
            "Unconfirmed charges",
            "short",
            "Unresolved: a worker does not know yet whether a charge was written. Unsettled: it was, and the caller "
            "got no response and did not retry.",
            {
                "unresolved": "sum(siteglass_charges_unresolved)",
                "unsettled": "max(siteglass_charges_unsettled)",
                "new": "sum(increase(siteglass_charges_in_doubt_total[1h]))",
            },
        ),
        Panel(
            "Open connections",
            "short",
            "Connections of callers, and how many all workers accept. Further ones are answered with a 503.",
            {"{{instance}}": "siteglass_connections", "{{instance}} accepts": "siteglass_connections_max"},
        ),
        Panel(
            "Workers",
            "short",
            "Workers that serve requests, by instance.",
            {"{{instance}}": "siteglass_workers"},
            "stat",
        ),
        Panel(
            "Versions",
            "short",
            "Instances by version; two versions only during an upgrade.",
            {"{{version}}": "count by (version) (siteglass_build_info)"},
            "stat",
        ),
    ],
)

ENGINES = Dashboard(
    "Siteglass: engines and jobs",
    "What the service needs: OpenSearch, PostgreSQL, Redis, jobs and backups.",
    [
        Panel(
            "OpenSearch calls by node",
            "ops",
            "Attempts per second, as the workers see them.",
            {"{{node}}": f"sum by (node) (rate(siteglass_opensearch_seconds_count[{RATE}]))"},
        ),
        Panel(
            "OpenSearch calls that did not succeed",
            "ops",
            "Attempts per second by outcome. A retry on another node hides most of them from callers.",
            {
                "{{node}} {{outcome}}": "sum by (node, outcome) "
                f'(rate(siteglass_opensearch_seconds_count{{outcome!="ok"}}[{RATE}]))',
                "retries": f"sum(rate(siteglass_opensearch_retries_total[{RATE}]))",
            },
        ),
        Panel(
            "Time of OpenSearch calls",
            "s",
            "Successful attempts by node, with the time that a call waited for a place.",
            _quantiles("siteglass_opensearch_seconds", "node", '{outcome="ok"}'),
        ),
        Panel(
            "OpenSearch nodes in use",
            "short",
            "1 if all workers send requests to a node, 0 if one has taken it out.",
            {"{{node}}": "min by (node) (siteglass_opensearch_node_in)"},
            maximum=1,
        ),
        Panel(
            "Health of the live generation",
            "short",
            "1 for the current state.",
            {"{{status}}": "max by (status) (siteglass_generation_status)"},
            maximum=1,
        ),
        Panel(
            "Calls that wait",
            "short",
            "For OpenSearch, for a PostgreSQL connection, and charges for their batch.",
            {
                "OpenSearch": "sum(siteglass_opensearch_calls_waiting)",
                "OpenSearch, running": "sum(siteglass_opensearch_calls_running)",
                "PostgreSQL": "sum(siteglass_postgres_pool_waiting)",
                "charges": "sum(siteglass_charges_waiting)",
            },
        ),
        Panel(
            "PostgreSQL connections",
            "short",
            "In use by instance, and how many its workers may open.",
            {"{{instance}}": "siteglass_postgres_pool_in_use", "{{instance}} may open": "siteglass_postgres_pool_max"},
        ),
        Panel(
            "PostgreSQL calls by outcome",
            "ops",
            "Uses of a connection per second.",
            {"{{outcome}}": f"sum by (outcome) (rate(siteglass_postgres_seconds_count[{RATE}]))"},
        ),
        Panel(
            "Time of PostgreSQL calls",
            "s",
            "From asking for a connection to giving it back.",
            _quantiles("siteglass_postgres_seconds"),
        ),
        Panel(
            "PostgreSQL answers",
            "short",
            "1 if PostgreSQL answers all workers of an instance.",
            {"{{instance}}": "siteglass_postgres_up"},
            maximum=1,
        ),
        Panel(
            "Workers that limit without Redis",
            "short",
            "Each of them applies its share of the limits.",
            {"{{instance}}": "siteglass_limits_local"},
        ),
        Panel(
            "Jobs that fail",
            "short",
            "Workers in which the last run of a job failed.",
            {"{{job_name}}": "sum by (job_name) (siteglass_job_failing) > 0"},
        ),
        Panel(
            "Time since a job succeeded",
            "s",
            "Of the worker where it is longest ago.",
            {"{{job_name}}": "time() - min by (job_name) (siteglass_job_last_success_timestamp_seconds)"},
        ),
        Panel(
            "Age of the list of opt-outs",
            "s",
            "Of the worker that read it longest ago. Above 45 s the service answers nothing.",
            {"{{instance}}": "time() - (siteglass_suppression_read_timestamp_seconds > 0)"},
        ),
        Panel(
            "Age of the live generation",
            "s",
            "Since it was created.",
            {"age": "time() - max(siteglass_generation_made_timestamp_seconds)"},
            "stat",
        ),
        Panel(
            "Age of the newest backup",
            "s",
            "Known if the setting `backup_info` is set. Backups run daily.",
            {"{{stanza}}": "time() - max by (stanza) (siteglass_backup_timestamp_seconds)"},
            "stat",
        ),
        Panel(
            "Partitions of the ledger",
            "short",
            "Months without a partition, and rows in the default partition: both should be 0.",
            {
                "missing months": "max(siteglass_ledger_months_missing)",
                "stray rows": "max(siteglass_ledger_stray_rows)",
            },
            "stat",
        ),
        Panel(
            "Estimated results",
            "ops",
            "Totals and facets that were estimated because counting took too long, and pages that looked further.",
            {
                "totals": f"sum(rate(siteglass_totals_sampled_total[{RATE}]))",
                "facets": f"sum(rate(siteglass_facets_sampled_total[{RATE}]))",
                "pages": f"sum(rate(siteglass_pages_widened_total[{RATE}]))",
            },
        ),
        Panel(
            "Crawler: responses",
            "ops",
            "Responses per second by outcome, and requests. None for long: the crawler waits for an engine.",
            {
                "{{outcome}}": f"sum by (outcome) (rate(siteglass_crawl_answers_total[{RATE}]))",
                "requests": f"sum(rate(siteglass_crawl_requests_total[{RATE}]))",
            },
        ),
        Panel(
            "Crawler: domains",
            "short",
            "Visits that ended per minute, with and without a home page, visits under way, and crawlers that pause.",
            {
                "{{outcome}}": f"60 * sum by (outcome) (rate(siteglass_crawl_domains_total[{RATE}]))",
                "under way": "sum(siteglass_crawl_visits)",
                "paused": "sum(siteglass_crawl_paused)",
            },
        ),
        Panel(
            "Crawler: problems",
            "ops",
            "Addresses per second without a response. Many with `name` mean that DNS does not answer.",
            {"{{reason}}": f"sum by (reason) (rate(siteglass_crawl_problems_total[{RATE}]))"},
        ),
    ],
)

DASHBOARDS = {"siteglass-service": SERVICE, "siteglass-engines": ENGINES}


def files() -> dict[Path, str]:
    """Every file with its content."""
    return {
        FOLDER / f"{uid}.json": json.dumps(dashboard.json(uid), indent=2) + "\n"
        for uid, dashboard in DASHBOARDS.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    for path, text in files().items():
        if not check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            sys.exit(f"{path.relative_to(FOLDER.parents[1])} is out of date: run scripts/build_dashboards.py")


if __name__ == "__main__":
    main()
