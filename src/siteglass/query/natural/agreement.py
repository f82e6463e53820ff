"""Places that agree with their neighbours: "houston tx", "ny or nj", "in CA", "dentists miami".

A code such as "or", "in" or "CA" has several meanings, and so has "mobile". Every meaning of the words stays open until
the places of a sentence are compared. A code means a state after a city of that state, or if the other codes of its
list are states. It also does where a place is expected and nothing else fits. The next stage, which cuts the sentence
into phrases, receives what is decided here as the only meaning of these words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from siteglass.query.folding import compact_folded
from siteglass.query.natural import town_sizes
from siteglass.query.natural.kinds import Role, TokenKind
from siteglass.query.natural.lexicon import ENGLISH, Lexicon, Matches, Sense
from siteglass.query.natural.text import Token
from siteglass.query.trades import trades
from siteglass.query.vocabulary import City

Decided = Mapping[int, tuple[int, Sense]]
"""Number of a word -> how many words the phrase has that begins there, and what it means."""

_COUNTRY_CODE = 3
_CODE = 2
_MOST_WORDS = 4
# So many words of a list are looked at on each side.
_MOST_LISTED = 12
# Countries that people write by a code, which is a code of a state, too; beside other countries, every code is one.
_COUNTRY_FIRST = frozenset(("de",))
# After a place, these begin the next part of a sentence.
_NEXT_PART = frozenset(
    (Role.USING, Role.NEGATION, Role.EXCEPTION, Role.BUT, Role.BREAK, Role.COMMA, Role.SPENDING, Role.OFFERING,
     Role.CRAWLED, Role.SINCE, Role.SCORE, Role.LOAD_TIME, Role.CONTACT, Role.SLOW, Role.FAST, Role.POOR_SEO,
     Role.GOOD_SEO, Role.RUNS_ADS, Role.NO_ADS, Role.RECENT, Role.LOW_SPENDER, Role.HEAVY_SPENDER, Role.FLAG_BAD,
     Role.FLAG_GOOD)
)  # fmt: skip
# Looked up once: on Python 3.11 the member of an enum costs more than the rest of such a test.
_CITY_KIND = Role.CITY
_COUNTRIES = (Role.COUNTRY, Role.NATIONALITY)
_JOINTS = (Role.AND, Role.OR)
_ENDS = frozenset(",.;:!?()\n|/")
_CLAUSES = frozenset(("that", "which", "who", "whose", "where", "with", "w"))


def agree(tokens: Sequence[Token], found: Sequence[Matches], lexicon: Lexicon) -> Decided:
    """The places of an English sentence that only their neighbours reveal."""
    places = _Places(tokens, found, lexicon)
    return places.decide() if places.is_english() else {}


def without(tokens: Sequence[Token], decided: Decided) -> list[Token]:
    """The words that are not such places: "la" and "los" of "los angeles" do not show the language."""
    taken = {number for at, (length, _) in decided.items() for number in range(at, at + length)}
    return [token for at, token in enumerate(tokens) if at not in taken]


class _Places:
    """The words of one sentence, and what was decided about them."""

    def __init__(self, tokens: Sequence[Token], found: Sequence[Matches], lexicon: Lexicon) -> None:
        self._tokens = tokens
        self._found = found
        self._lexicon = lexicon
        self._decided: dict[int, tuple[int, Sense]] = {}

    def is_english(self) -> bool:
        """Whether the words are English, codes and names of cities apart."""
        names = {
            number
            for at, matches in enumerate(self._found)
            for length, senses in matches
            if length > 1 and any(sense.kind == _CITY_KIND for sense in senses)
            for number in range(at, at + length)
        }
        telling = [
            token
            for at, token in enumerate(self._tokens)
            if at not in names and self._lexicon.state_of_code(token.key) is None
        ]
        return self._lexicon.language(telling) == ENGLISH

    def decide(self) -> Decided:
        for at in range(len(self._tokens)):
            if self._state(at) is not None:
                self._city_before(at)
        for at in range(len(self._tokens)):
            if at not in self._decided and self._state(at) is not None and self._is_placed(at):
                self._decide_state(at)
        self._lists()
        self._beside_cities()
        self._cities_after_countries()
        for at in range(len(self._tokens)):
            self._city_at_end(at)
        return self._decided

    # --- codes ------------------------------------------------------------------------------------

    def _state(self, at: int) -> Sense | None:
        """The state of the USA, Canada or Australia that a code of two letters stands for."""
        return self._codes.get(at)

    @cached_property
    def _codes(self) -> dict[int, Sense]:
        return {
            at: state
            for at, token in enumerate(self._tokens)
            if token.kind == TokenKind.WORD and len(token.text) == _CODE and not token.quoted
            if (state := self._lexicon.state_of_code(token.key))
        }

    def _decide_state(self, at: int) -> None:
        if sense := self._state(at):
            city = self._lexicon.beside_cities.get(self._tokens[at].key)
            alone = city is not None and not any(self._is_state(other) for other in self._beside(at))
            self._decided[at] = (1, city if city and alone else sense)

    def _is_state(self, at: int) -> bool:
        return self._state(at) is not None or any(
            sense.kind == Role.STATE for _, senses in self._found[at] for sense in senses
        )

    def _city_before(self, at: int) -> None:
        """ "houston tx", "Portland, OR": a city of that state right before the code."""
        end = at - 1 if at and self._tokens[at - 1].key == "," else at
        code = self._tokens[at].key
        for length in range(min(_MOST_WORDS, end), 0, -1):
            start = end - length
            name = self._city_at(start, length)
            cities = self._lexicon.cities(name) if name is not None else []
            # "perth wa" is in Australia, "vancouver wa" in the USA
            state = next((_code_of(city) for city in cities if city.state.lower() == code and _code_of(city)), None)
            if name is None or state is None or any(number in self._decided for number in range(start, end)):
                continue
            if self._is_word(at) and not self._clause_ends(at + 1):
                return  # "portland or seattle", "toronto on linkedin"
            self._decided[start] = (
                length,
                Sense(Role.CITY, (name, "USA") if "US-" in state.values[0] else (name,)),
            )
            self._decided[at] = (1, state)
            return

    def _city_at(self, start: int, length: int) -> str | None:
        for words, senses in self._found[start]:
            if words == length:
                return next((sense.values[0] for sense in senses if sense.kind == _CITY_KIND), None)
        return None

    def _is_word(self, at: int) -> bool:
        """Whether a code is an everyday word in small letters, too: "or", "in", "me"."""
        token = self._tokens[at]
        ordinary = token.key in self._lexicon.sets.word_codes or bool(self._lexicon.roles(token.key))
        return ordinary and not (token.text.isupper() and token.key not in self._lexicon.sets.word_codes)

    def _is_placed(self, at: int) -> bool:
        """Whether a code is where only a place can be, and no other country is named."""
        token = self._tokens[at]
        if token.key in _COUNTRY_FIRST and token.text.isupper():
            return False
        if self._names_countries(at):
            return False
        before = self._tokens[at - 1] if at else None
        if before is None or not self._ends_at(at + 1, listed=True):
            return False
        if self._lexicon.role(before.key, Role.PLACE_PREPOSITION) and before.key not in self._lexicon.sets.of:
            return not self._is_word(at) or self._clause_ends(at + 1)
        if token.text.isupper():
            return self._is_business(at - 1) or (before.key == "," and not self._is_country(at))
        if self._is_word(at) and before.key == ",":
            return token.key not in _NEVER_ALONE and self._next_is(at, ",")  # "plumbers, il, phone"
        if self._is_word(at):
            return self._clause_ends(at + 1) and token.key not in _NEVER_ALONE and self._is_business(at - 1)
        return self._is_business(at - 1) or before.key in ",."

    def _is_country(self, at: int) -> bool:
        return any(sense.kind in _COUNTRIES for _, senses in self._found[at] for sense in senses)

    def _next_is(self, at: int, sign: str) -> bool:
        return at + 1 < len(self._tokens) and self._tokens[at + 1].key == sign

    def _clause_ends(self, at: int) -> bool:
        """Whether nothing follows that an everyday word could belong to."""
        if at >= len(self._tokens) or self._tokens[at].kind in (TokenKind.SIGN, TokenKind.WITH, TokenKind.WITHOUT):
            return True
        key = self._tokens[at].key
        return key in _CLAUSES or any(self._lexicon.role(key, kind) for kind in (Role.USING, Role.NEGATION, Role.BUT))

    def _ends_at(self, at: int, *, listed: bool = False) -> bool:
        """Whether a phrase ends before a word: at the end, at a sign, or where the next part of a sentence begins."""
        if at >= len(self._tokens):
            return True
        token = self._tokens[at]
        if (
            token.kind in (TokenKind.SIGN, TokenKind.WITH, TokenKind.WITHOUT)
            or token.key in _ENDS
            or token.key in _CLAUSES
        ):
            return True
        if (listed and self._lexicon.role(token.key, Role.AND)) or (listed and token.key == "or"):
            return self._state(at + 1) is not None or token.key in ("and", "&")
        return any(sense.kind in _NEXT_PART for _, senses in self._found[at] for sense in senses)

    def _is_business(self, at: int) -> bool:
        """Whether a word ends a name of a trade or a kind of business: "funeral homes pa"."""
        if self._tokens[at].kind != TokenKind.WORD:
            return False
        kinds = {Role.SERVICE_TYPE, Role.GENERIC, Role.SHOP_WORD, Role.SITE_WORD, Role.LAW_FIRM}
        for start in range(max(0, at - _MOST_WORDS + 1), at + 1):
            length = at + 1 - start
            for words, senses in self._found[start]:
                if words == length and any(sense.kind in kinds for sense in senses):
                    return True
            text = "".join([token.key for token in self._tokens[start : at + 1]])
            if compact_folded(text) in trades().forms(ENGLISH):
                return True
        return False

    def _names_countries(self, at: int) -> bool:
        """Whether a country is in the list of a code: "US and CA", "DE, IT, FR"."""
        return bool(self._countries) and not self._countries.isdisjoint(self._beside(at))

    def _beside(self, at: int) -> list[int]:
        """The words of the list that a word is in: joined by commas, slashes, and, or."""
        found = []
        for step in (-1, 1):
            i = at
            for _ in range(_MOST_LISTED):
                i += step
                joined = False
                while 0 <= i < len(self._tokens) and i in self._joints and i != at:
                    i, joined = i + step, True
                if not joined or not 0 <= i < len(self._tokens) or self._tokens[i].kind != TokenKind.WORD:
                    break
                found.append(i)
        return found

    @cached_property
    def _joints(self) -> frozenset[int]:
        """Where the words and signs are that join a list."""
        return frozenset(
            at
            for at, token in enumerate(self._tokens)
            if token.key in (",", "/", "&", "+")
            or (any(self._lexicon.role(token.key, kind) for kind in _JOINTS) and not self._is_oregon(at))
        )

    def _is_oregon(self, at: int) -> bool:
        """ "WA and OR": an "or" in capitals after another joint."""
        before = self._tokens[at - 1].key if at else ""
        return self._tokens[at].text == "OR" and (before == "," or self._lexicon.role(before, Role.AND) is not None)

    @cached_property
    def _countries(self) -> frozenset[int]:
        """Where countries are named; "no" is hardly Norway, and a code of a state hardly a country."""
        return frozenset(
            at
            for at, matches in enumerate(self._found)
            if any(sense.kind in _COUNTRIES for _, senses in matches for sense in senses)
            if self._tokens[at].key not in self._lexicon.sets.word_codes
            if at not in self._codes or self._tokens[at].key in _COUNTRY_FIRST
        )

    def _lists(self) -> None:
        """ "ny or nj", "TX, CA and GA": codes beside a state are states."""
        states = list(self._decided)
        for at in states:  # grows while it is walked: a list may be longer than what is looked at from one word
            for other in self._beside(at):
                if other not in self._decided and self._state(other) is not None and self._is_listed(other):
                    self._decide_state(other)
                    states.append(other)

    def _is_listed(self, at: int) -> bool:
        """Whether a code is one in a list: an everyday word only between joints, as "in" of "il, in and oh"."""
        if not self._is_word(at):
            return True
        if self._is_oregon(at):
            return self._ends_at(at + 1)
        if self._tokens[at].key in _NEVER_ALONE:
            return self._next_is(at, ",") or (at + 1 in self._joints and self._state(at + 2) is not None)
        return self._ends_at(at + 1, listed=True)

    # --- cities -----------------------------------------------------------------------------------

    def _beside_cities(self) -> None:
        """ "nyc or la": a name that is a city only beside another one."""
        for at, token in enumerate(self._tokens):
            city = self._lexicon.beside_cities.get(token.key)
            beside = self._beside(at) if city and at not in self._decided else []
            if city and any(self._is_city(other) for other in beside):
                self._decided[at] = (1, city)

    def _is_city(self, at: int) -> bool:
        return self._city_at(at, 1) is not None and not self._lexicon.roles(self._tokens[at].key)

    def _cities_after_countries(self) -> None:
        """ "croatia split zadar": bare names right after a country that they are in."""
        for at in self._countries:
            senses = [sense for length, some in self._found[at] if length == 1 for sense in some]
            countries = {value for sense in senses if sense.kind == Role.COUNTRY for value in sense.values}
            i = at + 1 if len(self._tokens[at].text) > _COUNTRY_CODE else len(self._tokens)
            while i < len(self._tokens) and i not in self._decided and (inside := self._city_inside(i, countries)):
                self._decided[i] = inside
                i += inside[0]

    def _city_inside(self, at: int, countries: set[str]) -> tuple[int, Sense] | None:
        """The city of one of some countries that begins at a word."""
        if self._lexicon.roles(self._tokens[at].key):
            return None
        for length, senses in self._found[at]:
            sense = next((one for one in senses if one.kind == _CITY_KIND), None)
            if sense and self._tokens[at].key == _first_word(sense.values[0]):
                cities = [city for city in self._lexicon.cities(sense.values[0]) if city.country in countries]
                if cities and cities[0].population >= town_sizes.INSIDE_TOWN:
                    return length, Sense(Role.CITY, (sense.values[0], cities[0].country))
        return None

    def _city_at_end(self, at: int) -> None:
        """ "dentists miami", "roofers little rock with a phone": a large city after a kind of business."""
        if at == 0 or at in self._decided or self._tokens[at].kind != TokenKind.WORD:
            return
        for length, senses in self._found[at]:
            sense = next((one for one in senses if one.kind == _CITY_KIND), None)
            if sense is None or not self._ends_at(at + length) or self._lexicon.roles(self._tokens[at].key):
                continue
            if any(
                one.kind in (Role.STATE, Role.COUNTRY, Role.TECHNOLOGY, Role.CATEGORY, Role.SERVICE_TYPE)
                for one in senses
            ):
                continue
            cities = self._lexicon.cities(sense.values[0])
            nickname = len(sense.values) > 1  # "philly" of Philadelphia, USA
            named = nickname or self._tokens[at].key == _first_word(sense.values[0])
            if named and cities and cities[0].population >= town_sizes.LAST_CITY and self._is_business(at - 1):
                self._decided[at] = (length, sense)
                return


# Greetings and answers: "dentists hi", "plumbers ok".
_NEVER_ALONE = frozenset(("hi", "ok", "me", "or", "in", "on"))


def _first_word(name: str) -> str:
    return name.split(" ")[0].split("-")[0].lower().rstrip(".")


def _code_of(city: City) -> Sense | None:
    prefix = {"USA": "US", "CAN": "CA", "AUS": "AU"}.get(city.country)
    return Sense(Role.STATE, (f"{prefix}-{city.state}",)) if prefix else None
