"""Operator commands on reports of wrong values: list."""

from __future__ import annotations

from datetime import UTC

import click

from siteglass.cli.index import run


@click.group()
def report() -> None:
    """Read what customers reported as wrong."""


@report.command("list")
@click.option("--account", "account_id", type=int, help="Only reports of this account.")
@click.option("--after", default=0, help="Show entries after this number, at most 200 at once.")
def report_list(account_id: int | None, after: int) -> None:
    """List the reports of wrong values, the oldest first.

    A value is printed while the lead shows it. Afterwards, and after an opt-out, only its hash is left.
    """
    from siteglass.leads import reports

    found = run(lambda index: reports.list_reports(index, after, account_id))
    if not found:
        click.echo("No reports.")
    for one in found:
        value = one.value or f"({one.field} that is no longer shown)"
        comment = f"  {one.comment!r}" if one.comment else ""
        click.echo(
            f"{one.id}  {one.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC  account {one.account_id}  person {one.person_id}"
            f"  {one.domain}  {value}  {reports.REASONS[one.reason].lower()}{comment}"
        )
