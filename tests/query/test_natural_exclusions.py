"""Words of exclusion: whatever excludes never demands, and a full stop inside a phrase changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from siteglass.query.body import read_meaning
from siteglass.query.criteria import Clause
from siteglass.query.directives import parse
from siteglass.query.doubt import needs_review

NOW_MS = 1_795_000_000_000
# 30 and 5 ways to exclude × 10 objects, written without sight of the rules.
SET: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "testing/sentences/sets/exclusions.json").read_text("utf-8")
)
FRAMES = [*SET["frames"], *SET["extra_frames"]]


def conditions(sentence: str) -> frozenset[Clause]:
    return frozenset(read_meaning({"query": sentence}, NOW_MS).criteria.conditions)


def said(*directives: str) -> frozenset[Clause]:
    return frozenset(parse("\n".join(directives)).conditions)


@pytest.mark.parametrize("frame", FRAMES)
def test_what_is_excluded_is_excluded_and_nothing_else(frame: str) -> None:
    base = said(*SET["base"])
    for thing in SET["objects"]:
        sentence = frame.replace("{x}", thing["text"])
        expected = [base | said(accepted) for accepted in thing["directives"]]
        assert conditions(sentence) in expected, sentence


@pytest.mark.parametrize(
    ("sentence", "directives"),
    [
        ("dentists in Texas excl. Austin", ["@country(USA)", "@state(TX)", "!@city(Austin)", "@trade(dentist)"]),
        ("shops in Germany, max. 5k ad spend", ["@country(DEU)", "@service_type(Ecommerce)", "@spends(<=5000)"]),
        ("SEO score max. 40", ["@score(<=40)"]),
        ("load time max. 3s", ["@load_time(<=3000)"]),
        ("Shops in Deutschland exkl. Berlin", ["@country(DEU)", "!@city(Berlin)", "@service_type(Ecommerce)"]),
        ("tiendas en España, máx. 5k en anuncios", ["@country(ESP)", "@service_type(Ecommerce)", "@spends(<=5000)"]),
        ("dentists in Texas, Austin excl.", ["@country(USA)", "@state(TX)", "!@city(Austin)", "@trade(dentist)"]),
        ("shops no. 1 in Austin", ["@country(USA)", "@city(Austin)", "@service_type(Ecommerce)"]),
        ("dentists in Texs", ["@country(USA)", "@state(TX)", "@trade(dentist)"]),
        ("sites crawled since January 1, 2025", ["@updated_after(2025-01-01T00:00:00Z)"]),
    ],
)
def test_single_faults(sentence: str, directives: list[str]) -> None:
    assert conditions(sentence) == said(*directives)


MARKETING_AGENCIES = "!@any[ @service_type(Agency) @offers(marketing) ]"


@pytest.mark.parametrize(
    ("excluded", "directives"),
    [
        ("marketing agencies", [MARKETING_AGENCIES]),
        ("marketing and SEO agencies", ["!@any[ @service_type(Agency) @offers(marketing, seo_structured_data) ]"]),
        ("marketing agencies and consultants", ["!@service_type(Consultant)", MARKETING_AGENCIES]),
        ("consultants and marketing agencies", ["!@service_type(Consultant)", MARKETING_AGENCIES]),
        ("WordPress agencies", ["!@any[ @technology(WordPress) @service_type(Agency) ]"]),
        ("Wix restaurants", ["!@any[ @technology(Wix) @trade(restaurant) ]"]),
        ("consulting firms", ["!@service_type(Consultant)"]),
        ("hosting companies", ["!@offers(hosting_server_environment)"]),
        ("software companies", ["!@trade(software_company)"]),
        ("agencies and Shopify stores", ["!@service_type(Agency)", "!@technology(Shopify)"]),
        ("restaurants and agencies", ["!@service_type(Agency)", "!@trade(restaurant)"]),
        ("hospitals, dentists and law firms", ["!@trade(dentist, hospital, law_firm)"]),
        (
            "agencies, hospitals, law firms and non-profits",
            ["!@service_type(Agency, Non-Profit)", "!@trade(hospital, law_firm)"],
        ),
    ],
)
@pytest.mark.parametrize("frame", ["businesses in Ohio excluding {}", "businesses in Ohio except {}"])
def test_kinds_of_businesses_are_excluded_as_a_whole(frame: str, excluded: str, directives: list[str]) -> None:
    assert conditions(frame.format(excluded)) == said(*SET["base"], *directives)


@pytest.mark.parametrize("sentence", ["no CRM agencies in Ohio", "businesses in Ohio excluding Cleveland agencies"])
def test_a_noun_after_what_is_excluded_stops_whoever_buys(sentence: str) -> None:
    assert needs_review(read_meaning({"query": sentence}, NOW_MS))


def test_a_denial_that_leans_on_a_word_denies_that_word() -> None:
    assert conditions("non-Shopify agencies") == said("!@technology(Shopify)", "@service_type(Agency)")


@pytest.mark.parametrize("thing", ["dentists", "agencies", "Shopify stores"])
def test_what_is_not_excluded_stays(thing: str) -> None:
    assert conditions(f"{thing} not excluding Austin") == conditions(f"{thing} in Austin")
    assert conditions(f"{thing} not excluded") == conditions(thing)


@pytest.mark.parametrize(
    "word", ["excl", "exc", "exkl", "max", "min", "approx", "mind", "maks", "aprox", "env", "ca", "avg"]
)
@pytest.mark.parametrize("frame", ["shops in Germany, {} 5k ad spend", "shops in Texas {} Austin", "SEO score {} 40"])
def test_a_full_stop_after_an_abbreviation_changes_nothing(frame: str, word: str) -> None:
    assert conditions(frame.format(f"{word}.")) == conditions(frame.format(word))


def test_a_full_stop_that_ends_a_sentence_still_does() -> None:
    expected = said("@country(USA)", "@state(TX)", "@trade(dentist)", "@technology(Shopify)")
    assert conditions("Dentists in Texas, no max. Uses Shopify.") >= expected
    assert conditions("dentists in Texas. Shopify") == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Hotels ohne Facebook, mit Telefon",
        "hoteles sin Facebook, con teléfono",
        "alberghi senza Facebook, con telefono",
        "hôtels sans Facebook, avec téléphone",
        "hotéis sem Facebook, com telefone",
        "hotels zonder Facebook, met telefoon",
        "hotele bez Facebooka, z telefonem",
    ],
)
def test_a_preposition_ends_a_denial(sentence: str) -> None:
    """It may be part of a phrase for the thing, such as "mit Telefon"."""
    assert conditions(sentence) == said("@trade(hotel)", "!@has_facebook", "@has_phone")
