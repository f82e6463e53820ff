"""Builders of rows, and of parts of rows, that the catalogue has several of."""

from __future__ import annotations

from typing import Literal

from siteglass.query import vocabulary
from siteglass.query.field import Ask, Field, Filter, Form, Kind, Show


def flag(name: str, says: str, fact: str, *, cursor_id: int | None = None, alias: str | None = None) -> Field:
    """A yes-or-no condition such as "have an icon"; one with a cursor_id can also be selected."""
    verb, _, noun = says.partition(" ")
    which = f"{'with' if verb == 'have' else 'lacking'} {noun}"
    switch = Filter(name, Form.SWITCH, f"Only sites {which}.", True, alias)
    return Field(
        name,
        f"Sites {which}",
        True,
        Ask(name, Kind.FLAG, fact, (switch,), alias, says=says, faceted=verb == "have"),
        None if cursor_id is None else Show("boolean", search="select", cursor_id=cursor_id),
    )


def place(name: vocabulary.Kind, *filters: Filter, closed: bool = True) -> Ask:
    """What can be asked of a part of the address."""
    counted = bool(filters)  # a region, for which there are only directives, is not
    return Ask(
        name, Kind.TERM, name, filters, vocabulary=name, closed=closed, thing="place", says="are in {}", faceted=counted
    )


def change(name: str, meaning: str, example: str) -> Field:
    """Technologies that websites began or stopped using, each within a time."""
    what = f"Technologies {name}, any of them; then since when: days such as `30d`, or a date."
    return Field(
        name,
        meaning,
        [example, "30d"],
        Ask(
            name,
            Kind.CHANGE,
            name,
            (Filter(name, Form.MANY, what, [example, "30d"]),),
            vocabulary="technology",
            says=f"have {name} {{}}",
        ),
    )


def details(of: Literal["emails", "phones"], meaning: str, cursor_id: int) -> Field:
    """What is known of each value of a field; shown only if `select` names it."""
    detail: dict[str, object] = {
        "value": "jane@example.com" if of == "emails" else "+1 555 0100",
        "owner": "own",
        "confidence": 95,
        "page": "https://example.com/contact",
        "crawled_at": "2026-10-15T08:30:00Z",
    }
    if of == "emails":
        detail["status"] = {"syntax": "valid", "kind": "person"}
    shown = Show("email_details" if of == "emails" else "phone_details", "select", "select", cursor_id=cursor_id)
    return Field(f"{of}_detail", meaning, [detail], show=shown)


def technology_details(meaning: str, cursor_id: int) -> Field:
    """What shows each technology of a lead; shown only if `select` names it."""
    excerpt = "https://static.klaviyo.com/onsite/js/klaviyo.js"
    detail: dict[str, object] = {
        "value": "Klaviyo",
        "marks": [{"kind": "script", "rule": "static.klaviyo.com", "excerpt": excerpt}],
        "page": "https://example.com/",
        "first_seen": "2026-08-02T08:30:00Z",
        "last_seen": "2026-10-12T08:30:00Z",
    }
    shown = Show("technology_details", "select", "select", cursor_id=cursor_id)
    return Field("technologies_detail", meaning, [detail], show=shown)
