"""Operator commands on reports of wrong values: list, resolve."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from siteglass.cli.accounts import actor
from siteglass.cli.crawl import on_frontier
from siteglass.cli.index import run


@click.group()
def report() -> None:
    """Read and resolve what customers reported as wrong."""


@report.command("list")
@click.option("--account", "account_id", type=int, help="Only reports of this account.")
@click.option("--after", default=0, help="Show entries after this number, at most 200 at once.")
@click.option("--all", "every", is_flag=True, help="Also reports that are resolved.")
def report_list(account_id: int | None, after: int, every: bool) -> None:
    """List the reports of wrong values, the oldest first.

    A value is printed while the lead shows it. Afterwards, and after an opt-out, only its hash is left.
    """
    from siteglass.leads import reports

    found = run(lambda index: reports.list_reports(index, after, account_id, every=every))
    if not found:
        click.echo("No reports.")
    for one in found:
        value = one.value or f"({one.field} that is no longer shown)"
        comment = f"  {one.comment!r}" if one.comment else ""
        click.echo(
            f"{one.id}  {one.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC  account {one.account_id}  person {one.person_id}"
            f"  {one.domain}  {value}  {reports.REASONS[one.reason].lower()}{comment}"
            + "".join(f"  {effect}" for effect in one.effects)
        )


@report.command("resolve")
@click.argument("report_id", type=int)
@click.argument("effects", nargs=-1, required=True, type=click.Choice(["hide", "refund", "refetch", "dismiss"]))
def report_resolve(report_id: int, effects: tuple[str, ...]) -> None:
    """Resolve a report, with one effect or several. Safe to repeat.

    \b
    hide     suppress the value: no lead shows it any more, as after an opt-out, for good
    refund   give the lead credit of the account's last charge for the lead back, once
    refetch  have the crawler fetch the site now
    dismiss  nothing
    """
    from siteglass.corpus.domains import registrable
    from siteglass.leads import reports

    async def refetch(domain: str) -> int:
        return await on_frontier(lambda frontier: frontier.add([registrable(domain)], datetime.now(UTC)))

    for line in run(lambda index: reports.resolve_report(index, report_id, effects, actor=actor(), refetch=refetch)):
        click.echo(line)
    click.echo(f"Report {report_id} is resolved.")
