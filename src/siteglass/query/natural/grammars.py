"""What rules know of a language besides its words; scripts/language/languages.toml says what each line means."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language that is read."""

    romance: bool = False
    verb_last: bool = False
    denies_twice: bool = False
    home: str = ""
    without_words: bool = False
    distinct: bool = False
