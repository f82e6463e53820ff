"""The command that shows how a sentence is interpreted; needs no engine and no setting."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from siteglass.query.natural.interpretation import Interpretation, Span

MAX_LINE_CHARS = 100_000
SURE = 0.8
WIDEST = 48


@click.command()
@click.argument("text", required=False)
@click.option("--jsonl", type=click.File("r", encoding="utf-8"), help='Lines {"query": "..."}; - reads standard input.')
def interpret(text: str | None, jsonl: TextIO | None) -> None:
    """Show how a sentence is interpreted, in English and as directives.

    On a terminal, each directive is shown with the words that it comes from. In a pipe, standard output has one
    directive per line. With --jsonl, each line is answered by one with `query`, `read_back`, `directives` and
    `filters`: filters hold only what directives cannot express.
    """
    from siteglass.query import natural
    from siteglass.query.read_back import read_back

    today = datetime.now(UTC).date()
    if (text is None) == (jsonl is None):
        raise click.UsageError('Pass a sentence, such as "Shopify stores in Texas", or --jsonl FILE.')
    if text is not None and len(text) > natural.MAX_QUERY_CHARS:
        raise click.UsageError(f"A sentence has at most {natural.MAX_QUERY_CHARS} characters, found {len(text)}.")
    if text is not None:
        meaning = natural.interpret(text, today)
        if meaning.conditions:
            # In a pipe, only directives are the answer.
            click.secho(read_back(meaning.criteria), bold=True, err=not sys.stdout.isatty())
        if sys.stdout.isatty():
            _show(meaning)
        else:
            for line in meaning.directives:
                click.echo(line)
            for name, value in meaning.filters.items():
                click.echo(f"{name}: {value}")
        _notes(meaning)
        return
    assert jsonl is not None  # noqa: S101 - one of both was given
    for number, line in enumerate(jsonl, 1):
        if not line.strip():
            continue
        try:
            query = json.loads(line[:MAX_LINE_CHARS])["query"]
        except (ValueError, KeyError, TypeError):
            query = None
        if not isinstance(query, str):
            expected = 'expected a JSON object such as {"query": "stores in Texas"}'
            raise click.UsageError(f"Line {number}: {expected}.")
        meaning = natural.interpret(query, today)
        answer = {
            "query": query,
            "read_back": read_back(meaning.criteria) if meaning.conditions else None,
            "directives": list(meaning.directives),
            "filters": meaning.filters,
        }
        click.echo(json.dumps(answer, ensure_ascii=False))


def _show(meaning: Interpretation) -> None:
    """The sentence with its parts in colour, then each condition beside the words that say it."""
    click.echo(_painted(meaning))
    width = min(WIDEST, max((len(one.directive) for one in meaning.conditions), default=0))
    for one in meaning.conditions:
        directive = click.style(f"{one.directive:{width}} ", fg="red" if one.directive.startswith("!") else "green")
        doubt = "" if one.confidence >= SURE else f", {one.confidence:.0%} sure"
        click.echo(directive + click.style(f"{_quoted(one.words)} ({one.rule}{doubt})", dim=True))
    for other in meaning.alternatives:
        click.secho(f"or {other.reading}: {' '.join(other.directives)}", dim=True)


def _notes(meaning: Interpretation) -> None:
    """What is to know before trusting it; beside the answer, so that a pipe stays clean."""
    for note in meaning.assumptions:
        click.secho(f"assumed: {note.message}", fg="cyan", err=True)
    for slip in meaning.corrections:
        click.secho(f"{slip.word.text!r} was interpreted as {slip.to!r}", fg="yellow", err=True)
    for note in meaning.unsupported:
        click.secho(f"not understood: {_quoted(note.words)}: {note.message}", fg="yellow", err=True)
    if not meaning.conditions:
        click.echo("It contains no condition.", err=True)


def _quoted(words: Iterable[Span]) -> str:
    return " … ".join(f'"{span.text}"' for span in words)


def _painted(meaning: Interpretation) -> str:
    """The sentence itself: green what asks for something, red what excludes, yellow what was not understood."""
    colours: dict[int, tuple[int, str]] = {}
    for one in meaning.conditions:
        for span in one.words:
            colours[span.start] = (span.end, "red" if one.directive.startswith("!") else "green")
    for note in meaning.unsupported:
        for span in note.words:
            colours[span.start] = (span.end, "yellow")
    made, at = "", 0
    for start in sorted(colours):
        end, colour = colours[start]
        if start >= at:
            made += meaning.query[at:start] + click.style(meaning.query[start:end], fg=colour)
            at = end
    return made + meaning.query[at:]
