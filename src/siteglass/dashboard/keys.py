"""The pages of API keys: all of them, one with what was done to it, and its end."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from starlette.responses import Response

from siteglass.access.accounts import AccountError
from siteglass.access.audit import Person, audit_page
from siteglass.access.keys import KeyRow, revoke_key
from siteglass.access.own_keys import KeyPage, find_key, keys_page
from siteglass.dashboard.audit_words import tell
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit, see_other
from siteglass.dashboard.refusals import NOT_THERE

KEYS = "/dashboard/keys"
ONE = KEYS + "/{key_id}"
MAX_ACTIONS = 50
PAGE_KEYS = 100
PAGE_ENDED = 50
SOON = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class KeyState:
    """The state of a key, and when it began or ends."""

    label: str
    tone: str
    word: str = ""
    at: datetime | None = None
    is_over: bool = False
    to_the_minute: bool = False


def state_of(key: KeyRow, now: datetime) -> KeyState:
    """What a badge says of a key."""
    if key.revoked_at is not None:
        return KeyState("revoked", "bad", "on", key.revoked_at, is_over=True)
    if key.expires_at is None:
        return KeyState("active", "good")
    if key.expires_at <= now:
        return KeyState("expired" if key.rotated_to is None else "replaced", "", "on", key.expires_at, is_over=True)
    if key.rotated_to is not None:
        return KeyState("rotated", "warn", "ends", key.expires_at, to_the_minute=True)
    left = key.expires_at - now
    days = math.ceil(left / timedelta(days=1))
    label = f"expires in {days:,} day{'s' if days != 1 else ''}"
    return KeyState(label, "warn" if left <= SOON else "good", "on", key.expires_at)


async def key_of(dashboard: Dashboard, visit: Visit) -> KeyRow:
    """The key that the path names, if it is one of the account; raises Refused."""
    key = await find_key(dashboard.backends.postgres, visit.who.account_id, visit.number("key_id"))
    if key is None:
        raise NOT_THERE
    return key


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """All keys: those that work, and those that did, each a page at a time."""
    before, ended_before = visit.query.number("before"), visit.query.number("ended_before")
    standing, ended = await asyncio.gather(
        _page(dashboard, visit, working=True, before_id=before, limit=PAGE_KEYS),
        _page(dashboard, visit, working=False, before_id=ended_before, limit=PAGE_ENDED),
    )
    return dashboard.page(
        visit, "keys.html", standing=standing, ended=ended, state_of=partial(state_of, now=visit.who.now),
        is_newest=before is None, is_newest_ended=ended_before is None,
    )  # fmt: skip


async def _page(dashboard: Dashboard, visit: Visit, *, working: bool, before_id: int | None, limit: int) -> KeyPage:
    who = visit.who
    return await keys_page(
        dashboard.backends.postgres, who.account_id, who.now, working=working, before_id=before_id, limit=limit,
    )  # fmt: skip


async def show_one(dashboard: Dashboard, visit: Visit) -> Response:
    """A key, and what was done to it."""
    key = await key_of(dashboard, visit)
    rows = await audit_page(dashboard.backends.postgres, key.account_id, key_id=key.id, limit=MAX_ACTIONS)
    told = await tell(dashboard, key.account_id, rows)
    return dashboard.page(visit, "key.html", key=key, state=state_of(key, visit.who.now), told=told)


async def show_revoke(dashboard: Dashboard, visit: Visit) -> Response:
    """What will stop working, before it does."""
    key = await key_of(dashboard, visit)
    if key.revoked_at is not None:
        return see_other(f"{KEYS}/{key.id}")
    return dashboard.page(visit, "key_revoke.html", key=key, state=state_of(key, visit.who.now))


async def revoke(dashboard: Dashboard, visit: Visit) -> Response:
    """Revoke a key permanently."""
    who = visit.who
    try:
        await revoke_key(
            dashboard.backends.postgres, visit.number("key_id"), Person(who.person_id), of_account=who.account_id
        )
    except AccountError:  # there is no such key; its words are for operators
        raise NOT_THERE from None
    return see_other(f"{KEYS}?done=key-revoked")


PAGES = (
    DeclaredPage("keys", "GET", KEYS, show),
    DeclaredPage("key", "GET", ONE, show_one),
    DeclaredPage("key.revoke.ask", "GET", ONE + "/revoke", show_revoke, role="member", fresh=True),
    DeclaredPage("key.revoke", "POST", ONE + "/revoke", revoke, role="member", fresh=True),
)
