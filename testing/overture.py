"""A stand-in for places of Overture, with the public layout: places of three countries as GeoParquet, of either form,
with the traps of real places. Of each place it is known what became of it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

Form = Literal["taxonomy", "categories"]
COUNTRIES = ("AT", "DE", "IT")
META = ("CDLA-Permissive-2.0", "meta")
FOURSQUARE = ("Apache-2.0", "foursquare")
# Category before September 2026, since then, what the new one is below, and its basic category.
KINDS = (
    ("dentist", "general_dentistry", ("health_care", "outpatient_care_facility", "dental_clinic"), "dental_clinic"),
    ("orthodontist", "orthodontics", ("health_care", "outpatient_care_facility", "dental_clinic"), "dental_clinic"),
    ("hair_salon", "hair_salon", ("lifestyle_services", "personal_or_beauty_service"), "personal_or_beauty_service"),
    ("pizza_restaurant", "pizza_restaurant", ("food_and_drink", "restaurant"), "restaurant"),
    ("park", "park", ("sports_and_recreation",), "park"),
)
DENTISTS = ("dentist", "orthodontist")
TRAPS: tuple[list[str | None], ...] = (
    ["https://www.facebook.com/zahn.praxis.{}"],
    ["https://instagram.com/praxis{}/"],
    ["http://bit.ly/3x{}"],
    ["https://linktr.ee/praxis{}"],
    ["https://praxis{}.business.site"],
    ["https://sites.google.com/view/praxis{}"],
    ["https://www.herold.at/gelbe-seiten/wien/{}"],
    ["https://praxis{}.jimdofree.com.facebook.com/"],
    ["http://127.0.0.1/{}"],
    ["praxis{}"],
    [None],
    [],
)


def _struct(kind: pa.DataType, *names: str) -> pa.DataType:
    return pa.struct([pa.field(name, kind) for name in names])


_TEXTS = pa.list_(pa.string())
_SOURCE = _struct(pa.string(), "property", "dataset", "license", "record_id")
_ADDRESS = _struct(pa.string(), "freeform", "locality", "postcode", "region", "country")
_FORMS: dict[Form, dict[str, pa.DataType]] = {
    "categories": {"categories": pa.struct([pa.field("primary", pa.string()), pa.field("alternate", _TEXTS)])},
    "taxonomy": {
        "taxonomy": pa.struct(
            [pa.field("primary", pa.string()), pa.field("hierarchy", _TEXTS), pa.field("alternates", _TEXTS)]
        ),
        "basic_category": pa.string(),
    },
}
_COMMON: dict[str, pa.DataType] = {
    "id": pa.string(),
    "geometry": pa.binary(),
    "bbox": _struct(pa.float32(), "xmin", "xmax", "ymin", "ymax"),
    "names": _struct(pa.string(), "primary"),
    "confidence": pa.float64(),
    "operating_status": pa.string(),
    "websites": _TEXTS,
    "phones": _TEXTS,
    "addresses": pa.list_(_ADDRESS),
    "sources": pa.list_(_SOURCE),
}


@dataclass(frozen=True, slots=True)
class MadePlace:
    """A place, and its domain: "" for a trap."""

    country: str
    category: str
    domain: str
    licence: str
    row: dict[str, Any]


def made_places(count: int, form: Form, seed: int = 1) -> list[MadePlace]:
    """Places in the order of countries, as those of a release lie near each other. One of four is a trap."""
    choice = random.Random(seed)
    return [_place(number, COUNTRIES[number * len(COUNTRIES) // count], form, choice) for number in range(count)]


def _place(number: int, country: str, form: Form, choice: random.Random) -> MadePlace:
    old, new, above, basic = KINDS[number % len(KINDS)]
    is_trap = choice.random() < 0.25
    domain = "" if is_trap else f"site-{number}.{country.lower()}"
    trap = choice.choice(TRAPS)
    websites = [text and text.format(number) for text in trap] if is_trap else [f"https://www.{domain}/{number}?utm=1"]
    licence, dataset = choice.choice((META, FOURSQUARE))
    kind: dict[str, Any] = {"categories": {"primary": old, "alternate": ["health_and_medical"]}}
    if form == "taxonomy":
        taxonomy = {"primary": new, "hierarchy": [*above, new], "alternates": None}
        kind = {"taxonomy": taxonomy, "basic_category": basic}
    row = {
        "id": f"place-{number}",
        "geometry": bytes(21),
        "bbox": {"xmin": 16.0, "xmax": 16.0, "ymin": 48.0, "ymax": 48.0},
        "names": {"primary": f"Place {number}"},
        "confidence": 0.9,
        "operating_status": "open",
        "websites": websites or None,
        "phones": ["+43 1 234567"],
        "addresses": [{"freeform": "Hauptplatz 1", "locality": "Wien", "postcode": "1010", "country": country}],
        "sources": [{"property": "", "dataset": dataset, "license": licence, "record_id": str(number)}],
        **kind,
    }
    return MadePlace(country, old, domain, f"{licence} ({dataset})", row)


def write_places(path: Path, form: Form, rows: list[dict[str, Any]], rows_per_group: int = 50) -> None:
    """As a file of a release: each row group has places that are near each other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = pa.schema({**_COMMON, **_FORMS[form]})
    pq.write_table(pa.Table.from_pylist(rows, schema), path, compression="zstd", row_group_size=rows_per_group)
