"""Page facts to leads and evidence, in Spark: one lead for each registrable domain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from siteglass.ingest.suppressed import Suppressed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """What a merge made."""

    leads: int
    evidence: int
    unchanged: int
    """Leads that say the same as those of the run before, and keep the time of their last change."""
    dropped: dict[str, int]
    """Domains that are no lead, by reason: parked, alias, noindex, no_page, name, suppressed."""


def merge(
    spark: SparkSession,
    facts: Path,
    out: Path,
    *,
    previous: Path | None = None,
    suppressed: Suppressed | None = None,
    parts: int | None = None,
) -> Merged:
    """Merge the files of facts in a folder into `out`/leads/*.parquet and `out`/evidence/*.parquet.

    Each file is sorted by domain, and a domain is in one of them: which, its name and the number of `parts` say. `out`
    takes its place when all is written. `previous` is such an `out` of the run before.
    """
    raise NotImplementedError
