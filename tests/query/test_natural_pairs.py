"""Words that come in pairs, and words that say what is needed: each language, and with each denial before them."""

from __future__ import annotations

import pytest

from siteglass.query.body import read_meaning
from siteglass.query.criteria import Clause
from siteglass.query.directives import parse

NOW_MS = 1_795_000_000_000


def conditions(sentence: str) -> frozenset[Clause]:
    return frozenset(read_meaning({"query": sentence}, NOW_MS).criteria.conditions)


def said(*directives: str) -> frozenset[Clause]:
    return frozenset(parse("\n".join(directives)).conditions)


# Businesses in a city of a country, and a denial of two things that a site has, before or after them.
BOTH = {
    "dentists in Boston {}|USA|Boston|a sitemap|a phone number": [
        "missing both {a} and {b}", "lacking both {a} and {b}", "without both {a} and {b}", "missing: {a}, {b}",
        "with no: {a}, {b}", "missing all of {a} and {b}", "where both {a} and {b} are missing",
    ],
    "Zahnärzte in Wien {}|AUT|Vienna|Sitemap|Telefonnummer": [
        "ohne sowohl {a} als auch {b}", "denen sowohl {a} als auch {b} fehlen", "fehlt sowohl {a} als auch {b}",
    ],
    "dentistas en Madrid {}|ESP|Madrid|sitemap|teléfono": [
        "a los que les faltan tanto {a} como {b}", "sin ni {a} ni {b}", "sin {a} ni {b}", "que no tienen ni {a} ni {b}",
    ],
    "dentistes à Lyon {}|FRA|Lyon|un sitemap|un téléphone": [
        "sans {a} ni {b}", "auxquels il manque à la fois {a} et {b}",
    ],
    "dentistas em Lisboa {}|PRT|Lisbon|sitemap|telefone": ["sem ambos {a} e {b}", "sem nem {a} nem {b}"],
    "dentisti a Roma {}|ITA|Rome|la sitemap|il telefono": ["a cui mancano sia {a} sia {b}", "senza né {a} né {b}"],
    "tandartsen in Gent {}|BEL|Ghent|een sitemap|een telefoonnummer": [
        "zonder zowel {a} als {b}", "die zowel {a} als {b} missen",
    ],
    "dentyści w Krakowie {}|POL|Krakow|mapy strony|telefonu": ["bez zarówno {a}, jak i {b}", "bez {a} ani {b}"],
}  # fmt: skip


@pytest.mark.parametrize("head", BOTH)
def test_a_denial_before_a_pair_denies_both_and_not_the_place(head: str) -> None:
    sentence, country, city, first, second = head.split("|")
    expected = said(f"@country({country})", f"@city({city})", "@trade(dentist)", "@missing_sitemap", "!@has_phone")
    for frame in BOTH[head]:
        for pair in ((first, second), (second, first)):
            whole = sentence.format(frame.format(a=pair[0], b=pair[1]))
            assert conditions(whole) == expected, whole


@pytest.mark.parametrize(
    ("denied", "wanted"),
    [
        ("no Instagram, ", "phone|must be there,needed,a must,is required,essential,yes,mandatory"),
        ("ohne Instagram, ", "Telefon|muss sein,Pflicht,erforderlich,zwingend,ja"),
        ("sin Instagram, ", "teléfono|obligatorio,imprescindible,sí,necesario"),
        ("sans Instagram, ", "téléphone|obligatoire,indispensable,requis"),
        ("sans Instagram, ", "le téléphone|doit y être"),
        ("sem Instagram, ", "telefone|obrigatório,indispensável,sim"),
        ("senza Instagram, ", "telefono|obbligatorio,indispensabile,sì"),
        ("zonder Instagram, ", "telefoon|verplicht,moet er zijn,nodig"),
        ("bez Instagrama, ", "telefon|musi być,musi byc,konieczny,wymagany"),
    ],
)
def test_what_is_needed_after_a_denial_is_not_denied(denied: str, wanted: str) -> None:
    thing, _, words = wanted.partition("|")
    for word in words.split(","):
        sentence = f"{denied}{thing} {word}"
        assert conditions(sentence) == said("!@has_instagram", "@has_phone"), sentence
