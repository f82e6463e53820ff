"""Labels that were written before the history of technologies could be searched.

Such a label says nothing for "recently added Klaviyo", or that it is used. If the sentence has words for a change, the
change is accepted in its place. So is the label as it is.
"""

from __future__ import annotations

from siteglass.query.natural.kinds import Role
from siteglass.query.natural.reading import split
from testing.sentences.meaning import Atom

_FIELDS = ("added", "dropped")


def with_changes(query: str, wanted: set[Atom], found: set[Atom]) -> set[Atom]:
    """The label with the changes that were found, in place of conditions on the same technologies."""
    changes = {atom for atom in found if atom.field in _FIELDS}
    if not changes or any(atom.field in _FIELDS for atom in wanted) or not _says_change(query):
        return wanted
    names = {name for atom in changes for value in atom.values for name in _technologies(value)}
    kept = {atom for atom in wanted if atom.field != "technologies" or not atom.values <= names}
    return kept | changes


def _says_change(query: str) -> bool:
    return any(sense.kind == Role.CHANGE for some in split(query).found for _, senses in some for sense in senses)


def _technologies(value: str) -> set[str]:
    """The technology of a value such as "klaviyo, 30d"."""
    return {value.rpartition(",")[0]}
