"""What the tools answer; their output schemas are made from these. What is None is left out of an answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Value = str | int | float | bool | list[str] | dict[str, str]
Row = dict[str, Value]
Stop = Literal["end", "max_tokens", "max_leads", "max_lead_credits", "session_ceiling", "failure", "price"]


class Part(BaseModel):
    """What all models have in common."""

    model_config = ConfigDict(extra="forbid")


class Price(Part):
    """What something costs before it is done."""

    lead_credits: int
    api_credits: int
    exact: bool = Field(description="false: at most this")


class Credits(Part):
    """What this answer cost, and what is left."""

    lead_used: int
    api_used: int
    lead_left: int | None = None
    api_left: int | None = None
    session_lead_left: Annotated[int | None, Field(description="Left in the budget of this server")] = None


class Rows(Part):
    """What `search` and `enrich` have in common."""

    stopped: Stop = Field(description="Why there are no more rows in this response")
    credits: Credits
    price: Annotated[Price | None, Field(description="Only if nothing was bought")] = None
    values_cut: Annotated[int, Field(description="Values that end in … because they were too long")] = 0
    waiting: Annotated[int, Field(description="Rows that are already paid for and come first with `next`")] = 0
    next: Annotated[str | None, Field(description="Pass it as `cursor` to continue")] = None
    say: str = Field(description="What to do next")


class SearchAnswer(Rows):
    """Leads of a search."""

    reading: Annotated[
        str | None, Field(description="How the search was interpreted, with words that were corrected or not used")
    ] = None
    total_results: int | None = None
    leads: list[Row]


class EnrichAnswer(Rows):
    """What is known of domains, in their order."""

    found: Annotated[int | None, Field(description="Domains found; only with a price")] = None
    items: list[Row]


class CountAnswer(Part):
    """How many leads match."""

    total_results: int


class Condition(Part):
    """A condition, and the words that say it."""

    directive: str
    words: str
    confidence: float


class InterpretAnswer(Part):
    """What a search means."""

    total_results: int
    confidence: float
    read_back: str = Field(description="The search as an English sentence; show it to people")
    directives: str = Field(
        description="The search as directives; pass it as `wrapped_query` to run exactly this search"
    )
    not_understood: list[str] = Field(description="Words that are not a condition of the search, and why")
    conditions: list[Condition]
    assumed: list[str]
    corrected: list[str]
    other_readings: list[str]
    say: str


class FacetCount(Part):
    """A value, and how many leads have it."""

    value: str
    name: str | None = None
    count: int
    lift: Annotated[float | None, Field(description="How many times more frequent than among all leads")] = None


class FacetAnswer(Part):
    """The leads by the values of one field."""

    facet: str
    counts: list[FacetCount]
    more: bool = Field(description="Leads have other values, too")
    estimated: bool


class FacetsAnswer(Part):
    """The leads of a search by the values of fields."""

    total_results: int
    with_email: int = Field(description="Lead credits that all leads cost together")
    already_paid: Annotated[int | None, Field(description="Leads of these that the account paid for before")] = None
    facets: list[FacetAnswer]


class Effect(Part):
    """A condition, and what it does to the search."""

    directive: str
    matches: Annotated[int | None, Field(description="Leads that meet it alone")] = None
    removes: Annotated[int | None, Field(description="Leads that the search finds without it")] = None


class Change(Part):
    """A change that gives the search results."""

    change: str
    total_results: int
    filters: dict[str, Value] = Field(description="The changed search; pass it as `filters`")


class DiagnoseAnswer(Part):
    """Why a search finds few leads or none."""

    total_results: int | None = None
    changes: list[Change] = Field(description="The smallest changes that give results")
    notes: list[str]
    conditions: list[Effect]


class KeptList(Part):
    """A list of domains."""

    name: str
    domains: int = Field(description="How many it has")
    built_in: bool


class ListsAnswer(Part):
    """The lists of the account."""

    lists: list[KeptList]
    more: bool = Field(description="There are more: raise max_tokens")


class ListAnswer(Part):
    """A list after a change."""

    name: str
    domains: int = Field(description="How many it has now")
    added: int
    removed: int
    not_domains: list[str] = Field(description="Texts that are not domains, the first ones")


class KeptSearch(Part):
    """A saved search; pass its parts to `search`."""

    name: str
    query: str | None = None
    filters: dict[str, Value]
    wrapped_query: str | None = None
    sort: str | None = None
    shared: bool
    last_total: Annotated[int | None, Field(description="Matches at the last count")] = None


class SaveAnswer(Part):
    """A search that was saved."""

    name: str
    shared: bool


class SavedAnswer(Part):
    """The saved searches that the key sees."""

    searches: list[KeptSearch]
    more: bool = Field(description="There are more: raise max_tokens")


class SavedCountAnswer(Part):
    """How many leads match a saved search."""

    total_results: int
    last_total: Annotated[int | None, Field(description="Matches at the last count")] = None
    last_counted_at: str | None = None


class KeptWatch(Part):
    """A saved search that runs again and reports what is new."""

    search: str
    every: str
    weekday: str | None = None
    hour: int
    time_zone: str
    paused: bool
    last_run_at: str | None = None
    next_run_at: str | None = None


class WatchesAnswer(Part):
    """The watches that the key sees."""

    watches: list[KeptWatch]
    more: bool = Field(description="There are more: raise max_tokens")


class KeptRun(Part):
    """A run of a watch."""

    run: int
    ran_at: str
    outcome: str
    matches: int
    new_leads: int
    list: Annotated[str | None, Field(description="The new leads, for `only_lists` of `search`")] = None


class RunsAnswer(Part):
    """The runs of a watch, the newest first."""

    runs: list[KeptRun]
    more: bool = Field(description="There are more: raise max_tokens")


class KnownValue(Part):
    """A value that a filter takes."""

    value: str
    name: str
    matched: str | None = None


class ValuesAnswer(Part):
    """Values of a field."""

    field: str
    values: list[KnownValue]
    more: bool = Field(description="There are more: pass a longer text")


class AccountAnswer(Part):
    """Balances and limits."""

    account: str
    plan: str
    lead_credits: int
    api_credits: int
    lead_credit_price: str
    api_credit_price: str
    currency: str
    requests_per_second: float
    key_name: str
    key_scopes: list[str]
    key_daily_lead_credits: int | None = None
    key_daily_api_credits: int | None = None
    key_lead_credits_today: int
    key_api_credits_today: int
    free_again_hours: Annotated[int | None, Field(description="A lead paid for within this many hours is free")] = None
    session_ceiling: Annotated[
        int | None, Field(description="Maximum credits of each kind that this server may spend")
    ] = None
    session_lead_spent: int
    session_api_spent: int
