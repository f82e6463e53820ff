"""The arguments of the tools: types with limits, and a description of each for agents."""

from __future__ import annotations

import typing
from typing import Annotated, Literal

from pydantic import Field

from siteglass_client.calls import MAX_DOMAINS, MAX_LEAD_CREDITS, MAX_LIMIT, MAX_LIST_DOMAINS
from siteglass_client.filters import Filters
from siteglass_client.plans import COMPANY_COLUMNS, LEAD_COLUMNS

MIN_TOKENS = 600
DEFAULT_TOKENS = 2_000
MAX_TOKENS = 20_000
LEADS_SHOWN = ("domain", "business_name", "emails", "phones", "city", "country")
COMPANIES_SHOWN = ("title", "emails", "phones", "city", "country")
FILTER_NAMES = ", ".join(typing.get_type_hints(Filters))

FilterValue = str | int | bool | list[str]

Query = Annotated[
    str | None,
    Field(max_length=1_000, description="A sentence, such as: Shopify stores in Texas without a CRM"),
]
FilterMap = Annotated[
    dict[str, FilterValue] | None,
    Field(
        max_length=50,
        description=f"Exact filters, such as {{'country': 'DEU'}}; all must hold. Names: {FILTER_NAMES}. "
        "`values` knows what they take. Also exclude_lists and only_lists: names of `lists`.",
    ),
]
# The model reads all tools before the first call, so the names are listed only once.
SameFilters = Annotated[dict[str, FilterValue] | None, Field(max_length=50, description="Same as those of `search`")]
WrappedQuery = Annotated[
    str | None,
    Field(
        max_length=10_000,
        description="Lines such as @country(DEU) or @any[ @not_secure | @lacks(crm) ]; `interpret` writes them",
    ),
]
Strict = Annotated[bool, Field(description="Refuse a sentence that was not clearly understood")]
Sort = Annotated[str | None, Field(max_length=50, description="An order, such as domain")]
LeadFields = Annotated[
    list[Annotated[str, Field(max_length=50)]] | None,
    Field(
        max_length=40,
        description=f"Fields; {', '.join(LEADS_SHOWN)} if left out. Among others: "
        f"{', '.join(name for name in LEAD_COLUMNS if name not in LEADS_SHOWN)}",
    ),
]
CompanyFields = Annotated[
    list[Annotated[str, Field(max_length=50)]] | None,
    Field(
        max_length=40,
        description=f"Fields; {', '.join(COMPANIES_SHOWN)} if left out. Others: "
        f"{', '.join(name for name in COMPANY_COLUMNS if name not in COMPANIES_SHOWN)}",
    ),
]
MaxCredits = Annotated[
    int,
    Field(
        ge=0,
        le=MAX_LEAD_CREDITS,
        description="Maximum lead credits for this call. 0 or omitted: nothing is bought, and the price is returned",
    ),
]
MaxLeads = Annotated[int | None, Field(ge=1, le=MAX_LIMIT, description="Maximum number of leads in this response")]
MaxTokens = Annotated[int, Field(ge=MIN_TOKENS, le=MAX_TOKENS, description="Maximum number of tokens in this response")]
Cursor = Annotated[
    str | None,
    Field(max_length=50, description="`next` from the last response; the other arguments need not be repeated"),
]
Domains = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=300)]] | None,
    Field(max_length=MAX_DOMAINS, description=f"Up to {MAX_DOMAINS} domains or website URLs"),
]
ListName = Annotated[str, Field(max_length=63, description="Name of the list")]
ListDomains = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=300)]] | None,
    Field(max_length=MAX_LIST_DOMAINS, description=f"Up to {MAX_LIST_DOMAINS} domains or website URLs"),
]
SearchName = Annotated[
    str, Field(max_length=63, description="Name of the saved search: lower-case letters, digits, - and _")
]
Shared = Annotated[bool, Field(description="Show it to all keys of the account")]
Every = Annotated[Literal["day", "week"], Field(description="How often it runs")]
Weekday = Annotated[
    Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
    Field(description="The day of a weekly watch"),
]
Hour = Annotated[int, Field(ge=0, le=23, description="The hour at which it runs")]
TimeZone = Annotated[str, Field(max_length=64, description="IANA name of the time zone, such as Europe/Berlin")]
FacetNames = Annotated[
    list[Annotated[str, Field(max_length=50)]] | None,
    Field(max_length=30, description="Fields to count by, such as country, technologies, trades; all if left out"),
]
FacetSize = Annotated[int, Field(ge=1, le=50, description="Maximum number of values per field")]
FieldName = Annotated[str, Field(max_length=50, description="A field, such as technologies, city, country, keywords")]
Text = Annotated[str, Field(max_length=200, description="Start of the value or of one of its names")]
Country = Annotated[str | None, Field(max_length=3, description="Only states or cities in this country, such as DEU")]
ValueLimit = Annotated[int, Field(ge=1, le=50, description="At most so many values")]
