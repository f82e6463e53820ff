"""The operations on lists."""

from __future__ import annotations

from starlette.datastructures import QueryParams

from siteglass.errors import NotFound, PayloadTooLarge, UnsupportedMediaType
from siteglass.leads.lists import examples
from siteglass.leads.lists.lists import MAX_LIST_DOMAINS, MAX_LISTS
from siteglass.leads.lists.requests import (
    MAX_DOMAINS_SENT,
    ListDomainsBody,
    ListDomainsParameters,
    ListParameters,
    NewListBody,
    read_list_domains,
    read_new_list,
    read_page,
)
from siteglass.leads.lists.responses import (
    LISTS_PATH,
    ListChangeResponse,
    ListDeletedResponse,
    ListDomainsResponse,
    ListsResponse,
)
from siteglass.web.operations import READING_LEADS, Errors, Operation, Success
from siteglass.web.parameters import read_no_parameters

# A change takes one unit of the rate limit for every so many domains begun.
DOMAINS_PER_UNIT = 500

_WRITING: Errors = (*READING_LEADS, PayloadTooLarge, UnsupportedMediaType)

LISTS = Operation(
    "lists",
    "GET",
    LISTS_PATH,
    READING_LEADS,
    "Lists",
    "Get the lists",
    "Returns every list of the account with its size. The lists `paid`, `received` and `downloaded` are built "
    "in. `paid` has every domain that the account paid a lead credit for, by a search or an enrichment, and was not "
    "refunded. `received` also has the leads that were returned free of charge because they have no address. "
    "`downloaded` has the leads that people downloaded in the dashboard. Test keys have separate lists.",
    Success("The lists.", (ListsResponse,), examples.lists),
    scope="search",
    mistake=lambda: read_no_parameters(QueryParams("verbose=1")),
)
CREATE_LIST = Operation(
    "create_list",
    "POST",
    LISTS_PATH,
    _WRITING,
    "Lists",
    "Create a list",
    f"Creates a list, with its first domains if you send any. An account can have {MAX_LISTS} lists, each with "
    f"{MAX_LIST_DOMAINS:,} domains. Costs no credits. Uses one unit of the rate limit for every {DOMAINS_PER_UNIT} "
    "domains.",
    Success("The new list.", (ListChangeResponse,), examples.created),
    scope="search",
    body=NewListBody,
    body_examples=examples.NEW_LISTS,
    mistake=lambda: read_new_list({"name": "My customers", "domain": ["example.com"]}),
)
DELETE_LIST = Operation(
    "delete_list",
    "DELETE",
    LISTS_PATH + "/{name}",
    (*READING_LEADS, NotFound),
    "Lists",
    "Delete a list",
    "Deletes a list with its domains. Later pages of searches that name it are refused with 400. Built-in lists can't "
    "be deleted.",
    Success("The list is gone.", (ListDeletedResponse,), examples.deleted),
    scope="search",
    parameters=ListParameters,
    mistake=lambda: read_no_parameters(QueryParams("force=1")),
)
LIST_DOMAINS = Operation(
    "list_domains",
    "GET",
    LISTS_PATH + "/{name}/domains",
    (*READING_LEADS, NotFound),
    "Lists",
    "Get the domains of a list",
    "Returns the domains in alphabetical order, in pages: GET the path in `next` exactly as it was returned.",
    Success("A page of the list.", (ListDomainsResponse,), examples.domains),
    scope="search",
    parameters=ListDomainsParameters,
    mistake=lambda: read_page(QueryParams("limit=0")),
)
ADD_TO_LIST = Operation(
    "add_to_list",
    "POST",
    LISTS_PATH + "/{name}/domains",
    (*_WRITING, NotFound),
    "Lists",
    "Add domains to a list",
    "A domain is stored under the name that its lead has: as you sent it, without `www.`, or as its registrable "
    "domain. Old domains that redirect to a lead are not resolved. Domains without a lead are stored too, and apply as "
    "soon as there is one. Texts that are not "
    f"domains are reported and left out. At most {MAX_DOMAINS_SENT:,} domains per request. Repeating a request is "
    f"safe. Uses one unit of the rate limit for every {DOMAINS_PER_UNIT} domains.",
    Success("The list after the change.", (ListChangeResponse,), examples.added),
    scope="search",
    parameters=ListParameters,
    body=ListDomainsBody,
    body_examples=examples.DOMAINS,
    mistake=lambda: read_list_domains({"domains": []}),
)
REMOVE_FROM_LIST = Operation(
    "remove_from_list",
    "POST",
    LISTS_PATH + "/{name}/remove",
    (*_WRITING, NotFound),
    "Lists",
    "Remove domains from a list",
    f"Removes at most {MAX_DOMAINS_SENT:,} domains; those that are not on the list have no effect. Repeating a request "
    f"is safe. Uses one unit of the rate limit for every {DOMAINS_PER_UNIT} domains.",
    Success("The list after the change.", (ListChangeResponse,), examples.removed),
    scope="search",
    parameters=ListParameters,
    body=ListDomainsBody,
    body_examples=examples.DOMAINS,
    mistake=lambda: read_list_domains({"domains": []}),
)

OPERATIONS = (LISTS, CREATE_LIST, DELETE_LIST, LIST_DOMAINS, ADD_TO_LIST, REMOVE_FROM_LIST)
