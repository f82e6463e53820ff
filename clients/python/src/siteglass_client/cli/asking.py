"""Commands that ask one question and are free: `sgl evidence`, `sgl values`, `sgl account`, `sgl usage`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click

from siteglass_client.cli.options import Session, common
from siteglass_client.cli.terminal import note, say_json, show_table
from siteglass_client.messages import EvidentValue, TechnologyDetail


@click.command()
@common
@click.argument("domain")
def evidence(session: Session, domain: str) -> None:
    """Show where and when each address, number and technology of a lead was seen.

    Only of a lead that your account paid for, by a search or an enrichment. Free.
    """
    with session.connect() as client:
        try:
            told = client.evidence(domain)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
    if not session.for_people:
        say_json({name: getattr(told, name) for name in ("domain", "emails", "phones", "technologies")})
        return
    values = [("email", each) for each in told.emails] + [("phone", each) for each in told.phones]
    if values:
        show_table(("value", "kind", "page", "method", "first seen", "last seen"), _sightings(values))
    else:
        note(f"The lead {told.domain} has neither an email address nor a phone number.")
    if told.technologies:
        show_table(("technology", "shown by", "page", "first seen", "last seen"), map(_shown_by, told.technologies))
    if not all(each.seen for _, each in values):
        note("Values without a page come from another source; ask the operator of the service.")


def _sightings(values: Iterable[tuple[str, EvidentValue]]) -> Iterator[list[str]]:
    """A row for each page of a value, or one that names no page."""
    for kind, each in values:
        if not each.seen:
            yield [each.value, kind, "", "", "", ""]
        for one in each.seen:
            yield [each.value, kind, one.page, one.method, one.first_seen[:10], one.last_seen[:10]]


def _shown_by(each: TechnologyDetail) -> list[str]:
    marks = "; ".join(f"{mark.kind} {mark.excerpt}".strip() for mark in each.marks)
    return [each.value, marks, each.page or "", (each.first_seen or "")[:10], (each.last_seen or "")[:10]]


@click.command()
@common
@click.argument("field")
@click.argument("text", default="")
@click.option("--country", metavar="CODE", help="For states and cities: only those in this country, such as DEU.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N values.")
def values(session: Session, field: str, text: str, country: str | None, limit: int | None) -> None:
    """List known values of a filter that complete TEXT. Free."""
    with session.connect() as client:
        known = client.values(field, text, country=country, limit=limit)
    if not session.for_people:
        say_json(known)
        return
    show_table(("value", "name", "matched"), ([each.value, each.name, each.get("matched")] for each in known.found))
    if known.more:
        note("There are more: type more of the text, or raise --limit.")


def _price(per_credit: str, currency: str) -> str:
    """The price of a credit with cents, and more digits only where they count: `0.050000` becomes 0.05."""
    if not per_credit.strip("0."):
        return "(free)"
    whole, _, parts = per_credit.partition(".")
    return f"at {whole}.{parts.rstrip('0').ljust(2, '0')} {currency} each"


@click.command()
@common
def account(session: Session) -> None:
    """Show balances, prices, limits and the current key. Free."""
    with session.connect() as client:
        told = client.account()
    if not session.for_people:
        say_json(told)
        return
    balances, prices, limits, key = told.balances, told.prices, told.limits, told.key
    rows = [
        ("plan", told.account.plan),
        ("lead credits", f"{balances.lead_credits:,} {_price(prices.lead_credit, prices.currency)}"),
        ("API credits", f"{balances.api_credits:,} {_price(prices.api_credit, prices.currency)}"),
        ("rate", f"{limits.requests_per_second:g} requests a second, {limits.burst} at once"),
        ("key", f"{key.shown} ({', '.join(key.scopes)})"),
        ("key from", session.used.key_from),
        ("spent today", f"{key.used_today.lead_credits:,} lead credits, {key.used_today.api_credits:,} API credits"),
    ]
    expiring = [
        (f"expires {each.expires_at[:10]}", f"{each.lead_credits:,} lead credits, {each.api_credits:,} API credits")
        for each in balances.expiring
    ]
    show_table(("account", told.account.name), [*rows, *expiring])


@click.command()
@common
@click.option("--from", "first_day", metavar="DAY", help="The first day, such as 2026-01-31.")
@click.option("--to", "last_day", metavar="DAY", help="The last day.")
@click.option("--key-id", type=int, metavar="ID", help="Only usage of this key.")
def usage(session: Session, first_day: str | None, last_day: str | None, key_id: int | None) -> None:
    """Show credits used by day, operation and key. Free.

    The last 30 days, unless others are named.
    """
    with session.connect() as client:
        told = client.usage(first_day=first_day, last_day=last_day, key_id=key_id)
    if not session.for_people:
        say_json(told)
        return
    show_table(
        ("day", "operation", "key", "requests", "API credits", "lead credits"),
        (
            [row.day, row.operation, row.key.get("name"), row.requests, row.api_credits, row.lead_credits]
            for row in told.rows
        ),
    )
    totals = told.totals
    note(f"{totals.requests:,} requests, {totals.api_credits:,} API credits, {totals.lead_credits:,} lead credits.")
