"""Walks that are sent with the asynchronous client: searches and enrichments."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
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
from siteglass_client.runs import Export, Output, Run


class AsyncSender(Protocol):
    """Sends a call until it is answered or given up."""

    async def __call__(self, call: Call) -> Answer: ...


async def _at_once(work: Callable[..., Any], *given: Any) -> Any:
    return work(*given)


class AsyncWalk(WalkPlan[Step]):
    """What searches and enrichments have in common. Each iteration is a new walk, and costs again."""

    _send: AsyncSender

    async def _drive(self, output: Output | None = None) -> AsyncGenerator[Step, None]:
        # What waits for a disk must not hold up the loop.
        files = output is not None or self._resume is not None
        do: Callable[..., Awaitable[Any]] = asyncio.to_thread if files else _at_once
        run: Run[Step] = await do(self._begin, output)
        try:
            call: Call | None = await do(run.first_call)
            while call is not None:
                try:
                    answer = await self._send(call)
                except ServiceError as error:
                    call = await do(run.refused, call, error)
                    continue
                step: Step = await do(run.took, answer)
                yield step
                call = await do(run.passed)
            await do(run.finish)
        finally:
            run.close()

    async def _write(self, output: Output, on_page: Callable[[Step], object] | None) -> None:
        async with aclosing(self._drive(output)) as steps:
            async for step in steps:
                if on_page is not None:
                    on_page(step)

    async def to_jsonl(
        self, path: str | os.PathLike[str], *, on_page: Callable[[Step], object] | None = None
    ) -> Export:
        """Walk, and write one JSON object a line; `on_page` is called with each page that is written."""
        await self._write(self._to_lines(path), on_page)
        return self._export(Path(path))

    async def to_csv(self, path: str | os.PathLike[str], *, on_page: Callable[[Step], object] | None = None) -> Export:
        """Walk, and write a table: UTF-8, lists with `; `, and no cell that a spreadsheet would run as a formula."""
        await self._write(self._to_table(path), on_page)
        return self._export(Path(path))

    async def to_parquet(
        self, path: str | os.PathLike[str], *, on_page: Callable[[Step], object] | None = None
    ) -> Export:
        """Walk, and write a Parquet file with typed columns; needs the extra `parquet`.

        Rows are gathered in `<path>.rows.jsonl` first, which stays as long as a resume file needs it.
        """
        load_package("pyarrow.parquet", "parquet")  # before anything is paid
        await self._write(self._to_lines(rows_path(Path(path)), flat=True), on_page)
        return await asyncio.to_thread(self._convert, Path(path))

    async def to_pandas(self) -> Any:
        """Walk, and return a pandas DataFrame; needs the extra `pandas`."""
        load_package("pandas", "pandas")  # before anything is paid
        return self._frame([row async for step in self._drive() for row in step.rows])

    async def price(self) -> Quote:
        """What the whole walk costs now; nothing is shown or charged."""
        raise NotImplementedError

    async def dry_run(self) -> Quote:
        """The old name of `price`."""
        warn_of_old("dry_run()", "price()")
        return await self.price()


class AsyncSearch(SearchPlan, AsyncWalk[Page]):
    """A search. Iterate over it for the leads of all pages, in their order."""

    def __init__(self, send: AsyncSender, *asked: Any) -> None:
        self._send = send
        super().__init__(*asked)

    async def __aiter__(self) -> AsyncGenerator[Lead, None]:
        async with aclosing(self.pages()) as pages:
            async for page in pages:
                for lead in page.leads:
                    yield lead

    def pages(self) -> AsyncGenerator[Page, None]:
        """Walk page by page."""
        return self._drive()

    async def interpret(self, *, strict: bool | None = None) -> Reading:
        """What the search means: every condition with the words that say it. Free.

        With `strict=False`, a search that `strict` would refuse is explained, too.
        """
        return Reading((await self._send(self._meaning_call(strict=strict))).body)

    async def facets(self, facets: Sequence[str] | None = None, *, size: int | None = None) -> Facets:
        """Count the leads by the values of fields, such as `country`, and price all of them. Free.

        `size` is the maximum number of values per facet. A facet ignores the search's conditions on its own field.
        """
        return Facets((await self._send(self._facets_call(facets, size))).body)

    async def diagnose(self) -> Diagnosis:
        """Show why the search finds few leads or none, and the smallest changes that give results. Free."""
        return Diagnosis((await self._send(self._diagnosis_call())).body)

    async def save(self, name: str, *, shared: bool = False) -> SavedSearch:
        """Save the search in the service under a name; with `shared`, all keys of the account see it. Free.

        Its limits and its resume file are not saved.
        """
        return SavedSearch((await self._send(self._saving_call(name, shared=shared))).body)

    async def count(self) -> int:
        """Count the leads that match. Free."""
        return (await self.interpret()).total_results

    async def price(self) -> Quote:
        """What the whole walk costs within its limits; nothing is shown or charged.

        It is exact unless `max_leads` cuts a walk of more than one page; leads that a plan does not charge again may
        make it cheaper.
        """
        one_page = self._price_call()
        if one_page is not None:
            return self._page_price((await self._send(one_page)).body)
        total = await self._send(self._meaning_call())
        payable = await self._send(self._meaning_call(with_address=True))
        estimated = total.total_estimated or payable.total_estimated
        return self._walk_price(total.body["total_results"], payable.body["total_results"], estimated=estimated)


class AsyncEnrichment(EnrichPlan, AsyncWalk[Batch]):
    """Domains to enrich. Iterate over it for one item per domain, in their order."""

    def __init__(self, send: AsyncSender, *asked: Any) -> None:
        self._send = send
        super().__init__(*asked)

    async def __aiter__(self) -> AsyncGenerator[Item, None]:
        async with aclosing(self.batches()) as batches:
            async for batch in batches:
                for item in batch.items:
                    yield item

    def batches(self) -> AsyncGenerator[Batch, None]:
        """Walk batch by batch; a batch is one call, and costs one API credit."""
        return self._drive()

    async def price(self) -> Quote:
        """What all of it costs now, asked batch by batch; nothing is shown or charged."""
        return self._price([(await self._send(call)).body for call in self._price_calls()])
