"""Which of its meanings a phrase has where it stands."""

from __future__ import annotations

from siteglass.query.folding import fold
from siteglass.query.natural.lexicon import Sense
from siteglass.query.natural.segments import ENTITIES, PLACES, Segment
from siteglass.query.natural.sentence import (
    SHOP_WORDS,
    US_STATES_FIRST,
    Sentence,
)
from siteglass.query.vocabulary import City, vocabulary


class Choice(Sentence):
    """Chooses a sense for each segment."""

    def _english(self) -> None:
        """Words of other languages that are nouns in an English sentence."""
        keys = {part.key for part in self.parts}
        if keys & {"in", "with", "and", "the", "without", "for", "that", "no", "not"} or len(keys) < 3:
            for part in self.parts:
                if part.key in ("car", "cars", "hat", "gift", "die", "pain", "chat", "sale", "tag"):
                    part.senses = [sense for sense in part.senses if sense.kind in ENTITIES]

    def _choose(self) -> None:
        for at, part in enumerate(self.parts):
            if part.kind != "unknown" or not part.senses:
                continue
            kinds = {sense.kind for sense in part.senses}
            entity = kinds & ENTITIES
            roles = kinds - ENTITIES - {"protected"}
            if roles and entity:
                beside = [self.parts[i].key for i in (at - 1, at + 1) if 0 <= i < len(self.parts)]
                code = len(part.key) <= 3 and (part.tokens[0].text.isupper() or "/" in beside)
                if not code and not (roles <= {"page_name", "generic", "judgement"} and "page_name" not in roles):
                    entity = set() if not (roles == {"page_name"} and not self._page_follows(at)) else entity
            if entity:
                chosen = self._entity(at, part, entity)
                if chosen:
                    sense = part.sense(chosen)
                    if sense:
                        part.become(sense)
                        continue
            role = next((sense for sense in part.senses if sense.kind not in ENTITIES), None)
            if role:
                part.become(role)

    def _entity(self, at: int, part: Segment, kinds: set[str]) -> str | None:
        before = self.parts[at - 1] if at else None
        after = self._after(at)
        in_place = before is not None and before.has("place_preposition")
        if "category" in kinds and len(part.key) <= 2:
            return "category"
        if part.key in ("wales", "scotland", "england", "northern ireland") and "state" in kinds:
            return "state"
        if "country" in kinds and kinds & {"language", "nationality", "spoken"} and part.key not in US_STATES_FIRST:
            return "country"
        if "spoken" in kinds:
            return "spoken"
        state = part.sense("state")
        if "nationality" in kinds and state and any(value.startswith(("US-", "GB-")) for value in state.values):
            return "state"
        if "nationality" in kinds:
            marked = (
                after is not None and after.has("language_marker") and after.key not in ("in", "en", "de", "em", "auf")
            )
            if marked and "language" in kinds:
                return "language"
            if (
                before is not None
                and before.has("language_marker")
                and before.key not in ("in", "en", "de", "em", "auf")
                and "language" in kinds
            ):
                return "language"
            if (
                before is not None
                and (before.key == "in" or before.key.endswith(" in"))
                and "language" in kinds
                and (after is None or not after.has("generic", "service_type", "category"))
            ):
                return "language"
            if "country" not in kinds:
                return "nationality"
        if "group" in kinds:
            return "group"
        if "country" in kinds and "state" in kinds:
            after_city = at >= 1 and any(other.kind == "city" for other in self.parts[max(0, at - 2) : at])
            if after_city and len(part.key) <= 3:
                return "state"
            return "state" if part.key in US_STATES_FIRST and not self._caucasus() else "country"
        if "state" in kinds and "city" in kinds:
            if part.key in US_STATES_FIRST:
                return "state"
            city = self._largest(part)
            if len(part.key) <= 3 or city is None or (after and after.key in ("state", "province", "region", "county")):
                return "state"
            return "city" if self._town_meant(part, city) else "state"
        if "technology" in kinds:
            if "city" in kinds or "category" in kinds or "service_type" in kinds:
                rest = kinds - {"technology"}
                if "category" in kinds and len(part.tokens) > 1:
                    return "category"
                if in_place and "city" in kinds:
                    return "city"
                return sorted(rest)[0] if not self._tool_cue(at) else "technology"
            if self._ordinary(part) and not self._tool_cue(at):
                return None
            return "technology"
        for kind in ("country", "subregion", "region", "state", "service_type", "category", "city", "language"):
            if kind in kinds:
                if (
                    kind == "city"
                    and part.tokens[0].key in self.lexicon.common
                    and len(part.tokens) == 1
                    and not (in_place or part.tokens[0].capital)
                ):
                    return None
                return kind
        return None

    def _town_meant(self, part: Segment, city: City) -> bool:
        """Of a name that a town and a state have: the town, if it lies in that state and bears that very name."""
        known = vocabulary()
        sense = part.sense("state")
        for value in sense.values if sense else ():
            alpha2, _, code = value.partition("-")
            country = known.country_alpha3(alpha2) or ""
            own = fold(known.state_name(country, code) or "")
            for town in self.lexicon.cities(city.name):
                if town.country == country:
                    return not (part.key == own and fold(town.name) != part.key) and town.population >= 50_000
        return False

    def _caucasus(self) -> bool:
        return any(
            part.key in ("tbilisi", "armenia", "azerbaijan", "turkey", "ukraine", "batumi", "moldova")
            for part in self.parts
        )

    def _largest(self, part: Segment) -> City | None:
        sense = part.sense("city")
        cities = self.lexicon.cities(sense.values[0]) if sense else []
        return cities[0] if cities else None

    def _ordinary(self, part: Segment) -> bool:
        return (
            len(part.tokens) == 1
            and part.key in self.lexicon.common
            and part.key not in ("wp", "woo")
            and not camel(part)
        )

    def _tool_cue(self, at: int) -> bool:
        """Whether a word that is also an ordinary one stands where a tool would."""
        part = self.parts[at]
        before = self._before(at)
        after = self._after(at)
        if before and before.has("using", "negation", "exception"):
            return True
        if after and (after.key in SHOP_WORDS or after.key in ("sites", "blogs", "site", "blog", "websites", "users")):
            return True
        neighbours = [self.parts[i] for i in (at - 2, at + 2) if 0 <= i < len(self.parts)]
        joined = any(self.parts[i].has("and", "or", "comma") for i in (at - 1, at + 1) if 0 <= i < len(self.parts))
        capital = part.tokens[0].capital and at > 0
        return capital and joined and any(other.has("technology") for other in neighbours)

    def _portuguese(self) -> None:
        """ "no Porto" is in Porto, where the sentence is Portuguese."""
        keys = {part.key for part in self.parts}
        if keys & {"com", "sem", "em", "que", "lojas", "ou", "nao"} and not keys & {
            "in",
            "with",
            "without",
            "and",
            "the",
        }:
            for part in self.parts:
                if part.key in ("no", "na", "nos", "nas"):
                    part.senses = [Sense("place_preposition")]
                    part.become(part.senses[0])

    def _not_a_place(self) -> None:
        """ "brazil nut exporters in Peru": a country before a noun, where another place is said, is part of it."""
        places = [part for part in self.parts if part.kind in PLACES and not part.used]
        for at, part in enumerate(self.parts):
            after = self._after(at)
            before = self.parts[at - 1] if at else None
            prepositioned = before is not None and before.has(
                "place_preposition", "and", "or", "comma", "exception", "negation"
            )
            if (
                part.kind == "country"
                and len(places) > 1
                and not prepositioned
                and not part.has("nationality")
                and after is not None
                and after.kind == "unknown"
                and not after.senses
            ):
                part.kind, part.senses = "unknown", []

    def _skip_about_me(self) -> None:
        """A clause about the person asking: up to whom it is meant for."""
        at = 0
        while at < len(self.parts):
            if self.parts[at].has("about_me"):
                end = at + 1
                while end < len(self.parts) and not self.parts[end].has("break", "comma", "requests"):
                    if self.parts[end].key in (
                        "to",
                        "for",
                        "targeting",
                        "an",
                        "fur",
                        "a",
                        "para",
                        "aux",
                        "pour",
                        "who",
                        "so",
                    ):
                        break
                    end += 1
                for part in self.parts[at:end]:
                    part.used = True
                at = end
            at += 1


def camel(part: Segment) -> bool:
    return any(letter.isupper() for letter in part.tokens[0].text[1:])
