"""The longer texts of the document: its introduction, and what errors mean."""

from __future__ import annotations

import re

from siteglass.errors import SiteglassError

# The guides say the rest, so that the reference starts with the operations.
INTRODUCTION = """\
Siteglass finds websites (leads) by filters, directives or plain language, and returns what is stored about domains.

Send your key in the header `X-API-Key`. Bodies are JSON objects. Every error response has a stable code in `error`, and
a `Link` header to the page that explains it.

- [Your first API calls](/docs/guides/first-calls): search, get the next page, enrich a domain
- [How the API works](/docs/guides/first-calls#how-the-api-works): keys, bodies, rate limit, errors
- [What a call costs](/docs/guides/costs): credits, prices in advance, safe retries
- [Errors](/docs/errors): every code, with what to do next
- [All docs](/docs), and [opting out](/opt-out) for the people in the data
"""


def meaning(kind: type[SiteglassError]) -> str:
    """The first clause of an error's docstring; the rest is for its makers."""
    return re.split(r"[;:.\n]", kind.__doc__ or "")[0] + "."
