"""Promises: none of the contract is missing, the page is built from code and tests, and every test that
docs/decisions/spec-gaps.md names exists."""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.routing import Route

import build_conformance
from reference.promises import DERIVED, PATH, Part, Promises, Section, load_promises
from siteglass.app import create_app
from siteglass.leads.values import ValuesParameters
from siteglass.privacy.requests import OptOutBody, OptOutConfirmBody
from siteglass.web.messages import names_of
from testing.service import settings_for

ROOT = Path(__file__).parents[2]
GAPS = "docs/decisions/spec-gaps.md"

# The names of the contract as it writes them, so that a promise cannot vanish together with the code that keeps it.
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
PROOF = re.compile(
    r"`(?P<file>tests/[^`:]+\.py)::(?P<function>test_\w+)(?P<case>\[[^`]*\])?`|planned: (?P<feature>[\w ]+)"
)


def _report(problems: Iterable[str]) -> None:
    found = list(problems)
    assert not found, "\n" + "\n".join(found)


def test_every_name_of_the_contract_is_promised() -> None:
    names = set(load_promises().names)
    contract = (f"{kind}.{name}" for kind, text in CONTRACT.items() for name in text.split())
    _report(f"{name} of the contract is not promised any more" for name in contract if name not in names)


def test_every_name_of_the_code_is_promised() -> None:
    """Those that are not derived."""
    names = set(load_promises().names)
    routes = create_app(settings_for("routes")).router.routes
    code = [
        *(
            f"route.{method} {route.path}"
            for route in routes
            if isinstance(route, Route)
            for method in (route.methods or set()) - {"HEAD"}
        ),
        *(f"values.{name}" for name in names_of(ValuesParameters)[1:]),
        *(f"opt_out.{name}" for name in names_of(OptOutBody)),
        *(f"opt_out_confirm.{name}" for name in names_of(OptOutConfirmBody)),
    ]
    assert all(isinstance(route, Route) for route in routes)
    _report(f"{PATH.name} has no text for {name}, which the code declares" for name in code if name not in names)


def test_every_derived_kind_is_on_the_page() -> None:
    names = set(load_promises().names)
    assert {f"{kind}.{name}" for kind, rows in DERIVED.items() for name, _ in rows()} <= names


PARTS = """
[planned]
exports = ["feature.exports"]
[[part]]
title = "All"
[[part.section]]
title = "One"
derived = ["enrichment"]
[part.section.promises]
enrichment.title = "More."
"""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (PARTS, r"these promises are limits of the code, but have no text: limit\.age_days, "),
        (f'{PARTS}limit.lines = "At most 64."', r"the text of limit\.lines needs \{\} in place of the number"),
        (
            f'{PARTS}a.b = "Once."\n[[part.section]]\ntitle = "Two"\n[part.section.promises]\na.b = "Twice."',
            r"these promises are listed twice: a\.b",
        ),
    ],
    ids=["no text", "no number", "twice"],
)
def test_a_file_that_does_not_fit_the_code(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "promises.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=problem):
        load_promises(path)


def test_texts_come_from_the_code_and_from_the_file() -> None:
    promises = load_promises()
    texts = {name: text for part in promises.parts for one in part.sections for name, text in one.promises.items()}
    assert texts["record.url"] == "URL of the home page (string). Only when selected."
    assert texts["enrichment.score"] == "SEO score, 0 to 100 (integer). The same number as in search."
    assert texts["directive.has_x"] == "Only sites with a Twitter (X) profile. Another name of `@has_twitter`."
    assert texts["limit.query_chars"] == "`query`: at most 1,000 characters."
    assert texts["setting.cursor_life_s"] == "A cursor is valid for 72 hours (configurable)."
    assert texts["envelope.next"] == "Path of the next page, or null."


def _promises(*names: str, planned: tuple[str, ...] = ()) -> Promises:
    section = Section("Section", "About it.", {name: f"Text of {name}." for name in (*names, *planned)})
    return Promises([Part("Part", "", [section])], dict.fromkeys(planned, "exports"))


@pytest.mark.parametrize(
    ("names", "wrong"),
    [
        (["whole[]", "pair[]", "first[a]", "each.a[a]"], ["b", "!{}"]),
        (["whole[]", "pair[]", "second[b]", "pair[b]", "each.b[b]"], ["a", "!{}"]),
        (["whole[]", "pair[]"], ["a", "b", "{}", "!{}"]),
        (["whole[]", "pair[]", "not.x[!x]"], ["a", "b", "{}"]),
    ],
    ids=["a", "b", "c d", "!x"],
)
def test_a_marker_names_promises_of_the_test_and_of_cases(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, names: list[str], wrong: list[str]
) -> None:
    cases = {"a": "first", "b": ("second", "pair"), "{}": "each.{}", "!{}": "not.{}"}
    marker = pytest.mark.promise("whole", "pair", cases=cases).mark
    test = f"tests/docs/test_conformance.py::{request.node.originalname}"
    with monkeypatch.context() as patch:
        patch.setattr(request.node, "iter_markers", lambda name: [marker])
        proofs, problems = build_conformance.find_proofs([request.node])
    proven = [f"{name}{proof.removeprefix(test) or '[]'}" for name, tests in proofs.items() for proof in tests]
    assert sorted(proven) == sorted(names)
    assert problems == [f"{test} has no case like {pattern!r}" for pattern in wrong]


def test_what_is_wrong_is_reported() -> None:
    proofs = {"a.b": ["tests/x.py::test_x"], "a.typo": ["tests/x.py::test_y"], "a.later": ["tests/x.py::test_z"]}
    assert build_conformance.find_problems(_promises("a.b", "a.c", planned=("a.later", "a.last")), proofs) == [
        "tests/x.py::test_y names the promise 'a.typo', which does not exist: correct the name, or add it to "
        "promises.toml",
        "no test proves 'a.c': mark one with @pytest.mark.promise('a.c')",
        "'a.later' has a test, but is planned in promises.toml",
    ]


def test_the_page() -> None:
    page = build_conformance.build_page(_promises("a.b", planned=("a.later",)), {"a.b": ["tests/x.py::test_x[1|2]"]})
    assert page.removeprefix(build_conformance.START) == (
        "\n## Part\n\n### Section\n\nAbout it.\n\n| promise | text | proof |\n| --- | --- | --- |\n"
        "| a.b | Text of a.b. | `tests/x.py::test_x[1\\|2]` |\n| a.later | Text of a.later. | planned: exports |\n"
    )


def test_lint_looks_for_drift() -> None:
    lint = re.search(r"^style:.*?\n\n", (ROOT / "Makefile").read_text(), re.MULTILINE | re.DOTALL)
    assert lint
    assert "scripts/build_conformance.py --check" in lint[0]


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
    """A line of a table: its name, and what its last cell refers to."""

    name: str
    tests: tuple[Named, ...]
    planned: tuple[str, ...]
    other: str
    """What the last cell has besides tests and plans: nothing, if it is written correctly."""


def _row(line: str) -> Row:
    name, *_, proof = (cell.strip() for cell in line.strip().strip("|").split(" | "))
    found = list(PROOF.finditer(proof))
    return Row(
        name,
        tuple(Named(one["file"], one["function"], one["case"] or "") for one in found if one["file"]),
        tuple(one["feature"].strip() for one in found if one["feature"]),
        PROOF.sub("", proof).replace(",", "").strip(),
    )


@functools.cache
def gaps() -> tuple[Row, ...]:
    """The rows of all tables of spec-gaps.md, without their heads."""
    lines = (ROOT / GAPS).read_text().splitlines()
    with_next = zip(lines, [*lines[1:], ""], strict=True)
    return tuple(
        _row(line)
        for line, following in with_next
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


def test_every_gap_has_a_proof_or_is_planned() -> None:
    assert gaps()
    planned = set(load_promises().planned.values())
    _report(
        f"{GAPS}: row {row.name!r} has neither a test nor `planned: <feature>`: name the test that proves it"
        for row in gaps()
        if not row.tests and not row.planned
    )
    _report(
        f"{GAPS}: row {row.name!r} ends with {row.other!r}: write `tests/….py::test_name` or planned: <feature>"
        for row in gaps()
        if row.other
    )
    _report(
        f"{GAPS}: row {row.name!r} waits for {feature!r}, which {PATH.name} does not plan"
        for row in gaps()
        for feature in row.planned
        if feature not in planned
    )


def test_every_test_of_a_gap_exists() -> None:
    _report(
        f"{GAPS}: row {row.name!r} names the test {named}, which does not exist: correct the name, or write the test"
        for row in gaps()
        for named in row.tests
        if named.function not in functions(named.file)
    )


def test_every_case_of_a_gap_exists(request: pytest.FixtureRequest) -> None:
    """As far as its test was collected in this run."""
    collected = {re.sub(r"@[\w./-]+$", "", item.nodeid) for item in request.session.items}
    here = {nodeid.partition("[")[0] for nodeid in collected}
    _report(
        f"{GAPS}: row {row.name!r} names the case {named}; the test exists, but has no such case"
        for row in gaps()
        for named in row.tests
        if named.case and f"{named.file}::{named.function}" in here and str(named) not in collected
    )


def test_no_gap_is_listed_twice() -> None:
    counts = Counter(row.name for row in gaps())
    _report(f"{GAPS}: row {name!r} appears {count} times" for name, count in counts.items() if count > 1)
