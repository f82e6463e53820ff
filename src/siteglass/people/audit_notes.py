"""How what concerns a person is noted in the audit log: once in every account that the person belongs to."""

from __future__ import annotations


def noted(action: str, *, person: str = "$1::bigint", by: str = "'person', ($1::bigint)::text") -> str:
    """A part of a statement, so that a change and its note are written together or not at all; a condition may follow.

    `action` is what was done, `person` the number of the person, `by` kind and id of who did it, each as SQL.
    """
    return (
        "INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)"  # noqa: S608 - our own words
        f" SELECT {by}, {action}, m.account_id, jsonb_build_object('person', {person})"
        f" FROM {{schema}}.members m WHERE m.person_id = {person}"
    )
