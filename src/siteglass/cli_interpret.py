"""The command that tells what a sentence means; needs no engine and no setting."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TextIO

import click

MAX_LINE_CHARS = 100_000


@click.command()
@click.argument("text", required=False)
@click.option("--jsonl", type=click.File("r", encoding="utf-8"), help='Lines {"query": "..."}; - reads standard input.')
def interpret(text: str | None, jsonl: TextIO | None) -> None:
    """Tell what a sentence means as directives.

    With --jsonl, each line is answered by one with `query`, `directives` and `filters`: filters hold only what
    directives cannot say.
    """
    from siteglass.query import natural

    today = datetime.now(UTC).date()
    if (text is None) == (jsonl is None):
        raise click.UsageError('Give a sentence, such as "Shopify stores in Texas", or --jsonl FILE.')
    if text is not None:
        meaning = natural.interpret(text, today)
        for line in meaning.directives:
            click.secho(line, fg="red" if line.startswith("!") else "green")
        for name, value in meaning.filters.items():
            click.secho(f"{name}: {value}  (a filter; no directive says it)", fg="green")
        for note in meaning.unsupported:
            click.secho(f"not understood: {note.message}", fg="yellow", err=True)
        if not meaning.directives and not meaning.filters:
            click.echo("Nothing in it restricts a search.", err=True)
        return
    assert jsonl is not None  # noqa: S101 - one of both was given
    for number, line in enumerate(jsonl, 1):
        if not line.strip():
            continue
        try:
            query = json.loads(line[:MAX_LINE_CHARS])["query"]
            meaning = natural.interpret(str(query), today)
        except (ValueError, KeyError, TypeError):
            expected = 'expected a JSON object such as {"query": "stores in Texas"}'
            raise click.UsageError(f"Line {number}: {expected}.") from None
        answer = {"query": query, "directives": list(meaning.directives), "filters": meaning.filters}
        click.echo(json.dumps(answer, ensure_ascii=False))
