"""Steps through the pages of a search: which page to ask for next, and how large, so that no budget is passed.

A page of n leads costs at most n lead credits. While more is left than a page can cost, pages are full; then they are
as small as what is left. Leads without an address are free, so a run with a budget gets as many leads as the budget
allows. Where few have an address, pages grow again, and the service refuses what would cost more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from siteglass_client.answers import Answer, Page, read_page
from siteglass_client.calls import MAX_LEAD_CREDITS, SEARCH_PATH, Call, post
from siteglass_client.errors import IdempotencyPriceChanged, PayloadTooLarge, PaymentRequired, ResumeError, ServiceError

Step = TypeVar("Step", covariant=True)
MAX_STRETCH = 128


class Steps(Protocol[Step]):
    """A walk that takes one answer after another; the state after each can be noted and restored."""

    credits: int
    api_credits: int
    rows: int
    stopped: str | None

    def next_call(self) -> Call | None: ...
    def took(self, answer: Answer) -> Step: ...
    def refused(self, call: Call, error: ServiceError) -> Call | None: ...
    def state(self) -> dict[str, Any]: ...
    def restore(self, state: Mapping[str, Any]) -> None: ...
    def check_pending(self, call: Call) -> None: ...


def with_explanation(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a first page; that of a sentence asks how it was interpreted."""
    return {**body, "explain": True} if body.get("query") else dict(body)


def budget_left(max_lead_credits: int | None, credits: int) -> int | None:
    """Lead credits that may still be spent; None: any number."""
    return None if max_lead_credits is None else max(0, max_lead_credits - credits)


def capped(body: dict[str, Any], left: int | None) -> dict[str, Any]:
    """The body with the cap that the service itself holds."""
    return body if left is None else {**body, "max_lead_credits": min(left, MAX_LEAD_CREDITS)}


def has_other_cap(call: Call, left: int | None) -> bool:
    """Whether a call that was in flight carries the cap of another budget than this run's."""
    cap = (call.body or {}).get("max_lead_credits")
    return cap is not None and (left is None or cap < min(left, MAX_LEAD_CREDITS))


def check_affordable(call: Call, size: int, max_lead_credits: int | None, credits: int) -> None:
    """Refuses to repeat a call that was in flight if it can pass a budget that is lower now."""
    body = call.body or {}
    most = credits + min(size, body.get("max_lead_credits", size))
    if max_lead_credits is not None and most > max_lead_credits:
        raise ResumeError(
            f"The run was interrupted during a request that may have been charged, which may bring its cost to {most} "
            f"credits. Pass max_lead_credits={most} or more, or start again without this resume file."
        )


class SearchWalk:
    """The pages of one search."""

    def __init__(
        self, body: Mapping[str, Any], *, limit: int, max_leads: int | None, max_lead_credits: int | None
    ) -> None:
        self._body = dict(body)
        self._limit = limit
        self._max_leads = max_leads
        self._max_lead_credits = max_lead_credits
        self._next: str | None = SEARCH_PATH
        self._stretch = 1
        self._account_left: int | None = None
        self.credits = 0
        self.api_credits = 0
        self.rows = 0
        self.total_results: int | None = None
        self.hint: str | None = None
        self.stopped: str | None = None

    def next_call(self) -> Call | None:
        """The next page; None: the walk is over, and `stopped` says why."""
        self.stopped = None
        if self._next is None:
            self.stopped = "end"
            return None
        size = self._limit if self._max_leads is None else min(self._limit, self._max_leads - self.rows)
        if size <= 0:
            self.stopped = "max_leads"
            return None
        if self._max_lead_credits is not None and self.credits > self._max_lead_credits:
            # A service that does not keep `max_lead_credits`: no page more.
            self.stopped = "max_lead_credits"
            return None
        left = budget_left(self._max_lead_credits, self.credits)
        affordable = min((each for each in (left, self._account_left) if each is not None), default=size)
        if affordable < size:
            size = min(size, max(1, affordable) * self._stretch)
        first = with_explanation(self._body) if self._next == SEARCH_PATH else {}
        return post(self._next, capped({**first, "limit": size}, left))

    def took(self, answer: Answer) -> Page:
        """A page that came."""
        page = read_page(answer)
        self._next = page.next
        self.rows += len(page.leads)
        self.credits += page.credits_used
        self.total_results = page.total_results
        self.hint = page.hint
        self._account_left = page.credits.lead_left
        cheap = page.credits_used * 2 <= len(page.leads)
        self._stretch = min(self._stretch * 2, MAX_STRETCH) if cheap else 1
        return page

    def refused(self, call: Call, error: ServiceError) -> Call | None:
        """What to ask for instead of a page that was refused and cost nothing; raises the error if there is nothing."""
        size: int = (call.body or {})["limit"]
        left = budget_left(self._max_lead_credits, self.credits)
        if isinstance(error, IdempotencyPriceChanged):
            return self.next_call()  # a free page that was lost: it is paid for under a new key, within the budget
        if isinstance(error, PaymentRequired):
            if has_other_cap(call, left):
                return self.next_call()
            if size == 1 and left == 0:
                self.stopped = "max_lead_credits"
                return None
            self._stretch = 1
            if left is not None and size > max(1, left):
                return self.next_call()  # no larger than what is left: our own cap cannot refuse that
        if size == 1 or not isinstance(error, (PaymentRequired, PayloadTooLarge)):
            raise error
        # The account, the day of the key, or what the service keeps for a retry has less room than we know of.
        self._limit = size // 2
        return self.next_call()

    def state(self) -> dict[str, Any]:
        """What a later run needs to continue."""
        return {"next": self._next, "rows": self.rows, "credits": self.credits, "total_results": self.total_results}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue after a recorded page."""
        self._next = state["next"]
        self.rows = state["rows"]
        self.credits = state["credits"]
        self.total_results = state["total_results"]

    def check_pending(self, call: Call) -> None:
        """Refuses a page in flight that can pass a limit which is lower now."""
        size: int = (call.body or {})["limit"]
        check_affordable(call, size, self._max_lead_credits, self.credits)
        if self._max_leads is not None and self.rows + size > self._max_leads:
            most = self.rows + size
            raise ResumeError(
                f"The run was interrupted while it requested leads up to number {most}, which may have been charged. "
                f"Pass max_leads={most} or more, or start again without this resume file."
            )
