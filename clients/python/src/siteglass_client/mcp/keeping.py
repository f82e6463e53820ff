"""What the tools for lists and saved searches answer, within its size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from siteglass_client.mcp.asking import NAME_BYTES, Room
from siteglass_client.mcp.models import KeptList, KeptSearch, ListAnswer, ListsAnswer, SavedAnswer, SavedCountAnswer
from siteglass_client.mcp.sizes import cut
from siteglass_client.messages import DomainList, ListChange, SavedSearch, SavedSearchCount

# What `search` takes as separate arguments, or not at all.
_SEPARATE = ("query", "wrapped_query", "sort", "select", "limit")
MAX_INVALID = 10


def lists_shown(lists: Sequence[DomainList], max_tokens: int) -> ListsAnswer:
    """Lists without their domains, the built-in ones first."""
    room = Room(max_tokens)
    kept: list[KeptList] = []
    for each in sorted(lists, key=lambda each: not each.built_in):
        shown = KeptList(name=each.name, domains=each.size, built_in=each.built_in)
        if not room.takes(shown.model_dump()):
            break
        kept.append(shown)
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
    room = Room(max_tokens)
    kept: list[KeptSearch] = []
    for each in searches:
        shown = _saved_search(each)
        if not room.takes(shown.model_dump(exclude_none=True)):
            break
        kept.append(shown)
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


def saved_counted(counts: SavedSearchCount) -> SavedCountAnswer:
    """How many leads match now and matched before."""
    return SavedCountAnswer(
        total_results=counts.total_results, last_total=counts.last_total, last_counted_at=counts.last_counted_at
    )
