"""What the service sends, as dictionaries with typed access to the fields that are known: all that comes is kept."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")
Part = TypeVar("Part", bound="Record")


class Record(dict[str, Any]):
    """A JSON object. `record["score"]` and `record.score` are the same; what is not typed is there by its name."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({super().__repr__()})"


class field(Generic[Value]):
    """A field of a record as an attribute."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name.rstrip("_")

    @overload
    def __get__(self, record: None, owner: type) -> field[Value]: ...
    @overload
    def __get__(self, record: Record, owner: type) -> Value: ...
    def __get__(self, record: Record | None, owner: type) -> Value | field[Value]:
        if record is None:
            return self
        try:
            value: Value = record[self._name]
        except KeyError:
            raise AttributeError(
                f"this {type(record).__name__} has no `{self._name}`: name it in `select` to get it"
            ) from None
        return value


class part(Generic[Part]):
    """A field that is a record itself."""

    def __init__(self, kind: type[Part]) -> None:
        self._kind = kind

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, record: Record, owner: type) -> Part:
        return self._kind(record[self._name])


class parts(Generic[Part]):
    """A field that is a list of records."""

    def __init__(self, kind: type[Part]) -> None:
        self._kind = kind

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, record: Record, owner: type) -> list[Part]:
        return [self._kind(each) for each in record[self._name]]


class _Site(Record):
    """What search and enrichment both tell of a website."""

    __slots__ = ()
    domain = field[str]()
    title = field[str]()
    description = field[str]()
    emails = field[list[str]]()
    phones = field[list[str]]()
    language = field[str]()
    country = field[str]()
    state = field[str]()
    city = field[str]()
    technologies = field[list[str]]()
    score = field["int | None"]()
    crawled_at = field[str]()
    url = field[str]()
    keywords = field[list[str]]()
    pages = field[list[str]]()
    updated_at = field["str | None"]()


class Lead(_Site):
    """A website that a search found."""

    __slots__ = ()
    business_name = field[str]()
    spending = field["str | None"]()
    """A range, such as `1000-4999`, in USD a month."""
    links = field[list[str]]()
    social_links = field[dict[str, str]]()
    favicon = field[str]()
    service_type = field[str]()
    categories_uses = field[list[str]]()
    offers = field[list[str]]()
    load_time_ms = field["int | None"]()
    not_secure = field["bool | None"]()
    not_responsive = field["bool | None"]()
    missing_sitemap = field["bool | None"]()
    missing_schema = field["bool | None"]()
    missing_robot = field["bool | None"]()
    missing_heading = field["bool | None"]()
    missing_description = field["bool | None"]()


class Company(_Site):
    """What is stored of a domain that was enriched."""

    __slots__ = ()
    spending = field["int | None"]()
    """USD a month."""
    social_accounts = field[list[str]]()


class Item(Record):
    """The outcome for one domain of an enrichment."""

    __slots__ = ()
    status = field[str]()
    """`success`, `not_found` or `error`."""
    domain = field[str]()
    """As it was sent."""

    @property
    def found(self) -> bool:
        return self.status == "success"

    @property
    def data(self) -> Company | None:
        """What is stored; None if there is nothing."""
        return Company(self["data"]) if "data" in self else None

    @property
    def message(self) -> str | None:
        """Why there is nothing; None if there is something."""
        return self.get("message")


class Sighting(Record):
    """A value as a page showed it."""

    __slots__ = ()
    page = field[str]()
    method = field[str]()
    """How it stood there, such as `mailto`, `text` or `tel`."""
    first_seen = field[str]()
    last_seen = field[str]()


class EvidentValue(Record):
    """A value of a lead, and the pages that showed it, the newest first; none if the lead was loaded without them."""

    __slots__ = ()
    value = field[str]()
    seen = parts(Sighting)


class Words(Record):
    """Words of a sentence."""

    __slots__ = ()
    text = field[str]()
    start = field[int]()
    end = field[int]()


class Condition(Record):
    """A condition of a search, and why it is there."""

    __slots__ = ()
    directive = field[str]()
    words = parts(Words)
    rule = field[str]()
    confidence = field[float]()


class Note(Record):
    """Words, and what to know about them."""

    __slots__ = ()
    words = parts(Words)
    message = field[str]()


class Correction(Words):
    """A misspelt word, and what it was taken for."""

    __slots__ = ()
    to = field[str]()


class Alternative(Record):
    """Another reading of words."""

    __slots__ = ()
    words = parts(Words)
    reading = field[str]()
    directives = field[list[str]]()


class Reading(Record):
    """What a search means, and how many leads match."""

    __slots__ = ()
    query = field["str | None"]()
    directives = field[list[str]]()
    filters = field[dict[str, Any]]()
    conditions = parts(Condition)
    assumptions = parts(Note)
    corrections = parts(Correction)
    alternatives = parts(Alternative)
    ignored = parts(Words)
    unsupported = parts(Note)
    confidence = field[float]()
    backend = field[str]()
    model = field["str | None"]()
    total_results = field[int]()


class KnownValue(Record):
    """A value that can be sent."""

    __slots__ = ()
    value = field[str]()
    name = field[str]()
    matched = field["str | None"]()


class KnownValues(Record):
    """Values of a field that complete a text, those that fit best first."""

    __slots__ = ()
    field_ = field[str]()
    more = field[bool]()

    @property
    def found(self) -> list[KnownValue]:
        return [KnownValue(each) for each in self["values"]]
