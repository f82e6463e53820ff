"""Which pages of a site may be named: not those whose own URL contains an address or number that is not shown. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache

from siteglass.suppression.numbers import Numbers
from siteglass.suppression.redaction import address_readings


def page_filter(emails: Collection[str], other_phones: Collection[str]) -> Callable[[str], bool]:
    """Whether the URL of a page is hidden, for a lead that shows these addresses and does not show these numbers.

    What is not shown decides, not the list of opt-outs: files may be older than an opt-out, and a worker may hold it no
    more.
    """
    shown = {address.lower() for address in emails}
    numbers = Numbers.in_clear(other_phones) if other_phones else None

    @cache
    def hides(page: str) -> bool:
        # https://a.example/@some.name is not an email address.
        readings = (some for some in address_readings(page) if "/@" not in some[0])
        if any(shown.isdisjoint(map(str.lower, some)) for some in readings):
            return True
        return numbers is not None and numbers.cut(page) != page

    return hides
