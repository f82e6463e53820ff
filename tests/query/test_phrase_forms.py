"""What an entry of scripts/language stands for."""

from __future__ import annotations

import pytest

from phrase_forms import forms


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("gasta~ar mucho", ["gasta mucho", "gastan mucho", "gaste mucho", "gasten mucho"]),
        ("rápidos~os y ligeros~os", ["rápidos y ligeros", "rápidas y ligeras"]),
        ("Betrieb~DE", ["Betrieb", "betriebe", "betrieben"]),
        ("(que|) (cargan|van) mal", ["que cargan mal", "que van mal", "cargan mal", "van mal"]),
        ("web_shop~s", ["webshop", "webshops", "web shop", "web shops"]),
        ("für", ["für", "fuer"]),
        ("pingüino", ["pingüino"]),
        ("doesn't use", ["doesn't use", "doesnt use"]),
    ],
)
def test_an_entry_stands_for_its_forms(entry: str, said: list[str]) -> None:
    assert list(forms(entry)) == said


@pytest.mark.parametrize(("entry", "problem"), [("gasta~zz", "no such row"), ("gasto~ar", "must end with 'a'")])
def test_an_entry_that_has_no_forms_stops_the_build(entry: str, problem: str) -> None:
    with pytest.raises(SystemExit, match=problem):
        list(forms(entry))
