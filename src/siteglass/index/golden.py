"""Golden domains and queries: a file of what every generation must have, and queries made from the live one's leads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median_low
from typing import Annotated, Any

import msgspec

from siteglass.errors import BadRequest
from siteglass.index import generations
from siteglass.query.body import read_meaning
from siteglass.query.criteria import Condition, Criteria, Range, criteria
from siteglass.query.fields import FILTERS
from siteglass.query.vocabulary import vocabulary

MAX_DOMAINS, MAX_QUERIES = 10_000, 1_000
_TEXTS = ("query", "wrapped_query")
_WORD = re.compile(r"[a-z]{4,}")


class GoldenQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A search, as its body is sent, and how many leads it must find."""

    search: dict[str, Any]
    least: int = 1
    most: int | None = None
    name: str = ""


class GoldenSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a generation must have to be promoted."""

    domains: Annotated[tuple[str, ...], msgspec.Meta(max_length=MAX_DOMAINS)] = ()
    queries: Annotated[tuple[GoldenQuery, ...], msgspec.Meta(max_length=MAX_QUERIES)] = ()

    def compiled(self, now_ms: int) -> list[tuple[str, GoldenQuery, Criteria]]:
        """Each query with its name and its meaning; raises GenerationError if one cannot be read."""
        found = []
        for number, query in enumerate(self.queries):
            unknown = [name for name in query.search if name not in FILTERS and name not in _TEXTS]
            if unknown:
                raise generations.GenerationError(f"queries[{number}].search: {unknown[0]}: not a search filter")
            try:
                meaning = read_meaning(query.search, now_ms).criteria
            except BadRequest as error:
                raise generations.GenerationError(f"queries[{number}].search: {error}") from None
            found.append((query.name or msgspec.json.encode(query.search).decode(), query, meaning))
        return found


def read_golden(path: Path, now_ms: int) -> GoldenSet:
    """A golden file; raises GenerationError that names the file and the field."""
    try:
        golden = msgspec.json.decode(path.read_bytes(), type=GoldenSet)
        golden.compiled(now_ms)
    except (msgspec.DecodeError, generations.GenerationError) as error:
        raise generations.GenerationError(f"{path}: {error}") from None
    return golden


def queries_of(records: Iterable[dict[str, Any]]) -> list[Criteria]:
    """A handful of queries on what is frequent among these leads: one for each way that leads are found by."""
    return [criteria([condition]) for condition in _conditions(list(records))]


def _conditions(records: list[dict[str, Any]]) -> Iterator[Condition]:
    if country := _commonest(record["country"] for record in records):
        yield Condition("country", (country,))
        if region := vocabulary().region_of(country):
            yield Condition("region", (region,))
    if technology := _commonest(name for record in records for name in record["technologies"]):
        yield Condition("technologies", (technology,))
    if language := _commonest(record["language"] for record in records):
        yield Condition("language", (language,))
    if word := _commonest(word for record in records for word in set(_WORD.findall(record["title"].lower()))):
        yield Condition("keywords", (word,))
    if scores := [record["score"] for record in records if record["score"] is not None]:
        yield Condition("score", (Range(median_low(scores), None),))
    if any(record["emails"] for record in records):
        yield Condition("has_email")


def _commonest(values: Iterable[str]) -> str:
    """The value that most leads have; "" if they have none."""
    counted = Counter(value for value in values if value)
    return counted.most_common(1)[0][0] if counted else ""
