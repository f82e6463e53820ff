"""The pages of promises: docs/conformance.md lacks no name of the contract or the code, and every test that it or
docs/decisions/spec-gaps.md names exists."""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import pytest
from starlette.routing import Route

from siteglass.app import create_app
from siteglass.billing.account_status import MAX_EXPIRIES
from siteglass.billing.receipts import MAX_REQUEST_ENTRIES, MAX_USAGE_ROWS
from siteglass.billing.requests import (
    DEFAULT_DAYS,
    DEFAULT_ENTRIES,
    MAX_DAYS,
    MAX_ENTRIES,
    MAX_REQUEST_ID_CHARS,
    LedgerParameters,
    UsageParameters,
)
from siteglass.corpus.evidence_files import MAX_SIGHTINGS
from siteglass.errors import SiteglassError
from siteglass.leads.operations import DOMAINS_PER_UNIT
from siteglass.leads.requests import DEFAULT_LIMIT, EnrichBody, PageBody, SearchBody
from siteglass.leads.values import DEFAULT_SHOWN, MAX_Q_CHARS, MAX_SHOWN, ValuesParameters
from siteglass.privacy.limits import CONFIRMATIONS_PER_HOUR, MAILS_PER_HOUR, REQUESTS_PER_HOUR
from siteglass.privacy.requests import MAX_CHARS, OptOutBody, OptOutConfirmBody
from siteglass.privacy.tickets import MAX_TICKET_CHARS
from siteglass.query.body import MAX_ECHO_BYTES
from siteglass.query.criteria import MAX_CANONICAL_BYTES, MAX_CONDITIONS, MAX_VALUES
from siteglass.query.cursor import MAX_CURSOR_CHARS
from siteglass.query.directives import MAX_TEXT_CHARS
from siteglass.query.fields import DIRECTIVES, ENRICH_FIELDS, SEARCH_SELECTABLE
from siteglass.query.natural import MAX_QUERY_CHARS
from siteglass.query.values import MAX_AGE_DAYS, MAX_VALUE_CHARS
from siteglass.settings import Settings
from siteglass.web.messages import names_of
from siteglass.web.operations import MAX_LIMIT
from testing.service import settings_for

ROOT = Path(__file__).parents[2]
CONFORMANCE = "docs/conformance.md"
GAPS = "docs/decisions/spec-gaps.md"

# The names of the contract as it spells them, so that a row cannot vanish together with the code behind it.
CONTRACT = {
    "record": """domain business_name title description emails phones language spending country state city technologies
        links score social_links crawled_at favicon""",
    "envelope": "result_id total_results size results filters next previous",
    "enrichment": """domain title url description emails phones language spending country state city technologies
        keywords pages score social_accounts updated_at crawled_at""",
    "item": "status domain data message",
    "status": "success not_found error",
    "search": """query limit language select wrapped_query country state city technologies keywords categories_uses
        service_type offers pages has_phone has_facebook has_linkedin has_twitter has_instagram has_youtube has_tiktok
        has_pinterest exclude_generic_emails spending min_spending max_spending min_score max_score updated_after
        not_secure missing_sitemap missing_schema not_responsive load_time_ms seo_score rule_1 rule_2 rule_3""",
    "values": "categories_uses service_type offers",
    "directive": """lang technology offers lacks categories_uses service_type country state score spends pages
        not_responsive not_secure missing_sitemap missing_schema missing_robot missing_heading missing_description""",
    "directives": """rule_1 rule_2 rule_3 rule_4 exclude_country exclude_state exclude_city exclude_technology
        exclude_offers exclude_lacks exclude_region exclude_subregion""",
    "page": "cursor empty_object",
    "enrich": "domains select order results no_http_error",
    "auth": "header missing invalid expired dashboard",
    "error": "UNAUTHORIZED TOO_MANY_REQUESTS",
    "limit": "page_default page_most score_directive score_filter",
    "credits": "search_api search_lead enrich_api enrich_lead n_and_k",
    "version": "prefix",
}
PLANNED = {
    "deprecation headers",
    "exports",
    "facets",
}
LIMITS = {
    "limit.page_default": DEFAULT_LIMIT,
    "limit.page_most": MAX_LIMIT,
    "limit.query_chars": MAX_QUERY_CHARS,
    "limit.wrapped_query_chars": MAX_TEXT_CHARS,
    "limit.lines": MAX_CONDITIONS,
    "limit.values": MAX_VALUES,
    "limit.canonical_bytes": MAX_CANONICAL_BYTES,
    "limit.echo_bytes": MAX_ECHO_BYTES,
    "limit.value_chars": MAX_VALUE_CHARS,
    "limit.age_days": MAX_AGE_DAYS,
    "limit.cursor_chars": MAX_CURSOR_CHARS,
    "limit.domains_per_unit": DOMAINS_PER_UNIT,
    "limit.usage_default": DEFAULT_DAYS,
    "limit.usage_days": MAX_DAYS,
    "limit.usage_rows": MAX_USAGE_ROWS,
    "limit.ledger_default": DEFAULT_ENTRIES,
    "limit.ledger_most": MAX_ENTRIES,
    "limit.request_id_chars": MAX_REQUEST_ID_CHARS,
    "limit.expiries": MAX_EXPIRIES,
    "limit.receipt_entries": MAX_REQUEST_ENTRIES,
    "limit.values_default": DEFAULT_SHOWN,
    "limit.values_most": MAX_SHOWN,
    "limit.values_q_chars": MAX_Q_CHARS,
    "limit.opt_out_asks": REQUESTS_PER_HOUR,
    "limit.opt_out_mails": MAILS_PER_HOUR,
    "limit.opt_out_confirmations": CONFIRMATIONS_PER_HOUR,
    "limit.opt_out_ticket_chars": MAX_TICKET_CHARS,
    "limit.opt_out_chars": MAX_CHARS,
    "limit.sightings": MAX_SIGHTINGS,
    "setting.max_body_bytes": Settings().max_body_bytes,
    "setting.max_enrich_domains": Settings().max_enrich_domains,
    "setting.cursor_life_s": Settings().cursor_life_s // 3600,
    "setting.total_exact_ms": Settings().total_exact_ms,
}
PROOF = re.compile(
    r"`(?P<file>tests/[^`:]+\.py)::(?P<function>test_\w+)(?P<case>\[[^`]*\])?`|planned: (?P<feature>[\w ]+)"
)


@dataclass(frozen=True)
class Named:
    """A test as a page names it."""

    file: str
    function: str
    case: str

    def __str__(self) -> str:
        return f"{self.file}::{self.function}{self.case}"


@dataclass(frozen=True)
class Row:
    """A line of a table: its name, what it says between, and what its last cell refers to."""

    page: str
    name: str
    promise: str
    tests: tuple[Named, ...]
    planned: tuple[str, ...]
    other: str
    """What the last cell holds beside tests and plans: nothing, if it is written right."""


def _row(page: str, line: str) -> Row:
    name, *between, proof = (cell.strip() for cell in line.strip().strip("|").split(" | "))
    found = list(PROOF.finditer(proof))
    return Row(
        page,
        name,
        " ".join(between),
        tuple(Named(one["file"], one["function"], one["case"] or "") for one in found if one["file"]),
        tuple(one["feature"].strip() for one in found if one["feature"]),
        PROOF.sub("", proof).replace(",", "").strip(),
    )


@functools.cache
def rows(page: str) -> tuple[Row, ...]:
    """The rows of all tables of a page, without their heads."""
    lines = (ROOT / page).read_text().splitlines()
    behind_heads = zip(lines, [*lines[1:], ""], strict=True)
    return tuple(
        _row(page, line)
        for line, following in behind_heads
        if line.startswith("| ") and not line.startswith("| ---") and not following.startswith("| ---")
    )


@functools.cache
def functions(file: str) -> frozenset[str]:
    """The test functions of a file; none if there is no such file."""
    path = ROOT / file
    if not path.is_file():
        return frozenset()
    defined = ast.parse(path.read_text()).body
    return frozenset(one.name for one in defined if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))


def _told(problems: Iterable[str]) -> None:
    found = list(problems)
    assert not found, "\n" + "\n".join(found)


def _missing(names: Iterable[tuple[str, str]]) -> Iterator[str]:
    there = {row.name for row in rows(CONFORMANCE)}
    for name, what in names:
        if name not in there:
            yield f"{CONFORMANCE} has no row {name!r} ({what}): add it with the test that proves it"


@pytest.mark.parametrize("page", [CONFORMANCE, GAPS])
def test_every_row_has_a_proof_or_is_planned(page: str) -> None:
    assert rows(page)
    _told(
        f"{page}: row {row.name!r} has neither a test nor `planned: <feature>`: name the test that proves it"
        for row in rows(page)
        if not row.tests and not row.planned
    )
    _told(
        f"{page}: row {row.name!r} ends with {row.other!r}: write `tests/….py::test_name` or planned: <feature>"
        for row in rows(page)
        if row.other
    )


@pytest.mark.parametrize("page", [CONFORMANCE, GAPS])
def test_every_named_test_exists(page: str) -> None:
    _told(
        f"{page}: row {row.name!r} names the test {named}, which does not exist: correct the name, or write the test"
        for row in rows(page)
        for named in row.tests
        if named.function not in functions(named.file)
    )


@pytest.mark.parametrize("page", [CONFORMANCE, GAPS])
def test_every_named_case_exists(page: str, request: pytest.FixtureRequest) -> None:
    """As far as its test was collected in this run."""
    collected = {re.sub(r"@[\w./-]+$", "", item.nodeid) for item in request.session.items}
    here = {nodeid.partition("[")[0] for nodeid in collected}
    _told(
        f"{page}: row {row.name!r} names the case {named}; the test exists, but has no such case"
        for row in rows(page)
        for named in row.tests
        if named.case and f"{named.file}::{named.function}" in here and str(named) not in collected
    )


@pytest.mark.parametrize("page", [CONFORMANCE, GAPS])
def test_no_name_stands_twice(page: str) -> None:
    counts = Counter(row.name for row in rows(page))
    _told(f"{page}: row {name!r} stands there {count} times" for name, count in counts.items() if count > 1)


def test_what_is_planned_is_a_known_plan() -> None:
    planned = {feature for page in (CONFORMANCE, GAPS) for row in rows(page) for feature in row.planned}
    _told(f"{feature!r} is planned in a row, but stands not in PLANNED" for feature in sorted(planned - PLANNED))
    _told(f"{feature!r} stands in PLANNED, but in no row: take it out" for feature in sorted(PLANNED - planned))


def test_every_name_of_the_contract_has_a_row() -> None:
    promised = ((f"{kind}.{name}", "of the contract") for kind, text in CONTRACT.items() for name in text.split())
    _told(_missing(promised))


def _errors(kind: type[SiteglassError] = SiteglassError) -> Iterator[str]:
    for below in kind.__subclasses__():
        yield below.code
        yield from _errors(below)


def _routes() -> Iterator[str]:
    for route in create_app(settings_for("routes")).router.routes:
        assert isinstance(route, Route)
        for method in sorted((route.methods or set()) - {"HEAD"}):
            yield f"{method} {route.path}"


def _settings() -> Iterator[str]:
    """Settings that hold a caller to something: sizes and times."""
    for setting in fields(Settings):
        if setting.name.startswith("max_") or setting.name.endswith(("_s", "_ms")):
            yield setting.name


def test_every_name_of_the_code_has_a_row() -> None:
    code: list[tuple[str, Iterable[str], str]] = [
        ("record", SEARCH_SELECTABLE, "can be selected in a search"),
        ("enrichment", ENRICH_FIELDS, "can be selected in an enrichment"),
        ("search", names_of(SearchBody), "a parameter or filter of a search"),
        ("page", names_of(PageBody), "a parameter of a page"),
        ("enrich", names_of(EnrichBody), "a parameter of an enrichment"),
        ("usage", names_of(UsageParameters), "a parameter of the usage"),
        ("ledger", names_of(LedgerParameters), "a parameter of the ledger"),
        ("values", names_of(ValuesParameters)[1:], "a parameter of the values"),
        ("opt_out", names_of(OptOutBody), "a parameter of an opt-out"),
        ("opt_out_confirm", names_of(OptOutConfirmBody), "a parameter of its confirmation"),
        ("directive", DIRECTIVES, "a directive or its second name"),
        ("error", _errors(), "an error of siteglass.errors"),
        ("setting", _settings(), "a limit that can be set"),
        ("route", _routes(), "a route of the service"),
    ]
    _told(_missing((f"{kind}.{name}", what) for kind, names, what in code for name in names))


def test_limits_are_told_as_they_are() -> None:
    promised = {row.name: row.promise for row in rows(CONFORMANCE)}
    _told(_missing((name, "a limit") for name in LIMITS))
    _told(
        f"{CONFORMANCE}: row {name!r} must say {number:,}, the limit of the code"
        for name, number in LIMITS.items()
        if f"{number:,}" not in re.findall(r"[\d,]*\d", promised[name])
    )
