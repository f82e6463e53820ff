"""The messages whose fields the catalogue declares: filters, and the records of search and enrichment."""

from __future__ import annotations

from typing import Annotated, Any, cast

import msgspec
from msgspec import UNSET, Meta, UnsetType

from siteglass.corpus.lead import SOCIAL_NETWORKS
from siteglass.leads.contact_details import EmailDetail, PhoneDetail
from siteglass.leads.lists.requests import ListNameArray
from siteglass.leads.technology_details import TechnologyDetail
from siteglass.query.field import Ask, Field, Filter, Form, Kind, Show
from siteglass.query.fields import BY_NAME, ENRICH_SELECTABLE, FILTERS, SEARCH_SELECTABLE
from siteglass.query.filters import MAX_ARRAY_VALUES
from siteglass.query.values import MAX_VALUE_CHARS
from siteglass.query.vocabulary import vocabulary
from siteglass.web.messages import ResponseBody, Time

ALWAYS_SHOWN = "crawled_at"
# A longer list is looked up, not read.
_MAX_VALUES_LISTED = 30

# Types built at run time: a type checker does not accept `Annotated[...]` of a variable.
_annotated: Any = Annotated

OneValue = Annotated[str, Meta(max_length=MAX_VALUE_CHARS, pattern=r"\S")]
_OPERATORS = "An operator (`>` `<` `>=` `<=` `=`, `less than`, `greater than`) and a whole number."
_DAY = r"(19[7-9]\d|20\d\d|210\d)-\d{2}-\d{2}"
_MOMENT = rf"^\s*{_DAY}([Tt ]\d{{2}}:\d{{2}}:\d{{2}}(\.\d{{1,9}})?([Zz]|[+-]\d{{2}}:\d{{2}}))?\s*$"


# --- filters ------------------------------------------------------------------------------------


def _any_case(words: str) -> str:
    """A pattern for words in any case; JSON Schema has no flag for it."""
    letters = (f"[{letter.upper()}{letter}]" if letter.isalpha() else r"\s+" for letter in words)
    return "".join(letters)


def _digits(ask: Ask) -> str:
    """A pattern for a number of at most 12 digits within the bounds, which begin at 0."""
    highest = str(ask.bounds[1])
    if set(highest) == {"9"}:
        return rf"0{{0,{12 - len(highest)}}}\d{{1,{len(highest)}}}"
    if highest != "1" + "0" * (len(highest) - 1):
        raise TypeError(f"no pattern for the bounds {ask.bounds} of {ask.directive}")
    less = len(highest) - 1
    return rf"(0{{0,{12 - len(highest)}}}{highest}|0{{0,{12 - less}}}\d{{1,{less}}})"


def _comparison(ask: Ask) -> str:
    """A pattern for an operator and a number."""
    words = "|".join((">=", "<=", ">", "<", "=", _any_case("less than"), _any_case("greater than")))
    share = r"|[01]?\.\d{1,2}" if ask.percent else ""
    return rf"({words})\s*({_digits(ask)}{share})" if share else rf"({words})\s*{_digits(ask)}"


def _form(ask: Ask, form: Form) -> Any:
    match form:
        case Form.ONE:
            return OneValue
        case Form.MANY:
            return _annotated[list[OneValue], Meta(max_length=MAX_ARRAY_VALUES)]
        case Form.MIN | Form.MAX:
            return _annotated[int, Meta(ge=ask.bounds[0], le=ask.bounds[1])]
        case Form.SWITCH:
            return bool
        case Form.SPAN:
            digits = _digits(ask)
            span = rf"{digits}\s*(-\s*{digits}|\+)"
            return _annotated[str, Meta(pattern=rf"^\s*({_comparison(ask)}|{span})\s*$")]
        case Form.COMPARISON:
            return _annotated[str, Meta(pattern=rf"^\s*{_comparison(ask)}\s*$")]
        case Form.MOMENT:
            return _annotated[str, Meta(pattern=_MOMENT)]


def known_values(ask: Ask) -> str:
    """Which values are known, and what happens to others."""
    if ask.vocabulary is None:
        return ""
    unknown = (
        "Unknown values are an error."
        if ask.closed
        else "Other values are accepted, but match nothing if they are unknown."
    )
    if ask.kind is Kind.LACKS:
        unknown = "Unknown values are an error unless they are in double quotes."
    values = vocabulary().values(ask.vocabulary)
    if len(values) > _MAX_VALUES_LISTED:
        return unknown
    return f"Known: {', '.join(f'`{value}`' for value in values)}. {unknown}"


def _filter(name: str, ask: Ask, filter_: Filter) -> Any:
    notes = [filter_.meaning]
    if name == filter_.alias:
        notes.append(f"The same as `{filter_.name}`.")
    if filter_.form is Form.SWITCH:
        notes.append("`false` has no effect.")
    if filter_.form in (Form.COMPARISON, Form.SPAN):
        notes.append(_OPERATORS)
    if known := known_values(ask):
        notes.append(known)
    return _annotated[_form(ask, filter_.form), Meta(description=" ".join(notes), examples=[filter_.example])]


FILTER_TYPES = {name: _filter(name, searchable.ask, filter_) for name, (searchable, filter_) in FILTERS.items()}
"""The type of every filter of a search body; `query.filters` reads them."""

Filters = msgspec.defstruct(
    "Filters",
    [
        ("wrapped_query", str | UnsetType, UNSET),
        *((name, type_ | UnsetType, UNSET) for name, type_ in FILTER_TYPES.items()),
        ("exclude_lists", ListNameArray | UnsetType, UNSET),
        ("only_lists", ListNameArray | UnsetType, UNSET),
    ],
    bases=(ResponseBody,),
    namespace={"__doc__": "What was searched for. Send it as the body of a new search to repeat this one."},
)
"""The filters of a response, as they were sent."""


# --- records ------------------------------------------------------------------------------------

SocialLinks = msgspec.defstruct(
    "SocialLinks",
    [(network, str | UnsetType, UNSET) for network in SOCIAL_NETWORKS],
    bases=(ResponseBody,),
    namespace={"__doc__": "Profile URLs by network."},
)


def shown_example(field: Field, show: Show, *, enrich: bool) -> Any:
    """The catalogue's example of a field, as search or enrichment serializes it."""
    if enrich and show.enrich_type == "integer":
        return int(str(field.example).partition("-")[0])
    return field.example


def _shown(field: Field, show: Show, *, enrich: bool) -> Any:
    kind = show.enrich_type if enrich and show.enrich_type else show.type
    highest = field.ask.bounds[1] if field.name == "score" and field.ask else None
    types: dict[str, Any] = {
        "string": str,
        "strings": list[str],
        "profiles": SocialLinks,
        "texts_by_name": dict[str, str],
        "email_details": list[EmailDetail],
        "phone_details": list[PhoneDetail],
        "technology_details": list[TechnologyDetail],
        "integer": _annotated[int, Meta(ge=0, le=highest)],
        "boolean": bool,
        "time": Time,
    }
    type_ = types[kind]
    if field.name == "spending" and kind == "string":
        type_ = _annotated[str, Meta(pattern=r"^\d+(-\d+|\+)$")]
    example = shown_example(field, show, enrich=enrich)
    type_ = _annotated[type_, Meta(description=f"{field.meaning}.", examples=[example])]
    may_be_null = kind in ("integer", "boolean", "time") or field.name == "spending"
    return type_ | None if may_be_null else type_


def _record(name: str, meaning: str, fields: tuple[str, ...], *, enrich: bool, always: str = "") -> type[ResponseBody]:
    rows = ((BY_NAME[field], BY_NAME[field].show) for field in fields)
    types = {row.name: _shown(row, show, enrich=enrich) for row, show in rows if show}
    declared = [
        (field, type_) if field == always else (field, type_ | UnsetType, UNSET) for field, type_ in types.items()
    ]
    made = msgspec.defstruct(name, declared, bases=(ResponseBody,), kw_only=True, namespace={"__doc__": meaning})
    return cast("type[ResponseBody]", made)


Lead = _record("Lead", "A lead, with the fields in `select`.", SEARCH_SELECTABLE, enrich=False, always=ALWAYS_SHOWN)
Enrichment = _record(
    "Enrichment", "What is stored about a domain, with the fields in `select`.", ENRICH_SELECTABLE, enrich=True
)
