"""Operation: a new generation from lead files, verified and promoted, while searches and writes continue.

The order of the steps keeps changes from being lost. The generation is created first, so that writers write to it, and
only then are the files listed. So every change is either in a listed file, or was written to the generation.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from siteglass.corpus.lead_files import count_leads
from siteglass.corpus.lead_store import StoredFile
from siteglass.errors import Unavailable
from siteglass.index import generations, segments
from siteglass.index.entry import enter_store
from siteglass.index.golden import GoldenSet
from siteglass.index.index import Index
from siteglass.index.load import LoadReport, load
from siteglass.index.verification import Check, Report, Tolerances, verify
from siteglass.platform.opensearch import EngineError
from siteglass.platform.progress import progress

LEAD_FILES = (".ndjson", ".jsonl", ".parquet")


@dataclass(frozen=True, slots=True)
class RebuildPlan:
    """What is to become of the new generation."""

    shape: generations.Shape
    verify: bool = True
    promote: bool = False
    forced: str | None = None
    """Why it is promoted without having been verified."""
    keep: int = 1
    """Older generations to keep."""
    keep_failed: bool = False
    tolerances: Tolerances = field(default_factory=Tolerances)
    golden: GoldenSet | None = None
    accept_yellow: str | None = None
    """Why it is promoted without all copies of its shards."""


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """What became of it."""

    name: str
    files: list[StoredFile]
    loaded: LoadReport
    seconds: float
    report: Report | None
    promoted: bool
    dropped: list[str]
    """Generations that are gone: old ones, or the new one if it was refused."""


class RebuildFailed(Exception):
    """The new generation could not be built; the message says why, and what is left of it."""


async def rebuild(index: Index, sources: Sequence[Path], plan: RebuildPlan) -> RebuildReport:
    """Build a generation of the files, or of the Parquet files in folders, and do with it as planned."""
    started = time.monotonic()
    files_of(sources)  # unreadable files are reported before anything is created
    # With its replicas from the start: a node that is lost meanwhile must not take shards with it.
    building = replace(plan.shape, refresh_interval="-1")
    source = ", ".join(str(path) for path in sources)
    name = await generations.create(index, building, source, unfinished=True)
    try:
        files = files_of(sources)
        stored = await enter_store(index, files)
        loaded = await _fill(index, name, [file.path for file in stored])
        await segments.merge_if_large(index, name, loaded.read)
        await generations.finish(index, name, plan.shape)
        report = await _verified(index, name, plan, loaded) if plan.verify else None
    except Exception as error:
        why = error.reason if isinstance(error, Unavailable) else error
        raise RebuildFailed(f"{why}. {await _give_up(index, name, plan)}") from error
    except BaseException:  # interrupted by the operator
        await _give_up(index, name, plan)
        raise
    refused = report is not None and not report.ok
    dropped: list[str] = []
    if refused and not plan.keep_failed:
        await generations.drop(index, name)
        dropped = [name]
    elif plan.promote and not refused:
        await generations.promote(index, name, forced=plan.forced, accept_yellow=plan.accept_yellow)
        dropped = await generations.retain(index, plan.keep)
    seconds = time.monotonic() - started
    return RebuildReport(name, stored, loaded, seconds, report, plan.promote and not refused, dropped)


def files_of(sources: Sequence[Path]) -> list[Path]:
    """The files to read, newest first: of equal crawls, the first to be written stays."""
    found: list[Path] = []
    for source in sources:
        if source.is_dir():
            inside = sorted(source.glob("*.parquet"), key=lambda path: (path.stat().st_mtime_ns, path.name))
            if not inside:
                raise generations.GenerationError(f"{source}: there is no .parquet file in this folder")
            found.extend(inside)
        elif source.suffix not in LEAD_FILES:
            raise generations.GenerationError(f"{source}: lead files must be named {' or '.join(LEAD_FILES)}")
        else:
            found.append(source)
    return list(dict.fromkeys(reversed(found)))


async def _fill(index: Index, name: str, files: list[Path]) -> LoadReport:
    whole = LoadReport()
    with progress("Rebuilding", sum(count_leads(path) for path in files)) as advance_to:
        for path in files:
            whole.add(await load(index, path, further(advance_to, whole.read), only=name))
    if not whole.read:
        raise generations.GenerationError("The files contain no leads")
    return whole


def further(advance_to: Callable[[int], None], before: int) -> Callable[[LoadReport], None]:
    """Progress of one file, after the leads of others."""
    return lambda so_far: advance_to(before + so_far.read)


async def _verified(index: Index, name: str, plan: RebuildPlan, loaded: LoadReport) -> Report:
    report = await verify(index, name, plan.tolerances, plan.golden)
    most = plan.tolerances.most_refused_percent
    share = 100 * loaded.failed / loaded.read
    found = f"{share:.2f} % refused" + "".join(f", {reason}" for reason in loaded.reasons[:1])
    check = Check("refused leads", f"at most {most:g} % of {loaded.read:,} read", found, share <= most)
    return replace(report, checks=[*report.checks, check])


async def _give_up(index: Index, name: str, plan: RebuildPlan) -> str:
    """Drop the unfinished generation; returns what to report about it."""
    if not plan.keep_failed:
        with contextlib.suppress(EngineError, Unavailable, generations.GenerationError):
            await generations.drop(index, name)
            return f"{name} was dropped; the live generation is unchanged. Fix the cause, then rebuild again."
    return f"{name} is left unfinished; the live generation is unchanged. Remove it: siteglass index drop {name}"
