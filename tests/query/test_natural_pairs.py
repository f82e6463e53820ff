"""Words that come in pairs, and words that say what is needed: each language, and with each denial before them."""

from __future__ import annotations

import pytest

from siteglass.query.body import read_meaning
from siteglass.query.criteria import Clause
from siteglass.query.directives import parse
from siteglass.query.doubt import find_doubts, needs_review

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
        ("no Instagram, ", "phone|yes,present,included"),
        ("ohne Instagram, ", "dafür Telefon|"),
        ("zonder Instagram, ", "wel een telefoonnummer|"),
        ("sin Instagram, ", "sí teléfono|"),
        ("bez Instagrama, ", "telefon|musi być,musi byc,konieczny,wymagany"),
    ],
)
def test_what_is_needed_after_a_denial_is_not_denied(denied: str, wanted: str) -> None:
    thing, _, words = wanted.partition("|")
    for word in words.split(","):
        sentence = f"{denied}{thing} {word}"
        assert conditions(sentence) == said("!@has_instagram", "@has_phone"), sentence


# A denial of its own on each side: one of the two is enough.
APART = {
    "dentists in Boston |USA|Boston": [
        "with no phone or no email", "without a phone or without an email", "lacking a phone or lacking an email",
        "that either lack a phone or lack an email",
    ],
    "Zahnärzte in Wien |AUT|Vienna": ["ohne Telefon oder ohne E-Mail"],
    "dentistas en Madrid |ESP|Madrid": ["sin teléfono o sin email"],
    "dentistes à Lyon |FRA|Lyon": ["sans téléphone ou sans e-mail"],
    "dentistas em Lisboa |PRT|Lisbon": ["sem telefone ou sem email"],
    "dentisti a Roma |ITA|Rome": ["senza telefono o senza email"],
    "tandartsen in Gent |BEL|Ghent": ["zonder telefoon of zonder e-mailadres"],
}  # fmt: skip


@pytest.mark.parametrize("head", APART)
def test_denials_on_both_sides_of_an_or_are_alternatives(head: str) -> None:
    sentence, country, city = head.split("|")
    wanted = said(f"@country({country})", f"@city({city})", "@trade(dentist)", "@any[ !@has_phone | !@has_email ]")
    for denial in APART[head]:
        assert conditions(sentence + denial) == wanted, denial


NO_HUBSPOT = ["@service_type(SaaS)", "@any[ !@technology(HubSpot) | @has_phone ]"]
NOT_BOTH = ["@service_type(SaaS)", "!@any[ @technology(HubSpot) @technology(Drift) ]"]
HOTELS = [
    "@any[ @country(AUT) @city(Vienna) @trade(hotel) @has_phone"
    " | @country(DEU) @city(Munich) @trade(restaurant) !@has_email ]"
]


@pytest.mark.parametrize(
    ("sentence", "directives"),
    [
        # "unless" after a denial
        ("SaaS companies that don't use HubSpot, unless they have a phone", NO_HUBSPOT),
        ("SaaS-Firmen, die HubSpot nicht nutzen, es sei denn sie haben ein Telefon", NO_HUBSPOT),
        ("empresas SaaS que no usan HubSpot, a menos que tengan teléfono", NO_HUBSPOT),
        ("entreprises SaaS qui n'utilisent pas HubSpot, sauf si elles ont un téléphone", NO_HUBSPOT),
        ("empresas SaaS que não usam HubSpot, a menos que tenham telefone", NO_HUBSPOT),
        ("SaaS-bedrijven die geen HubSpot gebruiken, tenzij ze een telefoonnummer hebben", NO_HUBSPOT),
        ("firmy SaaS bez HubSpot, chyba że mają telefon", NO_HUBSPOT),
        ("aziende SaaS senza HubSpot, a meno che abbiano un telefono", NO_HUBSPOT),
        # both at once
        ("SaaS companies, but not the ones that use HubSpot and Drift together", NOT_BOTH),
        ("SaaS companies excluding those with both HubSpot and Drift", NOT_BOTH),
        ("SaaS-Firmen, aber nicht solche, die HubSpot und Drift gleichzeitig nutzen", NOT_BOTH),
        ("empresas SaaS, salvo las que usan HubSpot y Drift a la vez", NOT_BOTH),
        ("entreprises SaaS, sauf celles qui utilisent à la fois HubSpot et Drift", NOT_BOTH),
        # one of two kinds of businesses, each with its place and what it has
        ("hotels in Vienna with a phone or restaurants in Munich without an email", HOTELS),
        ("Vienna hotels with a phone or Munich restaurants without an email", HOTELS),
        ("Entweder Hotels in Wien mit Telefon oder Restaurants in München ohne E-Mail", HOTELS),
        ("Soit des hôtels à Lyon avec téléphone, soit des restaurants à Munich sans e-mail",
         [HOTELS[0].replace("AUT", "FRA").replace("Vienna", "Lyon")]),
        ("o alberghi a Vienna con telefono, o ristoranti a Monaco di Baviera senza email", HOTELS),
        ("Ofwel hotels in Wenen met een telefoonnummer, ofwel restaurants in München zonder e-mailadres", HOTELS),
        ("Albo hotele w Wiedniu z telefonem, albo restauracje w Monachium bez adresu e-mail", HOTELS),
        # each side names a shop platform
        ("stores on Magento with PayPal, or on Shopify with Mailchimp",
         ["@any[ @technology(Magento) @technology(PayPal) | @technology(Shopify) @technology(MailChimp) ]"]),
        ("stores that lack payments or lack analytics", ["@service_type(Ecommerce)", "@lacks(payments, analytics)"]),
    ],
)  # fmt: skip
def test_alternatives_of_whole_clauses(sentence: str, directives: list[str]) -> None:
    assert conditions(sentence) == said(*directives)


@pytest.mark.parametrize(
    "sentence",
    ["shops in DACH, Switzerland not counted", "Shops in DACH, die Schweiz nicht mitgerechnet",
     "tiendas de DACH, Suiza no incluida", "boutiques du DACH, Suisse non comprise",
     "negozi del DACH, Svizzera esclusa",
     "lojas do DACH, Suíça não incluída", "webshops uit DACH, Zwitserland niet meegerekend"],
)  # fmt: skip
def test_a_country_that_is_not_counted_is_left_out(sentence: str) -> None:
    assert conditions(sentence) == said("@country(AUT, DEU)", "@service_type(Ecommerce)")


@pytest.mark.parametrize(
    "sentence",
    ["either hotels in Oslo with zorblax and a phone or campsites in Bergen with an email"],
)  # fmt: skip
def test_a_word_that_a_branch_does_not_use_is_reported(sentence: str) -> None:
    assert [doubt.kind for doubt in find_doubts(read_meaning({"query": sentence}, NOW_MS))] == ["unused"]


@pytest.mark.parametrize(
    "sentence",
    ["hotels with Wix, except those in Spain that have a phone", "hotels excluding those in Spain with a phone",
     "hotels, not the ones on Wix that have a phone", "Hotels, außer solchen in Spanien mit Telefon",
     "hôtels sauf ceux en Espagne qui ont un téléphone"],
)  # fmt: skip
def test_part_of_what_is_left_out_is_not_demanded_unasked(sentence: str) -> None:
    assert needs_review(read_meaning({"query": sentence}, NOW_MS))


def test_conditions_of_some_of_the_places_are_doubted() -> None:
    meaning = read_meaning(
        {"query": "hotels in Spain or Belgium; the Spanish ones must have YouTube, the Belgian ones a phone"}, NOW_MS
    )
    assert [doubt.kind for doubt in find_doubts(meaning)] == ["unsure"]


NOT_IN = said("!@city(Ghent, Bruges)", "@trade(hotel)")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("hotels noch in Gent noch in Brugge", NOT_IN),
        ("hotele ani w Krakowie, ani w Warszawie", said("!@city(Krakow, Warsaw)", "@trade(hotel)")),
        ("hotels met uitsluiting van Gent", said("!@city(Ghent)", "@trade(hotel)")),
        ("hotel ad esclusione di Roma", said("!@city(Rome)", "@trade(hotel)")),
        ("hotele z wykluczeniem Krakowa", said("!@city(Krakow)", "@trade(hotel)")),
        ("hotels where nobody uses WordPress", said("!@technology(WordPress)", "@trade(hotel)")),
        ("hotels that used to use WordPress", said("!@technology(WordPress)", "@trade(hotel)")),
        ("hotels; exclude: Ghent, Bruges; must have: phone", NOT_IN | said("@has_phone")),
    ],
)
def test_rarer_words_of_exclusion(sentence: str, expected: frozenset[Clause]) -> None:
    assert conditions(sentence) == expected
