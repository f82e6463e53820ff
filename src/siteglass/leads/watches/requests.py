"""The bodies and parameters of operations on watches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

from msgspec import Meta

from siteglass.errors import BadRequest, Problem, Problems, repeated
from siteglass.leads.lists.lists import BUILT_IN, NAME
from siteglass.leads.lists.requests import NAME_PATTERN, read_name
from siteglass.leads.searches.requests import SearchName
from siteglass.leads.watches.schedule import EVERY, WEEKDAYS, Schedule, time_zones
from siteglass.leads.watches.watches import MAX_RECIPIENTS, Terms
from siteglass.platform.mailer import is_address
from siteglass.query.filters import written_as_array
from siteglass.web.messages import Id, Parameters, RequestBody, names_of
from siteglass.web.requests import nearest_name, read_switch, read_whole, unknown_fields

_DEFAULT = Terms()


class WatchTermsBody(RequestBody):
    """What can be changed about a watch. What is not given stays as it is."""

    every: (
        Annotated[
            str, Meta(description="How often it runs; defaults to `week`.", extra_json_schema={"enum": list(EVERY)})
        ]
        | None
    ) = None
    weekday: (
        Annotated[
            str,
            Meta(
                description="The day of a weekly watch; defaults to `monday`.",
                extra_json_schema={"enum": list(WEEKDAYS)},
            ),
        ]
        | None
    ) = None
    hour: (
        Annotated[int, Meta(ge=0, le=23, description="The hour at which it runs; defaults to 8.", examples=[8])] | None
    ) = None
    time_zone: (
        Annotated[
            str,
            Meta(description="IANA name of the time zone of `hour`; defaults to `UTC`.", examples=["Europe/Berlin"]),
        ]
        | None
    ) = None
    mail_to: (
        Annotated[
            list[str],
            Meta(
                max_length=MAX_RECIPIENTS,
                description="Addresses of people in the account who get the new leads by email; `[]` for nobody.",
                examples=[["jane@example.com"]],
            ),
        ]
        | None
    ) = None
    add_to_list: (
        Annotated[
            str,
            Meta(
                pattern=f"{NAME_PATTERN}|^$",
                description='Name of a list that gets the leads that runs buy; created if need be. `""` for none.',
                examples=["new-dentists"],
            ),
        ]
        | None
    ) = None
    paused: Annotated[bool, Meta(description="Whether it does not run.", examples=[True])] | None = None


class NewWatchBody(WatchTermsBody, kw_only=True):
    """A saved search to watch."""

    search: SearchName


class WatchParameters(Parameters):
    """Which watch."""

    name: SearchName


class WatchRunParameters(WatchParameters):
    """Which run of a watch."""

    run: Annotated[Id, Meta(description="Number of the run.", examples=[12])]


@dataclass(frozen=True, slots=True)
class NewWatch:
    """A saved search to watch."""

    search: str
    terms: Terms


def read_new_watch(body: dict[str, Any]) -> NewWatch:
    """The body of POST /v1/watches."""
    problems = unknown_fields(body, names_of(NewWatchBody))
    name = read_name(body, problems, "search")
    terms = _read_terms(body, _DEFAULT, problems)
    if problems:
        raise BadRequest(problems)
    return NewWatch(name, terms)


def read_watch_changes(body: dict[str, Any], before: Terms = _DEFAULT) -> Terms:
    """The body of POST /v1/watches/{name}: the terms with what is given."""
    problems = unknown_fields(body, names_of(WatchTermsBody))
    terms = _read_terms(body, before, problems)
    if problems:
        raise BadRequest(problems)
    return terms


def _read_terms(body: dict[str, Any], before: Terms, problems: Problems) -> Terms:
    schedule = before.schedule
    hour = read_whole(body, "hour", 0, 23, problems)
    time_zone = body.get("time_zone")
    if time_zone is not None and not (isinstance(time_zone, str) and time_zone in time_zones()):
        problems.append(Problem("time_zone", "expected an IANA name such as Europe/Berlin"))
    weekday = _read_one(body, "weekday", WEEKDAYS, WEEKDAYS[schedule.weekday], problems)
    changed = Schedule(
        "day" if _read_one(body, "every", EVERY, schedule.every, problems) == "day" else "week",
        WEEKDAYS.index(weekday),
        schedule.hour if hour is None else hour,
        schedule.time_zone if time_zone is None else str(time_zone),
    )
    paused = read_switch(body, "paused", problems)
    return replace(
        before,
        schedule=changed,
        mail_to=_read_addresses(body, before.mail_to, problems),
        add_to_list=_read_list(body, before.add_to_list, problems),
        paused=before.paused if body.get("paused") is None else paused,
    )


def _read_one(body: dict[str, Any], name: str, known: tuple[str, ...], default: str, problems: Problems) -> str:
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, str) and value in known:
        return value
    near = nearest_name(value, known) if isinstance(value, str) else None
    problems.append(Problem(name, f"expected one of {', '.join(known)}", nearest=near))
    return default


def _read_list(body: dict[str, Any], before: str, problems: Problems) -> str:
    name = body.get("add_to_list")
    if name is None:
        return before
    if isinstance(name, str) and (not name or NAME.fullmatch(name)) and name not in BUILT_IN:
        return name
    problems.append(Problem("add_to_list", "expected the name of a list that is not built in"))
    return before


def _read_addresses(body: dict[str, Any], before: tuple[str, ...], problems: Problems) -> tuple[str, ...]:
    sent = body.get("mail_to")
    if sent is None:
        return before
    if not isinstance(sent, list) or not all(isinstance(one, str) for one in sent):
        problems.append(Problem("mail_to", f"expected an array of email addresses{written_as_array(sent)}"))
        return before
    if len(sent) > MAX_RECIPIENTS:
        problems.append(Problem("mail_to", f"expected at most {MAX_RECIPIENTS} addresses, found {len(sent)}"))
    wrong = [one for one in sent if not is_address(one)]
    problems.describe(wrong, lambda one: Problem("mail_to", f"{repeated(one)} is not an email address"))
    return tuple(dict.fromkeys(one.lower() for one in sent))
