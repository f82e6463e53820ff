"""Walks that are sent with the synchronous client: searches and enrichments."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from siteglass_client.answers import Answer, Batch, Page, Quote
from siteglass_client.calls import Call
from siteglass_client.deprecated import warn_of_old
from siteglass_client.errors import ServiceError
from siteglass_client.items import Item
from siteglass_client.messages import Diagnosis, Facets, Lead, Reading, SavedSearch
from siteglass_client.parquet import load_package
from siteglass_client.plans import EnrichPlan, SearchPlan, Step, WalkPlan, rows_path
from siteglass_client.runs import Export, Output


class Sender(Protocol):
    """Sends a call until it is answered or given up."""

    def __call__(self, call: Call) -> Answer: ...


class Walk(WalkPlan[Step]):
    """What searches and enrichments have in common. Each iteration is a new walk, and costs again."""

    _send: Sender

    def _drive(self, output: Output | None = None) -> Iterator[Step]:
        run = self._begin(output)
        try:
            call = run.first_call()
            while call is not None:
                try:
                    answer = self._send(call)
                except ServiceError as error:
                    call = run.refused(call, error)
                    continue
                yield run.took(answer)
                call = run.passed()
            run.finish()
        finally:
            run.close()

    def _write(self, output: Output, on_page: Callable[[Step], object] | None) -> None:
        for step in self._drive(output):
            if on_page is not None:
                on_page(step)

    def to_jsonl(self, path: str | os.PathLike[str], *, on_page: Callable[[Step], object] | None = None) -> Export:
        """Walk, and write one JSON object a line; `on_page` is called with each page that is written."""
        self._write(self._to_lines(path), on_page)
        return self._export(Path(path))

    def to_csv(self, path: str | os.PathLike[str], *, on_page: Callable[[Step], object] | None = None) -> Export:
        """Walk, and write a table: UTF-8, lists with `; `, and no cell that a spreadsheet would run as a formula."""
        self._write(self._to_table(path), on_page)
        return self._export(Path(path))

    def to_parquet(self, path: str | os.PathLike[str], *, on_page: Callable[[Step], object] | None = None) -> Export:
        """Walk, and write a Parquet file with typed columns; needs the extra `parquet`.

        Rows are gathered in `<path>.rows.jsonl` first, which stays as long as a resume file needs it.
        """
        load_package("pyarrow.parquet", "parquet")  # before anything is paid
        self._write(self._to_lines(rows_path(Path(path)), flat=True), on_page)
        return self._convert(Path(path))

    def to_pandas(self) -> Any:
        """Walk, and return a pandas DataFrame; needs the extra `pandas`."""
        load_package("pandas", "pandas")  # before anything is paid
        return self._frame([row for step in self._drive() for row in step.rows])

    def price(self) -> Quote:
        """What the whole walk costs now; nothing is shown or charged."""
        raise NotImplementedError

    def dry_run(self) -> Quote:
        """The old name of `price`."""
        warn_of_old("dry_run()", "price()")
        return self.price()


class Search(SearchPlan, Walk[Page]):
    """A search. Iterate over it for the leads of all pages, in their order."""

    def __init__(self, send: Sender, *asked: Any) -> None:
        self._send = send
        super().__init__(*asked)

    def __iter__(self) -> Iterator[Lead]:
        for page in self.pages():
            yield from page.leads

    def pages(self) -> Iterator[Page]:
        """Walk page by page."""
        return self._drive()

    def interpret(self, *, strict: bool | None = None) -> Reading:
        """What the search means: every condition with the words that say it. Free.

        With `strict=False`, a search that `strict` would refuse is explained, too.
        """
        return Reading(self._send(self._meaning_call(strict=strict)).body)

    def facets(self, facets: Sequence[str] | None = None, *, size: int | None = None) -> Facets:
        """Count the leads by the values of fields, such as `country`, and price all of them. Free.

        `size` is the maximum number of values per facet. A facet ignores the search's conditions on its own field.
        """
        return Facets(self._send(self._facets_call(facets, size)).body)

    def diagnose(self) -> Diagnosis:
        """Show why the search finds few leads or none, and the smallest changes that give results. Free."""
        return Diagnosis(self._send(self._diagnosis_call()).body)

    def save(self, name: str, *, shared: bool = False) -> SavedSearch:
        """Save the search in the service under a name; with `shared`, all keys of the account see it. Free.

        Its limits and its resume file are not saved.
        """
        return SavedSearch(self._send(self._saving_call(name, shared=shared)).body)

    def count(self) -> int:
        """Count the leads that match. Free."""
        return self.interpret().total_results

    def price(self) -> Quote:
        """What the whole walk costs within its limits; nothing is shown or charged.

        It is exact unless `max_leads` cuts a walk of more than one page; leads that a plan does not charge again may
        make it cheaper.
        """
        one_page = self._price_call()
        if one_page is not None:
            return self._page_price(self._send(one_page).body)
        total = self._send(self._meaning_call())
        payable = self._send(self._meaning_call(with_address=True))
        estimated = total.total_estimated or payable.total_estimated
        return self._walk_price(total.body["total_results"], payable.body["total_results"], estimated=estimated)


class Enrichment(EnrichPlan, Walk[Batch]):
    """Domains to enrich. Iterate over it for one item per domain, in their order."""

    def __init__(self, send: Sender, *asked: Any) -> None:
        self._send = send
        super().__init__(*asked)

    def __iter__(self) -> Iterator[Item]:
        for batch in self.batches():
            yield from batch.items

    def batches(self) -> Iterator[Batch]:
        """Walk batch by batch; a batch is one call, and costs one API credit."""
        return self._drive()

    def price(self) -> Quote:
        """What all of it costs now, asked batch by batch; nothing is shown or charged."""
        return self._price([self._send(call).body for call in self._price_calls()])
