"""The field `technologies_detail`: by what each technology was recognised, where and when.

`index.technology_details` makes it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from siteglass.corpus.lead import MAX_EXCERPT_BYTES, MarkKind
from siteglass.web.messages import ResponseBody, Time


class TechnologyMark(ResponseBody):
    """What shows a technology on a page."""

    kind: Annotated[
        MarkKind,
        Meta(
            description="`script`, `link`, `image`, `frame`, `form`, `media`: the address of such an element. "
            "`inline_script`, `comment`, `element`, `generator`: a text of the page. `header`, `cookie`: of its "
            "response. `host`: the name of the website's host. `dns`: a record of the domain. `implied`: it comes with "
            "another technology."
        ),
    ]
    rule: Annotated[
        str,
        Meta(
            description="What was looked for: a host, a pattern, a selector, the name of a header or a cookie. For "
            "`implied` the other technology."
        ),
    ]
    excerpt: Annotated[
        str,
        Meta(
            max_length=MAX_EXCERPT_BYTES,
            description="Where it was found, as the page writes it. It ends before an address or phone number, and may "
            "be empty for that reason.",
        ),
    ]


class TechnologyDetail(ResponseBody):
    """A technology of `technologies`."""

    value: Annotated[str, Meta(description="The technology as the lead shows it.")]
    marks: Annotated[
        list[TechnologyMark],
        Meta(max_length=3, description="What shows it on that page. Empty for pages read by an earlier release."),
    ]
    page: (
        Annotated[
            str,
            Meta(
                description="URL of the page with the marks that was crawled last. Null for DNS, and if the URL is "
                "long or contains what may be a contact."
            ),
        ]
        | None
    )
    first_seen: Annotated[Time, Meta(description="When a page that shows it first showed it.")] | None
    last_seen: Annotated[Time, Meta(description="When a page was last crawled that showed it.")] | None
