"""The tool `enrich`: all domains in one batch, as each batch costs an API credit.

Items that do not fit into the response wait for the next call, and are free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import anyio

from siteglass_client.answers import Answer
from siteglass_client.async_client import AsyncSiteglass
from siteglass_client.calls import ENRICH_PATH
from siteglass_client.errors import CreditCapExceeded, SiteglassError
from siteglass_client.mcp.arguments import COMPANIES_SHOWN
from siteglass_client.mcp.models import Credits, EnrichAnswer, Price
from siteglass_client.mcp.sessions import NOT_KEPT, CeilingReached, Place, Sum, kept
from siteglass_client.mcp.sheets import Sheet
from siteglass_client.mcp.till import Till, digest_of

ALWAYS_SHOWN = ("status", "message", "found_domain")


class Enriching:
    """Answers calls of the tool."""

    def __init__(self, client: AsyncSiteglass, till: Till, deadline_s: float) -> None:
        self._client = client
        self._till = till
        self._session = till.session
        self._deadline_s = deadline_s

    async def answer(
        self,
        domains: Sequence[str] | None,
        select: Sequence[str] | None,
        max_lead_credits: int,
        max_tokens: int,
        cursor: str | None,
    ) -> EnrichAnswer:
        """Items, or the price if nothing may be spent or it would cost more."""
        names = _distinct(domains or [])
        shown = list(dict.fromkeys(select or COMPANIES_SHOWN))
        if cursor is not None:
            place = await self._session.find(cursor, "enrich", _records)
            if (names and names != place.asked["domains"]) or (select and shown != place.asked["select"]):
                raise SiteglassError(
                    "cursor: it belongs to other domains or fields. Omit those to continue with it, or omit cursor "
                    "to enrich others. Nothing was sent."
                )
            return await self._told(place, Sheet(place.columns, max_tokens), Sum(), None)
        if not names:
            raise SiteglassError("domains: name at least one. Nothing was sent.")
        asked = {"domains": names, "select": shown}
        self._session.require_room(asked)
        sheet = Sheet([*ALWAYS_SHOWN, *shown], max_tokens)
        with anyio.fail_after(self._deadline_s):
            if max_lead_credits == 0 or not self._session.knows_price(_priced_as(names)):
                return await self._price(names, "Nothing was spent.")
            return await self._buy(asked, sheet, max_lead_credits)

    async def _buy(self, asked: Mapping[str, Any], sheet: Sheet, max_lead_credits: int) -> EnrichAnswer:
        names = asked["domains"]
        most = Sum(lead=self._till.allowed(ENRICH_PATH, lambda _: asked, min(len(names), max_lead_credits)), api=1)
        if most.lead == 0:
            raise CeilingReached(
                f"The budget of this {self._session.kind}, {self._session.ceiling} credits "
                f"({self._session.raised_by}), is used up. "
                "Nothing was sent. Only the user can raise it."
            )
        try:
            bought = await self._till.buy(ENRICH_PATH, asked, most)
        except CreditCapExceeded:
            told = await self._price(names, f"Nothing was spent: only {most.lead} lead credits may be.")
            if told.price is None or told.price.lead_credits <= most.lead:
                raise  # another cap, such as that of the key
            return told
        items = bought.answer.body["results"]
        if all(item["status"] == "error" for item in items):
            await self._till.forget(ENRICH_PATH, asked, most)  # so that asking again is a new request
        columns = [*ALWAYS_SHOWN, *asked["select"]]
        place = Place("enrich", asked, columns, _records(bought.answer), source=bought.call)
        return await self._told(place, sheet, bought.cost, bought.answer)

    async def _price(self, names: Sequence[str], why: str) -> EnrichAnswer:
        quote = await self._client.enrich(names).price()
        await self._session.note_price(_priced_as(names))
        price = Price(lead_credits=quote.lead_credits, api_credits=quote.api_credits, exact=quote.exact)
        return EnrichAnswer(
            stopped="price",
            credits=self._credits(Sum(), None),
            price=price,
            found=quote.total_results,
            items=[],
            say=f"{why} {quote.total_results} of {len(names)} domains are known and cost {price.lead_credits} lead "
            f"credits; the call costs {price.api_credits} API credit. To get them, call enrich again with "
            f"max_lead_credits={max(1, price.lead_credits)} or more.",
        )

    async def _told(self, place: Place, sheet: Sheet, used: Sum, answer: Answer | None) -> EnrichAnswer:
        waiting = list(place.waiting)
        while waiting and sheet.add(waiting[0]):
            waiting.pop(0)
        rest = replace(place, waiting=waiting)
        name = await kept(self._session, rest) if waiting else None
        again = "The response is full. To see the others, call enrich with cursor; they are already paid for."
        return EnrichAnswer(
            stopped="max_tokens" if waiting else "end",
            credits=self._credits(used, answer),
            values_cut=sheet.values_cut,
            waiting=len(waiting),
            next=name,
            say="These are all domains." if not waiting else again if name else NOT_KEPT,
            items=sheet.rows,
        )

    def _credits(self, used: Sum, answer: Answer | None) -> Credits:
        return Credits(
            lead_used=used.lead,
            api_used=used.api,
            lead_left=None if answer is None else answer.credits.lead_left,
            api_left=None if answer is None else answer.credits.api_left,
            session_lead_left=self._till.lead_left,
        )


def _distinct(domains: Sequence[str]) -> list[str]:
    """Each domain once, in their order."""
    names: dict[str, str] = {}
    for name in domains:
        names.setdefault(name.strip().lower(), name)
    return list(names.values())


def _priced_as(names: Sequence[str]) -> str:
    return digest_of(ENRICH_PATH, {"domains": sorted(names)})


def _records(answer: Answer) -> list[dict[str, Any]]:
    return [_record(item) for item in answer.body["results"]]


def _record(item: Mapping[str, Any]) -> dict[str, Any]:
    data = item.get("data", {})
    found = data.get("domain")
    return {
        **data,
        "domain": item["domain"],
        "status": item["status"],
        "message": item.get("message"),
        "found_domain": None if found == item["domain"] else found,
    }
