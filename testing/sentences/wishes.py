"""What one part of a sentence asks for: its directive lines, and the values that it is said with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from testing.sentences.words import Forms, Language


@dataclass(frozen=True)
class Wish:
    """One condition, or a list of them that is said in one breath.

    `thing`: what it is about; a search has one wish for each. `say`: which table says it. `joiner`: how its values are
    joined. `given`: slots that are no list of values. `names`: what its values are called in directives. `hard`: it
    needs a rule about scope, ambiguity or vague words.
    """

    thing: str
    say: str
    gold: tuple[str, ...]
    values: tuple[Forms, ...] = ()
    joiner: str = "and"
    given: Mapping[str, Sequence[str]] = field(default_factory=dict)
    negative: bool = False
    hard: bool = False
    tags: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def line(directive: str, values: Iterable[str], *, negated: bool = False) -> str:
    """A directive line."""
    return f"{'!' if negated else ''}@{directive}({', '.join(values)})"


def several(draw: Random, known: Sequence[str], most: int = 2) -> list[str]:
    """One value, or now and then a few."""
    count = draw.choices((1, 2, 3), (6, 3, 1))[0]
    return draw.sample(list(known), min(count, most, len(known)))


def list_tags(values: Sequence[object], joiner: str) -> tuple[str, ...]:
    """The tag of a list that is one."""
    return (f"list_{joiner}",) if len(values) > 1 else ()


def listed(
    draw: Random,
    thing: str,
    directive: str,
    known: Mapping[str, Forms],
    *,
    joiners: Sequence[str],
    most: int = 2,
    say: str | None = None,
) -> Wish:
    """Values of one directive: with "and" each is a line of its own, with "or" they share one."""
    chosen = several(draw, list(known), most)
    joiner = draw.choice(joiners)
    gold = [line(directive, chosen)] if joiner == "or" else [line(directive, [value]) for value in chosen]
    values = tuple(known[value] for value in chosen)
    return Wish(thing, say or thing, tuple(gold), values, joiner, tags=list_tags(chosen, joiner), names=tuple(chosen))


def denied(draw: Random, thing: str, say: str, gold: str, known: Mapping[str, Forms], *, most: int = 2) -> Wish:
    """Values of which the site has none; `gold` is the line of one of them, with {} for it."""
    chosen = several(draw, list(known), most)
    return Wish(
        thing,
        say,
        tuple(gold.format(value) for value in chosen),
        tuple(known[value] for value in chosen),
        "nor",
        negative=True,
        hard=len(chosen) > 1,
        tags=("negation",),
        names=tuple(chosen),
    )


def fixed(draw: Random, spoken: Language, begins: Sequence[str]) -> Wish:
    """One of the conditions without a value of their own, whose directive begins so."""
    gold = draw.choice([key for key in spoken.tables["fixed"] if key.lstrip("!@").startswith(tuple(begins))])
    name = gold.lstrip("!@").split("(")[0]
    vague = "(" in gold
    thing = {"updated_within": "age", "updated_after": "age", "no_generic_emails": "has_email"}.get(name, name)
    return Wish(
        thing,
        gold,
        (gold,),
        negative=gold.startswith(("@missing", "@not", "@no_", "!@has", "!@spends")),
        hard=vague,
        tags=("vague",) if vague else (),
    )
