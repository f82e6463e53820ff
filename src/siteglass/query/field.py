"""What a row of the catalogue is made of: kinds of conditions, forms of filters, where a field is shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Literal

from siteglass.query import vocabulary

Example = str | int | bool | list[str] | dict[str, str]


class Kind(Enum):
    """How the values of a condition are written, compared and searched."""

    TERM = auto()  # one of a vocabulary; equality
    LACKS = auto()  # a category that is not used, where the technologies are known
    PATH = auto()  # a page path; equality
    TEXT = auto()  # words searched as a phrase
    NUMBER = auto()  # comparison or range
    TIME = auto()  # a moment; strictly later
    AGE = auto()  # whole days before now; fixed to a TIME at the first page
    CHANGE = auto()  # technologies and when they changed; days before now are fixed to a date at the first page
    FLAG = auto()  # no value


class Form(Enum):
    """How a body filter writes a condition."""

    ONE = auto()  # a string: one value
    MANY = auto()  # an array of strings: alternatives
    MIN = auto()  # an integer: at least
    MAX = auto()  # an integer: at most
    SPAN = auto()  # '<min>-<max>' or '<min>+'
    COMPARISON = auto()  # an operator and a number
    MOMENT = auto()  # an RFC 3339 time
    SWITCH = auto()  # true restricts, false does not


@dataclass(frozen=True, slots=True)
class Filter:
    """A parameter of the search body that says a condition on a field."""

    name: str
    form: Form
    meaning: str
    example: Example
    alias: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, self.alias) if self.alias else (self.name,)


@dataclass(frozen=True, slots=True)
class Ask:
    """What can be asked of a field."""

    directive: str
    kind: Kind
    index: str
    """The index field searched; for a FLAG the value of `facts` that it stands for."""
    says: str = field(kw_only=True)
    """How a sentence says the condition of businesses, with {} for its values: "use {}". A flag has no values.

    It starts with a verb in the plural. "are {}" takes plural nouns, which can be the subject of the sentence.
    """
    amount: str = field(kw_only=True, default="{:,}")
    """How a sentence writes a number of the field."""
    filters: tuple[Filter, ...] = ()
    alias: str | None = None
    """A second name of the directive."""
    vocabulary: vocabulary.Kind | None = None
    closed: bool = False
    """An unknown value is an error, not an empty result."""
    hint: str = ""
    """What else to do with a value that a closed list does not have."""
    thing: str = ""
    """Filters replace what a query said about the same thing."""
    bounds: tuple[int, int] = (0, 10**12 - 1)
    """Numbers a body filter may name."""
    directive_bounds: tuple[int, int] | None = None
    """Numbers a directive may name, where narrower."""
    percent: bool = False
    """Whether it is a share in percent: a number with a point is read as a share of 1, so that 0.8 means 80."""
    bare_number: bool = False
    """Whether a directive takes a number without an operator, for equality."""
    faceted: bool = False
    """Whether leads can be counted by it."""
    bands: tuple[int, ...] = ()
    """Of a number that is faceted: the lowest number of each band."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.directive, self.alias) if self.alias else (self.directive,)


@dataclass(frozen=True, slots=True)
class Show:
    """Where and how a field is written in responses."""

    type: Literal[
        "string",
        "integer",
        "boolean",
        "strings",
        "profiles",
        "texts_by_name",
        "email_details",
        "phone_details",
        "technology_details",
        "time",
    ]
    search: Literal["default", "select"] | None = None
    """Whether a search without `select` shows it, or only one that names it."""
    enrich: Literal["default", "select"] | None = None
    """The same in enrichment."""
    enrich_type: Literal["integer"] | None = None
    """The type in enrichment, if it is different there."""
    cursor_id: int | None = None
    """The number by which cursors name a field that can be selected in a search.

    Never changed, and never given to another field: cursors that were sealed before must still mean the same. A new
    field takes the next free number, wherever its row is.
    """


@dataclass(frozen=True, slots=True)
class Field:
    """A row of the catalogue."""

    name: str
    meaning: str
    example: Example | list[dict[str, object]]
    ask: Ask | None = None
    show: Show | None = None


@dataclass(frozen=True, slots=True)
class SearchableField:
    """A field that can be asked for, with the part of its row that says how."""

    field: Field
    ask: Ask

    @property
    def name(self) -> str:
        return self.field.name
