"""What stands in the audit log, in words: who did what, and what was set. Operators have no name here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from markupsafe import Markup

from siteglass.accounts.audit import AuditRow
from siteglass.accounts.keys import SCOPES
from siteglass.accounts.own_keys import key_names
from siteglass.dashboard.guard import Dashboard
from siteglass.dashboard.rendering import moment, number, signed
from siteglass.people.people import names_of

DELETED = "Somebody deleted"


@dataclass(frozen=True, slots=True)
class Told:
    """One action: `who` `what` `whom`, such as "Ada Lovelace" "made the key" "Office"."""

    id: int
    at: datetime
    who: str
    what: str
    whom: str = ""
    key_id: int | None = None
    """The key that `whom` names."""
    details: Sequence[str | Markup] = ()


async def tell(dashboard: Dashboard, account_id: int, rows: Sequence[AuditRow]) -> list[Told]:
    """The actions in words."""
    postgres, timeout_ms = dashboard.backends.postgres, dashboard.timeout_ms
    keys = {row.key_id for row in rows if row.key_id is not None}
    actors = {int(row.actor_id) for row in rows if row.actor_kind == "person"}
    others = {int(row.details["person"]) for row in rows if "person" in row.details}
    names = await names_of(postgres, sorted(actors | others), timeout_ms=timeout_ms) if actors | others else {}
    of_keys = await key_names(postgres, account_id, sorted(keys), timeout_ms=timeout_ms) if keys else {}
    return [_told(row, names, of_keys) for row in rows]


_KEYS = {
    "key.create": "made the key",
    "key.rotate": "rotated the key",
    "key.revoke": "revoked the key",
    "key.allow": "said where from to use the key",
}
_CREDITS = {
    "credits.grant": "granted credits",
    "credits.refund": "refunded a charge",
    "credits.adjust": "adjusted the balance",
}
_PEOPLE = {
    "person.withdraw": "withdrew an invitation",
    "person.password": "changed their password",
    "person.second_factor_on": "turned two-step sign-in on",
    "person.second_factor_off": "turned two-step sign-in off",
}


def _told(row: AuditRow, names: dict[int, str], of_keys: dict[int, str]) -> Told:
    is_person = row.actor_kind == "person"
    who = names.get(int(row.actor_id), DELETED) if is_person else "An operator"
    action, given = row.action, row.details
    if action in _KEYS and row.key_id is not None:
        name = of_keys.get(row.key_id, str(row.key_id))
        return Told(row.id, row.at, who, _KEYS[action], name, row.key_id, _of_key(action, given))
    if action in _CREDITS:
        return Told(row.id, row.at, who, _CREDITS[action], details=_of_credits(given))
    if action in ("person.role", "person.remove"):
        return _of_person(row, who, names.get(int(given["person"]), DELETED))
    if action in ("person.invite", "person.join"):
        what = "invited somebody as" if action == "person.invite" else "joined as"
        return Told(row.id, row.at, who, f"{what} {given.get('role', 'viewer')}")
    if action == "alert.set":
        return _of_alert(row, who)
    if action == "account.create":
        return Told(row.id, row.at, who, "opened the account", details=(f"Plan {given.get('plan', '')}",))
    return Told(row.id, row.at, who, _PEOPLE.get(action, f"did {action}"))


def _of_person(row: AuditRow, who: str, whom: str) -> Told:
    is_self = row.actor_kind == "person" and row.actor_id == str(row.details["person"])
    if row.action == "person.remove":
        return Told(row.id, row.at, who, "left the account" if is_self else "removed", "" if is_self else whom)
    role = str(row.details.get("role", ""))
    return Told(row.id, row.at, who, "changed the role of", "themself" if is_self else whom, details=(f"Now {role}",))


def _of_alert(row: AuditRow, who: str) -> Told:
    kinds = (("api_below", "API"), ("lead_below", "lead"))
    below = [f"Below {number(row.details[name])} {kind} credits" for name, kind in kinds if row.details.get(name)]
    return Told(row.id, row.at, who, "set the low-balance mail" if below else "turned the low-balance mail off",
                details=below)  # fmt: skip


def _of_key(action: str, given: dict[str, Any]) -> list[str | Markup]:
    told: list[str | Markup] = []
    if "scopes" in given:
        told.append(f"Scopes: {', '.join(scope for scope in SCOPES if scope in given['scopes'])}")
    if given.get("expires_at"):
        told.append(_until("Old key ends" if action == "key.rotate" else "Expires", given["expires_at"]))
    for name, unit in (("daily_api_cap", "API"), ("daily_lead_cap", "lead")):
        if name in given:
            told.append(f"At most {number(given[name])} {unit} credits a day")
    if "rate_per_s" in given:
        told.append(f"At most {number(float(given['rate_per_s']))} requests a second")
    if "networks" in given:
        told.append(f"From: {', '.join(given['networks'])}" if given["networks"] else "From anywhere")
    if "new_key" in given:
        told.append(Markup('New: <a href="/dashboard/keys/{}">key {}</a>').format(given["new_key"], given["new_key"]))
    return told


def _of_credits(given: dict[str, Any]) -> list[str | Markup]:
    """Amounts; what an operator wrote as reason is meant for operators."""
    told: list[str | Markup] = [
        f"{signed(given[name])} {name if name == 'lead' else 'API'} credits" for name in ("api", "lead") if given[name]
    ]
    if given.get("expires_at"):
        told.append(_until("Expire", given["expires_at"]))
    if given.get("charge"):
        told.append(f"Ledger row {given['charge']}")
    return told


def _until(word: str, text: str) -> Markup:
    return Markup("{} {}").format(word, moment(datetime.fromisoformat(text)))
