"""Operator commands that bring generations into use and out of it: rebuild, verify, promote, roll back, expire."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from siteglass.cli.index import REPLICAS, print_load_report, print_rejects, run

if TYPE_CHECKING:
    from siteglass.index.golden import GoldenSet
    from siteglass.index.index import Index
    from siteglass.index.rebuild import RebuildReport
    from siteglass.index.verification import Report, Tolerances

Command = Callable[..., None]

_PERCENT = click.FloatRange(0, 100)
_CHECKS = (
    click.option(
        "--golden",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="JSON file with domains that must exist, and queries with the minimum and maximum number of leads.",
    ),
    click.option(
        "--least-count",
        default=90.0,
        show_default=True,
        type=_PERCENT,
        help="Minimum number of leads, % of the live generation.",
    ),
    click.option("--most-gone", default=5.0, show_default=True, type=_PERCENT, help="Most live leads gone, %."),
    click.option(
        "--most-emptier",
        default=5.0,
        show_default=True,
        type=_PERCENT,
        help="Maximum increase of empty fields, in points.",
    ),
    click.option(
        "--most-query-change", default=10.0, show_default=True, type=_PERCENT, help="Maximum change of a count, %."
    ),
)
_ACCEPT_YELLOW = click.option(
    "--accept-yellow", metavar="REASON", help="Promote it although copies of its shards are missing; stored with it."
)
KEEP = click.option(
    "--keep", default=1, show_default=True, type=click.IntRange(0, 100), help="Older generations to keep."
)


def with_checks(command: Command) -> Command:
    for option in reversed(_CHECKS):
        command = option(command)
    return command


def read_checks(checks: dict[str, Any]) -> tuple[Tolerances, GoldenSet | None]:
    """What the options of a check say."""
    from siteglass.index.golden import read_golden
    from siteglass.index.verification import Tolerances
    from siteglass.platform.backends import Clock

    tolerances = Tolerances(
        checks["least_count"], checks["most_gone"], checks["most_emptier"], checks["most_query_change"]
    )
    golden: Path | None = checks["golden"]
    return tolerances, read_golden(golden, Clock().now_ms()) if golden else None


def print_checks(report: Report) -> None:
    """Print the checks to standard error."""
    click.echo(_table(report), err=True)


def _table(report: Report) -> str:
    """The report with its refusals last, where the operator looks."""
    against = f"against the live {report.live}" if report.live else "on its own"
    rows = [("", "check", "expected", "found")]
    rows += [
        ("ok" if check.ok else "REFUSED", check.name, check.expected, check.found)
        for check in sorted(report.checks, key=lambda check: not check.ok)
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = ["  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[3]]) for row in rows]
    return "\n".join([f"{report.generation} {against}:", *lines])


@click.command("verify")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
@with_checks
def index_verify(name: str, as_json: bool, **checks: Any) -> None:
    """Compare a generation with the live one; exit code 1 if it should not be promoted."""
    from siteglass.index import verification

    tolerances, golden = read_checks(checks)
    report = run(lambda index: verification.verify(index, name, tolerances, golden))
    click.echo(json.dumps({**asdict(report), "ok": report.ok}) if as_json else _table(report))
    if not report.ok:
        sys.exit(1)


@click.command("promote")
@click.argument("name")
@click.option("--force", is_flag=True, help="Promote it even if verification fails; needs --reason.")
@click.option("--reason", default="", help="Stored with the generation and shown by `index status`.")
@_ACCEPT_YELLOW
@KEEP
@with_checks
def index_promote(name: str, force: bool, reason: str, accept_yellow: str | None, keep: int, **checks: Any) -> None:
    """Verify a generation, make it live, and drop generations that are no longer needed."""
    from siteglass.index import generations, verification

    if force and not reason:
        raise click.UsageError("--force needs --reason, so that others can see why.")
    tolerances, golden = read_checks(checks)

    async def action(index: Index) -> list[str] | None:
        report = await verification.verify(index, name, tolerances, golden)
        print_checks(report)
        if not report.ok and not force:
            return None
        await generations.promote(index, name, forced=None if report.ok else reason, accept_yellow=accept_yellow)
        return await generations.retain(index, keep)

    dropped = run(action)
    if dropped is None:
        click.echo(
            f"{name} was not promoted: see REFUSED above. Rebuild it, or promote it anyway: siteglass index promote "
            f"{name} --force --reason TEXT",
            err=True,
        )
        sys.exit(1)
    click.echo(f"{name} is live")
    _tell_dropped(dropped)


def _tell_dropped(names: list[str]) -> None:
    for name in names:
        click.echo(f"{name} was no longer needed and was dropped", err=True)


@click.command("rollback")
def index_rollback() -> None:
    """Make the previous generation live again; it received all writes meanwhile."""
    from siteglass.index import generations

    now, before = run(generations.rollback)
    click.echo(f"{now} is live again")
    click.echo(f"{before} is no longer searched, but still receives writes: siteglass index drop {before}", err=True)


@click.command("retain")
@KEEP
def index_retain(keep: int) -> None:
    """Drop generations older than the live one; newer and unfinished ones must be dropped by name."""
    from siteglass.index import generations

    dropped = run(lambda index: generations.retain(index, keep))
    _tell_dropped(dropped)
    click.echo(f"{len(dropped)} generations dropped")


@click.command("expire")
@click.option("--force", is_flag=True, help="Delete even if most leads have expired.")
def index_expire(force: bool) -> None:
    """Delete leads older than SITEGLASS_LEAD_MAX_AGE_DAYS from all generations that receive writes."""
    from siteglass.index import expiry
    from siteglass.platform.progress import progress

    async def action(index: Index) -> None:
        for name, count in (await expiry.too_old(index, force=force)).items():
            with progress(f"Deleting from {name}", count) as advance_to:
                deleted = await expiry.expire(index, name, advance_to)
            click.echo(f"{name}  {deleted} leads deleted")

    run(action)


@click.command("rebuild")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--verify/--no-verify", default=True, show_default=True, help="Compare it with the live one.")
@click.option("--promote", is_flag=True, help="Make it live if verification succeeds.")
@click.option(
    "--reason", default="", help="Why --promote is used with --no-verify; stored, and shown by `index status`."
)
@click.option("--shards", default=1, show_default=True, type=click.IntRange(1, 1024))
@REPLICAS
@click.option("--codec", default="default", show_default=True, type=click.Choice(["default", "best_compression"]))
@click.option(
    "--refresh-interval", default="1s", show_default=True, help="How soon writes become visible once it is live."
)
@_ACCEPT_YELLOW
@click.option("--keep-failed", is_flag=True, help="Keep a generation that failed, for inspection.")
@KEEP
@with_checks
def index_rebuild(
    sources: tuple[Path, ...],
    verify: bool,
    promote: bool,
    reason: str,
    shards: int,
    replicas: int | None,
    accept_yellow: str | None,
    codec: str,
    refresh_interval: str,
    keep_failed: bool,
    keep: int,
    **checks: Any,
) -> None:
    """Build a new generation from lead files or folders of Parquet files, while searches and writes continue."""
    from siteglass.index import generations
    from siteglass.index import rebuild as rebuilding

    if promote and not verify and not reason:
        raise click.UsageError("--no-verify with --promote needs --reason, so that others can see why.")
    tolerances, golden = read_checks(checks)
    shape = generations.Shape(shards, replicas, codec, refresh_interval)
    forced = None if verify else reason
    plan = rebuilding.RebuildPlan(shape, verify, promote, forced, keep, keep_failed, tolerances, golden, accept_yellow)
    run_rebuild(lambda index: rebuilding.rebuild(index, sources, plan), "The rebuild failed")


def run_rebuild(action: Callable[[Index], Awaitable[RebuildReport]], failed: str) -> None:
    """Run a rebuild and report it; exits with 1 if it failed, with these words, or was refused."""
    from siteglass.index.rebuild import RebuildFailed

    try:
        done = run(action)
    except RebuildFailed as error:
        click.echo(f"{failed}: {error}", err=True)
        sys.exit(1)
    _tell_rebuilt(done)
    if done.report is not None and not done.report.ok:
        sys.exit(1)


def _tell_rebuilt(done: RebuildReport) -> None:
    if done.report is not None:
        print_checks(done.report)
    read, price = f"leads read from {len(done.files)} files", f"{done.seconds:.1f} seconds"
    print_load_report(done.loaded, read=read, older="not newer", price=price)
    print_rejects(done.files)
    if done.report is not None and not done.report.ok:
        left = "it was dropped" if done.name in done.dropped else f"it is kept: siteglass index drop {done.name}"
        click.echo(f"{done.name} was refused, see above; {left}. The live generation is unchanged.", err=True)
        return
    click.echo(f"{done.name} is live" if done.promoted else f"{done.name} is built")
    if not done.promoted:
        click.echo(f"Make it live: siteglass index promote {done.name}", err=True)
    _tell_dropped(done.dropped)


GENERATION_COMMANDS = (index_rebuild, index_verify, index_promote, index_rollback, index_retain, index_expire)
