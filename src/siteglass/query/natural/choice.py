"""Which of its meanings a phrase has where it stands."""

from __future__ import annotations

from collections.abc import Mapping

from siteglass.query.folding import fold
from siteglass.query.natural.askers import pass_over_asker
from siteglass.query.natural.lexicon import ENGLISH, HEAD_ROLES, VERB_LAST, Sense
from siteglass.query.natural.places import cities_of
from siteglass.query.natural.segments import ENTITIES, PLACES, Segment
from siteglass.query.natural.sentence import Sentence
from siteglass.query.vocabulary import City, vocabulary

# A town that is called like an ordinary word is meant from this size on.
_KNOWN_TOWN = 100_000


def choose(sentence: Sentence, forced: Mapping[int, Sense]) -> None:
    """Give every phrase one meaning; `forced` are those of phrases that begin at some offsets."""
    if sentence.language == ENGLISH:
        for part in sentence.parts:
            if part.key in sentence.sets["english_nouns"]:
                part.only([sense for sense in part.senses if sense.kind in ENTITIES])
    elif sentence.language == "pt":
        _portuguese_prepositions(sentence)
    for at, part in enumerate(sentence.parts):
        if sense := forced.get(part.tokens[0].start):
            part.only([sense])
            part.become(sense)
        elif part.kind == "unknown" and part.senses:
            _choose_one(sentence, at, part)
    pass_over_asker(sentence)
    _names_inside_nouns(sentence)
    _nouns_after_all(sentence)


def _choose_one(sentence: Sentence, at: int, part: Segment) -> None:
    page = part.sense("page_name")
    if page and sentence.page_follows(at):
        part.become(page)
        return
    entity = part.kinds & ENTITIES
    roles = part.kinds - ENTITIES - HEAD_ROLES - {"protected"}
    if roles and entity:
        no_word = part.key not in sentence.sets["word_codes"] or part.has("state")  # "Portland, OR"
        written = part.tokens[0].text.isupper() and no_word
        code = len(part.key) <= 3 and (part.in_slashes or written or _initialism(sentence, at))
        if not code and roles != {"page_name"} and ("page_name" in roles or not roles <= {"generic", "judgement"}):
            entity = frozenset()
    chosen = _entity(sentence, at, part, entity) if entity else None
    sense = part.sense(chosen) if chosen else None
    if sense is None:
        sense = next((sense for sense in part.senses if sense.kind not in ENTITIES), None)
    if sense is not None:
        part.become(sense)


def _initialism(sentence: Sentence, at: int) -> bool:
    """ "us" and "eu" in small letters: names in an English sentence, but behind a verb ("give us")."""
    before = sentence.parts[at - 1] if at else None
    asked = before is not None and ((before.kind == "unknown" and not before.senses) or before.has("requests"))
    key = sentence.parts[at].key
    return sentence.language == ENGLISH and key in sentence.sets["initialisms"] and not (asked and key == "us")


def _entity(sentence: Sentence, at: int, part: Segment, kinds: frozenset[str]) -> str | None:
    before = sentence.parts[at - 1] if at else None
    in_place = before is not None and _places(sentence, before)
    if "city" in kinds and _lies_in_next(sentence, at, part):
        return "city"
    if "category" in kinds and len(part.key) <= 2:
        return "category"
    if part.key in sentence.sets["uk_nations"] and "state" in kinds:
        return "state"
    if (
        "country" in kinds
        and kinds & {"language", "nationality", "spoken"}
        and part.key not in sentence.sets["us_states_first"]
    ):
        return "country"
    if "spoken" in kinds:
        return "spoken"
    if "nationality" in kinds:
        chosen = _nationality(sentence, at, part, kinds)
        if chosen:
            return chosen
    if "group" in kinds:
        return "group"
    if "country" in kinds and "state" in kinds:
        after_city = at >= 1 and any(other.kind == "city" for other in sentence.parts[max(0, at - 2) : at])
        if after_city and len(part.key) <= 3:
            return "state"
        return "state" if part.key in sentence.sets["us_states_first"] and not _caucasus(sentence) else "country"
    if "state" in kinds and "city" in kinds:
        return _state_or_city(sentence, at, part)
    if "technology" in kinds:
        return _technology(sentence, at, part, kinds, in_place)
    said_before = sentence.before(at)
    if {"service_type", "category"} <= kinds and said_before is not None and said_before.has("using"):
        return "category"  # "with a mobile app"
    for kind in ("country", "subregion", "region", "state", "service_type", "category", "city", "language"):
        if kind in kinds:
            return None if kind == "city" and _no_town(sentence, part, in_place) else kind
    return None


def _places(sentence: Sentence, part: Segment) -> bool:
    """Whether a phrase ends with a preposition of place: "not in"."""
    return part.has("place_preposition") or sentence.words.role(part.tokens[-1].key, "place_preposition") is not None


def _no_town(sentence: Sentence, part: Segment, in_place: bool) -> bool:
    """A small town that is called like an ordinary word, and nothing says that a place is meant."""
    ordinary = len(part.tokens) == 1 and part.key in sentence.words.common
    return ordinary and not in_place and all(city.population < _KNOWN_TOWN for city in cities_of(sentence, part))


def _nationality(sentence: Sentence, at: int, part: Segment, kinds: frozenset[str]) -> str | None:
    before, after = _said_before(sentence, at), sentence.after(at)
    state = part.sense("state")
    if state and any(value.startswith(("US-", "GB-")) for value in state.values):
        return "state"
    if "language" in kinds:
        for beside in (before, after):
            if beside is not None and beside.has("language_marker") and beside.key not in sentence.sets["weak_markers"]:
                return "language"
        if after is not None and after.has("site_word") and _elsewhere(sentence, at):
            return "language"  # "hotels in Bali with an English website"
        said_in = before is not None and before.tokens[-1].key in sentence.sets["language_prepositions"]
        if said_in and (after is None or not after.has("generic", "service_type", "category")):
            return "language"
        listed, following = sentence.beside(at, -1), sentence.beside(at, 1)
        if listed is not None and listed.kind in ("language", "spoken"):
            return "language"  # "in French or German"
        if following is not None and following.has("spoken"):
            return "language"  # "Japanese- or Korean-language"
    return None if "country" in kinds else "nationality"


def _elsewhere(sentence: Sentence, at: int) -> bool:
    """Whether another place is said, of which the site may be in a language of others."""
    listed = sentence.beside(at, -1) is not None
    return any(
        other.kind in PLACES or (i > at and other.has("country", "state", "city") and _placed(sentence, i))
        for i, other in enumerate(sentence.parts)
        if i != at and (not other.has("nationality", "language") or (i < at and other.kind in PLACES and not listed))
    )


def _said_before(sentence: Sentence, at: int) -> Segment | None:
    """The word that a name hangs on, through a colon ("language: Spanish") or a denial ("in neither German nor …")."""
    for part in reversed(sentence.parts[:at]):
        marks = part.has("language_marker") or part.tokens[-1].key in sentence.sets["language_prepositions"]
        denial = part.has("negation") and not marks
        if part.key not in (":", "=", "is") and not denial:
            return part
    return None


def _lies_in_next(sentence: Sentence, at: int, part: Segment) -> bool:
    """ "Lebanon, Tennessee", "Cali, Colombia": a town of that name lies in the place that is said right behind it."""
    behind = at + 1
    if behind < len(sentence.parts) and sentence.parts[behind].has("comma"):
        behind += 1
    if behind >= len(sentence.parts):
        return False
    outer, cities = sentence.parts[behind], cities_of(sentence, part)
    country = outer.sense("country")
    inside = country is not None and not part.has("country") and any(city.country in country.values for city in cities)
    return inside or _contains(outer, cities)


def _contains(outer: Segment, cities: list[City]) -> bool:
    """Whether one of the cities lies in the state that a name can mean."""
    state = outer.sense("state")
    codes = set(state.values) if state else set()
    alpha2 = vocabulary().country_alpha2
    return any(f"{alpha2(city.country)}-{city.state}" in codes for city in cities)


def _state_or_city(sentence: Sentence, at: int, part: Segment) -> str:
    previous = sentence.beside(at, -1)
    if previous is not None and _contains(part, cities_of(sentence, previous)):
        return "state"  # "London, Ontario"
    listed = [other for other in (previous, sentence.beside(at, 1)) if other is not None]
    towns = any(_is_town(sentence, other) for other in listed)
    if part.key in sentence.sets["us_states_first"]:
        return "city" if towns else "state"
    before, after = sentence.before(at), sentence.after(at)
    if len(part.key) <= 3 or any(
        beside and sentence.sets["state_words"] & set(beside.key.split()) for beside in (before, after)
    ):
        return "state"
    if towns:
        return "city"
    if any(other.has("state") and not other.has("city") for other in listed):
        return "state"
    cities, state = cities_of(sentence, part), part.sense("state")
    if not cities or state is None:
        return "state"
    if (
        not any(value.split("-")[0].lower() in sentence.sets["states_named"] for value in state.values)
        and cities[0].population >= _KNOWN_TOWN
    ):
        return "city"
    return "city" if _town_meant(sentence, part, cities[0]) else "state"


def _technology(sentence: Sentence, at: int, part: Segment, kinds: frozenset[str], in_place: bool) -> str | None:
    if kinds & {"city", "category", "service_type"}:
        if "category" in kinds and (len(part.tokens) > 1 or not part.tokens[0].capital):
            return "category"  # "livechat" is live chat, LiveChat a product
        if in_place and "city" in kinds:
            return "city"
        return "technology" if _tool_cue(sentence, at) else min(kinds - {"technology"})
    if not _ordinary(sentence, part):
        return "technology"
    if len(part.tokens) > 1:  # "with full contact details"
        return "technology" if all(token.capital for token in part.tokens) else None
    return "technology" if _tool_cue(sentence, at) else None


def _is_town(sentence: Sentence, part: Segment) -> bool:
    cities = cities_of(sentence, part)
    if not cities or part.key in sentence.sets["us_states_first"] or part.has("country", "nationality"):
        return False
    return not part.has("state") or _town_meant(sentence, part, cities[0])


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
    return any(part.key in sentence.sets["caucasus"] for part in sentence.parts)


def _ordinary(sentence: Sentence, part: Segment) -> bool:
    """A tool's name that is also a word of the language, and not written as a name."""
    camel = any(letter.isupper() for letter in part.tokens[0].text[1:])
    ordinary = sentence.words.is_ordinary
    return not camel and (ordinary(part.key) or ordinary(part.key.removesuffix("s")))


def _tool_cue(sentence: Sentence, at: int) -> bool:
    """Whether a word that is also an ordinary one stands where a tool would."""
    parts, before, after = sentence.parts, sentence.before(at), sentence.after(at)
    if before and before.has("using", "negation", "exception"):
        return True
    if after and after.has("shop_word", "site_word", "negation_after", "using_after"):
        return True
    if after and after.has("using") and sentence.language in VERB_LAST:
        return True  # "die Notion nutzen"
    previous, following = sentence.beside(at, -1), sentence.beside(at, 1)
    if any(other is not None and other.kind == "technology" for other in (previous, before)):
        return True  # "saas nyc stripe intercom"
    listed = [other for other in (previous, following) if other is not None and other.has("technology")]
    capital = parts[at].tokens[0].capital
    return any((capital and other.tokens[0].capital) or not _ordinary(sentence, other) for other in listed)


def _portuguese_prepositions(sentence: Sentence) -> None:
    """ "no Porto" is in Porto, where the sentence is Portuguese."""
    for part in sentence.parts:
        if part.key in sentence.sets["portuguese_in"]:
            part.only([Sense("place_preposition")])
            part.become(part.senses[0])


def _names_inside_nouns(sentence: Sentence) -> None:
    """ "brazil nut exporters in Peru": a country before a noun, where another place is said, is part of it."""
    places = [part for part in sentence.parts if part.kind in PLACES and not part.used]
    if len(places) < 2:
        return
    for at, part in enumerate(sentence.parts):
        if part.kind == "nationality" and _is_style(sentence, at, places):
            _is_noun(part)
        if part.kind != "country" or part.has("nationality") or len(part.key) <= 3:
            continue
        after = sentence.after(at)
        if not _placed(sentence, at) and after is not None and after.kind == "unknown" and not after.senses:
            _is_noun(part)


def _is_style(sentence: Sentence, at: int, places: list[Segment]) -> bool:
    """ "French bakeries in London": what they sell is French; "French bakeries in Lyon" are in France."""
    part, after = sentence.parts[at], sentence.after(at)
    others = [other for other in places if other is not part]
    if _placed(sentence, at) or after is None or after.kind != "unknown" or after.senses:
        return False
    if not all(other.kind in ("country", "city", "state") for other in others):
        return False
    alone = all(other.kind != "nationality" and _placed(sentence, sentence.parts.index(other)) for other in others)
    countries = {value for other in others for value in _countries(sentence, other)}
    return alone and countries.isdisjoint(part.values)


def _countries(sentence: Sentence, part: Segment) -> set[str]:
    return set(part.values) if part.kind == "country" else sentence.countries_of(part)


def _nouns_after_all(sentence: Sentence) -> None:
    """Words that would do something elsewhere, but here are part of what is looked for."""
    for at, part in enumerate(sentence.parts):
        before, after = (sentence.parts[at - 1] if at else None), sentence.after(at)
        noun_behind = after is not None and (after.kind in ("service_type", "unknown") and not after.has("function"))
        noun_before = before is not None and before.kind == "unknown" and not before.senses
        if part.has("wish"):
            continue  # "dentists hiring hygienists"
        if (
            part.kind == "protected"
            or (part.kind == "page_name" and not sentence.page_follows(at) and (noun_behind or noun_before))
            or (
                part.kind == "language_marker"
                and part.key not in sentence.sets["weak_markers"]
                and after
                and after.kind == "service_type"
            )
            or (part.kind in PLACES and noun_behind and _word_place(sentence, at))
            or (part.has("trade") and after and after.kind == "service_type")
            or (part.kind == "service_type" and _is_sold(sentence, at))
            or (
                part.kind == "service_type"
                and part.key in sentence.sets["shop_adjectives"]
                and after
                and after.kind == "unknown"
                and not after.senses
            )
        ):
            _is_noun(part)


def _is_sold(sentence: Sentence, at: int) -> bool:
    """ "selling gaming chairs": part of what is sold, no kind of business."""
    before, after = (sentence.parts[at - 1] if at else None), sentence.after(at)
    sold = before is not None and before.has("offering")
    return sold and after is not None and after.kind == "unknown" and not after.senses


def _word_place(sentence: Sentence, at: int) -> bool:
    """ "turkey farms", "reading glasses": a name that is also an ordinary word, in small letters and not placed."""
    part = sentence.parts[at]
    named = part.key in sentence.sets["word_places"] and not part.tokens[0].capital
    return named and not _placed(sentence, at)


def _placed(sentence: Sentence, at: int) -> bool:
    """Whether a name stands where a place does: behind a preposition, a denial, or in a list."""
    before = sentence.parts[at - 1] if at else None
    return before is not None and before.has("place_preposition", "and", "or", "comma", "exception", "negation")


def _is_noun(part: Segment) -> None:
    part.kind = "unknown"
    part.only([])
