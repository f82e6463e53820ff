"""Countries, languages and the regions of the world, with their names in many languages."""

from typing import Any

from babel import Locale

from siteglass.query.folding import loose
from vocabulary.sources import Cldr, table

# English first: where two languages use one name for different countries, the earlier one decides.
LOCALES = (
    *("en", "de", "es", "fr", "pt", "it", "nl"),
    *("sv", "da", "nb", "fi", "is", "et", "lv", "lt", "pl", "cs", "sk", "hu", "ro", "bg", "el", "tr", "ru", "uk", "be"),
    *("hr", "sr", "sr_Latn", "sl", "sq", "mk", "ga", "mt", "ca", "eu", "gl"),
    *("ja", "zh", "zh_Hant", "ko", "ar", "he", "fa", "hi", "th", "vi", "id", "ms"),
)
# Without their accents, three letters of the other languages are too often another word ("Séc", "Síp").
NEAR_LOCALES = set(LOCALES[:7])

# Entries of CLDR that are not separate countries in ISO 3166-1.
NOT_COUNTRIES = {"AC", "CP", "CQ", "DG", "EA", "IC", "QO", "TA"}


def countries(cldr: Cldr) -> dict[str, Any]:
    own = table("countries")
    regions = table("regions")
    english = display_names("en", "territories")
    alpha2s = sorted(cldr.countries_in("001") - NOT_COUNTRIES)
    # The code in common use for Kosovo; CLDR has a different one.
    alpha3s = {code: "XKX" if code == "XK" else cldr.alpha3[code] for code in alpha2s}
    placed = {
        kind: {code: name for number, name in regions[kind].items() for code in cldr.countries_in(number)}
        for kind in ("regions", "subregions")
    }
    rows = []
    for code in alpha2s:
        name = own["english"].get(code, english[code])
        # Antarctica belongs to no M49 region; CLDR hangs it under Oceania.
        region = placed["regions"].get(code) if code != "AQ" else None
        rows.append([alpha3s[code], code, name, region, placed["subregions"].get(code)])
    shown = {code: [name] for code, name in own["english"].items()}
    names = _names("territories", own["aliases"], alpha2s, shown)
    keys = {key: alpha3s[code] for key, code in names.items()}
    for code, alpha3 in alpha3s.items():
        keys[loose(alpha3)] = alpha3
        keys[loose(code)] = alpha3
    groups = {name: sorted(members) for name, members in regions["groups"].items()}
    for name, number in regions["contained_groups"].items():
        groups[name] = sorted(alpha3s[code] for code in cldr.countries_in(number) if code in alpha3s)
    return {
        "countries": sorted(rows),
        "country_names": keys,
        "groups": groups,
        "region_names": _region_names(regions["regions"], regions["region_aliases"]),
        "subregion_names": _region_names(regions["subregions"], regions["subregion_aliases"]),
    }


def languages(cldr: Cldr) -> dict[str, Any]:
    own = table("languages")
    english = display_names("en", "languages")
    codes = sorted(code for code in english if len(code) == 2 and code not in own["withdrawn"])
    keys = _names("languages", own["aliases"], codes, {})
    keys = {long: code for long, code in cldr.language_codes.items() if code in codes} | keys
    keys |= {code: code for code in codes}
    return {"languages": {code: english[code] for code in codes}, "language_names": keys}


def display_names(locale: str, part: str) -> dict[str, str]:
    return {str(code): str(name) for code, name in getattr(Locale.parse(locale), part).items()}


def _names(part: str, aliases: dict[str, list[str]], codes: list[str], first: dict[str, list[str]]) -> dict[str, str]:
    """Key of every name -> code. Our own aliases win, then the order of LOCALES."""
    wanted = set(codes)
    keys: dict[str, str] = {}

    def take(code: str, name: str, length_min: int) -> None:
        # CLDR has names such as "Myanmar (Burma)": the first half is a name too.
        for form in (name, name.partition(" (")[0]):
            if (key := loose(form)) and (len(key) >= length_min or not key.isascii()):
                keys.setdefault(key, code)

    for source in (first, aliases):
        for code, names in source.items():
            if code not in wanted:
                raise SystemExit(f"{part}: alias for unknown code {code}")
            for name in names:
                keys.setdefault(loose(name), code)
    for locale in LOCALES:
        for code, name in sorted(display_names(locale, part).items()):
            if code in wanted:
                take(code, name, 3 if locale in NEAR_LOCALES else 4)
    return keys


def _region_names(regions: dict[str, str], aliases: dict[str, list[str]]) -> dict[str, str]:
    keys = {loose(name): name for name in regions.values()}
    for locale in LOCALES:
        territories = display_names(locale, "territories")
        for number, name in regions.items():
            keys.setdefault(loose(territories.get(number, name)), name)
    for name, others in aliases.items():
        keys |= {loose(other): name for other in others}
    return keys
