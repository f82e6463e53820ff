"""scripts/check_english.py finds what its rules forbid, where people read it, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import check_english
from check_english import Configuration, counts, findings
from english.rules import KINDS, RULES, hits, sentences, word_count
from english.texts import CODE, Text, texts_of

ROOT = Path(__file__).parents[2]


def _kinds(text: str) -> list[str]:
    return [hit.kind for hit in hits(text)]


def _texts(path: str, source: str) -> list[tuple[int, str, str]]:
    return [(text.line, text.area, text.text) for text in texts_of(path, lambda: source)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("This is no form.", "is no"),
        ("The interpretation tells for nothing what it means.", "for nothing"),
        ("For who runs the service.", "who without a noun"),
        ("It ends. Who lost both writes to the operator.", "who without a noun"),
        ("It ends; who lost both writes to the operator.", "who without a noun"),
        ("Be sure who asks.", "who asks"),
        ("What was corrected is told.", "told"),
        ("A page as it is spelled.", "spelled"),
        ("How to mend it.", "mend"),
        ("It can be gone on with for 72 hours.", "go on"),
        ("Each code has a way on.", "way on"),
        ("It stands in the log.", "stands"),
        ("The words behind the number.", "behind"),
        ("Every filter is held against the leads.", "held"),
        ("It has a page of its own.", "of its own"),
        ("Archives of yours.", "of yours"),
        ("The rooms of the house.", "house"),
        ("A plain reading of the leads.", "plain reading"),
        ("Reported to the judge.", "judge"),
        ("After ten wrong tries.", "tries"),
        ("Most leads of a page.", "most"),
        ("It is read anew.", "anew"),
        ("All are answered alike.", "alike"),
        ("Old keys are void.", "void"),
        ("None of your credits has an end.", "has an end"),
        ("The print of a request.", "print of"),
        ("It is not to be had.", "be had"),
        ("An engine is away.", "away"),
        ("A dearer answer is refused.", "dearer"),
        ("It is never written over.", "written over"),
        ("What the pages speak of.", "speaks of"),
        ("It has a text, be it empty.", "be it"),
        ("When it is sent again.", "sent again"),
        (" ".join(["word"] * 26) + ".", "long sentence"),
    ],
)
def test_a_phrase_is_found(text: str, kind: str) -> None:
    assert kind in _kinds(text)


def test_every_kind_has_a_case_above() -> None:
    marks = test_a_phrase_is_found.pytestmark  # type: ignore[attr-defined] # the decorator adds it
    assert {kind for _, kind in marks[0].args[1]} == set(KINDS)
    assert all(rule.advice for rule in RULES)


@pytest.mark.parametrize(
    "text",
    [
        "There is no lead with this domain. It is no longer shown. Nothing is charged.",
        "Run it behind a proxy, or behind load balancers. It deletes what the tests leave behind.",
        "The lock is held by another worker. No lock is held for long.",
        "Who may see it?",
        "People who lost their phone contact the operator.",
        "It tries to connect. Try again in 1 s.",
        "DEU stands for Germany.",
        f"It reads {CODE} first.",
        " ".join(["word"] * 25) + ". " + " ".join(["Word"] * 25) + ".",
    ],
)
def test_plain_english_passes(text: str) -> None:
    assert _kinds(text) == []


def test_sentences_end_where_a_new_one_starts() -> None:
    text = "It costs 0.5 credits, e.g. Two. Then: This follows (see `x`). End"
    assert list(sentences(text)) == ["It costs 0.5 credits, e.g. Two.", "Then:", "This follows (see `x`).", "End"]
    assert word_count(f"One {CODE} — two, 3") == 4


def test_markdown_is_read_without_code_and_with_lines() -> None:
    page = (
        "# Opt out\n\nA `tells` b\nc.\n\n```sh\ntells\n```\n<!-- tells -->\n- one [two](tells.md)\n- two\n\n"
        "| a | b |\n| --- | --- |\n| c | `d` |\n"
    )
    assert _texts("docs/guides/x.md", page) == [
        (1, "guides", "Opt out"),
        (3, "guides", f"A {CODE} b c."),
        (10, "guides", "one two"),
        (11, "guides", "two"),
        (13, "guides", "a"),
        (13, "guides", "b"),
        (15, "guides", "c"),
        (15, "guides", CODE),
    ]


def test_promises_are_read_without_their_names() -> None:
    page = '# A comment.\n[part.section.promises]\nrecord.a = "With `select`, it is there."\nderived = ["record"]\n'
    assert _texts("scripts/reference/promises.toml", page) == [(3, "conformance", f"With {CODE}, it is there.")]


@pytest.mark.parametrize(
    ("path", "area"),
    [
        ("README.md", "readme"),
        ("CONTRIBUTING.md", "docs"),
        ("docs/errors.md", "error pages"),
        ("docs/decisions/x.md", "docs"),
        ("docs/reference/fields.md", "reference"),
        ("clients/python/README.md", "docs"),
        ("tests/ingest/README.md", None),
    ],
)
def test_the_area_of_a_page(path: str, area: str | None) -> None:
    assert [found for _, found, _ in _texts(path, "Text.\n")] == ([area] if area else [])


def test_templates_are_read_as_people_see_them() -> None:
    page = (
        '<h1 title="Who is here">People</h1>\n<script>var tells</script>\n'
        '<p>Hello <b>there</b>,\n{{ name }}.</p>{# tells #}\n{{ parts.empty("Nobody is invited") }}\n'
    )
    assert _texts("src/siteglass/dashboard/templates/x.html", page) == [
        (5, "ui", "Nobody is invited"),
        (1, "ui", "Who is here"),
        (1, "ui", "People"),
        (3, "ui", f"Hello there, {CODE}."),
    ]


def test_code_is_read_by_what_is_shown_to_whom() -> None:
    module = (
        '"""The module.\n\n    code of an example\n\nSecond paragraph."""\n'
        "import click  # noqa: F401\n# One comment\n# of `two` lines.\n"
        'QUERY = "SELECT a FROM the_table WHERE the = 1"\nWORDS = "red green blue"; TABLE = "of the\\nto a.b, in"\n'
        '@click.command(help="The help of it.")\ndef run(n: int) -> None:\n    """Help of a command."""\n'
        '    raise ValueError(f"There are {n} of them.")\n'
    )
    assert sorted(_texts("src/siteglass/cli/x.py", module)) == [
        (1, "docstrings", "The module."),
        (5, "docstrings", "Second paragraph."),
        (7, "comments", f"One comment of {CODE} lines."),
        (11, "help", "The help of it."),
        (13, "help", "Help of a command."),
        (14, "help", f"There are {CODE} of them."),
    ]
    assert {area for _, area, _ in _texts("src/siteglass/leads/x.py", module)} == {"docstrings", "comments", "errors"}
    assert {area for _, area, _ in _texts("tests/x.py", module)} == {"tests"}
    assert _texts("src/siteglass/billing/sql/x.sql", "-- One\n-- text of `x`.\nSELECT 1; -- no\n") == [
        (1, "comments", f"One text of {CODE}.")
    ]


def test_exceptions_are_overlooked_and_unneeded_ones_reported() -> None:
    texts = [
        Text("docs/a.md", 1, "docs", "He stands behind the counter."),
        Text("docs/b.md", 2, "docs", "It stands here."),
    ]
    kept = {"path": "docs/a.md", "kind": "behind", "text": "the counter", "reason": "a real one"}
    unneeded = {**kept, "text": "the bar"}
    found, left_over = findings(texts, Configuration((), (kept, unneeded)))
    assert [str(each) for each in found] == [
        "docs/a.md:1: stands: 'stands': write 'is', 'is stored', 'is listed'",
        "docs/b.md:2: stands: 'stands': write 'is', 'is stored', 'is listed'",
    ]
    assert left_over == [unneeded]
    assert counts(found) == {"docs": {"stands": 2}}


def test_an_entry_needs_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('clean = []\n[[exception]]\npath = "src/"\nkind = "told"\ntext = "x"\nreason = " "\n')
    with pytest.raises(SystemExit, match="no reason"):
        Configuration.read(path)


def test_lint_checks_the_areas_that_are_clean() -> None:
    lint = re.search(r"^style:.*?\n\n", (ROOT / "Makefile").read_text(), re.MULTILINE | re.DOTALL)
    assert lint
    assert "scripts/check_english.py\n" in lint[0]
    assert {"readme", "guides", "error pages", "docs"} <= set(Configuration.read().clean)


def test_a_finding_in_a_clean_area_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [Text("README.md", 4, "readme", "It tells."), Text("docs/x.md", 5, "docs", "It tells.")]
    monkeypatch.setattr(check_english, "all_texts", lambda root: texts)
    monkeypatch.setattr(check_english.Configuration, "read", lambda: Configuration(("readme",), ()))
    monkeypatch.setattr("sys.argv", ["check_english.py"])
    with pytest.raises(SystemExit) as ended:
        check_english.main()
    assert ended.value.code == 1
    assert capsys.readouterr().out.startswith("README.md:4: told: 'tells': write ")
    monkeypatch.setattr(check_english, "all_texts", lambda root: texts[1:])
    check_english.main()
