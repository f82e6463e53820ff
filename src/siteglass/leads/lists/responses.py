"""The responses of list operations."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from urllib.parse import urlencode

from msgspec import Meta

from siteglass.errors import MAX_DETAILS, MAX_REPEATED_CHARS
from siteglass.leads.lists.lists import MAX_LISTS, DomainList
from siteglass.leads.lists.requests import MAX_PAGE, DomainsPage
from siteglass.query.values import moment_text
from siteglass.web.messages import Count, ResponseBody, Time

LISTS_PATH = "/v1/lists"


class ListShown(ResponseBody):
    """A list without its domains."""

    name: str
    built_in: Annotated[bool, Meta(description="Whether the service fills the list; you can't change or delete it.")]
    size: Annotated[Count, Meta(description="Number of domains on the list.")]
    created_at: Time
    changed_at: Annotated[Time, Meta(description="When domains were last added or removed.")]


class ListsResponse(ResponseBody):
    """The lists of the account."""

    lists: Annotated[list[ListShown], Meta(max_length=MAX_LISTS + 1, description="All lists, by name.")]


class InvalidDomain(ResponseBody):
    """A text that is not a domain."""

    domain: Annotated[str, Meta(description=f"The text as you sent it, its first {MAX_REPEATED_CHARS} characters.")]
    message: Annotated[str, Meta(description="Why it is not a domain.")]


class ListChangeResponse(ListShown):
    """A list after a change."""

    added: Annotated[Count, Meta(description="Domains that were not on the list before.")]
    removed: Annotated[Count, Meta(description="Domains that are not on the list any more.")]
    invalid: Annotated[Count, Meta(description="Texts that are not domains; they were left out.")]
    invalid_domains: Annotated[
        list[InvalidDomain], Meta(max_length=MAX_DETAILS, description="The first of these texts.")
    ]


class ListDomainsResponse(ListShown):
    """A page of a list."""

    domains: Annotated[list[str], Meta(max_length=MAX_PAGE, description="Domains in alphabetical order.")]
    next: Annotated[str, Meta(description="Path of the next page; null on the last page.")] | None


class ListDeletedResponse(ResponseBody):
    """A list that was deleted."""

    deleted: Annotated[str, Meta(description="Name of the list.")]


def time_text(at: datetime) -> str:
    """A time of the database as responses about leads write it."""
    return moment_text(int(at.timestamp() * 1000))


def _shown(list_: DomainList) -> dict[str, Any]:
    return {
        "name": list_.name,
        "built_in": list_.built_in,
        "size": list_.domains,
        "created_at": time_text(list_.made_at),
        "changed_at": time_text(list_.changed_at),
    }


def lists_response(lists: list[DomainList]) -> ListsResponse:
    """All lists."""
    return ListsResponse(lists=[ListShown(**_shown(one)) for one in lists])


def change_response(
    list_: DomainList, invalid: list[tuple[str, str]], *, added: int = 0, removed: int = 0
) -> ListChangeResponse:
    """A list after a change, with the texts that were left out."""
    shown = [
        InvalidDomain(domain=text[:MAX_REPEATED_CHARS], message=f"This {problem}.")
        for text, problem in invalid[:MAX_DETAILS]
    ]
    return ListChangeResponse(
        **_shown(list_), added=added, removed=removed, invalid=len(invalid), invalid_domains=shown
    )


def domains_response(list_: DomainList, page: DomainsPage, domains: list[str]) -> ListDomainsResponse:
    """A page of a list; `domains` has one more than the page if there is a next one."""
    shown = domains[: page.limit]
    following = None
    if len(domains) > page.limit:
        following = f"{LISTS_PATH}/{list_.name}/domains?{urlencode({'after': shown[-1], 'limit': page.limit})}"
    return ListDomainsResponse(**_shown(list_), domains=shown, next=following)
