"""ISO 3166-2 subdivisions: current codes, English names, and the names used at home."""

import re
from typing import Any

from siteglass.query.folding import loose
from vocabulary.countries import display_names
from vocabulary.sources import Cldr, table

# Kinds of subdivision that people leave out of the name: "Stockholm County", "Canton of Bern".
KIND_AFTER = ("county", "province", "region", "governorate", "prefecture", "oblast", "district", "department")
KIND_BEFORE = ("canton of", "province of", "county", "state of", "region of", "department of")
KIND_OFFERED = {"US": "state", "JP": "prefecture", "IE": "county", "GB": "county", "SE": "county", "CA": "province"}

# CLDR marks some names as a printed table does: "Tartu²" is not the only Tartu, "Butel †" is part of Skopje.
_FOOTNOTE = re.compile(r"\s*[²³†]$")


def states(cldr: Cldr) -> dict[str, Any]:
    own = table("states")
    territories = display_names("en", "territories")
    names: dict[str, str] = {}
    for code in sorted(cldr.subdivisions):
        qualified = f"{code[:2]}-{code[2:]}".upper()
        # Overseas parts have their own country code, and CLDR names only that (US-PR is PR).
        name = cldr.subdivision_names.get(code) or territories.get(code[2:].upper())
        if name and qualified not in own["ended"]["codes"]:
            names[qualified] = _FOOTNOTE.sub("", name)
    names |= own["added"] | own["english"]
    keys: dict[str, set[str]] = {}
    for qualified, name in names.items():
        for form in _forms(qualified, name):
            keys.setdefault(form, set()).add(qualified)
    for qualified, aliases in own["aliases"].items():
        if qualified not in names:
            raise SystemExit(f"states: alias for unknown code {qualified}")
        for alias in aliases:
            keys.setdefault(loose(alias), set()).add(qualified)
    by_country: dict[str, dict[str, str]] = {}
    for qualified, name in sorted(names.items()):
        country, _, code = qualified.partition("-")
        by_country.setdefault(country, {})[code] = name
    return {"states": by_country, "state_names": {key: sorted(codes) for key, codes in keys.items()}}


def _forms(qualified: str, name: str) -> set[str]:
    key = loose(name)
    forms = {key}
    for kind in KIND_AFTER:
        forms.add(key.removesuffix(f" {kind}"))
    for kind in KIND_BEFORE:
        forms.add(key.removeprefix(f"{kind} "))
    if kind := KIND_OFFERED.get(qualified[:2], ""):
        forms.add(f"{key} {kind}")
        forms.add(f"{kind} of {key}")
        if kind == "county":
            forms.add(f"county {key}")
    return forms
