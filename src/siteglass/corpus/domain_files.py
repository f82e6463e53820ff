"""Files of domains, one per line, such as the operator's list of those that must not be fetched."""

from __future__ import annotations

from pathlib import Path

from siteglass.corpus.domains import NotAHost, normalise
from siteglass.settings import Settings, SettingsError, variable

MAX_LIST_BYTES = 100_000_000


def read_domains(path: Path, what: str) -> frozenset[str]:
    """The domains of a file, one per line; blank lines and comments are left out. Raises SettingsError.

    One that cannot be read is an error: to leave it out would mean to fetch what was excluded.
    """
    if path.stat().st_size > MAX_LIST_BYTES:
        raise SettingsError(f"{what}: {path} has more than {MAX_LIST_BYTES} bytes. Split it.")
    domains = set()
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        text = line.partition("#")[0].strip()
        if text:
            try:
                domains.add(normalise(text))
            except NotAHost as error:
                raise SettingsError(f"{what}: {path}, line {number}: {text[:100]!r} {error}.") from None
    return frozenset(domains)


def excluded_domains(settings: Settings) -> frozenset[str]:
    """The domains that the operator excludes, with all that belong to them. Raises SettingsError and OSError."""
    path = settings.crawl_excluded
    return read_domains(Path(path), variable("crawl_excluded")) if path else frozenset()
