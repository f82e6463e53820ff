"""The fields `emails_detail` and `phones_detail`: whose each shown address or number is, and where and when it was
seen.

Only values that are shown have one, after opt-outs and filters of addresses. `index.contact_details` makes them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from siteglass.corpus.lead import Percent, ShownOwner
from siteglass.web.messages import Record, ResponseBody, Time


class EmailStatus(ResponseBody):
    """What an address itself shows. The service sends no mail and makes no DNS requests to check addresses, so whether
    mail arrives is not known."""

    syntax: Annotated[
        Literal["valid", "invalid"],
        Meta(
            description="Whether it is written as an address. Addresses from web pages are; imported ones may not be."
        ),
    ]
    kind: Annotated[
        Literal["role", "person"],
        Meta(
            description="`role`: a generic address, of a role such as `info@` or of the business itself, which "
            "`exclude_generic_emails` leaves out. `person`: any other."
        ),
    ]


class _Detail(ResponseBody):
    value: Annotated[str, Meta(description="The value as the lead shows it.")]
    owner: Annotated[
        ShownOwner,
        Meta(
            description="`own`: of the business. `affiliate`: of its owner, on a free-mail or related domain. "
            "`unknown`: not decided, or the lead was imported. Values of third parties are not shown. One "
            "exception: if every number of a site seems to be someone else's, some may be `unknown`, at 40 percent."
        ),
    ]
    confidence: (
        Annotated[Percent, Meta(description="Confidence in `owner`, in percent; null if nothing was decided.")] | None
    )
    page: (
        Annotated[
            str,
            Meta(
                description="URL of the page that showed the value last; or, for a value that no page of the site "
                "showed, who says it: `imported from FILE on DATE`, `Overture, 2026-10, LICENCE`. Null if it is not "
                "known, or if the URL contains a value that is not shown."
            ),
        ]
        | None
    )
    crawled_at: Annotated[Time, Meta(description="When that page was crawled; null if it is not known.")] | None
    first_seen: (
        Annotated[Time, Meta(description="When a page that shows the value first showed it; null if it is not known.")]
        | None
    )
    last_seen: (
        Annotated[
            Time, Meta(description="When a page was last crawled that showed the value; null if it is not known.")
        ]
        | None
    )


class PhoneDetail(_Detail):
    """A number of `phones`."""


class EmailDetail(_Detail):
    """An address of `emails`."""

    status: EmailStatus


_DETAILED = {"emails_detail": "emails", "phones_detail": "phones", "technologies_detail": "technologies"}


def shown_field(record: Record, name: str) -> Any:
    """A field of a record, as responses contain it; details only of values that are shown."""
    if name not in _DETAILED:
        return record[name]
    values = record[_DETAILED[name]]
    return [detail for detail in record[name] if detail["value"] in values]
