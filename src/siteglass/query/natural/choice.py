"""Which of its meanings a phrase has in its place."""

from __future__ import annotations

from collections.abc import Mapping

from siteglass.query.folding import fold
from siteglass.query.natural import town_sizes
from siteglass.query.natural.askers import pass_over_asker
from siteglass.query.natural.kinds import ENTITIES, PLACES, Role
from siteglass.query.natural.lexicon import ENGLISH, HEAD_ROLES, Sense
from siteglass.query.natural.places import cities_of
from siteglass.query.natural.segments import Segment
from siteglass.query.natural.sentence import Sentence
from siteglass.query.vocabulary import City, vocabulary

_MAYBE_NOUNS = PLACES | {Role.PROTECTED, Role.PAGE_NAME, Role.LANGUAGE_MARKER, Role.SERVICE_TYPE, Role.TRADE}


def choose(sentence: Sentence, forced: Mapping[int, Sense]) -> None:
    """Give every phrase one meaning; `forced` are those of phrases that begin at some offsets."""
    if sentence.language == ENGLISH:
        for part in sentence.parts:
            if part.key in sentence.sets.english_nouns:
                part.only([sense for sense in part.senses if sense.kind in ENTITIES])
    elif placing := sentence.sets.placing.get(sentence.language):
        _prepositions(sentence, placing)
    for at, part in enumerate(sentence.parts):
        if sense := forced.get(part.tokens[0].start):
            part.only([sense])
            part.become(sense)
        elif part.kind == Role.UNKNOWN and part.senses:
            _choose_one(sentence, at, part)
    pass_over_asker(sentence)
    _names_inside_nouns(sentence)
    _nouns_after_all(sentence)


def _choose_one(sentence: Sentence, at: int, part: Segment) -> None:
    page = part.sense(Role.PAGE_NAME)
    if page and sentence.page_follows(at):
        part.become(page)
        return
    entity = part.kinds & ENTITIES
    roles = part.kinds - ENTITIES - HEAD_ROLES - {Role.PROTECTED}
    if roles and entity:
        no_word = part.key not in sentence.sets.word_codes or part.has(Role.STATE)  # "Portland, OR"
        written = part.tokens[0].text.isupper() and no_word
        code = len(part.key) <= 3 and (part.in_slashes or written or _initialism(sentence, at))
        if (
            not code
            and roles != {Role.PAGE_NAME}
            and (Role.PAGE_NAME in roles or not roles <= {Role.GENERIC, Role.JUDGEMENT})
        ):
            entity = frozenset()
    chosen = _entity(sentence, at, part, entity) if entity else None
    sense = part.sense(chosen) if chosen else None
    if sense is None:
        sense = next((sense for sense in part.senses if sense.kind not in ENTITIES), None)
    if sense is not None:
        part.become(sense)


def _initialism(sentence: Sentence, at: int) -> bool:
    """ "us" and "eu" in small letters: names in an English sentence, but not after a verb ("give us")."""
    before = sentence.parts[at - 1] if at else None
    asked = before is not None and ((before.kind == Role.UNKNOWN and not before.senses) or before.has(Role.REQUESTS))
    key = sentence.parts[at].key
    return sentence.language == ENGLISH and key in sentence.sets.initialisms and not (asked and key == "us")


def _entity(sentence: Sentence, at: int, part: Segment, kinds: frozenset[Role]) -> Role | None:  # noqa: C901
    before = sentence.parts[at - 1] if at else None
    in_place = before is not None and _places(sentence, before)
    if Role.CITY in kinds and _is_in_next(sentence, at, part):
        return Role.CITY
    if Role.CATEGORY in kinds and len(part.key) <= 2:
        return Role.CATEGORY
    if part.key in sentence.sets.uk_nations and Role.STATE in kinds:
        return Role.STATE
    if (
        Role.COUNTRY in kinds
        and kinds & {Role.LANGUAGE, Role.NATIONALITY, Role.SPOKEN}
        and part.key not in sentence.sets.us_states_first
    ):
        return Role.COUNTRY
    if Role.SPOKEN in kinds:
        return Role.SPOKEN
    if Role.NATIONALITY in kinds:
        chosen = _nationality(sentence, at, part, kinds)
        if chosen:
            return chosen
    if Role.GROUP in kinds:
        return Role.GROUP
    if Role.COUNTRY in kinds and Role.STATE in kinds:
        after_city = at >= 1 and any(other.kind == Role.CITY for other in sentence.parts[max(0, at - 2) : at])
        if after_city and len(part.key) <= 3:
            return Role.STATE
        american = part.key in sentence.sets.us_states_first and not _is_country(sentence, part)
        return Role.STATE if american else Role.COUNTRY
    if Role.STATE in kinds and Role.CITY in kinds:
        return _state_or_city(sentence, at, part)
    if Role.TECHNOLOGY in kinds:
        return _technology(sentence, at, part, kinds, in_place)
    said_before = sentence.before(at)
    if {Role.SERVICE_TYPE, Role.CATEGORY} <= kinds and said_before is not None and said_before.has(Role.USING):
        return Role.CATEGORY  # "with a mobile app"
    for kind in (
        Role.COUNTRY,
        Role.SUBREGION,
        Role.REGION,
        Role.STATE,
        Role.SERVICE_TYPE,
        Role.CATEGORY,
        Role.CITY,
        Role.LANGUAGE,
    ):
        if kind in kinds:
            return None if kind == Role.CITY and _no_town(sentence, part, in_place) else kind
    return None


def _places(sentence: Sentence, part: Segment) -> bool:
    """Whether a phrase ends with a preposition of place: "not in"."""
    return (
        part.has(Role.PLACE_PREPOSITION) or sentence.words.role(part.tokens[-1].key, Role.PLACE_PREPOSITION) is not None
    )


def _no_town(sentence: Sentence, part: Segment, in_place: bool) -> bool:
    """A small town that is called like an ordinary word, and nothing says that a place is meant."""
    ordinary = len(part.tokens) == 1 and part.key in sentence.words.common
    if not ordinary or in_place:
        return False
    return all(city.population < town_sizes.TOOL_TOWN for city in cities_of(sentence, part))


def _nationality(sentence: Sentence, at: int, part: Segment, kinds: frozenset[Role]) -> Role | None:
    before, after = _said_before(sentence, at), sentence.after(at)
    state = part.sense(Role.STATE)
    if state and any(value.startswith(("US-", "GB-")) for value in state.values):
        return Role.STATE
    if Role.LANGUAGE in kinds:
        for beside in (before, after):
            if beside is not None and beside.has(Role.LANGUAGE_MARKER) and beside.key not in sentence.sets.weak_markers:
                return Role.LANGUAGE
        if after is not None and after.has(Role.SITE_WORD) and _elsewhere(sentence, at):
            return Role.LANGUAGE  # "hotels in Bali with an English website"
        said_in = before is not None and before.tokens[-1].key in sentence.sets.language_prepositions
        if said_in and (after is None or not after.has(Role.GENERIC, Role.SERVICE_TYPE, Role.CATEGORY)):
            return Role.LANGUAGE
        listed, following = sentence.beside(at, -1), sentence.beside(at, 1)
        if listed is not None and listed.kind in (Role.LANGUAGE, Role.SPOKEN):
            return Role.LANGUAGE  # "in French or German"
        if following is not None and following.has(Role.SPOKEN):
            return Role.LANGUAGE  # "Japanese- or Korean-language"
    return None if Role.COUNTRY in kinds else Role.NATIONALITY


def _elsewhere(sentence: Sentence, at: int) -> bool:
    """Whether another place is said, of which the site may be in a language of others."""
    listed = sentence.beside(at, -1) is not None
    return any(
        other.kind in PLACES or (i > at and other.has(Role.COUNTRY, Role.STATE, Role.CITY) and _placed(sentence, i))
        for i, other in enumerate(sentence.parts)
        if i != at
        and (not other.has(Role.NATIONALITY, Role.LANGUAGE) or (i < at and other.kind in PLACES and not listed))
    )


def _said_before(sentence: Sentence, at: int) -> Segment | None:
    """The word that a name hangs on, through a colon ("language: Spanish") or a denial ("in neither German nor …")."""
    for part in reversed(sentence.parts[:at]):
        marks = part.has(Role.LANGUAGE_MARKER) or part.tokens[-1].key in sentence.sets.language_prepositions
        denial = part.has(Role.NEGATION) and not marks
        if part.key not in (":", "=", "is") and not denial:
            return part
    return None


def _is_in_next(sentence: Sentence, at: int, part: Segment) -> bool:
    """ "Lebanon, Tennessee", "Cali, Colombia": a town of that name is in the place that is named right after it."""
    following = at + 1
    if following < len(sentence.parts) and sentence.parts[following].has(Role.COMMA):
        following += 1
    if following >= len(sentence.parts):
        return False
    outer, cities = sentence.parts[following], cities_of(sentence, part)
    country = outer.sense(Role.COUNTRY)
    inside = (
        country is not None and not part.has(Role.COUNTRY) and any(city.country in country.values for city in cities)
    )
    return inside or _contains(outer, cities)


def _contains(outer: Segment, cities: list[City]) -> bool:
    """Whether one of the cities is in the state that a name can mean."""
    state = outer.sense(Role.STATE)
    codes = set(state.values) if state else set()
    alpha2 = vocabulary().country_alpha2
    return any(f"{alpha2(city.country)}-{city.state}" in codes for city in cities)


def _state_or_city(sentence: Sentence, at: int, part: Segment) -> Role:
    previous = sentence.beside(at, -1)
    if previous is not None and _contains(part, cities_of(sentence, previous)):
        return Role.STATE  # "London, Ontario"
    listed = [other for other in (previous, sentence.beside(at, 1)) if other is not None]
    towns = any(_is_town(sentence, other) for other in listed)
    if part.key in sentence.sets.us_states_first:
        return Role.CITY if towns else Role.STATE
    before, after = sentence.before(at), sentence.after(at)
    if len(part.key) <= 3 or any(
        beside and sentence.sets.state_words & set(beside.key.split()) for beside in (before, after)
    ):
        return Role.STATE
    if towns:
        return Role.CITY
    if any(other.has(Role.STATE) and not other.has(Role.CITY) for other in listed):
        return Role.STATE
    cities, state = cities_of(sentence, part), part.sense(Role.STATE)
    if not cities or state is None:
        return Role.STATE
    if (
        not any(value.split("-")[0].lower() in sentence.sets.states_named for value in state.values)
        and cities[0].population >= town_sizes.FOREIGN_TOWN
    ):
        return Role.CITY
    return Role.CITY if _town_meant(sentence, part, cities[0]) else Role.STATE


def _technology(sentence: Sentence, at: int, part: Segment, kinds: frozenset[Role], in_place: bool) -> Role | None:
    if kinds & {Role.CITY, Role.CATEGORY, Role.SERVICE_TYPE}:
        if Role.CATEGORY in kinds and (len(part.tokens) > 1 or not part.tokens[0].capital):
            return Role.CATEGORY  # "livechat" is live chat, LiveChat a product
        if in_place and Role.CITY in kinds:
            return Role.CITY
        return Role.TECHNOLOGY if _tool_cue(sentence, at) else min(kinds - {Role.TECHNOLOGY})
    if not _ordinary(sentence, part):
        return Role.TECHNOLOGY
    if len(part.tokens) > 1:  # "with full contact details"
        return Role.TECHNOLOGY if all(token.capital for token in part.tokens) else None
    return Role.TECHNOLOGY if _tool_cue(sentence, at) else None


def _is_town(sentence: Sentence, part: Segment) -> bool:
    cities = cities_of(sentence, part)
    if not cities or part.key in sentence.sets.us_states_first or part.has(Role.COUNTRY, Role.NATIONALITY):
        return False
    return not part.has(Role.STATE) or _town_meant(sentence, part, cities[0])


def _town_meant(sentence: Sentence, part: Segment, city: City) -> bool:
    """Of a name that a town and a state have: the town, if it is in that state and has exactly that name."""
    known = vocabulary()
    sense = part.sense(Role.STATE)
    for value in sense.values if sense else ():
        alpha2, _, code = value.partition("-")
        country = known.country_alpha3(alpha2) or ""
        own = fold(known.state_name(country, code) or "")
        for town in sentence.words.cities(city.name):
            if town.country == country:
                own_name = part.key != own or fold(town.name) == part.key
                return own_name and town.population >= town_sizes.OWN_STATE_TOWN
    return False


def _is_country(sentence: Sentence, part: Segment) -> bool:
    """Whether another word of the sentence makes a name the country: "Georgia and Armenia"."""
    neighbours = sentence.sets.country_beside.get(part.key, ())
    return any(other.key in neighbours for other in sentence.parts)


def _ordinary(sentence: Sentence, part: Segment) -> bool:
    """A tool's name that is also a word of the language, and not written as a name."""
    camel = any(letter.isupper() for letter in part.tokens[0].text[1:])
    ordinary = sentence.words.is_ordinary
    return not camel and (ordinary(part.key) or ordinary(part.key.removesuffix("s")))


def _tool_cue(sentence: Sentence, at: int) -> bool:
    """Whether a word that is also an ordinary one is where a tool would be."""
    parts, before, after = sentence.parts, sentence.before(at), sentence.after(at)
    if before and before.has(Role.USING, Role.CHANGE, Role.NEGATION, Role.EXCEPTION):
        return True
    if after and after.has(Role.SHOP_WORD, Role.SITE_WORD, Role.NEGATION_AFTER, Role.USING_AFTER):
        return True
    if after and after.has(Role.USING) and sentence.grammar.verb_last:
        return True  # "die Notion nutzen"
    previous, following = sentence.beside(at, -1), sentence.beside(at, 1)
    if any(other is not None and other.kind == Role.TECHNOLOGY for other in (previous, before)):
        return True  # "saas nyc stripe intercom"
    listed = [other for other in (previous, following) if other is not None and other.has(Role.TECHNOLOGY)]
    capital = parts[at].tokens[0].capital
    return any((capital and other.tokens[0].capital) or not _ordinary(sentence, other) for other in listed)


def _prepositions(sentence: Sentence, placing: frozenset[str]) -> None:
    """ "no Porto" is in Porto, where the sentence is Portuguese."""
    for part in sentence.parts:
        if part.key in placing:
            part.only([Sense(Role.PLACE_PREPOSITION)])
            part.become(part.senses[0])


def _names_inside_nouns(sentence: Sentence) -> None:
    """ "brazil nut exporters in Peru": a country before a noun, where another place is said, is part of it."""
    places = [part for part in sentence.parts if part.kind in PLACES and not part.used]
    if len(places) < 2:
        return
    for at, part in enumerate(sentence.parts):
        if part.kind == Role.NATIONALITY and _is_style(sentence, at, places):
            _is_noun(part)
        if part.kind != Role.COUNTRY or part.has(Role.NATIONALITY) or len(part.key) <= 3:
            continue
        after = sentence.after(at)
        if not _placed(sentence, at) and after is not None and after.kind == Role.UNKNOWN and not after.senses:
            _is_noun(part)


def _is_style(sentence: Sentence, at: int, places: list[Segment]) -> bool:
    """ "French bakeries in London": what they sell is French; "French bakeries in Lyon" are in France."""
    part, after = sentence.parts[at], sentence.after(at)
    others = [other for other in places if other is not part]
    if _placed(sentence, at) or after is None or after.kind != Role.UNKNOWN or after.senses:
        return False
    if not all(other.kind in (Role.COUNTRY, Role.CITY, Role.STATE) for other in others):
        return False
    alone = all(other.kind != Role.NATIONALITY and _placed(sentence, sentence.parts.index(other)) for other in others)
    countries = {value for other in others for value in _countries(sentence, other)}
    return alone and countries.isdisjoint(part.values)


def _countries(sentence: Sentence, part: Segment) -> set[str]:
    return set(part.values) if part.kind == Role.COUNTRY else sentence.countries_of(part)


def _nouns_after_all(sentence: Sentence) -> None:
    """Words that would do something elsewhere, but here are part of what is looked for."""
    for at, part in enumerate(sentence.parts):
        # "dentists hiring hygienists": a wish stays one
        if not part.kinds.isdisjoint(_MAYBE_NOUNS) and not part.has(Role.WISH) and _is_part_of_noun(sentence, at):
            _is_noun(part)


def _is_part_of_noun(sentence: Sentence, at: int) -> bool:
    part, before, after = sentence.parts[at], (sentence.parts[at - 1] if at else None), sentence.after(at)
    business_after = after is not None and after.kind == Role.SERVICE_TYPE
    unknown_after = after is not None and after.kind == Role.UNKNOWN
    noun_after = after is not None and (business_after or unknown_after) and not after.has(Role.FUNCTION)
    noun_before = before is not None and before.kind == Role.UNKNOWN and not before.senses
    if part.has(Role.TRADE) and business_after:
        return True
    match part.kind:
        case Role.PROTECTED:
            return True
        case Role.PAGE_NAME:
            return not sentence.page_follows(at) and (noun_after or noun_before)
        case Role.LANGUAGE_MARKER:
            return part.key not in sentence.sets.weak_markers and business_after
        case Role.SERVICE_TYPE:
            adjective = part.key in sentence.sets.shop_adjectives and unknown_after
            return _is_sold(sentence, at) or (adjective and after is not None and not after.senses)
        case kind:
            return kind in PLACES and noun_after and _word_place(sentence, at)


def _is_sold(sentence: Sentence, at: int) -> bool:
    """ "selling gaming chairs": part of what is sold, not a kind of business."""
    before, after = (sentence.parts[at - 1] if at else None), sentence.after(at)
    sold = before is not None and before.has(Role.OFFERING)
    return sold and after is not None and after.kind == Role.UNKNOWN and not after.senses


def _word_place(sentence: Sentence, at: int) -> bool:
    """ "turkey farms", "reading glasses": a name that is also an ordinary word, in small letters and not placed."""
    part = sentence.parts[at]
    named = part.key in sentence.sets.word_places and not part.tokens[0].capital
    return named and not _placed(sentence, at)


def _placed(sentence: Sentence, at: int) -> bool:
    """Whether a name is where a place would be: after a preposition or a denial, or in a list."""
    before = sentence.parts[at - 1] if at else None
    return before is not None and before.has(
        Role.PLACE_PREPOSITION, Role.AND, Role.OR, Role.COMMA, Role.EXCEPTION, Role.NEGATION
    )


def _is_noun(part: Segment) -> None:
    part.kind = Role.UNKNOWN
    part.only([])
