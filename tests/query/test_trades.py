"""Trades: the table is whole, every word names one trade, and people's words for a trade find it in each language."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from siteglass.query.completion import complete
from siteglass.query.folding import compact
from siteglass.query.trades import trades
from siteglass.query.vocabulary import vocabulary

ROOT = Path(__file__).parents[2]
LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "nl", "pl")


def test_every_trade_has_a_name_in_each_language_and_a_parent_that_exists() -> None:
    table = trades()
    assert table.languages == LANGUAGES
    for trade in table.ids():
        assert all(table.name(trade, language) for language in LANGUAGES)
        assert table.trade(trade).parent in ("", *table.ids())
    assert 400 <= len(table.ids()) <= 600
    assert len(table.children("")) == 27


def test_no_name_stands_for_two_trades_in_one_language() -> None:
    for language in LANGUAGES:
        names = Counter(compact(trades().name(trade, language)) for trade in trades().ids())
        assert {name: count for name, count in names.items() if count > 1} == {}


def test_a_trade_includes_all_below_it() -> None:
    table = trades()
    assert table.included("dentist") == ("dentist", "orthodontist")
    assert {"doctor", "dermatologist", "dentist", "orthodontist", "clinic"} <= set(table.included("healthcare"))
    assert {"machine_builder", "cabinet_maker"} <= set(table.included("manufacturer"))
    assert table.parents("orthodontist") == ("dentist", "healthcare")
    assert sorted(other for top in table.children("") for other in table.included(top)) == sorted(table.ids())


@pytest.mark.parametrize(
    ("trade", "words"),
    [
        ("roofer", "roofers; roofing; roofing contractors; roofing company; Roofing Companies; Dachdeckerbetriebe"),
        ("roofer", "Dachdecker; Dachdeckereien; couvreurs; dakdekkers; dekarze; dekarzy; techadores; copritetti"),
        (
            "dentist",
            "dentists; dental practices; Zahnärzte; Zahnaerzte; Zahnarztpraxen; chirurgiens-dentistes; dentistas",
        ),
        ("dentist", "clínicas dentales; studi dentistici; tandartspraktijken; dentyści; gabinetów stomatologicznych"),
        ("law_firm", "attorneys; lawyers; solicitors; law firms; Rechtsanwälte; Anwaltskanzleien; cabinets d'avocats"),
        ("law_firm", "abogados; escritórios de advocacia; studi legali; advocatenkantoren; kancelarie prawne"),
        ("yoga_studio", "yoga studios; Yogaschulen; écoles de yoga; studi di yoga; yogascholen; studia jogi"),
        ("skincare_shop", "skincare brands; skin care; online skincare stores; Hautpflege; skincare"),
        (
            "it_services",
            "IT services; IT service providers; IT-Dienstleister; Systemhäuser; prestataires informatiques",
        ),
        ("seo_agency", "SEO agencies; SEO-Agenturen; agences SEO; agencias SEO; agências de SEO; SEO-bureaus"),
        ("theater", "theaters; theatres"),
    ],
)
def test_people_s_words_find_the_trade(trade: str, words: str) -> None:
    assert {word: trades().find(word) for word in words.split("; ")} == dict.fromkeys(words.split("; "), (trade,))


def test_ordinary_words_name_no_trade() -> None:
    english = "company companies service shop store firm agency IT startup startups software technology marketing email"
    others = "the in Firma Laden Geschäft entreprise empresa azienda bedrijf wine shoes Möbel meble fashion online"
    assert [word for word in f"{english} {others}".split() if trades().find(word)] == []


def test_a_word_may_name_another_trade_in_another_language() -> None:
    table = trades()
    assert table.find("droguería y perfumería", "es") == ("drugstore",)
    assert table.find("Dachdecker", "en") == ()
    assert table.find("Dachdecker", "de") == table.find("Dachdecker") == ("roofer",)


def test_a_filter_takes_ids_and_words_in_any_language() -> None:
    known = vocabulary()
    for text in ("law_firm", "Law firm", "Anwaltskanzlei", "attorneys", "cabinet d'avocats"):
        assert known.resolve("trade", text) == ("law_firm",), text
    assert known.resolve("trade", "Technology") == ("technology",)
    assert known.resolve("trade", "no such trade") == ()
    assert known.nearest("trade", "denstist") == "dentist"
    assert known.nearest("trade", "xqzv") is None
    assert trades().of_schema_org("RoofingContractor") == "roofer"


@pytest.mark.parametrize(
    ("text", "name", "alias"),
    [
        ("roof", "Roofer", None),
        ("dachd", "Roofer", "Dachdecker"),
        ("attorneys", "Law firm", None),
        ("zahna", "Dentist", "Zahnarzt"),
    ],
)
def test_completion_offers_the_trade_first(text: str, name: str, alias: str | None) -> None:
    first = complete("trade", text, 5)[0][0]
    assert (first.known.name, first.alias) == (name, alias)


def test_the_packaged_file_is_what_the_tables_say() -> None:
    """With another order of sets than `make lint` has: the same tables give the same file."""
    script = [sys.executable, str(ROOT / "scripts" / "build_trades.py"), "--check"]
    subprocess.run(script, env={**os.environ, "PYTHONHASHSEED": "2"}, check=True)
