"""What the free tools answer, within its size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from siteglass_client.items import KnownValues
from siteglass_client.mcp.models import (
    AccountAnswer,
    Change,
    Condition,
    DiagnoseAnswer,
    Effect,
    FacetAnswer,
    FacetCount,
    FacetsAnswer,
    InterpretAnswer,
    KnownValue,
    ValuesAnswer,
)
from siteglass_client.mcp.sizes import BYTES_PER_TOKEN, CUT, cut, size_bytes
from siteglass_client.mcp.till import Till
from siteglass_client.messages import Account, Diagnosis, Facet, Facets, Note, Reading, Relaxation, Words

ENVELOPE_BYTES = 600
NAME_BYTES = 200
PARTS = ("value", "name", "matched")
CLEAR = "Search with the same words, or pass `directives` as wrapped_query."
UNCLEAR = "Check `not_understood` and `assumed` before you pay; rephrase it, or use filters or directives."


class Room:
    """Bytes that the parts of an answer share, the important ones first."""

    def __init__(self, max_tokens: int) -> None:
        self.left_bytes = max_tokens * BYTES_PER_TOKEN - ENVELOPE_BYTES
        self._value_bytes = self.left_bytes // 8

    def text(self, value: str, share: float = 1.0) -> str:
        """As much of a text as fits into this share of what is left."""
        kept = str(cut(value, max(size_bytes(CUT), int(self.left_bytes * share))))
        self.left_bytes -= size_bytes(kept)
        return kept

    def takes(self, value: Any) -> bool:
        """Whether a part of a list fits; if so, its room is taken."""
        needed_bytes = size_bytes(value) + len(",")
        if needed_bytes > self.left_bytes:
            return False
        self.left_bytes -= needed_bytes
        return True

    def texts(self, values: Sequence[str]) -> list[str]:
        """As many of them as fit, each cut if it is long."""
        short = [cut(value, self._value_bytes) for value in values]
        kept: list[str] = cut(short, max(20, self.left_bytes)) if short else []
        self.left_bytes -= size_bytes(kept)
        return kept


def interpreted(reading: Reading, max_tokens: int) -> InterpretAnswer:
    """A reading of a search."""
    room = Room(max_tokens)
    read_back = room.text(reading.read_back or "", 0.25)
    directives = room.text("\n".join(reading.directives), 0.5)
    ignored = [f"{each.text}: ignored" for each in reading.ignored]
    on_conditions = [each.message for each in reading.notes]
    not_understood = room.texts([*on_conditions, *(_noted(each) for each in reading.unsupported), *ignored])
    assumed = room.texts([_noted(each) for each in reading.assumptions])
    corrected = room.texts([f"{each.text}: read as {each.to}" for each in reading.corrections])
    conditions: list[Condition] = []
    for each in reading.conditions:
        directive, words = cut(each.directive, NAME_BYTES), cut(_joined(each.words), NAME_BYTES)
        made = Condition(directive=directive, words=words, confidence=each.confidence)
        if not room.takes(made.model_dump()):
            break
        conditions.append(made)
    other = room.texts([f"{_joined(each.words)}: {each.reading}" for each in reading.alternatives])
    return InterpretAnswer(
        total_results=reading.total_results,
        confidence=reading.confidence,
        read_back=read_back,
        directives=directives,
        not_understood=not_understood,
        conditions=conditions,
        assumed=assumed,
        corrected=corrected,
        other_readings=other,
        say=UNCLEAR if not_understood or assumed or reading.needs_review else CLEAR,
    )


def facets_counted(counts: Facets, max_tokens: int) -> FacetsAnswer:
    """Counts of a search; each facet gets the same room."""
    room_bytes = (max_tokens * BYTES_PER_TOKEN - ENVELOPE_BYTES) // max(1, len(counts.facets))
    return FacetsAnswer(
        total_results=counts.total_results,
        with_email=counts.price.with_email,
        already_paid=counts.price.get("already_paid"),
        facets=[_facet(each, room_bytes) for each in counts.facets],
    )


def _facet(facet: Facet, room_bytes: int) -> FacetAnswer:
    made = FacetAnswer(facet=facet.facet, counts=[], more=facet.more, estimated=facet.estimated)
    room_bytes -= size_bytes(made.model_dump()) + len(",")
    for each in facet.counts:
        name = None if each.name == each.value else cut(each.name, NAME_BYTES)
        count = FacetCount(value=cut(each.value, NAME_BYTES), name=name, count=each.count, lift=each.get("lift"))
        room_bytes -= size_bytes(count.model_dump(exclude_none=True)) + len(",")
        if room_bytes < 0:
            made.more = True
            break
        made.counts.append(count)
    return made


def diagnosed(diagnosis: Diagnosis, max_tokens: int) -> DiagnoseAnswer:
    """Why a search finds nothing; what helps comes before what does not."""
    room = Room(max_tokens)
    changes: list[Change] = []
    for each in diagnosis.relaxations:
        made = Change(change=_change(each), total_results=each.total_results, filters=each.filters)
        if not room.takes(made.model_dump()):
            break
        changes.append(made)
    notes = room.texts([each.message for each in diagnosis.notes])
    conditions: list[Effect] = []
    for effect in diagnosis.conditions:
        shown = Effect(directive=cut(effect.directive, NAME_BYTES), matches=effect.matches, removes=effect.removes)
        if not room.takes(shown.model_dump()):
            break
        conditions.append(shown)
    return DiagnoseAnswer(total_results=diagnosis.total_results, changes=changes, notes=notes, conditions=conditions)


def _change(change: Relaxation) -> str:
    drop = [f"without {each}" for each in change.drop]
    return str(cut(", ".join([*(f"with {each.by}" for each in change.replace), *drop]), NAME_BYTES))


def _joined(words: Sequence[Words]) -> str:
    return " ".join(each.text for each in words)


def _noted(note: Note) -> str:
    return f"{_joined(note.words)}: {note.message}"


def known_values(known: KnownValues, max_tokens: int) -> ValuesAnswer:
    """Values of a field."""
    room_bytes = max_tokens * BYTES_PER_TOKEN - ENVELOPE_BYTES
    kept: list[KnownValue] = []
    for each in known.found:
        parts: dict[str, Any] = {name: cut(each[name], NAME_BYTES) for name in PARTS if each.get(name)}
        room_bytes -= size_bytes(parts) + len(",")
        if room_bytes < 0:
            break
        kept.append(KnownValue(**parts))
    return ValuesAnswer(
        field=cut(known.field_, NAME_BYTES), values=kept, more=known.more or len(kept) < len(known.found)
    )


def account_told(account: Account, till: Till) -> AccountAnswer:
    """Balances, limits, and what this server has spent. Not the key, nor a part of it."""
    balances, prices, limits, key = account.balances, account.prices, account.limits, account.key
    return AccountAnswer(
        account=cut(account.account.name, NAME_BYTES),
        plan=cut(account.account.plan, NAME_BYTES),
        lead_credits=balances.lead_credits,
        api_credits=balances.api_credits,
        lead_credit_price=prices.lead_credit,
        api_credit_price=prices.api_credit,
        currency=prices.currency,
        requests_per_second=limits.requests_per_second,
        key_name=cut(key.name, NAME_BYTES),
        key_scopes=cut(key.scopes, NAME_BYTES),
        key_daily_lead_credits=key.daily_lead_credits,
        key_daily_api_credits=key.daily_api_credits,
        key_lead_credits_today=key.used_today.lead_credits,
        key_api_credits_today=key.used_today.api_credits,
        free_again_hours=limits.rebill_after_hours,
        session_ceiling=till.session.ceiling,
        session_lead_spent=till.session.spent.lead,
        session_api_spent=till.session.spent.api,
    )
