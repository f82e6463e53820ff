"""Wishes about places: countries and their groups, states, cities, and all but some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from random import Random

from siteglass.query.vocabulary import City, vocabulary
from testing.sentences.wishes import Wish, line, list_tags, several
from testing.sentences.words import Forms, Language

# Names that mean a state only by rule 11.
AMBIGUOUS = {"US-GA", "US-WA", "US-NY"}
EITHER = ("and", "or")


def _listed(
    draw: Random, gold: Sequence[str], known: Mapping[str, Forms], chosen: Sequence[str], *, hard: bool
) -> Wish:
    joiner = draw.choice(EITHER)
    tags = list_tags(chosen, joiner)
    return Wish(
        "place", "place", tuple(gold), tuple(known[name] for name in chosen), joiner, hard=hard, tags=("place", *tags)
    )


def country(draw: Random, spoken: Language) -> Wish:
    known = spoken.values("countries")
    chosen = several(draw, list(known), 3)
    return _listed(draw, [line("country", chosen)], known, chosen, hard=False)


def state(draw: Random, spoken: Language) -> Wish:
    """States of one country: beside a foreign neighbour, Georgia could be one too."""
    known = spoken.values("states")
    alpha2 = draw.choice([name.split("-")[0] for name in known])
    chosen = several(draw, [name for name in known if name.startswith(f"{alpha2}-")], 3)
    gold = [_country_line([alpha2]), line("state", [name.split("-")[1] for name in chosen])]
    return _listed(draw, gold, known, chosen, hard=not AMBIGUOUS.isdisjoint(chosen))


def _country_line(alpha2: Sequence[str]) -> str:
    return line("country", [str(vocabulary().country_alpha3(code)) for code in alpha2])


@cache
def _city(name: str) -> City:
    """The most populous of that name."""
    return next(city for city in vocabulary().cities() if city.name == name)


def city(draw: Random, spoken: Language) -> Wish:
    known = spoken.cities()
    chosen = several(draw, list(known), 3)
    countries = sorted({_city(name).country for name in chosen})
    return _listed(draw, [line("country", countries), line("city", chosen)], known, chosen, hard=False)


def city_in_full(draw: Random, spoken: Language) -> Wish:
    """A city with its state or country, or so far from it; the distance cannot be said (rule 12)."""
    if spoken.tables["state_cities"] and draw.random() < 0.4:
        said, (state_name, name) = draw.choice(list(spoken.tables["state_cities"].items()))
        alpha2, code = state_name.split("-")
        gold: tuple[str, ...] = (_country_line([alpha2]), line("state", [code]), line("city", [name]))
        return Wish("place", "place", gold, ({"list": [said]},), hard=True, tags=("place",))
    known, countries = spoken.cities(), spoken.values("countries")
    name = draw.choice(list(known))
    country_code = _city(name).country
    gold = (line("country", [country_code]), line("city", [name]))
    if country_code in countries and "city_country" in spoken.tables["say"] and draw.random() < 0.6:
        names = countries[country_code]
        given = {"country": names.get("alone", names["list"])}
        return Wish("place", "city_country", gold, (known[name],), given=given, tags=("place",))
    return Wish("place", "city_distance", gold, (known[name],), hard=True, tags=("place", "distance"))


def _area(draw: Random, spoken: Language) -> tuple[str, Forms, str, tuple[str, ...]]:
    """A group or part of the world: its name, its forms, its line, its countries."""
    table = draw.choice(("groups", "regions", "subregions"))
    known = spoken.values(table)
    name = draw.choice(list(known))
    if table == "groups":
        members = vocabulary().groups()[name]
        return name, known[name], line("country", members), members
    if table == "regions":
        return name, known[name], line("region", [name]), vocabulary().countries_in("region", name)
    return name, known[name], line("subregion", [name]), vocabulary().countries_in("subregion", name)


def area(draw: Random, spoken: Language) -> Wish:
    _, said, gold, _ = _area(draw, spoken)
    return Wish("place", "place", (gold,), (said,), tags=("place", "area"))


def all_but(draw: Random, spoken: Language) -> Wish:
    """A part of the world without some countries, or a country without one of its cities."""
    countries = spoken.values("countries")
    if draw.random() < 0.3:
        known = spoken.cities()
        name = draw.choice([name for name in known if _city(name).country in countries])
        code = _city(name).country
        gold: tuple[str, ...] = (line("country", [code]), line("city", [name], negated=True))
        outer, without = countries[code]["list"], [known[name]]
    else:
        _, said, whole, members = _area(draw, spoken)
        inside = [code for code in countries if code in members]
        if not inside:
            return area(draw, spoken)
        chosen = several(draw, inside)
        if whole.startswith("@country"):
            gold = (line("country", [code for code in members if code not in chosen]),)
        else:
            gold = (whole, line("country", chosen, negated=True))
        outer, without = said["list"], [countries[code] for code in chosen]
    return Wish("place", "except", gold, tuple(without), "and", {"outer": outer}, hard=True, tags=("place", "except"))


def not_there(draw: Random, spoken: Language) -> Wish:
    """Places that the site must not be in; they write no country (rule 12)."""
    table, directive = draw.choice((("countries", "country"), ("states", "state"), ("cities", "city")))
    known = spoken.cities() if table == "cities" else spoken.values(table)
    chosen = several(draw, [name for name in known if name not in AMBIGUOUS])
    codes = [name.split("-")[1] if table == "states" else name for name in chosen]
    gold = tuple(line(directive, [code], negated=True) for code in codes)
    values = tuple(known[name] for name in chosen)
    return Wish("place", "not_place", gold, values, "nor", negative=True, hard=True, tags=("negation",))


def language(draw: Random, spoken: Language) -> Wish:
    """A language of the site; "and" between languages is "or" (rule 3)."""
    known = spoken.values("languages")
    chosen = several(draw, list(known))
    values = tuple(known[name] for name in chosen)
    if draw.random() < 0.3:
        gold = tuple(line("lang", [name], negated=True) for name in chosen)
        return Wish("lang", "not_lang", gold, values, "nor", negative=True, tags=("lang", "negation"))
    return Wish("lang", "lang", (line("lang", chosen),), values, draw.choice(EITHER), tags=("lang",))
