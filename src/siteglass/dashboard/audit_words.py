"""The audit log in words: who did what, and what was set. Operators have no name here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from markupsafe import Markup

from siteglass.access.audit import AuditRow, PersonName, people_named
from siteglass.access.keys import SCOPES
from siteglass.access.own_keys import key_names
from siteglass.dashboard.guard import Dashboard
from siteglass.dashboard.rendering import moment, number, signed
from siteglass.people.people import BY_PROVIDER

DELETED = "Somebody deleted"


@dataclass(frozen=True, slots=True)
class AuditSentence:
    """One action: `who` `what` `whom`, such as "Ada Lovelace" "created the key" "Office".

    A person stands there with their address, or with their number if they were deleted: names can be chosen.
    """

    id: int
    at: datetime
    who: PersonName
    what: str
    whom: PersonName | None = None
    key_id: int | None = None
    """The key that `whom` names."""
    details: Sequence[str | Markup] = ()


async def tell(dashboard: Dashboard, account_id: int, rows: Sequence[AuditRow]) -> list[AuditSentence]:
    """The actions in words."""
    postgres = dashboard.backends.postgres
    keys = {row.key_id for row in rows if row.key_id is not None}
    actors = {int(row.actor_id) for row in rows if row.actor_kind == "person"}
    others = {int(row.details["person"]) for row in rows if "person" in row.details}
    people = await people_named(postgres, actors | others) if actors | others else {}
    of_keys = await key_names(postgres, account_id, sorted(keys)) if keys else {}
    return [_told(row, people, of_keys) for row in rows]


_KEYS = {
    "key.create": "created the key",
    "key.rotate": "rotated the key",
    "key.revoke": "revoked the key",
    "key.allow": "changed the allowed networks of the key",
}
_CREDITS = {
    "credits.grant": "granted credits",
    "credits.refund": "refunded a charge",
    "credits.adjust": "adjusted the balance",
}
_ACCOUNT = {
    "account.suspend": "suspended the account",
    "account.resume": "resumed the account",
    "account.close": "closed the account",
    "account.set": "changed the account",
    "report.resolve": "resolved a report",
    "provider.set": "set up the sign-in with your company's account",
    "provider.remove": "removed the sign-in with your company's account",
}
# What somebody does for themself, and what is said if it was for somebody else.
_PEOPLE = {
    "person.role": ("changed their role", "changed the role of"),
    "person.cap": ("changed their daily cap", "changed the daily cap of"),
    "person.remove": ("left the account", "removed"),
    "person.rename": ("changed their name", "changed the name of"),
    "person.password": ("changed their password", "changed the password of"),
    "person.reset": ("reset their password by an emailed link", "reset the password of"),
    "person.delete": ("deleted themself", "deleted"),
    "person.second_factor_on": ("turned two-step sign-in on", "turned two-step sign-in on for"),
    "person.second_factor_off": ("turned two-step sign-in off", "turned two-step sign-in off for"),
    "person.second_factor_reset": ("turned two-step sign-in off", "turned two-step sign-in off for"),
    "person.factor_required": ("required two-step sign-in of everybody", "required two-step sign-in of"),
    "person.factor_optional": ("made two-step sign-in optional", "made two-step sign-in optional for"),
    "person.recovery_codes": ("made new recovery codes", "created new recovery codes for"),
    "person.sign_in": ("signed in", "signed in for"),
    "person.provider_forget": ("forgot their company's account", "forgot the company's account of"),
    "person.session_end": ("ended a session", "ended a session of"),
    "person.sessions_end": ("ended their other sessions", "ended the sessions of"),
}
_OPERATOR = PersonName("An operator", "")
_OTHERS = {BY_PROVIDER: PersonName("Your company's account", "")}


def _person(person_id: int, people: dict[int, PersonName]) -> PersonName:
    return people.get(person_id) or PersonName(DELETED, f"number {person_id}")


def _told(row: AuditRow, people: dict[int, PersonName], of_keys: dict[int, str]) -> AuditSentence:
    who = _person(int(row.actor_id), people) if row.actor_kind == "person" else _OTHERS.get(row.actor_id, _OPERATOR)
    action, given = row.action, row.details
    if action in _KEYS and row.key_id is not None:
        key = PersonName(of_keys.get(row.key_id, str(row.key_id)), "")
        return AuditSentence(row.id, row.at, who, _KEYS[action], key, row.key_id, _of_key(action, given))
    if action == "agent.session" and row.key_id is not None:
        key = PersonName(of_keys.get(row.key_id, str(row.key_id)), "")
        cap = f"At most {number(given['max_credits'])} credits of each kind"
        return AuditSentence(row.id, row.at, PersonName("An agent", ""), "began a session", key, row.key_id, (cap,))
    if action in _CREDITS:
        return AuditSentence(row.id, row.at, who, _CREDITS[action], details=_of_credits(given))
    if action in _PEOPLE:
        return _of_person(row, who, people)
    if action in ("person.invite", "person.join"):
        what = "invited somebody as" if action == "person.invite" else "joined as"
        return AuditSentence(row.id, row.at, who, f"{what} {given.get('role', 'viewer')}")
    if action == "person.withdraw":
        return AuditSentence(row.id, row.at, who, "withdrew an invitation")
    if action == "lead.report":
        return AuditSentence(row.id, row.at, who, "reported a wrong value", details=(f"Report {given.get('report')}",))
    if action == "alert.set":
        return _of_alert(row, who)
    if action == "account.sign_ins_failed":
        return AuditSentence(
            row.id, row.at, PersonName("Somebody", ""), "failed to sign in", details=_of_failures(given)
        )
    if action in _ACCOUNT:
        return AuditSentence(row.id, row.at, who, _ACCOUNT[action], details=_of_account(given))
    if action == "account.create":
        return AuditSentence(row.id, row.at, who, "opened the account", details=(f"Plan {given.get('plan', '')}",))
    return AuditSentence(row.id, row.at, who, f"did {action}")


def _of_person(row: AuditRow, who: PersonName, people: dict[int, PersonName]) -> AuditSentence:
    for_self, for_other = _PEOPLE[row.action]
    details = (f"Now {row.details['role']}",) if "role" in row.details else ()
    if "daily_lead_cap" in row.details:
        cap = row.details["daily_lead_cap"]
        details = ("No cap" if cap is None else f"At most {number(cap)} lead credits per day",)
    if shared := row.details.get("searches_shared"):
        details = (f"{number(shared)} of their searches, with watches, {'is' if shared == 1 else 'are'} shared now",)
    whom = str(row.details.get("person", ""))
    if not whom or (row.actor_kind == "person" and row.actor_id == whom):
        return AuditSentence(row.id, row.at, who, for_self, details=details)
    return AuditSentence(row.id, row.at, who, for_other, _person(int(whom), people), details=details)


def _of_alert(row: AuditRow, who: PersonName) -> AuditSentence:
    kinds = (("api_below", "API"), ("lead_below", "lead"))
    below = [f"Below {number(row.details[name])} {kind} credits" for name, kind in kinds if row.details.get(name)]
    action = "set the low-balance email" if below else "turned the low-balance email off"
    return AuditSentence(row.id, row.at, who, action, details=below)


def _of_key(action: str, given: dict[str, Any]) -> list[str | Markup]:
    words: list[str | Markup] = []
    if "scopes" in given:
        words.append(f"Scopes: {', '.join(scope for scope in SCOPES if scope in given['scopes'])}")
    if given.get("expires_at"):
        words.append(_until("Old key ends" if action == "key.rotate" else "Expires", given["expires_at"]))
    for name, unit in (("daily_api_cap", "API"), ("daily_lead_cap", "lead")):
        if name in given:
            words.append(f"At most {number(given[name])} {unit} credits per day")
    if "rate_per_s" in given:
        words.append(f"At most {number(float(given['rate_per_s']))} requests per second")
    if "networks" in given:
        words.append(f"From: {', '.join(given['networks'])}" if given["networks"] else "From anywhere")
    if "new_key" in given:
        words.append(Markup('New: <a href="/dashboard/keys/{}">key {}</a>').format(given["new_key"], given["new_key"]))
    return words


def _of_account(given: dict[str, Any]) -> list[str | Markup]:
    """What people of the account may know: the reason of a suspension is shown to them anyway."""
    words: list[str | Markup] = [f"Plan {given['plan']}"] if "plan" in given else []
    if given.get("renamed"):
        words.append("Another name")
    if "reason" in given:
        words.append(given["reason"])
    if "report" in given:
        words.append(f"Report {given['report']}")
    return words


def _of_failures(given: dict[str, Any]) -> list[str | Markup]:
    """How often within the hour, and from where."""
    first = datetime.fromisoformat(given["hour"])
    others = given["all_networks"] - len(given["networks"])
    networks = ", ".join(given["networks"]) + (f" and {others} more networks" if others else "")
    attempts = f"{number(given['attempts'])} {'time' if given['attempts'] == 1 else 'times'}"
    return [Markup("{} in the hour from {}").format(attempts, moment(first)), f"From {networks}"]


def _of_credits(given: dict[str, Any]) -> list[str | Markup]:
    """Amounts; what an operator wrote as reason is meant for operators."""
    words: list[str | Markup] = [
        f"{signed(given[name])} {name if name == 'lead' else 'API'} credits" for name in ("api", "lead") if given[name]
    ]
    if given.get("expires_at"):
        words.append(_until("Expire", given["expires_at"]))
    if given.get("charge"):
        words.append(f"Ledger row {given['charge']}")
    return words


def _until(word: str, text: str) -> Markup:
    return Markup("{} {}").format(word, moment(datetime.fromisoformat(text)))
