"""Judges a run from its history alone: what failed and when, what was wrong, what was charged without an answer.

    python -m testing.fault_runs.verifier HISTORY.jsonl

It knows nothing of the service but the right answers and the ledger. A test plants defects in a history, and each must
be found.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from testing.fault_runs.history import Exchange, Fault, History

BEFORE_S, AFTER_S = 5.0, 30.0
REFUSED = (503,)
"""What a service may answer that cannot answer now."""


@dataclass(slots=True)
class Verdict:
    """What a run showed."""

    requests: int = 0
    failed: int = 0
    latest_failure_s: float = 0.0
    """After the fault began, of the failure that was sent last."""
    slowest_s: float = 0.0
    problems: list[str] = field(default_factory=list)
    """What must never happen: wrong answers, other errors, charges without an answer, answers without a charge."""

    def bound(self) -> float:
        """The share of failed requests is below this, with 95 % confidence (exact for no failure, else Wilson)."""
        if not self.requests:
            return 1.0
        if not self.failed:
            return min(1.0, 3 / self.requests)
        share, z, n = self.failed / self.requests, 1.645, self.requests
        middle = share + z * z / (2 * n)
        return (middle + z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / (1 + z * z / n)


def verify(history: History) -> Verdict:
    """Judge all requests; failures count if they were sent within the window of a fault or at any other time."""
    verdict = Verdict(requests=len(history.exchanges))
    for exchange in history.exchanges:
        verdict.slowest_s = max(verdict.slowest_s, exchange.took_s)
        if exchange.status == 200:
            verdict.problems += _wrong(history, exchange)
            continue
        verdict.failed += 1
        if exchange.status not in REFUSED:
            verdict.problems.append(f"{exchange.sent_s:.2f} s: answered {exchange.status}")
        fault = _fault_before(history.faults, exchange.sent_s)
        if fault is None:
            verdict.problems.append(f"{exchange.sent_s:.2f} s: failed although nothing was broken")
        else:
            verdict.latest_failure_s = max(verdict.latest_failure_s, exchange.sent_s - fault.at_s)
    verdict.problems += _money(history)
    return verdict


def _wrong(history: History, exchange: Exchange) -> list[str]:
    right = history.questions[exchange.question]
    found = tuple(sorted((*exchange.domains, *exchange.errors))) if exchange.errors else exchange.domains
    if (exchange.total, found) == (right.total, right.domains):
        return []
    return [
        f"{exchange.sent_s:.2f} s: question {exchange.question} was answered with {exchange.total} leads,"
        f" {exchange.domains}; right are {right.total}, {right.domains}"
    ]


def _fault_before(faults: list[Fault], sent_s: float) -> Fault | None:
    """The last fault that had begun. A request that was under way when it began counts, too."""
    begun = [fault for fault in faults if fault.at_s - BEFORE_S <= sent_s <= fault.until_s + AFTER_S]
    return max(begun, key=lambda fault: fault.at_s, default=None)


def _price(history: History, exchange: Exchange) -> int:
    return history.questions[exchange.question].lead_credits - len(exchange.errors)


def _money(history: History) -> list[str]:
    """Each answer is charged once, with the right amount, and nothing else is."""
    problems = []
    charged = Counter(charge.request_id for charge in history.charges)
    amounts = {charge.request_id: charge.lead_credits for charge in history.charges}
    answered = {one.request_id: one for one in history.exchanges if one.status == 200}
    for request_id, times in charged.items():
        if request_id not in answered:
            problems.append(f"{request_id} was charged without an answer")
        elif times > 1:
            problems.append(f"{request_id} was charged {times} times")
        elif amounts[request_id] != _price(history, answered[request_id]):
            problems.append(f"{request_id} was charged {amounts[request_id]} lead credits")
    problems += [f"{request_id} was answered without a charge" for request_id in answered if request_id not in charged]
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(description="Judge a run from its history.")
    parser.add_argument("history", type=Path)
    verdict = verify(History.read(parser.parse_args().history))
    print(
        f"{verdict.requests} requests, {verdict.failed} failed (below {100 * verdict.bound():.2f} % with 95 %),"
        f" the last one {verdict.latest_failure_s:.1f} s after its fault, slowest {verdict.slowest_s:.2f} s,"
        f" {len(verdict.problems)} problems"
    )
    for problem in verdict.problems[:20]:
        print(f"  {problem}")


if __name__ == "__main__":
    main()
