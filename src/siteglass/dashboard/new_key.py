"""The pages that make an API key, new or in the place of another; it is shown on the answer to the form, never again.

Nothing of it is stored on the way, so the answer cannot be a redirect. A form that is sent twice creates one key: each
form has a unique number that can be used once. A key that was rotated cannot be rotated again.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import TypeVar

from starlette.responses import Response

from siteglass.access.accounts import AccountError
from siteglass.access.audit import Person
from siteglass.access.key_room import TooManyKeys
from siteglass.access.keys import SCOPES, KeyLimits, KeyRow, create_key
from siteglass.access.rotation import rotate_key
from siteglass.dashboard.forms import Form, FormError
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit, see_other
from siteglass.dashboard.keys import KEYS, ONE, key_of, state_of
from siteglass.dashboard.refusals import FORM_TOO_OLD, PageRefusal
from siteglass.people import attempts as tries
from siteglass.people.problems import TooManyAttempts
from siteglass.people.secrecy import bucket

MAX_NAME_CHARS = 200
MAX_STANDING = 100
MAX_EXPIRY = timedelta(days=3_650)
# How long a form that was sent is remembered; a session is over before.
REMEMBERED = timedelta(days=1)
_FORM_ID = re.compile(r"[\w-]{22}", re.ASCII)

OFFERED_SCOPES = (
    ("search", "Search", "Find leads by filters and plain language."),
    ("enrich", "Enrich", "Look up leads by domain."),
    ("account", "Account", "Read the balance, usage and ledger of this account."),
)
OFFERED_MODES = (
    ("live", "Live", "Real leads."),
    ("test", "Test", "Made-up leads and errors for testing, free of charge."),
)
OFFERED_EXPIRIES = (
    ("never", "Never", ""),
    ("30", "In 30 days", ""),
    ("90", "In 90 days", ""),
    ("365", "In a year", ""),
    ("day", "On another day", ""),
)
OFFERED_OVERLAPS = (
    ("0", "At once", "The old key stops working now. Use this for a key that leaked."),
    ("1", "In 1 hour", "Time to change one program."),
    ("24", "In 24 hours", "Time for a deployment."),
    ("168", "In 7 days", "Time for several teams."),
)
SENT_BEFORE = PageRefusal(
    409,
    "This form was already sent",
    "No second key was created. The key from this form is listed under API keys and was shown once. If you did not "
    "copy it, rotate it to get a new one.",
)

Read = TypeVar("Read")


async def show_new(dashboard: Dashboard, visit: Visit) -> Response:
    """The form, with what most people want."""
    fields = {"name": "", "mode": "live", "expires": "never", "day": "", "daily_api_cap": "", "daily_lead_cap": ""}
    return _form(dashboard, visit, fields, list(SCOPES), secrets.token_urlsafe(16), {})


def _form(
    dashboard: Dashboard, visit: Visit, fields: dict[str, str], scopes: list[str], form_id: str, wrong: dict[str, str]
) -> Response:
    return dashboard.page(
        visit, "key_new.html", 422 if wrong else 200, fields=fields, scopes=scopes, form_id=form_id, wrong=wrong,
        offered_modes=OFFERED_MODES, offered_scopes=OFFERED_SCOPES, offered_expiries=OFFERED_EXPIRIES,
        most_chars=MAX_NAME_CHARS, today=visit.who.now.astimezone(UTC).date(),
    )  # fmt: skip


async def create(dashboard: Dashboard, visit: Visit) -> Response:
    """Make the key and show it, or the form with what is wrong beside the fields."""
    form, who, postgres = visit.form, visit.who, dashboard.backends.postgres
    form_id = form.get("form")
    if not _FORM_ID.fullmatch(form_id):
        raise FORM_TOO_OLD
    wrong: dict[str, str] = {}
    name = _read(wrong, lambda: form.text("name", MAX_NAME_CHARS, label="Name"))
    scopes = _read(wrong, lambda: _scopes(form))
    expires_at = _read(wrong, lambda: _expiry(form, who.now))
    api_cap = _read(wrong, lambda: form.amount("daily_api_cap", label=f"{visit.labels['api']} per day"))
    lead_cap = _read(wrong, lambda: form.amount("daily_lead_cap", label=f"{visit.labels['lead']} per day"))
    typed = {one: form.get(one) for one in ("name", "mode", "expires", "day", "daily_api_cap", "daily_lead_cap")}
    if wrong or name is None or scopes is None:
        return _form(dashboard, visit, typed, form.all("scopes"), form_id, wrong)
    await _take_only_try(dashboard, form_id)
    try:
        key_id, key = await create_key(
            postgres, dashboard.backends.settings.key_secrets, who.account_id, name, scopes,
            KeyLimits(expires_at, api_cap, lead_cap), actor=Person(who.person_id), most=MAX_STANDING,
            test=form.get("mode") == "test",
        )  # fmt: skip
    except TooManyKeys:  # its words are for operators
        wrong["form"] = f"This account has {MAX_STANDING} active keys, the maximum. Revoke one first."
        # the number of this form is used up
        return _form(dashboard, visit, typed, scopes, secrets.token_urlsafe(16), wrong)
    dashboard.sign_in.tell_of_key(who, key)
    return _shown_once(dashboard, visit, key_id, name, scopes, key)


def _read(wrong: dict[str, str], read: Callable[[], Read]) -> Read | None:
    """What a field holds; what is wrong with it is noted."""
    try:
        return read()
    except FormError as error:
        wrong[error.field] = str(error)
        return None


def _scopes(form: Form) -> list[str]:
    chosen = form.all("scopes")
    if not chosen or not set(chosen) <= set(SCOPES):
        raise FormError("scopes", "Choose at least one scope.")
    return [scope for scope in SCOPES if scope in chosen]


def _expiry(form: Form, now: datetime) -> datetime | None:
    """When the key ends; a day of one's own counts whole."""
    choice = form.get("expires", "never")
    if choice == "never":
        return None
    if choice != "day":
        if choice not in ("30", "90", "365"):
            raise FormError("expires", "Choose one of these options.")
        return now + timedelta(days=int(choice))
    day = form.day("day", label="Last day")
    today = now.astimezone(UTC).date()
    if day is None or not today <= day <= today + MAX_EXPIRY:
        raise FormError("day", "Last day: enter a day such as 2026-11-15, from today up to ten years from now.")
    return datetime.combine(day + timedelta(days=1), time(), UTC)


async def _take_only_try(dashboard: Dashboard, form_id: str) -> None:
    """Raise PageRefusal if the form was sent before: of several at once, one goes through.

    Sending a form is a try of which there is one: it is counted among those of sign-in, under a mark of its own.
    """
    under = bucket("form of a new key", form_id)
    try:
        await tries.take(dashboard.backends.postgres, under, most=1, window=REMEMBERED)
    except TooManyAttempts:
        raise SENT_BEFORE from None


async def show_rotate(dashboard: Dashboard, visit: Visit) -> Response:
    """When shall the old key end?"""
    key = await key_of(dashboard, visit)
    if not _can_rotate(key, visit):
        return see_other(f"{KEYS}/{key.id}")
    return _rotate_form(dashboard, visit, key, "24", "")


def _can_rotate(key: KeyRow, visit: Visit) -> bool:
    return key.rotated_to is None and not state_of(key, visit.who.now).is_over


def _rotate_form(dashboard: Dashboard, visit: Visit, key: KeyRow, chosen: str, wrong: str) -> Response:
    return dashboard.page(
        visit, "key_rotate.html", 422 if wrong else 200, key=key, offered=OFFERED_OVERLAPS, chosen=chosen, wrong=wrong
    )


async def rotate(dashboard: Dashboard, visit: Visit) -> Response:
    """Make the key that takes the place of another, and show it."""
    key, hours, who = await key_of(dashboard, visit), visit.form.get("hours"), visit.who
    if hours not in [value for value, *_ in OFFERED_OVERLAPS]:
        return _rotate_form(dashboard, visit, key, "24", "Choose one of these options.")
    try:
        key_id, made = await rotate_key(
            dashboard.backends.postgres, dashboard.backends.settings.key_secrets, key.id, timedelta(hours=int(hours)),
            Person(who.person_id), of_account=who.account_id, most=MAX_STANDING,
        )  # fmt: skip
    except TooManyKeys:
        return _rotate_form(
            dashboard, visit, key, hours,
            f"This account has {MAX_STANDING} active keys, the maximum, and rotating adds one for a while. Let the "
            "old key end now, or revoke another first.",
        )  # fmt: skip
    except AccountError:  # its words are for operators
        raise PageRefusal(
            409,
            "This key cannot be rotated",
            "No key was created. This key was already rotated, was revoked or has expired. If it was rotated, its "
            "newest replacement is listed under API keys and was shown once; rotate that one to get a new one.",
        ) from None
    dashboard.sign_in.tell_of_key(who, made)
    old = await key_of(dashboard, visit)
    return _shown_once(dashboard, visit, key_id, key.name, list(key.scopes), made, old)


def _shown_once(
    dashboard: Dashboard, visit: Visit, key_id: int, name: str, scopes: list[str], key: str, old: KeyRow | None = None
) -> Response:
    return dashboard.page(
        visit, "key_once.html", key_id=key_id, name=name, key=key, old=old,
        call=_call(dashboard.service_address(visit), key, scopes),
        old_state=None if old is None else state_of(old, datetime.now(UTC)),
    )  # fmt: skip


def _call(service: str, key: str, scopes: list[str]) -> str:
    """A call that this key may make."""
    head = f"-H 'X-API-Key: {key}'"
    if "search" in scopes:
        path, body = "/v1/leads/search", {"query": "Shopify stores in Texas", "limit": 5}
    elif "enrich" in scopes:
        path, body = "/v1/leads/enrich", {"domains": ["example.com"]}
    else:
        return f"curl '{service}/v1/account' \\\n  {head}"
    return (
        f"curl '{service}{path}' \\\n  {head} \\\n  -H 'Content-Type: application/json' \\\n  -d '{json.dumps(body)}'"
    )


# Before the page of one key, whose path is a pattern.
PAGES = (
    DeclaredPage("key.new", "GET", KEYS + "/new", show_new, role="member", fresh=True),
    DeclaredPage("key.create", "POST", KEYS, create, role="member", fresh=True),
    DeclaredPage("key.rotate.ask", "GET", ONE + "/rotate", show_rotate, role="member", fresh=True),
    DeclaredPage("key.rotate", "POST", ONE + "/rotate", rotate, role="member", fresh=True),
)
