"""Kinds of businesses that are excluded as a whole.

"excluding marketing agencies" leaves out agencies that offer marketing, but neither other agencies nor other businesses
that offer it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from siteglass.query.criteria import Condition
from siteglass.query.directives import make_condition
from siteglass.query.natural.kinds import Role
from siteglass.query.natural.segments import Segment
from siteglass.query.natural.sentence import Sentence
from siteglass.query.vocabulary import vocabulary

# What says which ones, before a noun that says what they are.
MODIFIERS = frozenset((Role.TECHNOLOGY, Role.CATEGORY, Role.SERVICE_TYPE))
_RULE = "kind of business excluded"


@dataclass(frozen=True, slots=True)
class Compound:
    """ "marketing and SEO agencies", "Wix restaurants": the places of its words in the sentence."""

    modifiers: Sequence[int]
    head: Sequence[int]
    trade: str = ""
    """What the head names, if it is not a business type."""


def exclude_kind(sentence: Sentence, compound: Compound) -> None:
    """Write that businesses are left out that are both; nothing where each word excludes by itself."""
    which = [sentence.parts[at] for at in compound.modifiers]
    what = [sentence.parts[at] for at in compound.head]
    condition = _which(which)
    if condition is None or any(part.used or not part.negated for part in (*which, *what)):
        return
    if _says_it_all(condition, which, what[0]):
        branch = [condition]
    elif compound.trade:
        branch = [condition, make_condition("trade", [compound.trade])]
    else:
        branch = [condition, make_condition("service_type", what[0].values)]
    if len(branch) == 1:
        sentence.say(condition.ask.directive, map(str, condition.values), [*which, *what], _RULE, negated=True)
    else:
        sentence.say_any([branch], [*which, *what], _RULE, negated=True)


def _which(parts: Sequence[Segment]) -> Condition | None:
    """What the words before the noun say: a technology, or what is offered ("ecommerce agencies")."""
    if parts[0].kind == Role.TECHNOLOGY:
        return make_condition("technology", [part.values[0] for part in parts])
    offers = [offer for part in parts for offer in _offers(part)]
    return make_condition("offers", offers) if offers else None


def _offers(part: Segment) -> Sequence[str]:
    return part.values[:1] if part.kind == Role.CATEGORY else vocabulary().resolve("category", part.key)


def _says_it_all(condition: Condition, which: Sequence[Segment], noun: Segment) -> bool:
    """ "Shopify stores", "WordPress blogs", "cybersecurity firms": the noun adds nothing to what is before it."""
    if noun.kind != Role.SERVICE_TYPE:
        return False
    if which[0].kind == Role.CATEGORY:
        return noun.values == ("Firm",)
    platform = any("ecommerce" in vocabulary().categories_of(name) for part in which for name in part.values)
    return (noun.values == ("Ecommerce",) and platform) or noun.key in ("blog", "blogs")
