"""Operation: leads of some domains into every generation that takes writes, without those that are gone.

What is written and deleted carries the time of the newest fact as its version, so an older update changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from siteglass.corpus.lead_files import count_leads, read_parquet
from siteglass.corpus.lead_store import StoredFile
from siteglass.index import generations
from siteglass.index.documents import bulk_delete_line
from siteglass.index.entry import enter_store
from siteglass.index.expiry import oldest_fact_ms
from siteglass.index.index import Index
from siteglass.index.load import LoadReport, load
from siteglass.index.rebuild import further
from siteglass.index.sampling import stored_versions
from siteglass.index.verification import Check, Report, Tolerances, such_as
from siteglass.index.writing import write
from siteglass.platform.progress import progress
from siteglass.suppression.entries import among
from siteglass.suppression.redaction import names

DELETIONS_AT_ONCE = 5_000
MIN_DELETIONS = 20
"""So many leads may be gone whatever the index has."""
MAX_CHECKED = 50_000


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What became of an update."""

    files: list[StoredFile]
    loaded: LoadReport
    report: Report


async def update(
    index: Index, sources: Sequence[Path], gone: Mapping[str, int], tolerances: Tolerances
) -> UpdateReport:
    """Write the leads of these files, delete the domains that are gone, with their versions, and check the result.

    Raises GenerationError, and writes nothing, if too many leads would be deleted.
    """
    live = await generations.live(index)
    if live is None:
        raise generations.GenerationError(
            "No generation is live. Make one of the whole store: siteglass ingest rebuild"
        )
    await _check_deletions(index, live, gone, tolerances)
    loaded = LoadReport()
    stored = await enter_store(index, sources)
    with progress("Loading", sum(count_leads(file.path) for file in stored)) as advance_to:
        for file in stored:
            loaded.add(await load(index, file.path, further(advance_to, loaded.read)))
    await _delete(index, gone, loaded)
    targets = await generations.require_writable(index)
    await generations.refresh(index, targets)
    checks = [await _written_check(index, live, [file.path for file in stored]), await _gone_check(index, live, gone)]
    return UpdateReport(stored, loaded, Report(live, None, checks))


async def _check_deletions(index: Index, live: str, gone: Mapping[str, int], tolerances: Tolerances) -> None:
    present = await stored_versions(index, live, sorted(gone))
    count = await generations.count(index, live, {"match_all": {}})
    most = max(MIN_DELETIONS, count * tolerances.most_gone_percent / 100)
    if len(present) > most:
        raise generations.GenerationError(
            f"{len(present):,} of the {count:,} live leads would be deleted, since their pages are gone"
            f"{such_as(sorted(present))}. That is more than {tolerances.most_gone_percent:g} %, so nothing was "
            "written. Check the archives: a crawler that was blocked may have stored errors. If they are right, run "
            "the command again with a higher --most-gone."
        )


async def _delete(index: Index, gone: Mapping[str, int], loaded: LoadReport) -> None:
    lines = [bulk_delete_line(domain, version) for domain, version in sorted(gone.items())]
    for start in range(0, len(lines), DELETIONS_AT_ONCE):
        written: set[str] = set()
        # Asked again after each write: a generation may have been opened meanwhile.
        while missing := [name for name in await generations.require_writable(index) if name not in written]:
            await write(index, missing[0], lines[start : start + DELETIONS_AT_ONCE], loaded)
            written.add(missing[0])


async def _written_check(index: Index, live: str, files: Sequence[Path]) -> Check:
    """Every lead, of very many the first ones, is there as new, or it may not be: its domain has opted out, or it is
    too old."""
    oldest_ms = oldest_fact_ms(index.settings, index.clock.now_ms()) or 0
    every = chain.from_iterable(leads for path in files for _, leads in read_parquet(path))
    young = (lead for lead in every if lead.version >= oldest_ms)
    versions = {lead.domain: lead.version for lead in islice(young, MAX_CHECKED)}
    stored = await stored_versions(index, live, sorted(versions))
    missing = [domain for domain, version in versions.items() if stored.get(domain, -1) < version]
    listed = (await among(index.postgres, {name for domain in missing for name in names(domain)}, ())).domains
    missing = [domain for domain in missing if listed.isdisjoint(names(domain))]
    found = f"{len(missing):,} missing or older{such_as(missing)}"
    return Check("written leads", f"all of {len(versions):,} leads", found, not missing)


async def _gone_check(index: Index, live: str, gone: Mapping[str, int]) -> Check:
    """No lead that is gone is there, but one that is newer, as an imported one may be."""
    stored = await stored_versions(index, live, sorted(gone)[:MAX_CHECKED])
    left = [domain for domain, version in stored.items() if version <= gone[domain]]
    return Check("deleted leads", f"none of {len(gone):,} domains", f"{len(left):,} left{such_as(left)}", not left)
