"""Files of leads into a lead store without engines: numbers come from the test."""

from __future__ import annotations

import itertools
from pathlib import Path

from siteglass.corpus.lead_store import (
    IncomingFile,
    KnownDomains,
    StoredFile,
    as_parquet,
    highest_number,
    incoming_file,
    look_up,
    note_domains,
    write_stored,
)


def entered(source: Path | IncomingFile, store: Path) -> StoredFile:
    """The file in the store, its new domains numbered from the highest number of the store."""
    store.mkdir(exist_ok=True)
    incoming, known = source if isinstance(source, IncomingFile) else incoming_file(source, store), KnownDomains()
    with as_parquet(incoming) as (parquet, rejects):
        note_domains(parquet, known, numbered=incoming.is_stored)
        look_up(store, known)
        new = zip(known.without_number(), itertools.count(highest_number(store) + 1), strict=False)
        return write_stored(incoming, parquet, rejects, known, known.numbers | dict(new))
