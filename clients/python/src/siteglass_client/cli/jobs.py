"""`sgl enrich --job`: the domains of a file in one job of the service, which the command waits for."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from siteglass_client.answers import Quote
from siteglass_client.cli.domain_files import DomainFile
from siteglass_client.cli.failures import INTERRUPTED, NO_CREDITS, WRONG_INPUT, Failure
from siteglass_client.cli.joining import Joined
from siteglass_client.cli.options import Saving, Session
from siteglass_client.cli.saving import ask_before_spending, make_room, tell_price
from siteglass_client.cli.terminal import counted, note, say_json
from siteglass_client.client import Siteglass
from siteglass_client.messages import Job

_NOTE = "job "


def enrich_as_job(
    session: Session, to: Saving, client: Siteglass, file: DomainFile, select: list[str] | None, shown: list[str]
) -> None:
    """Start the job, or continue to wait for it; then write its results beside the rows, or show them."""
    domains = list(dict.fromkeys(domain for domain in file.domains if domain))
    if to.dry_run:
        tell_price(session, _price(client, domains), f"of {len(domains):,} domains found")
        return
    gathered = None if to.output is None else to.output.with_name(to.output.name + ".items.jsonl")
    if gathered is not None:
        make_room(to, gathered, client.account)
    resume = to.resume_path
    if resume is None or not resume.exists():
        ask_before_spending(session, to, len(domains), lambda: _price(client, domains))
    job = client.enrich_job(
        domains, select=select, max_lead_credits=to.max_lead_credits, idempotency_key=_job_key(resume)
    )
    try:
        with _progress(job) as bar:
            job = client.wait_for_job(job.job, on_state=bar)
    except KeyboardInterrupt:
        how = "Run the same command again to wait for it." if resume is not None else "It is kept for 7 days."
        raise Failure(f"Interrupted. Job {job.job} continues on the service. {how}", INTERRUPTED) from None
    if to.output is None or gathered is None:
        for item in client.job_items(job.job):
            say_json(item)
    else:
        _gather(client.job_items(job.job), file.domains, gathered)
        Joined(file, gathered, shown).write(to.output)
        gathered.unlink()
        _report(session, to.output, job, len(file.rows))
    if resume is not None:
        resume.unlink(missing_ok=True)
    if job.state == "stopped":
        raise Failure(f"{job.reason} {counted(job.not_bought, 'domain')} not bought.", NO_CREDITS)


def _price(client: Siteglass, domains: Sequence[str]) -> Quote:
    price = client.enrich_job_price(domains)
    return Quote(price.lead_credits, price.api_credits, price.found, exact=not price.estimated)


def _job_key(resume: Path | None) -> str:
    """The Idempotency-Key of the job, kept until its results are written: the same command gets the same job."""
    if resume is None:
        return str(uuid.uuid4())
    if resume.exists():
        kept = resume.read_text(encoding="utf-8", errors="replace")
        if not kept.startswith(_NOTE):
            raise Failure(f"{resume} belongs to another command. Use --overwrite or another -o.", WRONG_INPUT)
        return kept.removeprefix(_NOTE).strip()
    key = str(uuid.uuid4())
    resume.write_text(f"{_NOTE}{key}\n", encoding="utf-8")
    return key


class _Bar:
    """The progress of a job on stderr."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=total, spent=0)

    def __call__(self, job: Job) -> None:
        self._progress.update(self._task, completed=job.done, spent=job.lead_credits)


@contextmanager
def _progress(job: Job) -> Iterator[_Bar]:
    progress = Progress(
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.completed:,} of {task.total:,}"),
        TextColumn("{task.fields[spent]:,} credits spent"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    )
    with progress:
        yield _Bar(progress, job.total)


def _gather(items: Iterable[Mapping[str, Any]], domains: Iterable[str | None], path: Path) -> None:
    """An item for each domain of the file, in its order. A job has each domain once, where it comes first."""
    places: dict[str, int] = {}
    rest = iter(items)
    with path.open("w+b") as out:
        for domain in filter(None, domains):
            if domain in places:
                out.seek(places[domain])
                line = out.readline()
                out.seek(0, 2)
            else:
                places[domain] = out.tell()
                line = json.dumps(next(rest)).encode() + b"\n"
            out.write(line)


def _report(session: Session, output: Path, job: Job, rows: int) -> None:
    if session.for_people:
        note(f"{output}: {rows:,} rows, {counted(job.lead_credits, 'lead credit')}.")
        return
    credits = {"lead_credits": job.lead_credits, "api_credits": job.api_credits}
    say_json({"file": str(output), "rows": rows, **credits, "job": job.job, "stopped": job.reason or "end"})
