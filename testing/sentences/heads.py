"""What a sentence is about: the noun that everything else is said of."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from testing.sentences.wishes import Wish, line, list_tags
from testing.sentences.words import Forms, Language, forms, tools, unmarked

SHOP = "@service_type(Ecommerce)"
# Two of these can be named in one breath; the others carry a second line, or a rule of their own.
_PAIRED = ("Agency", "Consultant", "Education", "Manufacturer", "Marketplace", "Non-Profit", "SaaS", "Hospitality")
EITHER = ("and", "or")


def _head(say: str, gold: tuple[str, ...], *values: Forms, joiner: str = "or") -> Wish:
    return Wish("head", say, gold, values, joiner, tags=list_tags(values, joiner))


def generic(draw: Random, spoken: Language) -> Wish:
    """A word that says nothing."""
    return _head("generic", ())


def business(draw: Random, spoken: Language) -> Wish:
    """What the business is."""
    known = spoken.values("business")
    if draw.random() < 0.1:
        names = draw.sample(_PAIRED, 2)
        return _head("business", (line("service_type", names),), *(known[n] for n in names), joiner=draw.choice(EITHER))
    name = draw.choice(list(known))
    gold = [line("service_type", [name])]
    if name == "Firm":
        gold.append("@offers(legal_service)")
    return _head("business", tuple(gold), known[name])


def keyword(draw: Random, spoken: Language) -> Wish:
    """A more special word than any type of business."""
    said = draw.choice(spoken.tables["keywords"]["heads"])
    return _head("keyword", (line("keywords", [unmarked(said)]),), forms([said]))


def goods(draw: Random, spoken: Language) -> Wish:
    """A shop for something."""
    name, said = draw.choice(list(spoken.values("goods").items()))
    return _head("goods", (SHOP, line("keywords", [name])), said)


def agency(draw: Random, spoken: Language) -> Wish:
    """An agency for something it offers."""
    name, said = draw.choice(list(spoken.values("agency_offers").items()))
    return _head("agency", ("@service_type(Agency)", line("offers", [name])), said)


def provider(draw: Random, spoken: Language) -> Wish:
    """A provider of something it offers."""
    name, said = draw.choice(list(spoken.values("provider_offers").items()))
    return _head("provider", (line("offers", [name]),), said)


def _of_technology(draw: Random, kind: str, say: str, *, most: int, gold: tuple[str, ...] = ()) -> Wish:
    names = draw.sample(list(tools()[kind]), draw.choice(range(1, most + 1)))
    said = [forms(tools()[kind][name]) for name in names]
    joiner = "or" if kind == "tool" else draw.choice(EITHER)
    return replace(_head(say, (line("technology", names), *gold), *said, joiner=joiner), names=tuple(names))


def shop_technology(draw: Random, spoken: Language) -> Wish:
    """Shops on a platform: the platform says that they are shops."""
    return _of_technology(draw, "shop", "shop_technology", most=2)


def site_technology(draw: Random, spoken: Language) -> Wish:
    return _of_technology(draw, "site", "site_technology", most=2)


def blog_technology(draw: Random, spoken: Language) -> Wish:
    return _of_technology(draw, "blog", "blog_technology", most=1)


def agency_technology(draw: Random, spoken: Language) -> Wish:
    return _of_technology(draw, "site", "agency_technology", most=1, gold=("@service_type(Agency)",))


def tool_technology(draw: Random, spoken: Language) -> Wish:
    return _of_technology(draw, "tool", "tool_technology", most=1 if spoken.name == "de" else 2)


_WEIGHTS = {
    business: 30,
    keyword: 14,
    generic: 14,
    shop_technology: 12,
    site_technology: 8,
    agency: 5,
    provider: 4,
    goods: 4,
    tool_technology: 4,
    blog_technology: 2,
    agency_technology: 2,
}


def head(draw: Random, spoken: Language) -> Wish:
    """Any that the language has a table for: rule 5 settles "WordPress blogs", not "blogs WordPress"."""
    known = {make: weight for make, weight in _WEIGHTS.items() if make.__name__ in spoken.tables["heads"]}
    return draw.choices(list(known), list(known.values()))[0](draw, spoken)
