"""Alerts, objectives and dashboards: each alert has a test and a runbook, and everything reads metrics that exist."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import prometheus_client
import pytest
import yaml  # type: ignore[import-untyped]  # the package has no types

import build_dashboards
from siteglass.platform import metrics
from tests.docs.blocks import section

ROOT = Path(__file__).parents[2]
RULES = ROOT / "deploy/prometheus"
MAX_ALERTS = 23
ON_CALL = ROOT / "docs/guides/on-call.md"
LEADS = ["What customers see", "How to look", "What to do", "How to know that it is over"]
# What Prometheus itself records about a target.
OF_PROMETHEUS = {"up"}
UNITS = {"short", "s", "percentunit", "reqps", "ops"}
SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum"), "gauge": ("",)}


def _read(name: str) -> Any:
    return yaml.safe_load((RULES / name).read_text())


def _rules(name: str) -> list[dict[str, Any]]:
    return [rule for group in _read(name)["groups"] for rule in group["rules"]]


ALERTS = {rule["alert"]: rule for rule in _rules("alerts.yaml")}
RECORDED = {rule["record"]: rule for rule in _rules("slo.yaml")}
PANELS = [
    pytest.param(panel, id=f"{path.stem}: {panel['title']}")
    for path in sorted((ROOT / "deploy/grafana").glob("*.json"))
    for panel in json.loads(path.read_text())["panels"]
]


def _known() -> set[str]:
    """Every series that the service exports or a rule records."""
    exported = {
        family.name + suffix
        for family in prometheus_client.REGISTRY.collect()
        if family.name.startswith("siteglass_")
        for suffix in SUFFIXES[family.type]
    }
    return exported | set(RECORDED) | OF_PROMETHEUS


def _unknown(expression: str) -> set[str]:
    """The series of an expression that do not exist."""
    return set(re.findall(r"\bsiteglass[_:][\w:]+|\bup\b", expression)) - _known()


def test_there_are_few_alerts() -> None:
    assert 0 < len(ALERTS) <= MAX_ALERTS
    assert len(ALERTS) == len(_rules("alerts.yaml"))


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_says_how_urgent_it_is_and_what_to_do(name: str) -> None:
    alert = ALERTS[name]
    assert re.fullmatch(r"\d+[smh]", alert["for"])
    assert alert["labels"]["severity"] in ("page", "ticket", "none")
    assert alert["annotations"]["summary"]
    assert re.fullmatch(rf"docs/runbooks/[a-z-]+\.md#{name.lower()}", alert["annotations"]["runbook"])
    assert _unknown(alert["expr"]) == set()


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_has_a_runbook(name: str) -> None:
    runbook = ALERTS[name]["annotations"]["runbook"].removeprefix("docs/")
    page = ROOT / "docs" / runbook.partition("#")[0]
    start, end = section(page, name)
    assert re.findall(r"^\*\*(.+?):\*\*", page.read_text()[start:end], re.MULTILINE) == LEADS
    assert f"(../{runbook})" in ON_CALL.read_text()


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_is_tested_with_and_without_its_cause(name: str) -> None:
    tests = [one for test in _read("alerts_test.yaml")["tests"] for one in test["alert_rule_test"]]
    fires = {bool(one.get("exp_alerts")) for one in tests if one["alertname"] == name}
    assert fires == {True, False}


def test_there_is_no_runbook_without_an_alert() -> None:
    pages = "".join(page.read_text() for page in (ROOT / "docs/runbooks").glob("*.md"))
    assert sorted(re.findall(r"^## (.+)$", pages, re.MULTILINE)) == sorted(ALERTS)


@pytest.mark.parametrize("name", RECORDED)
def test_an_objective_reads_metrics_that_exist(name: str) -> None:
    assert _unknown(RECORDED[name]["expr"]) == set()
    # The name says over which time: siteglass:availability_errors:ratio_rate5m.
    assert set(re.findall(r"\[(\w+)\]", RECORDED[name]["expr"])) == {name.rpartition("_rate")[2]}


def test_every_recorded_series_is_used() -> None:
    read = (RULES / "alerts.yaml").read_text() + "".join(
        query for dashboard in build_dashboards.DASHBOARDS.values() for query in dashboard.queries()
    )
    assert {name for name in RECORDED if name not in read} == set()


def test_dashboards_are_up_to_date() -> None:
    assert {path: path.read_text() for path in (ROOT / "deploy/grafana").glob("*.json")} == build_dashboards.files()


@pytest.mark.parametrize("panel", PANELS)
def test_a_panel_explains_itself_and_reads_metrics_that_exist(panel: dict[str, Any]) -> None:
    assert panel["title"]
    assert panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
    assert panel["targets"]
    for target in panel["targets"]:
        assert target["legendFormat"]
        assert _unknown(target["expr"]) == set()


def test_panels_do_not_overlap() -> None:
    for path in (ROOT / "deploy/grafana").glob("*.json"):
        panels = json.loads(path.read_text())["panels"]
        places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
        assert len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels}) == len(panels)
        assert len(places) == len(panels)


def test_labels_have_few_values() -> None:
    """No label of a metric takes its values from callers."""
    labels = {
        label
        for metric in vars(metrics).values()
        if isinstance(metric, prometheus_client.metrics.MetricWrapperBase)
        for label in metric._labelnames
    }
    assert labels == {"operation", "status", "outcome", "reason", "node", "job_name", "stanza", "version"}


def test_the_checks_see_what_is_wrong() -> None:
    assert _unknown("rate(siteglass_requests_total[5m]) > siteglass_charge_seconds_count") == set()
    assert _unknown("siteglass_requests > 1") == {"siteglass_requests"}
    assert _unknown("siteglass:nothing:ratio_rate5m + siteglass_postgres_up") == {"siteglass:nothing:ratio_rate5m"}
