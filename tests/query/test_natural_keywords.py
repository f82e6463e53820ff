"""Which left-over words become keywords, what a number counts, what a misspelt word means, and casual places. None of
these sentences is in a labelled set."""

from __future__ import annotations

from datetime import date

import pytest

from siteglass.query.natural import Interpretation, interpret

TODAY = date(2026, 11, 15)


def _read(query: str) -> Interpretation:
    return interpret(query, TODAY)


def _reported(read: Interpretation) -> str:
    return " ".join(span.text for note in read.unsupported for span in note.words)


@pytest.mark.promise("query.meaning")
@pytest.mark.parametrize(
    ("query", "keywords"),
    [
        ("stores selling birch syrup in Finland", {"@keywords(birch syrup)"}),
        ("blogs about origami in English", {"@keywords(origami)"}),
        ("charcoal makers in Kenya", {"@keywords(charcoal makers)"}),
        ("llama trekking in Wales", {"@keywords(llama trekking)"}),
        ('agencies in Peru with "carbon neutral"', {"@keywords(carbon neutral)"}),
        ("magasins de cerfs-volants en Belgique", {"@keywords(cerfs volants)"}),
        ("dental software in Boston", {"@keywords(dental software)"}),
    ],
)
def test_a_noun_phrase_of_the_request_is_a_keyword(query: str, keywords: set[str]) -> None:
    assert {line for line in _read(query).directives if line.startswith("@keywords")} == keywords


@pytest.mark.promise("query.no_word_lost")
@pytest.mark.parametrize(
    ("query", "directives", "reported"),
    [
        (
            "morning Hannah! plumbers in Leeds please, quick recap for Thursday",
            {"@country(GBR)", "@city(Leeds)", "@trade(plumber)"},
            "recap",
        ),
        (
            "gyms in Ohio w phone nmbrs pls, deadline looming",
            {"@country(USA)", "@state(OH)", "@trade(gym)", "@has_phone"},
            "looming",
        ),
        ("sector: hotels, orbit: Malta", {"@country(MLT)", "@trade(hotel)"}, "orbit"),
        ("bakeries in Porto. Kind regards, Marek", {"@country(PRT)", "@city(Porto)", "@trade(bakery)"}, "Marek"),
        (
            "The client sells insurance software. Needs law firms in Iowa",
            {"@country(USA)", "@state(IA)", "@service_type(Firm)", "@offers(legal_service)"},
            "insurance software",
        ),
    ],
)
def test_other_words_are_reported(query: str, directives: set[str], reported: str) -> None:
    read = _read(query)
    assert set(read.directives) == directives
    assert reported in _reported(read)


@pytest.mark.promise("query.meaning")
@pytest.mark.parametrize(
    ("query", "spending"),
    [
        ("gyms with 4 locations", set()),
        ("shops with 30,000 monthly pageviews", set()),
        ("law firms with over 20 lawyers", set()),
        ("shops turning over 2m a year", set()),
        ("hotels with rooms over $500", set()),
        ("call 555 123 4567 about gyms in Ohio", set()),
        ("gyms with 4 locations and less than $900 a month in ads", {"@spends(<900)"}),
        ("WooCommerce, Ireland, $3k-$6k/mo", {"@spends(3000-6000)"}),
        ("gyms, 2-5k/mo ad spend", {"@spends(2000-5000)"}),
    ],
)
def test_a_number_is_ad_spending_only_if_something_says_so(query: str, spending: set[str]) -> None:
    assert {line for line in _read(query).directives if "spends" in line} == spending


@pytest.mark.parametrize(
    ("query", "directive"),
    [
        ("fotographers in Lyon", "@trade(photographer)"),
        ("wedding planers in Cape Town", "@trade(wedding_planner)"),
        ("plummers in Leeds", "@trade(plumber)"),
        ("travel agencis in Athens", "@trade(travel_agency)"),
        ("sites with google tag manger", "@technology(Google Tag Manager)"),
        ("upholsterers in Leeds", "@trade(upholsterer)"),
    ],
)
def test_a_misspelt_word_means_the_known_one(query: str, directive: str) -> None:
    assert directive in _read(query).directives


@pytest.mark.parametrize(
    ("query", "directives"),
    [
        ("gyms in sf", {"@country(USA)", "@city(San Francisco)", "@trade(gym)"}),
        ("gyms in the bay area", {"@country(USA)", "@state(CA)", "@trade(gym)"}),
        ("gyms in the pacific northwest", {"@country(USA)", "@state(OR, WA)", "@trade(gym)"}),
        ("gyms in uk n ireland", {"@country(GBR, IRL)", "@trade(gym)"}),
        ("gyms in the gcc", {"@country(ARE, BHR, KWT, OMN, QAT, SAU)", "@trade(gym)"}),
    ],
)
def test_casual_names_of_places(query: str, directives: set[str]) -> None:
    assert set(_read(query).directives) == directives


def test_a_part_of_a_state_is_taken_as_the_whole_and_reported() -> None:
    assert [note.message for note in _read("gyms in the bay area").assumptions] == [
        "'the bay area' is taken as the whole state"
    ]


@pytest.mark.promise("query.meaning")
@pytest.mark.parametrize(
    ("query", "group"),
    [
        (
            "sites with React and Stripe or with Vue and PayPal",
            "@any[ @technology(PayPal) @technology(Vue.js) | @technology(React) @technology(Stripe) ]",
        ),
        (
            "(WordPress and no SSL) or (Wix and slow)",
            "@any[ @technology(Wix) @load_time(>3000) | @technology(WordPress) @not_secure ]",
        ),
        (
            "Wix sites without a phone or Squarespace sites without an email",
            "@any[ @technology(Squarespace) !@has_email | @technology(Wix) !@has_phone ]",
        ),
    ],
)
def test_sides_that_are_built_alike_are_alternatives(query: str, group: str) -> None:
    assert list(_read(query).directives) == [group]
