"""The search that an address holds: words, and what was changed of their meaning by chips and facets.

    /dashboard/explore?q=dentists+in+Austin&drop=@city(Austin)&add=@technology(Wix)

The words are read each time. `drop` names conditions of the words that are left out, `add` conditions beyond the words;
so both survive when somebody rewords the search. `exclude` and `only` name lists of domains.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import quote, urlencode

import orjson

from siteglass.dashboard.forms import Form
from siteglass.errors import BadRequest, Problem
from siteglass.leads.lists.lists import BUILT_IN, NAME, RECEIVED
from siteglass.leads.lists.selection import MAX_SELECTED, NO_NAMES, ListNames
from siteglass.query.body import Meaning, read_meaning
from siteglass.query.criteria import Clause, Condition, Criteria, criteria
from siteglass.query.directives import print_condition
from siteglass.query.fields import SEARCH_DEFAULT
from siteglass.query.filters import directive_can_say, write_filters
from siteglass.web.operations import MAX_LIMIT

EXPLORE = "/dashboard/explore"
DOWNLOAD = "/dashboard/explore/download"
DEFAULT_COUNT = 20
COUNTS = (10, 20, 50, 100)
SORTS = {
    "-score": "SEO score, high first",
    "score": "SEO score, low first",
    "-spending": "Ad spending, high first",
    "-crawled_at": "Crawled last",
}
DEFAULT_SORT = "-score"
# What a lead that is bought here has: the record of the contract, and what the business is.
SELECT = (*SEARCH_DEFAULT, "trades", "service_type")


@dataclass(frozen=True, slots=True)
class ExploreSearch:
    """What is searched for, and how it is shown."""

    words: str
    said: Criteria
    """What the words mean."""
    criteria: Criteria
    """What is searched: the meaning of the words with the changes."""
    sort: str = DEFAULT_SORT
    count: int = DEFAULT_COUNT
    with_received: bool = False
    """Whether leads that the account has received are found, too."""
    after: str = ""
    """The cursor of a later page."""
    bought: str = ""
    """The request that bought the page, which is shown in place of a search."""
    lists: ListNames = NO_NAMES
    """Lists that somebody chose; that the search leaves out received leads is not among them."""

    @property
    def path(self) -> str:
        """The address of this search."""
        fields: list[tuple[str, str]] = [("q", self.words)] if self.words else []
        fields += [("drop", write_clause(one)) for one in self.dropped]
        fields += [("add", write_clause(one)) for one in self.added]
        fields += [("sort", self.sort)] if self.sort != DEFAULT_SORT else []
        fields += [("n", str(self.count))] if self.count != DEFAULT_COUNT else []
        fields += [("received", "1")] if self.with_received else []
        fields += [("exclude", name) for name in self.lists.exclude]
        fields += [("only", name) for name in self.lists.only]
        fields += [("after", self.after)] if self.after else []
        fields += [("bought", self.bought)] if self.bought else []
        # Not "+" for a blank: the address may come back as the page to continue to after signing in.
        return EXPLORE + (f"?{urlencode(fields, quote_via=quote)}" if fields else "")

    @property
    def download_path(self) -> str:
        """The address of the page that downloads all of it."""
        return replace(self, after="", bought="").path.replace(EXPLORE, DOWNLOAD, 1)

    @property
    def dropped(self) -> list[Clause]:
        """Conditions of the words that are not searched."""
        return [one for one in self.said.conditions if one not in self.criteria.conditions]

    @property
    def added(self) -> list[Clause]:
        """Conditions that the words don't say."""
        return [one for one in self.criteria.conditions if one not in self.said.conditions]

    @property
    def leaves_out_received(self) -> bool:
        """Whether leads that the account received are left out. The built-in lists have no others."""
        return not (self.with_received or {*BUILT_IN} & {*self.lists.only})

    @property
    def filters(self) -> dict[str, Any]:
        """The body that searches for this; raises BadRequest if none can."""
        lists = replace(self.lists, exclude=((RECEIVED,) if self.leaves_out_received else ()) + self.lists.exclude)
        try:
            return {**write_filters(self.criteria), **lists.sent}
        except ValueError as error:
            raise BadRequest([Problem("search", "these conditions cannot be combined; remove one")]) from error

    @property
    def body(self) -> dict[str, Any]:
        """The body of the request for the page that is bought."""
        return {**self.filters, "sort": self.sort, "limit": self.count, "select": list(SELECT)}

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to search for."""
        return not (self.criteria.conditions or self.lists.only or self.after or self.bought)

    def listing(self, name: str, how: Literal["exclude", "only", ""]) -> ExploreSearch:
        """The same that leaves the leads of a list out, finds no others, or does not care."""
        exclude, only = (tuple(one for one in names if one != name) for names in (self.lists.exclude, self.lists.only))
        added = (name,)
        lists = ListNames(exclude + added * (how == "exclude"), only + added * (how == "only"))
        return replace(self, lists=lists, after="", bought="")

    def changed(self, clauses: Iterable[Clause]) -> ExploreSearch:
        """The same with other conditions, from the first page."""
        return replace(self, criteria=criteria(clauses), after="", bought="")

    def without(self, *clauses: Clause) -> ExploreSearch:
        """The same without some conditions."""
        return self.changed(one for one in self.criteria.conditions if one not in clauses)

    def replacing(self, clause: Clause, *others: Clause) -> ExploreSearch:
        """The same with other conditions in place of one."""
        kept = [one for one in self.criteria.conditions if one != clause]
        return self.changed([*kept, *others])

    def showing(self, **how: Any) -> ExploreSearch:
        """The same conditions in another order or number, from the first page."""
        return replace(self, after="", bought="", **how)


def write_clause(clause: Clause) -> str:
    """A condition in an address: a line of directive text, or JSON for a score that no line can say."""
    if directive_can_say(clause):
        return print_condition(clause)
    return orjson.dumps(write_filters(Criteria((clause,)))).decode()


def read_clauses(texts: Sequence[str], now_ms: int) -> tuple[list[Clause], list[str]]:
    """The conditions of an address, and the texts that are not conditions."""
    clauses: list[Clause] = []
    unreadable: list[str] = []
    for text in texts:
        try:
            body = orjson.loads(text) if text.startswith("{") else {"wrapped_query": text}
            clauses.extend(read_meaning(body, now_ms).said.conditions)
        except (BadRequest, orjson.JSONDecodeError):
            unreadable.append(text)
    return clauses, unreadable


def words_of(query: Form) -> str:
    """The words in the search box."""
    return " ".join(query.get("q").split())


def apply_changes(meaning: Meaning | None, query: Form, now_ms: int) -> tuple[ExploreSearch, list[str]]:
    """The search of an address, whose words have this meaning; and parts of the address that could not be read."""
    said = Criteria() if meaning is None else meaning.said
    dropped, wrong_drops = read_clauses(query.all("drop"), now_ms)
    added, wrong_adds = read_clauses(query.all("add"), now_ms)
    kept = [one for one in said.conditions if one not in dropped]
    count = query.number("n") or DEFAULT_COUNT
    sort = query.get("sort", DEFAULT_SORT)
    search = ExploreSearch(
        words_of(query),
        said,
        criteria([*kept, *added]),
        sort if sort in SORTS else DEFAULT_SORT,
        min(count, MAX_LIMIT),
        query.get("received") == "1",
        query.get("after"),
        bought=query.get("bought"),
        lists=_read_lists(query),
    )
    return search, [*wrong_drops, *wrong_adds]


def _read_lists(query: Form) -> ListNames:
    """The lists of an address, at most as many as a search can have besides `received`."""
    only = [name for name in query.all("only") if NAME.fullmatch(name)]
    exclude = [name for name in query.all("exclude") if NAME.fullmatch(name) and name not in only]
    only = list(dict.fromkeys(only))[: MAX_SELECTED - 1]
    return ListNames(tuple(dict.fromkeys(exclude))[: MAX_SELECTED - 1 - len(only)], tuple(only))


def with_value(search: ExploreSearch, conditions: Sequence[Condition]) -> ExploreSearch:
    """The search with a value of a facet: as an alternative where the field has values already, else in addition."""
    (field,) = {one.field for one in conditions}
    present = [one for one in search.criteria.plain if one.field == field and not one.negated]
    others = [one for one in search.criteria.conditions if one not in present]
    if len(conditions) == 1 and conditions[0].values and len(present) == 1:
        return search.changed([*others, Condition(field, (*present[0].values, *conditions[0].values))])
    return search.changed([*others, *conditions])


def without_value(search: ExploreSearch, conditions: Sequence[Condition]) -> ExploreSearch:
    """The search without a value of a facet that it has."""
    (field,) = {one.field for one in conditions}
    values = {value for one in conditions for value in one.values}
    clauses: list[Clause] = []
    for clause in search.criteria.conditions:
        if isinstance(clause, Condition) and clause.field == field and not clause.negated:
            left = tuple(value for value in clause.values if value not in values)
            clauses.extend([Condition(field, left)] if left else [])
        else:
            clauses.append(clause)
    return search.changed(clauses)


def excluding_value(search: ExploreSearch, condition: Condition) -> ExploreSearch:
    """The search without leads that have a value."""
    rest = without_value(search, [condition])
    return rest.changed([*rest.criteria.conditions, replace(condition, negated=True)])
