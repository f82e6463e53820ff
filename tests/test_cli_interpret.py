"""`siteglass interpret`: a sentence on the command line, or a file of them; without engines or settings."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from siteglass.cli.main import cli


def test_a_sentence() -> None:
    told = CliRunner().invoke(cli, ["interpret", "danish shopify stores without a CRM"])
    assert (told.exit_code, set(told.stdout.splitlines())) == (
        0,
        {"@country(DNK)", "@technology(Shopify)", "@lacks(crm)"},
    )
    assert told.stderr == "Businesses in Denmark that use Shopify and lack CRM software\n"


def test_on_a_terminal_the_words_stand_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "Shopfy stores in Texas, no CRM, sorted by name"
    terminal = CliRunner().isolation(color=True)
    with terminal as (out, err, _):
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        cli.main(["interpret", said], standalone_mode=False)
        shown, notes = click.unstyle(out.getvalue().decode()), click.unstyle(err.getvalue().decode())
    assert shown.splitlines() == [
        "Businesses in Texas, US that use Shopify and lack CRM software",
        said,
        '@country(USA)        "in Texas" (place)',
        '@state(TX)           "in Texas" (place)',
        '@technology(Shopify) "Shopfy stores" (technology)',
        '@lacks(crm)          "no CRM" (category denied)',
    ]
    assert notes.splitlines() == [
        "'Shopfy' was interpreted as 'shopify'",
        'not understood: "sorted by name": a sentence cannot ask for an order; send `sort`',
    ]


def test_a_file_in_its_order(tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text(
        '{"query": "sites in Peru"}\n\n{"query": "SEO score above 95 in Chile"}\n{"query": "show me companies"}\n'
    )
    told = CliRunner().invoke(cli, ["interpret", "--jsonl", str(path)])
    assert told.exit_code == 0
    assert [json.loads(line) for line in told.stdout.splitlines()] == [
        {
            "query": "sites in Peru",
            "read_back": "Businesses in Peru",
            "directives": ["@country(PER)"],
            "filters": {},
        },
        {
            "query": "SEO score above 95 in Chile",
            "read_back": "Businesses in Chile that have an SEO score of more than 95",
            "directives": ["@country(CHL)"],
            "filters": {"seo_score": ">95"},
        },
        {"query": "show me companies", "read_back": None, "directives": [], "filters": {}},
    ]


def test_mistakes(tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text('{"query": "sites in Peru"}\nnonsense\n')
    told = CliRunner().invoke(cli, ["interpret", "--jsonl", str(path)])
    assert (told.exit_code, "Line 2: expected a JSON object" in told.output) == (2, True)
    assert "Pass a sentence" in CliRunner().invoke(cli, ["interpret"]).output
