"""Rules: what the merge asks of the tables of others, as functions, so that worker processes import them by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import NamedTuple

from siteglass.corpus.address_kinds import AddressKind
from siteglass.ingest.ownership import ContactContext, Owners


class Rules(NamedTuple):
    """Pure functions; the same question always gets the same answer."""

    priority: Callable[[str], int]
    """How much a path is worth reading, the smallest number the most."""
    kind: Callable[[str, str, bool], AddressKind]
    """Whose an address is, by the name of the business and whether a page names a person who fits it."""
    is_free_mail: Callable[[str], bool]
    """Whether an address is one of a provider for everybody."""
    score: Callable[[Mapping[str, bool]], int | None]
    """0 to 100, by the checks of the home page that passed or failed."""
    owners: Callable[[str, str, Sequence[ContactContext]], Owners]
    """Whose the addresses and numbers of a domain are, by its name and that of the business."""
    spending: Callable[[Sequence[str] | None, str], int | None]
    """Whole USD a month, by technologies, None if they were not read, and country."""


@cache
def rules_of(name: str) -> Rules:
    """The rules that `module:name` names."""
    module, _, attribute = name.partition(":")
    found: Rules = getattr(import_module(module), attribute)
    return found
