"""Steps through a list of domains: batches of at most 100, items in the order of the list, each domain paid once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from siteglass_client.answers import Answer, Batch
from siteglass_client.calls import ENRICH_PATH, MAX_DOMAINS, Call, post
from siteglass_client.errors import ConnectionFailed, InvalidRequest, PayloadTooLarge, PaymentRequired, ServiceError
from siteglass_client.items import Item
from siteglass_client.walk import budget_left, capped, check_affordable, has_other_cap


def _same(domain: str) -> str:
    """The form in which repeated domains are found. Only the service knows that a longer name means the same."""
    return domain.strip().lower()


class EnrichWalk:
    """The batches of one enrichment."""

    def __init__(self, domains: Sequence[str], select: Sequence[str] | None, max_lead_credits: int | None) -> None:
        self._domains = domains
        self._shown = {} if select is None else {"select": list(select)}
        self._max_lead_credits = max_lead_credits
        self._size = MAX_DOMAINS
        self._last = {_same(domain): place for place, domain in enumerate(domains)}
        self._remembered: dict[str, dict[str, Any]] = {}
        """Items of domains that the list names again."""
        self._learned: dict[str, dict[str, Any]] = {}
        """Those of them that the last batch brought."""
        self._asked: list[str] = []
        self.rows = 0
        self.credits = 0
        self.api_credits = 0
        self.stopped: str | None = None

    def next_call(self) -> Call | None:
        """The next batch; None: the walk is over, and `stopped` says why."""
        self.stopped = None
        if self.rows == len(self._domains):
            self.stopped = "end"
            return None
        left = budget_left(self._max_lead_credits, self.credits)
        # A batch costs an API credit also if nothing is found: it is not tried for domains that may be free.
        if left == 0:
            self.stopped = "max_lead_credits"
            return None
        return post(ENRICH_PATH, capped({"domains": self._next_domains(), **self._shown}, left))

    def _next_domains(self) -> list[str]:
        """As many domains as a batch may have that are not known yet."""
        wanted: dict[str, str] = {}
        for place in range(self.rows, len(self._domains)):
            if len(wanted) == self._size:
                break
            name = _same(self._domains[place])
            if name not in self._remembered:
                wanted.setdefault(name, self._domains[place])
        return list(wanted.values())

    def took(self, answer: Answer) -> Batch:
        """A batch that came, and all that it makes known up to the first domain that it does not."""
        results: list[dict[str, Any]] = answer.body["results"]
        known = {_same(item["domain"]): item for item in results}
        if (
            not results
            or len(known) != len(results)
            or _same(self._domains[self.rows])
            not in {
                **self._remembered,
                **known,
            }
        ):
            raise ConnectionFailed("the response contains items for domains that were not requested")
        items: list[Item] = []
        for place in range(self.rows, len(self._domains)):
            domain = self._domains[place]
            found = known.get(_same(domain)) or self._remembered.get(_same(domain))
            if found is None:
                break
            items.append(Item(found if found["domain"] == domain else {**found, "domain": domain}))
        self.rows += len(items)
        self._learn({name: item for name, item in known.items() if self._last[name] >= self.rows})
        self.credits += answer.credits.lead_used
        self.api_credits += answer.credits.api_used
        return Batch(
            items,
            answer.credits.lead_used,
            answer.credits.api_used,
            answer.credits,
            answer.charged_as,
            answer.replayed,
        )

    def _learn(self, more: dict[str, dict[str, Any]]) -> None:
        self._learned = more
        kept = {**self._remembered, **more}
        self._remembered = {name: item for name, item in kept.items() if self._last[name] >= self.rows}

    def refused(self, call: Call, error: ServiceError) -> Call | None:
        """A smaller batch instead of one that was refused and cost nothing; raises the error if that does not help."""
        size = len((call.body or {})["domains"])
        # An operator may have set fewer domains for a batch.
        too_many = isinstance(error, InvalidRequest) and any(detail.field == "domains" for detail in error.details)
        left = budget_left(self._max_lead_credits, self.credits)
        if isinstance(error, PaymentRequired) and has_other_cap(call, left):
            return self.next_call()
        if size == 1 or not (too_many or isinstance(error, (PaymentRequired, PayloadTooLarge))):
            raise error
        self._size = size // 2
        if isinstance(error, PaymentRequired) and left is not None and self._size < left < size:
            self._size = left  # so small a batch cannot cost more than is left
        return self.next_call()

    def state(self) -> dict[str, Any]:
        """What a later run needs to continue, with the previous states."""
        return {
            "rows": self.rows,
            "credits": self.credits,
            "api_credits": self.api_credits,
            "remembered": self._learned,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue after a recorded batch; every one of them must be restored, in order."""
        self.rows = state["rows"]
        self.credits = state["credits"]
        self.api_credits = state["api_credits"]
        self._learn(state["remembered"])

    def check_pending(self, call: Call) -> None:
        """Refuses a batch in flight that can pass a budget which is lower now."""
        check_affordable(call, len((call.body or {})["domains"]), self._max_lead_credits, self.credits)

    def price_calls(self) -> list[Call]:
        """Dry runs of all batches."""
        names = list({_same(domain): domain for domain in self._domains}.values())
        batches = [names[start : start + MAX_DOMAINS] for start in range(0, len(names), MAX_DOMAINS)]
        return [post(ENRICH_PATH, {"domains": batch, "dry_run": True}) for batch in batches]
