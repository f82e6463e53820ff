"""The country that the words near a number name, where a page lists offices of several countries."""

from __future__ import annotations

from functools import lru_cache

from siteglass.ingest.extract.gazetteer import country_named
from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.surroundings import PageSurroundings
from siteglass.ingest.extract.written_address import addresses_by_line
from siteglass.query.vocabulary import vocabulary

MAX_LINES_ABOVE = 6
MAX_NAME_CHARS = 40
MIN_NAME_CHARS = 4
_ABBREVIATIONS = frozenset(("USA", "U.S.A", "UAE", "U.A.E", "UK", "U.K"))


def region_near(page: Page, around: PageSurroundings, offset: int) -> tuple[str, ...]:
    """Alpha-2 of the country that the lines above a number name, alone or in an address; () if they name none."""
    layout = page.layout
    if not layout.lines:
        return ()
    number = layout.line_at(offset)
    addresses = addresses_by_line(page)
    first = max(0, number - MAX_LINES_ABOVE)
    for line in range(number, first - 1, -1):
        if country := addresses.get(line) or _country_of(layout.texts[line], is_own=line == number):
            return _alpha2(country)
    return _alpha2(_country_of(layout.lines[number].heading, is_own=False))


def _alpha2(country: str) -> tuple[str, ...]:
    code = vocabulary().country_alpha2(country) if country else None
    return (code,) if code else ()


@lru_cache(maxsize=8_192)
def _country_of(line: str, *, is_own: bool) -> str:
    """Of "Österreich", "Deutschland:", "Austria office" or "12 High Street, London, England"."""
    if is_own:
        line = line.partition(":")[0]
    elif len(line) > MAX_NAME_CHARS:
        line = line.rpartition(",")[2]
    for piece in (line, line.rpartition(",")[2], line.partition(" ")[0]):
        name = piece.strip(" .:-–|")
        is_name = MIN_NAME_CHARS <= len(name) <= MAX_NAME_CHARS and name[0].isupper()
        if (is_name or name in _ABBREVIATIONS) and (found := country_named(name)):
            return found
    return ""
