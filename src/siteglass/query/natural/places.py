"""Countries, states, cities, regions and groups to conditions."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from siteglass.query.natural import town_sizes
from siteglass.query.natural.kinds import PLACES, Role
from siteglass.query.natural.segments import Segment
from siteglass.query.natural.sentence import Sentence
from siteglass.query.vocabulary import City, vocabulary

# Countries that a bare code of a state is looked for in.
_CODED = ("USA", "CAN", "AUS")
_COUNTRIES = (Role.COUNTRY, Role.NATIONALITY)
# No site says of itself that it is there; people mean the two countries.
_ANZ = ("Australia and New Zealand",)

# Before the states of a name: all of them are meant ("New England"), or a part of one ("Bay Area").
ALL_OF, PART_OF = "all", "in"
# So many of them are looked at.
_MOST_OTHERS = 12

Said = dict[str, list[Segment]]
"""Values in the order they were said, each with its words."""


def read_places(sentence: Sentence) -> None:
    """Write where a site is, and where not. Places are alternatives of each other."""
    said = [part for part in sentence.parts if part.kind in PLACES and not part.used]
    said = [part for part in said if not _qualifies(sentence, part)]
    wanted = _gather(sentence, [part for part in said if not part.negated])
    unwanted = _gather(sentence, [part for part in said if part.negated])
    _write_countries(sentence, wanted, unwanted["country"] | unwanted["group"])
    for kind in ("region", "subregion", "state", "city"):
        if kind in ("state", "city") or not (wanted["country"] or wanted["group"]):
            _write(sentence, kind, wanted[kind])
        _write(sentence, kind, unwanted[kind], negated=True)


def _qualifies(sentence: Sentence, part: Segment) -> bool:
    """ "not in Portland, Oregon": the outer place only says which one is not wanted."""
    at = sentence.parts.index(part)
    city = sentence.parts[at - 2] if at > 1 and sentence.parts[at - 1].has(Role.COMMA) else None
    if part.negated or city is None or not city.negated or city.kind != Role.CITY:
        return False
    states = set(states_meant(part, set()))
    inside = any((one.country, one.state) in states or one.country in part.values for one in cities_of(sentence, city))
    part.used = inside
    return inside


def _gather(sentence: Sentence, parts: Iterable[Segment]) -> dict[str, Said]:
    """What was said, by kind; with a wanted state or city, also the country it is in."""
    found: dict[str, Said] = {kind: {} for kind in ("country", "group", "region", "subregion", "state", "city")}
    parts = list(parts)
    countries = {value for part in parts if part.kind in _COUNTRIES for value in part.values}
    states = {state for part in parts if part.kind == Role.STATE for state in states_meant(part, countries)}

    def add(kind: str, part: Segment, *values: str) -> None:
        for value in values:
            found[kind].setdefault(value, []).append(part)

    inside: list[tuple[Segment, str]] = []
    for part in parts:
        match part.kind:
            case Role.COUNTRY | Role.NATIONALITY:
                add("country", part, *part.values)
            case Role.SUBREGION if part.values == _ANZ:
                add("country", part, "AUS", "NZL")
            case Role.STATE:
                for country, code in states_meant(part, countries):
                    add("state", part, code)
                    inside.append((part, country))
            case Role.CITY:
                city = city_meant(sentence, part, countries, states)
                if city is not None:
                    add("city", part, city.name)
                    if not _said_to_be_elsewhere(sentence, part, city):
                        inside.append((part, city.country))
            case kind:
                add(kind, part, *part.values)
    for part, country in inside:
        if not part.negated:
            add("country", part, country)
    return found


def _said_to_be_elsewhere(sentence: Sentence, part: Segment, city: City) -> bool:
    """ "Killarney, Ireland": the country right after a city is right, though only a namesake is known."""
    at = sentence.parts.index(part)
    after = next((other for other in sentence.parts[at + 1 : at + 3] if not other.has(Role.COMMA)), None)
    return after is not None and after.kind == Role.COUNTRY and city.country not in after.values


def _write(sentence: Sentence, directive: str, said: Said, *, negated: bool = False) -> None:
    if said:
        parts = dict.fromkeys(part for some in said.values() for part in some)
        larger = [part.text for part in parts if directive == "state" and part.values[:1] == (PART_OF,)]
        assumption = "; ".join(f"{text!r} is taken as the whole state" for text in larger)
        sentence.say(directive, said, parts, "place", negated=negated, assumption=assumption)


def _write_countries(sentence: Sentence, wanted: dict[str, Said], unwanted: Said) -> None:
    """One line for all countries; "DACH except Switzerland" is the shorter list."""
    known = vocabulary()
    excepted = {country: parts for country, parts in unwanted.items() if country in wanted["group"]}
    whole: Said = dict(wanted["country"])
    for country, parts in wanted["group"].items():
        if country not in excepted:
            whole.setdefault(country, []).extend([*parts, *(part for some in excepted.values() for part in some)])
    if whole:
        # A region beside countries becomes its countries, so that all are alternatives.
        for name, parts in wanted["region"].items():
            whole |= {country: parts for country in known.countries_in("region", name) if country not in whole}
        for name, parts in wanted["subregion"].items():
            whole |= {country: parts for country in known.countries_in("subregion", name) if country not in whole}
    _write(sentence, "country", whole)
    rest = {country: parts for country, parts in unwanted.items() if country not in excepted}
    _write(sentence, "country", rest, negated=True)


def states_meant(part: Segment, countries: set[str]) -> list[tuple[str, str]]:
    """The subdivision a name means, as country and code; one of said countries first, then of the USA."""
    known = vocabulary()
    sense = part.sense(Role.STATE)
    found: list[tuple[str, str]] = []
    for value in sense.values if sense else ():
        if value in (ALL_OF, PART_OF):
            continue
        alpha2, _, code = value.partition("-")
        if not code:
            found.extend((country, alpha2) for country in _CODED if known.state_name(country, alpha2))
        elif country_name := known.country_alpha3(alpha2):
            found.append((country_name, code))
    if sense and sense.values[0] == ALL_OF:
        return found
    inside = [one for one in found if one[0] in countries]
    american = [one for one in found if one[0] == "USA"]
    return (inside or american or found)[:1]


def city_meant(sentence: Sentence, part: Segment, countries: set[str], states: set[tuple[str, str]]) -> City | None:
    """The city a name means: the one in a state or country that is said, else the most populous."""
    candidates = cities_of(sentence, part)
    for city in candidates:
        if (city.country, city.state) in states:
            return city
    for city in candidates:
        if city.country in countries:
            return city
    neighbours = set() if countries else _countries_of_others(sentence, part)
    for city in candidates:
        if {city.country} == neighbours and city.population >= candidates[0].population * town_sizes.NEIGHBOUR_SHARE:
            return city
    home = "" if countries or neighbours else sentence.grammar.home
    for city in candidates:
        if city.country == home and city.population >= candidates[0].population * town_sizes.HOME_SHARE:
            return city
    return candidates[0] if candidates else None


def _countries_of_others(sentence: Sentence, part: Segment) -> set[str]:
    """The countries of the other cities that are named: "Cork, Limerick or Waterford" are in one."""
    others = (other for other in sentence.parts if other.kind == Role.CITY and other is not part)
    return {cities[0].country for other in islice(others, _MOST_OTHERS) if (cities := cities_of(sentence, other))}


def cities_of(sentence: Sentence, part: Segment) -> list[City]:
    """Cities of that name, the most populous first."""
    sense = part.sense(Role.CITY)
    if sense is None:
        return []
    candidates = sentence.words.cities(sense.values[0])
    if len(sense.values) > 1:  # a nickname, with its country
        candidates = [city for city in candidates if city.country == sense.values[1]] or candidates
    return candidates
