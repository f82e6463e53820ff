"""Trades that the pipeline gives to labelled sites, as totals: the sets are locked, and no item is shown.

    python -m testing.trade_scores

A site counts as right if one of its labelled trades is among those given. A given trade is wrong unless it is labelled,
or wider or narrower than a labelled one: a search for the wider one finds both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from siteglass.corpus.domains import registrable
from siteglass.corpus.trade_rules import trades_of_lead
from siteglass.ingest.archives import read_archive
from siteglass.ingest.capture import Capture
from siteglass.query.trades import trades
from testing.pipeline_leads import leads_by_domain

LABELS = Path(__file__).parent / "corpus" / "trades"
REAL_PAGES = Path(__file__).parents[2] / "shared" / "data" / "real-pages" / "business_pages.warc.gz"
"""Not part of the project: beside its folder."""


class Score(NamedTuple):
    """Totals of a set."""

    sites: int
    labelled: int
    """Sites that have a trade."""
    right: int
    """Of these, sites of which a labelled trade was given."""
    related: int
    """Of these, sites that were given a trade which a search for a labelled one finds, or the other way round."""
    given: int
    wrong: int

    @property
    def precision(self) -> float:
        return 1 - self.wrong / max(1, self.given)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.labelled)

    def __str__(self) -> str:
        return (
            f"{self.sites} sites, {self.labelled} with a trade, {self.right} right (recall {self.recall:.3f}), "
            f"{self.related} at least related; {self.given} trades given, {self.wrong} wrong "
            f"(precision {self.precision:.3f})"
        )


Trades = Mapping[str, tuple[str, ...]]


def score(given: Trades, labels: Trades) -> Score:
    """Domain -> trades, of both."""
    right = related = wrong = 0
    for domain, true in labels.items():
        near = {other for one in true for other in (*trades().included(one), *trades().parents(one))}
        mine = given.get(domain, ())
        right += not set(true).isdisjoint(mine)
        related += not near.isdisjoint(mine)
        wrong += len(set(mine) - near)
    count = sum(len(given.get(domain, ())) for domain in labels)
    return Score(len(labels), sum(map(bool, labels.values())), right, related, count, wrong)


def trades_by_pages(captures: Iterable[Capture]) -> tuple[Trades, Trades]:
    """Trades of each domain, by extraction and merge, and by the lead record alone, as the loader reads them."""
    leads = list(leads_by_domain(captures).values())
    merged = {lead.domain: lead.trades for lead in leads}
    return merged, {lead.domain: tuple(one.trade for one in trades_of_lead(lead)) for lead in leads}


def _rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]


def made_up_scores() -> tuple[Score, Score]:
    """Of the 100 pages in testing/corpus/trades/pages: by the pipeline, and by lead records alone."""
    rows = _rows(LABELS / "pages" / "labels.tsv")
    labels = {row[2]: tuple(one for one in row[3].split(",") if one != "-") for row in rows}
    captures = [
        Capture(
            url=f"https://{row[2]}/",
            captured_at_ms=0,
            status=200,
            headers=(("content-type", "text/html; charset=utf-8"),),
            body=(LABELS / "pages" / row[0]).read_bytes(),
        )
        for row in rows
    ]
    merged, by_record = trades_by_pages(captures)
    return score(merged, labels), score(by_record, labels)


def real_scores(archive: Path = REAL_PAGES) -> tuple[Score, Score]:
    """Of real businesses: by the pipeline, and by lead records alone."""
    rows = _rows(LABELS / "real_pages.tsv")
    labels = {registrable(row[0]): tuple(one for one in row[2].split(",") if one != "-") for row in rows}
    merged, by_record = trades_by_pages(item for item in read_archive(archive) if isinstance(item, Capture))
    return score(merged, labels), score(by_record, labels)


if __name__ == "__main__":
    for name, scores in (("made-up pages", made_up_scores()), ("real pages", real_scores())):
        for way, total in zip(("pipeline", "record"), scores, strict=True):
            print(f"{name}, {way}: {total}")
