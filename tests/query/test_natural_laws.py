"""Laws of sentences that hold whatever they mean: each changes a generated sentence in a way whose effect is known.

The sentences are those of `testing.sentences.generate`, with a fixed seed; the label is not looked at. Where a law is
broken, all sentences that break it are counted, and the first are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

import pytest

from siteglass.query.directives import parse, print_criteria
from testing.sentences.compose import say
from testing.sentences.generate import draw_seeded
from testing.sentences.meaning import Atom, atoms
from testing.sentences.score import service
from testing.sentences.searches import Search
from testing.sentences.wishes import Wish
from testing.sentences.words import LANGUAGES, Forms, forms, language, tools

# Each law sees so many sentences in each of the five languages.
SENTENCES = 60
SHOWN = 5
FRANCE = {"en": "France", "de": "Frankreich", "es": "Francia", "fr": "en France", "pt": "na França"}
# What a search can be asked to have, and the line that says it has not.
FLAGS = {
    "@has_phone": "!@has_phone",
    "@has_email": "!@has_email",
    "!@missing_sitemap": "@missing_sitemap",
    "!@missing_schema": "@missing_schema",
    "!@missing_robot": "@missing_robot",
    "!@missing_heading": "@missing_heading",
    "!@missing_description": "@missing_description",
    "!@not_secure": "@not_secure",
}

pytestmark = [pytest.mark.no_cover, pytest.mark.parametrize("spoken", LANGUAGES)]


@dataclass(frozen=True)
class Drawn:
    """A search and the seed that it is said with."""

    search: Search
    seed: int

    def said(self, **changed: object) -> str:
        return say(replace(self.search, **changed), self.seed, self.seed)  # type: ignore[arg-type]


def drawn(spoken: str, fits: Callable[[Search], bool] = lambda _: True) -> Iterator[Drawn]:
    """So many searches that fit."""
    draw = Random(f"laws {spoken}")
    found = 0
    while found < SENTENCES:
        search, seed = draw_seeded(draw, (spoken,))
        if fits(search):
            found += 1
            yield Drawn(search, seed)


def meaning(text: str) -> set[Atom]:
    return atoms(service(text))


def check(broken: Sequence[str]) -> None:
    assert not broken, f"{len(broken)} of {SENTENCES} break the law:\n" + "\n".join(broken[:SHOWN])


def _in_order(wish: Wish, step: int) -> Wish:
    """Its values forwards (1) or backwards (-1), each in its first form, so that only the order differs."""
    values = [{slot: said[:1] for slot, said in value.items()} for value in wish.values]
    return replace(wish, values=tuple(values[::step]))


def test_the_order_of_a_list_changes_nothing(spoken: str) -> None:
    broken = []
    for one in drawn(spoken, lambda search: any(len(wish.values) > 1 for wish in search.wishes)):
        search, place = one.search, one.search.place
        texts = [
            one.said(
                head=_in_order(search.head, step),
                place=_in_order(place, step) if place else None,
                others=tuple(_in_order(wish, step) for wish in search.others),
            )
            for step in (1, -1)
        ]
        if meaning(texts[0]) != meaning(texts[1]):
            broken.append("\n  ".join(texts))
    check(broken)


def test_synonyms_change_nothing(spoken: str) -> None:
    broken = []
    for one in drawn(spoken):
        text, other = one.said(), say(one.search, one.seed, one.seed + 1)
        if meaning(text) != meaning(other):
            broken.append(f"{text}\n  {other}")
    check(broken)


@pytest.mark.parametrize("change", [str.lower, str.upper])
def test_case_changes_nothing(spoken: str, change: Callable[[str], str]) -> None:
    """Capitals tell a technology from a word only where nothing else does (rule 11); here something always does."""
    broken = [text for one in drawn(spoken) if meaning(text := one.said()) != meaning(change(text))]
    check(broken)


def test_a_place_adds_exactly_one_condition(spoken: str) -> None:
    france = Wish("place", "place", ("@country(FRA)",), (forms([FRANCE[spoken]]),))
    broken = []
    for one in drawn(spoken, lambda search: all(wish.thing != "place" for wish in search.wishes)):
        text, placed = one.said(), one.said(place=france)
        before, after = meaning(text), meaning(placed)
        if (after - before, before - after) != (atoms(france.gold), set()):
            broken.append(f"{text}\n  {placed}")
    check(broken)


def _possessions(spoken: str) -> Iterator[tuple[Wish, Wish]]:
    """Things that a site can have, and the same denied."""
    tables = language(spoken)

    def pair(name: str, has: str, lacks: str, said: Forms, asked: str, denied: str) -> tuple[Wish, Wish]:
        return Wish(name, asked, (has,), (said,)), Wish(name, denied, (lacks,), (said,), negative=True)

    for name, said in tools()["tool"].items():
        has = f"@technology({name})"
        yield pair("having", has, f"!{has}", forms(said), "technology", "not_technology")
    for name, value in tables.values("categories").items():
        yield pair("having", f"@categories_uses({name})", f"@lacks({name})", value, "uses", "lacks")
    for name, value in tables.values("networks").items():
        yield pair("having", f"@has_{name}", f"!@has_{name}", value, "network", "not_network")
    for name, value in tables.values("pages").items():
        yield pair("having", f"@pages({name})", f"!@pages({name})", value, "pages", "not_pages")
    for has, lacks in FLAGS.items():
        yield Wish("having", has, (has,)), Wish("having", lacks, (lacks,), negative=True)


def _leaves_room(search: Search) -> bool:
    """Whether nothing in it could be said of the same thing as what is added."""
    taken = ("technology", "not_technology", "uses", "lacks", "not_lacks", "network", "not_network", "pages")
    things = {wish.thing for wish in search.others}
    flags = {line.strip("!@") for line in FLAGS}
    return things.isdisjoint(taken) and things.isdisjoint(flags) and not search.head.say.endswith("technology")


def test_with_against_without_flips_exactly_one_condition(spoken: str) -> None:
    choose = Random(f"having {spoken}")
    possessions = list(_possessions(spoken))
    broken = []
    for one in drawn(spoken, _leaves_room):
        having, lacking = choose.choice(possessions)
        others = one.search.others
        texts = [
            say(replace(one.search, others=(*others, wish)), one.seed, one.seed, {"having": where})
            for wish, where in ((having, "with"), (lacking, "without"))
        ]
        first, second = map(meaning, texts)
        if (first - second, second - first) != (atoms(having.gold), atoms(lacking.gold)):
            broken.append("\n  ".join(texts))
    check(broken)


def test_what_is_printed_reads_and_prints_the_same(spoken: str) -> None:
    broken = []
    for one in drawn(spoken):
        printed = "\n".join(service(text := one.said()))
        if print_criteria(parse(printed)) != printed:
            broken.append(f"{text}\n  {printed}")
    check(broken)
