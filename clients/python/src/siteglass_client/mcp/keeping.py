"""What the tools for lists, saved searches and watches answer, within its size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, TypeVar

from siteglass_client.mcp.asking import NAME_BYTES, Room
from siteglass_client.mcp.models import (
    KeptList,
    KeptRun,
    KeptSearch,
    KeptWatch,
    ListAnswer,
    ListsAnswer,
    Part,
    RunsAnswer,
    SavedAnswer,
    SavedCountAnswer,
    WatchesAnswer,
)
from siteglass_client.mcp.sizes import cut
from siteglass_client.messages import DomainList, ListChange, SavedSearch, SavedSearchCount, Watch, WatchRun

AnyPart = TypeVar("AnyPart", bound=Part)

# What `search` takes as separate arguments, or not at all.
_SEPARATE = ("query", "wrapped_query", "sort", "select", "limit")
MAX_INVALID = 10


def lists_shown(lists: Sequence[DomainList], max_tokens: int) -> ListsAnswer:
    """Lists without their domains, the built-in ones first."""
    ordered = sorted(lists, key=lambda each: not each.built_in)
    shown = (KeptList(name=each.name, domains=each.size, built_in=each.built_in) for each in ordered)
    kept = _fitting(shown, max_tokens)
    return ListsAnswer(lists=kept, more=len(kept) < len(lists))


def list_changed(added: ListChange | None, removed: ListChange | None) -> ListAnswer:
    """A list after its changes."""
    changes = [change for change in (added, removed) if change is not None]
    invalid = [cut(each.domain, NAME_BYTES // 4) for change in changes for each in change.invalid_domains]
    return ListAnswer(
        name=changes[-1].name,
        domains=changes[-1].size,
        added=sum(change.added for change in changes),
        removed=sum(change.removed for change in changes),
        not_domains=invalid[:MAX_INVALID],
    )


def saved_shown(searches: Sequence[SavedSearch], max_tokens: int) -> SavedAnswer:
    """Saved searches, as `search` takes them."""
    kept = _fitting(map(_saved_search, searches), max_tokens)
    return SavedAnswer(searches=kept, more=len(kept) < len(searches))


def _saved_search(saved: SavedSearch) -> KeptSearch:
    """A saved search, as `search` takes it."""
    body: dict[str, Any] = saved.search
    return KeptSearch(
        name=saved.name,
        query=body.get("query"),
        filters={name: value for name, value in body.items() if name not in _SEPARATE and value is not None},
        wrapped_query=body.get("wrapped_query"),
        sort=body.get("sort"),
        shared=saved.shared,
        last_total=saved.last_total,
    )


def watches_shown(watches: Sequence[Watch], max_tokens: int) -> WatchesAnswer:
    """Watches without what they search for, which their saved searches say."""
    kept = _fitting(map(watch_shown, watches), max_tokens)
    return WatchesAnswer(watches=kept, more=len(kept) < len(watches))


def watch_shown(watch: Watch) -> KeptWatch:
    """When a watch runs."""
    return KeptWatch(
        search=watch.search,
        every=watch.every,
        weekday=watch.weekday,
        hour=watch.hour,
        time_zone=watch.time_zone,
        paused=watch.paused,
        last_run_at=watch.last_run_at,
        next_run_at=watch.next_run_at,
    )


def runs_shown(runs: Sequence[WatchRun], max_tokens: int) -> RunsAnswer:
    """Runs with what they found."""
    shown = (
        KeptRun(
            run=each.run,
            ran_at=each.ran_at,
            outcome=each.outcome,
            matches=each.matches,
            new_leads=each.new_leads,
            list=each.list,
        )
        for each in runs
    )
    kept = _fitting(shown, max_tokens)
    return RunsAnswer(runs=kept, more=len(kept) < len(runs))


def _fitting(parts: Iterable[AnyPart], max_tokens: int) -> list[AnyPart]:
    """The first parts, as many as the response has room for."""
    room = Room(max_tokens)
    return list(takewhile(lambda part: room.takes(part.model_dump(exclude_none=True)), parts))


def saved_counted(counts: SavedSearchCount) -> SavedCountAnswer:
    """How many leads match now and matched before."""
    return SavedCountAnswer(
        total_results=counts.total_results, last_total=counts.last_total, last_counted_at=counts.last_counted_at
    )
