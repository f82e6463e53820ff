"""The promises of the service by section: those that the code declares, and those of promises.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from reference.markdown import plain
from reference.messages import parameters_of, schema_of
from reference.records import SHOWN_TYPES
from siteglass.billing.account_status import MAX_EXPIRIES
from siteglass.billing.operations import LEDGER, USAGE
from siteglass.billing.receipts import MAX_REQUEST_ENTRIES, MAX_USAGE_ROWS
from siteglass.billing.requests import DEFAULT_DAYS, DEFAULT_ENTRIES, MAX_DAYS, MAX_ENTRIES, MAX_REQUEST_ID_CHARS
from siteglass.corpus.evidence_files import MAX_SIGHTINGS
from siteglass.errors import error_classes
from siteglass.index.facets import MAX_SIZE
from siteglass.leads.operations import DOMAINS_PER_UNIT, ENRICH, PAGE, SEARCH
from siteglass.leads.requests import DEFAULT_LIMIT, MAX_LEAD_CREDITS
from siteglass.leads.values import DEFAULT_SHOWN, MAX_Q_CHARS, MAX_SHOWN
from siteglass.openapi.texts import meaning
from siteglass.privacy.limits import CONFIRMATIONS_PER_HOUR, MAILS_IN_ALL_PER_HOUR, MAILS_PER_HOUR, REQUESTS_PER_HOUR
from siteglass.privacy.requests import MAX_CHARS
from siteglass.privacy.tickets import MAX_TICKET_CHARS
from siteglass.query.body import MAX_ECHO_BYTES
from siteglass.query.criteria import (
    MAX_BRANCH_CONDITIONS,
    MAX_BRANCHES,
    MAX_CANONICAL_BYTES,
    MAX_CONDITIONS,
    MAX_VALUES,
)
from siteglass.query.cursor import MAX_CURSOR_CHARS
from siteglass.query.directives import MAX_TEXT_CHARS
from siteglass.query.fields import (
    BY_NAME,
    DIRECTIVES,
    ENRICH_FIELDS,
    ENRICH_SELECTABLE,
    SEARCH_DEFAULT,
    SEARCH_SELECTABLE,
)
from siteglass.query.natural import MAX_QUERY_CHARS
from siteglass.query.relaxations import MAX_RELAXED
from siteglass.query.values import MAX_AGE_DAYS, MAX_VALUE_CHARS
from siteglass.settings import Settings
from siteglass.web.operations import MAX_LIMIT, Operation

PATH = Path(__file__).with_name("promises.toml")

# The numbers of limits. The text of such a promise has {} in place of the number.
NUMBERS = {
    "limit.page_default": DEFAULT_LIMIT,
    "limit.page_most": MAX_LIMIT,
    "limit.query_chars": MAX_QUERY_CHARS,
    "limit.wrapped_query_chars": MAX_TEXT_CHARS,
    "limit.lines": MAX_CONDITIONS,
    "limit.branches": MAX_BRANCHES,
    "limit.branch_conditions": MAX_BRANCH_CONDITIONS,
    "limit.values": MAX_VALUES,
    "limit.canonical_bytes": MAX_CANONICAL_BYTES,
    "limit.echo_bytes": MAX_ECHO_BYTES,
    "limit.value_chars": MAX_VALUE_CHARS,
    "limit.age_days": MAX_AGE_DAYS,
    "limit.cursor_chars": MAX_CURSOR_CHARS,
    "limit.domains_per_unit": DOMAINS_PER_UNIT,
    "limit.usage_default": DEFAULT_DAYS,
    "limit.usage_days": MAX_DAYS,
    "limit.usage_rows": MAX_USAGE_ROWS,
    "limit.ledger_default": DEFAULT_ENTRIES,
    "limit.ledger_most": MAX_ENTRIES,
    "limit.request_id_chars": MAX_REQUEST_ID_CHARS,
    "limit.expiries": MAX_EXPIRIES,
    "limit.receipt_entries": MAX_REQUEST_ENTRIES,
    "limit.values_default": DEFAULT_SHOWN,
    "limit.values_most": MAX_SHOWN,
    "limit.values_q_chars": MAX_Q_CHARS,
    "limit.opt_out_asks": REQUESTS_PER_HOUR,
    "limit.opt_out_mails": MAILS_PER_HOUR,
    "limit.opt_out_mails_in_all": MAILS_IN_ALL_PER_HOUR,
    "limit.opt_out_confirmations": CONFIRMATIONS_PER_HOUR,
    "limit.opt_out_ticket_chars": MAX_TICKET_CHARS,
    "limit.opt_out_chars": MAX_CHARS,
    "limit.sightings": MAX_SIGHTINGS,
    "limit.facet_size": MAX_SIZE,
    "limit.relaxed_conditions": MAX_RELAXED,
    "search.max_lead_credits": MAX_LEAD_CREDITS,
    # Settings that limit a caller: sizes and times.
    **{
        f"setting.{setting.name}": getattr(Settings(), setting.name)
        for setting in fields(Settings)
        if setting.name.startswith("max_") or setting.name.endswith(("_s", "_ms"))
    },
    "setting.cursor_life_s": Settings().cursor_life_s // 3600,
}


@dataclass(frozen=True)
class Section:
    """A section of the page."""

    title: str
    about: str
    promises: dict[str, str]
    """What is promised, by the name that tests refer to."""


@dataclass(frozen=True)
class Part:
    """A part of the page."""

    title: str
    about: str
    sections: list[Section]


@dataclass(frozen=True)
class Promises:
    """All promises."""

    parts: list[Part]
    planned: dict[str, str]
    """Promises that a feature which is not built yet will keep, with the name of the feature."""

    @property
    def names(self) -> list[str]:
        """The names of all promises, in the order of the page."""
        return [name for part in self.parts for section in part.sections for name in section.promises]


def load_promises(path: Path = PATH) -> Promises:
    """All promises. Raises ValueError if the file and the code do not fit together."""
    written = tomllib.loads(path.read_text())
    parts = [
        Part(part["title"], part.get("about", ""), [_section(section) for section in part["section"]])
        for part in written["part"]
    ]
    planned = {name: feature for feature, names in written["planned"].items() for name in names}
    promises = Promises(parts, planned)
    names = promises.names
    for problem, wrong in {
        "listed twice": {name for name in names if names.count(name) > 1},
        "limits of the code, but have no text": NUMBERS.keys() - set(names),
        "planned, but have no text": planned.keys() - set(names),
    }.items():
        if wrong:
            raise ValueError(f"{path.name}: these promises are {problem}: {', '.join(sorted(wrong))}")
    return promises


def _section(written: dict[str, Any]) -> Section:
    promises = {f"{kind}.{name}": text for kind in written.get("derived", ()) for name, text in DERIVED[kind]()}
    for name, text in _flat(written.get("promises", {})):
        if name in NUMBERS:
            if "{}" not in text:
                raise ValueError(f"the text of {name} needs {{}} in place of the number, which comes from the code")
            text = text.replace("{}", f"{NUMBERS[name]:,}")
        promises[name] = f"{promises[name]} {text}" if name in promises else text
    return Section(written["title"], written.get("about", ""), promises)


def _flat(table: dict[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """The texts of a TOML table by dotted names."""
    for key, value in table.items():
        if isinstance(value, str):
            yield above + key, value
        else:
            yield from _flat(value, f"{above}{key}.")


Rows = Iterator[tuple[str, str]]


def _first_sentence(text: str) -> str:
    return plain(re.split(r"(?<=\.)\s", text.strip())[0])


def _record() -> Rows:
    for field in map(BY_NAME.__getitem__, SEARCH_SELECTABLE):
        if field.show:
            on_select = "" if field.name in SEARCH_DEFAULT else " Only when selected."
            yield field.name, f"{plain(field.meaning)} ({SHOWN_TYPES[field.show.type]}).{on_select}"


def _enrichment() -> Rows:
    for field in map(BY_NAME.__getitem__, ENRICH_SELECTABLE):
        if field.show:
            kind = SHOWN_TYPES[field.show.enrich_type or field.show.type]
            on_select = "" if field.name in ENRICH_FIELDS else " Only when selected."
            yield field.name, f"{plain(field.meaning)} ({kind}).{on_select}"


def _directives() -> Rows:
    for name, directive in DIRECTIVES.items():
        filters = directive.ask.filters
        alias = f" Another name of `@{directive.ask.directive}`." if name == directive.ask.alias else ""
        text = filters[0].meaning if len(filters) == 1 else f"{directive.field.meaning}."
        yield name, _first_sentence(text) + alias


def _errors() -> Rows:
    for kind in error_classes():
        yield kind.code, f"{kind.status}: {meaning(kind)}"


def _body(operation: Operation) -> Callable[[], Rows]:
    """The properties of the body of an operation."""

    def rows() -> Rows:
        if operation.body is None:
            raise TypeError(f"{operation.name} takes no body")
        for name, described in schema_of(operation.body.__name__)["properties"].items():
            yield name, _first_sentence(described["description"])

    return rows


def _parameters(operation: Operation) -> Callable[[], Rows]:
    """The query parameters of an operation."""

    def rows() -> Rows:
        for parameter in parameters_of(operation):
            yield parameter["name"], _first_sentence(parameter["description"])

    return rows


DERIVED: dict[str, Callable[[], Rows]] = {
    "record": _record,
    "enrichment": _enrichment,
    "directive": _directives,
    "error": _errors,
    "search": _body(SEARCH),
    "page": _body(PAGE),
    "enrich": _body(ENRICH),
    "usage": _parameters(USAGE),
    "ledger": _parameters(LEDGER),
}
