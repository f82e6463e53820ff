"""`sgl verify`: whether a statement is what the operator signed; without the service and without a key of it."""

from __future__ import annotations

from pathlib import Path

import click

from siteglass_client.cli.failures import Failure
from siteglass_client.statements import compare, read_heads, read_statements

DIFFERENT = 1
_file = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("statements", nargs=-1, required=True, type=_file)
@click.option(
    "--head", "heads", multiple=True, required=True, type=_file, help="A file with a signed head; older ones, too."
)
@click.option("--public-key", required=True, help="The operator's key, 64 hexadecimal digits, as published.")
def verify(statements: tuple[Path, ...], heads: tuple[Path, ...], public_key: str) -> None:
    """Compare statements (the ledger as CSV) with signed heads, offline; exit code 1 if they differ.

    Keep each signed head: an old one shows if rows were rewritten since. Later rows are not signed yet.
    """
    signed = read_heads(heads, public_key)
    rows, problems = read_statements(statements)
    comparison = compare(rows, signed)
    problems += comparison.problems
    if problems:
        for problem in problems:
            click.echo(problem, err=True)
        raise Failure(f"{len(problems)} differences. Send them to the operator with the files.", DIFFERENT)
    unsigned = max(rows) - comparison.signed_to
    later = f" {unsigned} later rows are not signed yet." if unsigned else ""
    click.echo(f"Rows {min(rows)} to {comparison.signed_to} of account {signed[0].account} are as signed.{later}")
