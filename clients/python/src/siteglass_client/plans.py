"""What both clients share of searches and enrichments: everything but sending. No network here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from siteglass_client.answers import Batch, Page, Quote
from siteglass_client.batches import EnrichWalk
from siteglass_client.calls import (
    DIAGNOSE_PATH,
    FACETS_PATH,
    INTERPRET_PATH,
    MAX_LIMIT,
    SEARCH_PATH,
    SEARCHES_PATH,
    Call,
    post,
    search_body,
)
from siteglass_client.errors import SiteglassError
from siteglass_client.filters import Filters
from siteglass_client.messages import SavedSearch
from siteglass_client.outputs import Csv, Form, JsonLines
from siteglass_client.parquet import convert, load_package
from siteglass_client.runs import Export, HasRows, Output, Row, Run, fingerprint
from siteglass_client.walk import SearchWalk, Steps

LEAD_COLUMNS = (
    "domain",
    "business_name",
    "title",
    "description",
    "emails",
    "phones",
    "language",
    "spending",
    "country",
    "state",
    "city",
    "technologies",
    "links",
    "score",
    "social_links",
    "crawled_at",
    "favicon",
)
COMPANY_COLUMNS = (
    "title",
    "url",
    "description",
    "emails",
    "phones",
    "language",
    "spending",
    "country",
    "state",
    "city",
    "technologies",
    "keywords",
    "pages",
    "score",
    "social_accounts",
    "updated_at",
    "crawled_at",
)

Step = TypeVar("Step", bound=HasRows)


class WalkPlan(Generic[Step]):
    """A walk that can be started: iterated, or written to a file."""

    _columns: Sequence[str] = ()
    _more_numbers: frozenset[str] = frozenset()

    def __init__(self, asked: Mapping[str, Any], resume: str | os.PathLike[str] | None) -> None:
        self._asked = asked
        self._resume = None if resume is None else Path(resume)
        self._run: Run[Step] | None = None
        self._earlier_credits = 0
        self._earlier_api_credits = 0

    def _new_steps(self) -> Steps[Step]:
        raise NotImplementedError

    def _flat(self, row: Row) -> Row:
        """A row as columns."""
        return row

    def _begin(self, output: Output | None) -> Run[Step]:
        if self._resume is None:  # what a resume file counts, it counts itself
            self._earlier_credits, self._earlier_api_credits = self.credits_used, self.api_credits_used
        self._run = None
        self._run = Run(self._new_steps(), {"asked": fingerprint(self._asked)}, self._resume, output)
        return self._run

    @property
    def credits_used(self) -> int:
        """Lead credits that this has cost so far, earlier runs of the same resume file included."""
        return self._earlier_credits + (0 if self._run is None else self._run.steps.credits)

    @property
    def api_credits_used(self) -> int:
        """API credits that this has cost so far."""
        return self._earlier_api_credits + (0 if self._run is None else self._run.steps.api_credits)

    @property
    def rows_done(self) -> int:
        """Rows that have come, earlier runs of the same resume file included."""
        return 0 if self._run is None else self._run.steps.rows

    @property
    def stopped(self) -> str | None:
        """Why the walk is over: `end`, `max_leads`, `max_lead_credits`; None while it is not."""
        return None if self._run is None else self._run.steps.stopped

    def _to_lines(self, path: str | os.PathLike[str], *, flat: bool = False) -> Output:
        return Output(Path(path), JsonLines(), self._flat if flat else _as_it_is)

    def _to_table(self, path: str | os.PathLike[str]) -> Output:
        form: Form = Csv(self._columns)
        return Output(Path(path), form, self._flat)

    def _convert(self, path: Path) -> Export:
        """The rows that were gathered become a Parquet file. With a resume file they stay: they belong to it."""
        rows = rows_path(path)
        convert(rows, path, self._columns, self._more_numbers)
        if self._resume is None:
            rows.unlink()
        return self._export(path)

    def _frame(self, rows: Sequence[Row]) -> Any:
        """A DataFrame of rows."""
        flat = [self._flat(row) for row in rows]
        columns = list(dict.fromkeys([*self._columns, *(name for row in flat[:1] for name in row)]))
        return load_package("pandas", "pandas").DataFrame(flat, columns=columns)

    def _export(self, path: Path) -> Export:
        return Export(path, self.rows_done, self.credits_used, self.api_credits_used, self.stopped or "end")


def rows_path(path: Path) -> Path:
    """Where the rows of a Parquet file are gathered; such a file cannot be cut and continued."""
    return path.with_name(path.name + ".rows.jsonl")


def _as_it_is(row: Row) -> Row:
    return row


class SearchPlan(WalkPlan[Page]):
    """A search and its limits."""

    def __init__(
        self,
        query: str | None,
        filters: Filters | Mapping[str, Any] | None,
        wrapped_query: str | None,
        select: Sequence[str] | None,
        sort: str | None,
        strict: bool,
        require: Sequence[str] | None,
        limit: int,
        max_leads: int | None,
        max_lead_credits: int | None,
        resume: str | os.PathLike[str] | None,
    ) -> None:
        if isinstance(select, str):
            raise TypeError("select must be a list of names, not a string")
        if isinstance(require, str):
            raise TypeError("require must be a list of words, not a string")
        if not 1 <= limit <= MAX_LIMIT:
            raise ValueError(f"limit (leads per page) must be from 1 to {MAX_LIMIT}, but is {limit}")
        _check_not_negative(max_leads=max_leads, max_lead_credits=max_lead_credits)
        self._body = search_body(query, filters, wrapped_query, select, sort, strict, require)
        self._limit = limit
        self._max_leads = max_leads
        self._max_lead_credits = max_lead_credits
        if select is None:
            self._columns = LEAD_COLUMNS
        else:
            self._columns = tuple(dict.fromkeys([*select, "crawled_at"]))
        super().__init__(self._body, resume)

    def __repr__(self) -> str:
        limits = f"max_leads={self._max_leads}, max_lead_credits={self._max_lead_credits}"
        return f"{type(self).__name__}({self._body!r}, {limits})"

    def _new_steps(self) -> SearchWalk:
        left = None if self._max_lead_credits is None else max(0, self._max_lead_credits - self._earlier_credits)
        return SearchWalk(self._body, limit=self._limit, max_leads=self._max_leads, max_lead_credits=left)

    @property
    def total_results(self) -> int | None:
        """Leads that match, as the last page said; None before the first page."""
        steps = None if self._run is None else self._run.steps
        return steps.total_results if isinstance(steps, SearchWalk) else None

    @property
    def hint(self) -> str | None:
        """If the search found no lead: the smallest change that gives it results, where one change is enough."""
        steps = None if self._run is None else self._run.steps
        return steps.hint if isinstance(steps, SearchWalk) else None

    def _facets_call(self, facets: Sequence[str] | None, size: int | None) -> Call:
        if isinstance(facets, str):
            raise TypeError("facets must be a list of names, not a string")
        wanted = {"facets": None if facets is None else list(facets), "size": size}
        return post(FACETS_PATH, {**self._body, **{name: value for name, value in wanted.items() if value is not None}})

    def _diagnosis_call(self) -> Call:
        return post(DIAGNOSE_PATH, self._body)

    def _saving_call(self, name: str, *, shared: bool) -> Call:
        return post(SEARCHES_PATH, {"name": name, "search": self._body, "shared": shared})

    def _meaning_call(self, *, with_address: bool = False, strict: bool | None = None) -> Call:
        body = {**self._body, "has_email": True} if with_address else self._body
        return post(INTERPRET_PATH, body if strict is None else {**body, "strict": strict})

    def _price_call(self) -> Call | None:
        """The dry run that returns the exact price, if the run is a single page."""
        if self._max_leads is None or not 1 <= self._max_leads <= MAX_LIMIT:
            return None
        return post(SEARCH_PATH, {**self._body, "limit": self._max_leads, "dry_run": True})

    def _page_price(self, told: Mapping[str, Any]) -> Quote:
        return self._within_budget(told["lead_credits"], told["total_results"], exact=True)

    def _walk_price(self, total: int, with_address: int, *, estimated: bool) -> Quote:
        """The price of a whole walk: a lead credit for each lead that has an address."""
        leads = with_address if self._max_leads is None else min(with_address, self._max_leads)
        return self._within_budget(leads, total, exact=leads == with_address and not estimated)

    def _within_budget(self, lead_credits: int, total: int, *, exact: bool) -> Quote:
        most = lead_credits if self._max_lead_credits is None else min(lead_credits, self._max_lead_credits)
        return Quote(most, 0, total, exact)


def saved_plan(
    searches: Iterable[SavedSearch],
    name: str,
    max_leads: int | None,
    max_lead_credits: int | None,
    resume: str | os.PathLike[str] | None,
) -> tuple[Any, ...]:
    """What `SearchPlan` takes for the saved search of this name."""
    saved = next((each for each in searches if each.name == name), None)
    if saved is None:
        raise SiteglassError(f"There is no saved search {name!r} that this key sees. Check the name.")
    body = dict(saved.search)
    select, limit = body.pop("select", None), body.pop("limit", None) or MAX_LIMIT
    return None, body, None, select, None, False, None, limit, max_leads, max_lead_credits, resume


class EnrichPlan(WalkPlan[Batch]):
    """Domains to enrich, and the budget."""

    _more_numbers = frozenset({"spending"})

    def __init__(
        self,
        domains: Iterable[str],
        select: Sequence[str] | None,
        max_lead_credits: int | None,
        resume: str | os.PathLike[str] | None,
    ) -> None:
        if isinstance(domains, str) or isinstance(select, str):
            raise TypeError("domains and select must be lists, not strings")
        _check_not_negative(max_lead_credits=max_lead_credits)
        self._domains = list(domains)
        if not all(isinstance(domain, str) for domain in self._domains):
            raise TypeError("every domain must be a string")
        self._select = None if select is None else list(select)
        self._max_lead_credits = max_lead_credits
        shown = COMPANY_COLUMNS if select is None else select
        self._columns = tuple(dict.fromkeys(["domain", "status", "message", "found_domain", *shown]))
        super().__init__({"domains": self._domains, "select": self._select}, resume)

    def __len__(self) -> int:
        return len(self._domains)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self._domains)} domains, max_lead_credits={self._max_lead_credits})"

    def _new_steps(self) -> EnrichWalk:
        left = None if self._max_lead_credits is None else max(0, self._max_lead_credits - self._earlier_credits)
        return EnrichWalk(self._domains, self._select, left)

    def _flat(self, row: Row) -> Row:
        data = dict(row.get("data", {}))
        head = {"domain": row["domain"], "status": row["status"], "message": row.get("message", "")}
        return {**head, "found_domain": data.pop("domain", ""), **data}

    def _price_calls(self) -> list[Call]:
        return EnrichWalk(self._domains, None, None).price_calls()

    def _price(self, told: Sequence[Mapping[str, Any]]) -> Quote:
        lead, api, found = (sum(each[name] for each in told) for name in ("lead_credits", "api_credits", "found"))
        most = lead if self._max_lead_credits is None else min(lead, self._max_lead_credits)
        return Quote(most, api, found, exact=most == lead)


def _check_not_negative(**limits: int | None) -> None:
    for name, value in limits.items():
        if value is not None and value < 0:
            raise ValueError(f"{name} must not be negative, but is {value}")
