"""What is read of a form or an address, without a service."""

from __future__ import annotations

import pytest

from siteglass.dashboard.forms import Form


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("0", 0),
        ("42", 42),
        ("9" * 18, 10**18 - 1),
        ("9" * 19, None),
        ("", None),
        ("-1", None),
        ("+1", None),
        (" 1", None),
        ("1_000", None),
        ("1.0", None),
        ("\u0661", None),
        ("\u00b2", None),
    ],
)
def test_a_number_is_digits_and_fits_the_database(text: str, read: int | None) -> None:
    assert Form([("key", text), ("key", "7")]).number("key") == read


def test_no_number_was_given() -> None:
    assert Form().number("key") is None
