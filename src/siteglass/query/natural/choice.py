"""Which of its meanings a phrase has where it stands."""

from __future__ import annotations

from collections.abc import Mapping

from siteglass.query.folding import fold
from siteglass.query.natural.lexicon import HEAD_ROLES, Sense
from siteglass.query.natural.segments import ENTITIES, PLACES, Segment
from siteglass.query.natural.sentence import Sentence
from siteglass.query.vocabulary import City, vocabulary

US_STATES_FIRST = frozenset(("georgia", "washington", "new york"))
_UK_NATIONS = frozenset(("wales", "scotland", "england", "northern ireland"))
# Words that make Georgia the country.
_CAUCASUS = frozenset(("tbilisi", "armenia", "azerbaijan", "turkey", "ukraine", "batumi", "moldova"))
# Particles that mark a language only together with its name ("in German"), and a place otherwise.
_WEAK_MARKERS = frozenset(("in", "en", "de", "em", "auf"))
_STATE_WORDS = frozenset(("state", "province", "region", "county"))
# Words of other languages that are nouns in an English sentence, and the words that tell that it is one.
_ENGLISH_NOUNS = frozenset(("car", "cars", "hat", "gift", "die", "pain", "chat", "sale", "tag"))
_ENGLISH = frozenset(("in", "with", "and", "the", "without", "for", "that", "no", "not"))
_PORTUGUESE = frozenset(("com", "sem", "em", "que", "lojas", "ou", "nao"))
_NOT_PORTUGUESE = frozenset(("in", "with", "without", "and", "the"))
# Where a clause about the person asking ends: whom it is for.
_FOR_WHOM = frozenset(("to", "for", "targeting", "an", "fur", "a", "para", "aux", "pour", "who", "so"))


def choose(sentence: Sentence, forced: Mapping[int, Sense]) -> None:
    """Give every phrase one meaning; `forced` are those of phrases that begin at some offsets."""
    _languages_apart(sentence)
    for at, part in enumerate(sentence.parts):
        if sense := forced.get(part.tokens[0].start):
            part.only([sense])
            part.become(sense)
        elif part.kind == "unknown" and part.senses:
            _choose_one(sentence, at, part)
    _portuguese_prepositions(sentence)
    _names_inside_nouns(sentence)
    _about_me(sentence)


def _languages_apart(sentence: Sentence) -> None:
    keys = {part.key for part in sentence.parts}
    if keys & _ENGLISH or len(keys) < 3:
        for part in sentence.parts:
            if part.key in _ENGLISH_NOUNS:
                part.only([sense for sense in part.senses if sense.kind in ENTITIES])


def _choose_one(sentence: Sentence, at: int, part: Segment) -> None:
    entity = part.kinds & ENTITIES
    roles = part.kinds - ENTITIES - {"protected"}
    if roles and entity:
        beside = [sentence.parts[i].key for i in (at - 1, at + 1) if 0 <= i < len(sentence.parts)]
        code = len(part.key) <= 3 and (part.tokens[0].text.isupper() or "/" in beside)
        page = roles == {"page_name"} and not sentence.page_follows(at)
        if not code and not page and ("page_name" in roles or not roles <= {"generic", "judgement", *HEAD_ROLES}):
            entity = frozenset()
    chosen = _entity(sentence, at, part, entity) if entity else None
    sense = part.sense(chosen) if chosen else None
    if sense is None:
        sense = next((sense for sense in part.senses if sense.kind not in ENTITIES), None)
    if sense is not None:
        part.become(sense)


def _entity(sentence: Sentence, at: int, part: Segment, kinds: frozenset[str]) -> str | None:
    before = sentence.parts[at - 1] if at else None
    after = sentence.after(at)
    in_place = before is not None and before.has("place_preposition")
    if "category" in kinds and len(part.key) <= 2:
        return "category"
    if part.key in _UK_NATIONS and "state" in kinds:
        return "state"
    if "country" in kinds and kinds & {"language", "nationality", "spoken"} and part.key not in US_STATES_FIRST:
        return "country"
    if "spoken" in kinds:
        return "spoken"
    if "nationality" in kinds:
        chosen = _nationality(part, before, after, kinds)
        if chosen:
            return chosen
    if "group" in kinds:
        return "group"
    if "country" in kinds and "state" in kinds:
        after_city = at >= 1 and any(other.kind == "city" for other in sentence.parts[max(0, at - 2) : at])
        if after_city and len(part.key) <= 3:
            return "state"
        return "state" if part.key in US_STATES_FIRST and not _caucasus(sentence) else "country"
    if "state" in kinds and "city" in kinds:
        city = _largest(sentence, part)
        if part.key in US_STATES_FIRST or len(part.key) <= 3 or city is None:
            return "state"
        if after and after.key in _STATE_WORDS:
            return "state"
        return "city" if _town_meant(sentence, part, city) else "state"
    if "technology" in kinds:
        return _technology(sentence, at, part, kinds, in_place)
    for kind in ("country", "subregion", "region", "state", "service_type", "category", "city", "language"):
        if kind in kinds:
            word = part.tokens[0]
            ordinary = len(part.tokens) == 1 and word.key in sentence.words.common
            return None if kind == "city" and ordinary and not (in_place or word.capital) else kind
    return None


def _nationality(part: Segment, before: Segment | None, after: Segment | None, kinds: frozenset[str]) -> str | None:
    state = part.sense("state")
    if state and any(value.startswith(("US-", "GB-")) for value in state.values):
        return "state"
    if "language" in kinds:
        for beside in (before, after):
            if beside is not None and beside.has("language_marker") and beside.key not in _WEAK_MARKERS:
                return "language"
        said_in = before is not None and (before.key == "in" or before.key.endswith(" in"))
        if said_in and (after is None or not after.has("generic", "service_type", "category")):
            return "language"
    return None if "country" in kinds else "nationality"


def _technology(sentence: Sentence, at: int, part: Segment, kinds: frozenset[str], in_place: bool) -> str | None:
    if kinds & {"city", "category", "service_type"}:
        if "category" in kinds and len(part.tokens) > 1:
            return "category"
        if in_place and "city" in kinds:
            return "city"
        return "technology" if _tool_cue(sentence, at) else min(kinds - {"technology"})
    if _ordinary(sentence, part) and not _tool_cue(sentence, at):
        return None
    return "technology"


def _town_meant(sentence: Sentence, part: Segment, city: City) -> bool:
    """Of a name that a town and a state have: the town, if it lies in that state and bears that very name."""
    known = vocabulary()
    sense = part.sense("state")
    for value in sense.values if sense else ():
        alpha2, _, code = value.partition("-")
        country = known.country_alpha3(alpha2) or ""
        own = fold(known.state_name(country, code) or "")
        for town in sentence.words.cities(city.name):
            if town.country == country:
                return not (part.key == own and fold(town.name) != part.key) and town.population >= 50_000
    return False


def _caucasus(sentence: Sentence) -> bool:
    return any(part.key in _CAUCASUS for part in sentence.parts)


def _largest(sentence: Sentence, part: Segment) -> City | None:
    sense = part.sense("city")
    cities = sentence.words.cities(sense.values[0]) if sense else []
    return cities[0] if cities else None


def _ordinary(sentence: Sentence, part: Segment) -> bool:
    """A tool's name that is also a word of the language, and not written as a name."""
    token = part.tokens[0]
    camel = any(letter.isupper() for letter in token.text[1:])
    said = part.sense("technology")
    alias = said is not None and part.key in ("wp", "woo")
    return len(part.tokens) == 1 and part.key in sentence.words.common and not alias and not camel


def _tool_cue(sentence: Sentence, at: int) -> bool:
    """Whether a word that is also an ordinary one stands where a tool would."""
    parts, before, after = sentence.parts, sentence.before(at), sentence.after(at)
    if before and before.has("using", "negation", "exception"):
        return True
    if after and after.has("shop_word", "site_word"):
        return True
    neighbours = [parts[i] for i in (at - 2, at + 2) if 0 <= i < len(parts)]
    joined = any(parts[i].has("and", "or", "comma") for i in (at - 1, at + 1) if 0 <= i < len(parts))
    capital = parts[at].tokens[0].capital and at > 0
    return capital and joined and any(other.has("technology") for other in neighbours)


def _portuguese_prepositions(sentence: Sentence) -> None:
    """ "no Porto" is in Porto, where the sentence is Portuguese."""
    keys = {part.key for part in sentence.parts}
    if keys & _PORTUGUESE and not keys & _NOT_PORTUGUESE:
        for part in sentence.parts:
            if part.key in ("no", "na", "nos", "nas"):
                part.only([Sense("place_preposition")])
                part.become(part.senses[0])


def _names_inside_nouns(sentence: Sentence) -> None:
    """ "brazil nut exporters in Peru": a country before a noun, where another place is said, is part of it."""
    places = [part for part in sentence.parts if part.kind in PLACES and not part.used]
    if len(places) < 2:
        return
    for at, part in enumerate(sentence.parts):
        if part.kind != "country" or part.has("nationality"):
            continue
        before, after = (sentence.parts[at - 1] if at else None), sentence.after(at)
        joined = before is not None and before.has("place_preposition", "and", "or", "comma", "exception", "negation")
        if not joined and after is not None and after.kind == "unknown" and not after.senses:
            part.kind = "unknown"
            part.only([])


def _about_me(sentence: Sentence) -> None:
    """A clause about the person asking is passed over, up to whom it is meant for."""
    parts, at = sentence.parts, 0
    while at < len(parts):
        if parts[at].has("about_me"):
            end = at + 1
            while end < len(parts) and not parts[end].has("break", "comma", "requests"):
                if parts[end].key in _FOR_WHOM:
                    break
                end += 1
            for part in parts[at:end]:
                part.used = True
            at = end
        at += 1
