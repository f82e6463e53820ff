"""Countries, states, cities, regions and groups to directive lines."""

from __future__ import annotations

from siteglass.query.natural.segments import PLACES, Segment
from siteglass.query.natural.sentence import (
    Sentence,
    quoted,
)
from siteglass.query.vocabulary import City, vocabulary


class Places(Sentence):
    """Writes where a site is."""

    def _places(self) -> None:
        known = vocabulary()
        countries: list[str] = []
        states: list[tuple[str, str]] = []
        cities: list[str] = []
        regions: list[str] = []
        subregions: list[str] = []
        groups: list[str] = []
        no_country: list[str] = []
        said = [part for part in self.parts if part.kind in PLACES and not part.used]
        said_countries = {value for part in said if part.kind in ("country", "nationality") for value in part.values}
        said_states: set[tuple[str, str]] = set()
        for part in said:
            if part.kind == "state":
                said_states.update(self._state(part, said_countries))
        for part in said:
            part.used = True
            values = part.values
            match part.kind:
                case "country" | "nationality":
                    (no_country if part.negated else countries).extend(values)
                case "group":
                    if part.negated:
                        no_country.extend(values)
                    else:
                        groups.extend(values)
                case "subregion" if values == ("Australia and New Zealand",):
                    (no_country if part.negated else countries).extend(("AUS", "NZL"))
                case "region" | "subregion":
                    if part.negated:
                        self.found.add(f"!@{part.kind}({', '.join(values)})")
                    else:
                        (regions if part.kind == "region" else subregions).extend(values)
                case "state":
                    chosen = self._state(part, said_countries)
                    if part.negated:
                        self.found.add(f"!@state({', '.join(code for _, code in chosen)})")
                    else:
                        states.extend(chosen)
                case "city":
                    city = self._city(part, said_countries, said_states)
                    if city is None:
                        continue
                    if part.negated:
                        self.found.add(f"!@city({quoted(city.name)})")
                    else:
                        cities.append(city.name)
                        countries.append(city.country)
        countries.extend(country for country, _ in states)
        whole = list(dict.fromkeys([*countries, *(c for c in groups if c not in no_country)]))
        if groups:
            no_country = [country for country in no_country if country not in groups]
        if whole and not regions and not subregions:
            self.found.add(f"@country({', '.join(whole)})")
        elif whole:
            for name in regions:
                whole.extend(known.countries_in("region", name))
            for name in subregions:
                whole.extend(known.countries_in("subregion", name))
            self.found.add(f"@country({', '.join(dict.fromkeys(whole))})")
        else:
            if regions:
                self.found.add(f"@region({', '.join(dict.fromkeys(regions))})")
            if subregions:
                self.found.add(f"@subregion({', '.join(dict.fromkeys(subregions))})")
        if no_country:
            self.found.add(f"!@country({', '.join(dict.fromkeys(no_country))})")
        if states:
            self.found.add(f"@state({', '.join(dict.fromkeys(code for _, code in states))})")
        if cities:
            self.found.add(f"@city({', '.join(quoted(name) for name in dict.fromkeys(cities))})")

    def _state(self, part: Segment, said: set[str]) -> list[tuple[str, str]]:
        """The subdivisions a name means, as country and code; those of said countries first, then the USA."""
        known = vocabulary()
        sense = part.sense("state")
        found: list[tuple[str, str]] = []
        for value in sense.values if sense else ():
            alpha2, _, code = value.partition("-")
            if not code:
                found.extend(
                    (country, alpha2) for country in ("USA", "CAN", "AUS") if known.state_name(country, alpha2)
                )
            else:
                country_name = known.country_alpha3(alpha2)
                if country_name:
                    found.append((country_name, code))
        inside = [one for one in found if one[0] in said]
        if inside:
            return inside[:1]
        american = [one for one in found if one[0] == "USA"]
        return (american or found)[:1]

    def _city(self, part: Segment, countries: set[str], states: set[tuple[str, str]]) -> City | None:
        sense = part.sense("city")
        if sense is None:
            return None
        candidates = self.lexicon.cities(sense.values[0])
        if len(sense.values) > 1:
            candidates = [city for city in candidates if city.country == sense.values[1]] or candidates
        for city in candidates:
            if (city.country, city.state) in states:
                return city
        for city in candidates:
            if city.country in countries:
                return city
        return candidates[0] if candidates else None
