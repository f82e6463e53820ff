"""Examples of lists, made by the code that returns them."""

from __future__ import annotations

from datetime import UTC, datetime

from siteglass.leads.lists.lists import DOWNLOADED, PAID, RECEIVED, DomainList
from siteglass.leads.lists.requests import DomainsPage
from siteglass.leads.lists.responses import ListDeletedResponse, change_response, domains_response, lists_response
from siteglass.web.operations import Examples, one_example

_MADE = datetime(2026, 11, 1, 9, 30, tzinfo=UTC)
_CHANGED = datetime(2026, 11, 15, 12, 30, tzinfo=UTC)
_CUSTOMERS = DomainList(12, "customers", False, 2, _MADE, _CHANGED, 3)
_DOWNLOADED = DomainList(10, DOWNLOADED, True, 0, _MADE, _MADE, 0)
_PAID = DomainList(11, PAID, True, 5_214, _MADE, _CHANGED, 40)
_RECEIVED = DomainList(13, RECEIVED, True, 6_530, _MADE, _CHANGED, 44)

NEW_LISTS: Examples = {
    "list": {
        "summary": "A list with its first domains",
        "value": {"name": "customers", "domains": ["example.com", "https://www.example.org/about"]},
    }
}
DOMAINS: Examples = {
    "domains": {
        "summary": "Domains in any form",
        "value": {"domains": ["example.com", "https://www.example.org/about"]},
    }
}


def lists() -> Examples:
    """All lists."""
    return one_example("The lists.", lists_response([_CUSTOMERS, _DOWNLOADED, _PAID, _RECEIVED]))


def created() -> Examples:
    """A new list."""
    return one_example("The new list.", change_response(_CUSTOMERS, [], added=2))


def added() -> Examples:
    """Two domains, one of them on the list before, and a text that is not a domain."""
    return one_example("The list after the change.", change_response(_CUSTOMERS, [("n/a", "names no host")], added=1))


def removed() -> Examples:
    """A domain that was on the list."""
    return one_example("The list after the change.", change_response(_CUSTOMERS, [], removed=1))


def domains() -> Examples:
    """A page of a list."""
    page = DomainsPage("", 1)
    return one_example("A page of the list.", domains_response(_CUSTOMERS, page, ["example.com", "example.org"]))


def deleted() -> Examples:
    """A list that is gone."""
    return one_example("The list is gone.", ListDeletedResponse(deleted="customers"))
