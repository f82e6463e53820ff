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
        value: Value = _value(record, self._name)
        return value


def _value(record: Record, name: str) -> Any:
    try:
        return record[name]
    except KeyError:
        raise AttributeError(f"this {type(record).__name__} has no `{name}`: name it in `select` to get it") from None


class part(Generic[Part]):
    """A field that is a record itself."""

    def __init__(self, kind: type[Part]) -> None:
        self._kind = kind

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, record: None, owner: type) -> part[Part]: ...
    @overload
    def __get__(self, record: Record, owner: type) -> Part: ...
    def __get__(self, record: Record | None, owner: type) -> Part | part[Part]:
        return self if record is None else self._kind(_value(record, self._name))


class parts(Generic[Part]):
    """A field that is a list of records."""

    def __init__(self, kind: type[Part]) -> None:
        self._kind = kind

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, record: None, owner: type) -> parts[Part]: ...
    @overload
    def __get__(self, record: Record, owner: type) -> list[Part]: ...
    def __get__(self, record: Record | None, owner: type) -> list[Part] | parts[Part]:
        return self if record is None else [self._kind(each) for each in _value(record, self._name)]
