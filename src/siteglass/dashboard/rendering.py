"""Turns the data of a page into HTML: templates, the formats of numbers and times, and the headers of every page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import Response

from siteglass.web.pages import site_header

HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Strict-Transport-Security": "max-age=63072000; includeSubDomains",
    # not no-referrer: browsers then send forms without their origin
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "X-Frame-Options": "DENY",
}
# Nothing runs or is drawn but our own files, named by a number that is new for each page.
POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

MEAN_WHOLE_FROM = 100

# What is said once after something was done; an address names it, so that nothing needs to be kept.
DONE = {
    "signed-out": "You are signed out.",
    "password-changed": "Your password was changed, and all other sessions were signed out.",
    "password-reset": "Your password was changed. Sign in with it.",
    "joined": "Welcome. You now belong to this account.",
    "session-ended": "The session was ended.",
    "sessions-ended": "All other sessions were ended.",
    "second-factor-off": "Two-step sign-in is off. You now sign in with your password alone.",
    "factor-required": "Two-step sign-in is now required of everybody in this account.",
    "factor-optional": "Two-step sign-in is now optional.",
    "name-changed": "Your name was changed.",
    "key-revoked": "The key was revoked. Requests with it are no longer answered or charged.",
    "invited": "The invitation was sent.",
    "withdrawn": "The invitation was withdrawn. Its link no longer works.",
    "role-changed": "The role was changed.",
    "cap-set": "The daily cap was saved.",
    "left": "You have left the account.",
    "removed": "The person was removed and signed out of this account.",
    "alert-set": "Saved. Owners get an email when the balance falls below this number.",
    "alert-off": "Saved. No email will be sent.",
    "reported": "Thank you. We recorded your report.",
    "report-known": "You reported this value before.",
    "search-saved": "The search was saved. You find it under Searches.",
    "search-changed": "The saved search was changed.",
    "search-deleted": "The saved search was deleted.",
    "watch-set": "The search is watched. The first run starts within seconds, and notes what matches now.",
    "watch-changed": "The watch was changed.",
    "watch-buys-nothing": "The watch was changed. It buys nothing until somebody sets the lead credits per run again.",
    "watch-removed": "The watch was removed, with its runs. The search stays.",
    "list-created": "The list was created.",
    "list-deleted": "The list was deleted, with its domains.",
    "list-kept": "The domains were added to the list. Searches can leave them out.",
    "download-deleted": "The download and its file were deleted. Its leads stay on your list of paid leads.",
    "create-account": "The account was created, with no credits and no key.",
    "change-account": "The account was changed. Workers follow within a second.",
    "suspend-account": "The account is suspended: it is not charged from now on, and refused within a second.",
    "resume-account": "The account is active. Revoked keys stay revoked.",
    "close-account": "The account is closed. Its data is removed later.",
    "grant-credits": "The credits were granted.",
    "refund-charge": "The charge was refunded.",
    "resolve-report": "The report is resolved.",
    "set-operator": "The role was given.",
    "remove-operator": "The role was taken away.",
    "switched": "You switched to another account.",
}


def number(value: float | None) -> str:
    """1,234,567, or a dash if the number is unknown."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}".removesuffix(".0")


def mean(value: float) -> str:
    """12.3, but 340: from 100 on tenths say nothing more."""
    return f"{value:,.0f}" if round(value, 1) >= MEAN_WHOLE_FROM else number(value)


def signed(value: int) -> str:
    """+5, −5 with a real minus sign, or 0."""
    return f"+{value:,}" if value > 0 else f"−{-value:,}" if value else "0"


def moment(value: datetime | date | None, *, seconds: bool = False) -> Markup:
    """A time that people read and programs, too; in UTC, as everything that is charged by day.

    `seconds`: of what is compared with a log, such as a ledger entry.
    """
    if value is None:
        return Markup("never")
    if isinstance(value, datetime):
        utc = value.astimezone(UTC)
        clock = f"{utc:%H:%M:%S}" if seconds else f"{utc:%H:%M}"
        return Markup('<time datetime="{}">{}</time>').format(
            utc.isoformat(timespec="seconds"), f"{utc.day} {utc:%b %Y}, {clock} UTC"
        )
    return Markup('<time datetime="{}">{}</time>').format(value.isoformat(), f"{value.day} {value:%b %Y}")


def day(value: datetime | None) -> Markup:
    """The day of a time, in UTC."""
    return moment(None if value is None else value.astimezone(UTC).date())


def ago(value: datetime | None, now: datetime | None = None) -> Markup:
    """How long since, with the time itself on hover."""
    if value is None:
        return Markup("never")
    gone = (now or datetime.now(UTC)) - value
    utc = value.astimezone(UTC)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        utc.isoformat(timespec="seconds"), f"{utc.day} {utc:%b %Y, %H:%M} UTC", _length(gone)
    )


def _length(gone: timedelta) -> str:
    seconds = gone.total_seconds()
    for unit, of_one in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        count = int(seconds // of_one)
        if count:
            return f"{count:,} {unit}{'s' if count != 1 else ''} ago"
    return "just now"


def make_environment() -> Environment:
    """The templates: everything is escaped, and a name that nobody gave is an error."""
    environment = Environment(
        loader=PackageLoader("siteglass.dashboard", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(number=number, mean=mean, signed=signed, moment=moment, day=day, ago=ago)
    environment.globals["site_header"] = lambda *given: Markup(site_header(*given))  # noqa: S704 - ours, escaped by parts
    return environment


def html_answer(html: str, nonce: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A page."""
    every: dict[str, Any] = {**HEADERS, "Content-Security-Policy": POLICY.replace("{nonce}", nonce), **(headers or {})}
    return Response(html.encode(), status, every, "text/html")
