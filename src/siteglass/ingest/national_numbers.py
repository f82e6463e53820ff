"""Phone numbers of a domain, once its country is known: national ones are read for it, fax numbers are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import phonenumbers
import pyarrow as pa

from siteglass.ingest.extract.phone_numbers import national
from siteglass.ingest.grouped import listed
from siteglass.query.vocabulary import vocabulary

# A number that more pages call a fax than a phone is one.
_VOTES = {"fax": -1, "phone": 1}
_LABELLED_METHODS = frozenset(("tel", "json_ld", "whatsapp"))


def settled_phones(sightings: pa.Table, countries: Sequence[str]) -> pa.Table:
    """Sightings of numbers as E.164, without what cannot be one in the country of the domain and without fax numbers.
    `countries`: of each lead, alpha-3."""
    given, methods = (listed(sightings, name) for name in ("given", "method"))
    values: list[str] = listed(sightings, "value")
    labels: list[str] = listed(sightings, "label")
    leads: list[int] = listed(sightings, "lead")
    for row, written in enumerate(given):
        if written:
            is_labelled = labels[row] != "" or methods[row] in _LABELLED_METHODS
            values[row] = _settled(values[row], written, countries[leads[row]], is_labelled=is_labelled)
    votes: Counter[tuple[int, str]] = Counter()
    for lead, value, label in zip(leads, values, labels, strict=True):
        votes[lead, value] += _VOTES.get(label, 0)
    kept = [
        bool(value) and label != "fax" and votes[lead, value] >= 0
        for lead, value, label in zip(leads, values, labels, strict=True)
    ]
    place = sightings.schema.get_field_index("value")
    return sightings.set_column(place, "value", pa.array(values, pa.string())).filter(pa.array(kept, pa.bool_()))


def _settled(value: str, given: str, country: str, *, is_labelled: bool) -> str:
    """The number that is meant in a country; "" if none can be. Where no country is known, that which the page has."""
    region = vocabulary().country_alpha2(country) or "" if country else ""
    if not region:
        return value if value.startswith("+") else ""
    if value.startswith(f"+{phonenumbers.country_code_for_region(region)}"):
        return value
    return national(given, region, labelled=is_labelled)
