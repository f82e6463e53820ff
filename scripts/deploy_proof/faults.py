"""Kills each part once under load: errors are honest, answers right and paid once, and it recovers by itself."""

from __future__ import annotations

import time

from deploy_proof.load import NO_ANSWER, charges, judge
from deploy_proof.scorecard import ProofError, Step
from deploy_proof.site import Site
from testing.fault_runs.history import Question

BEFORE_S = 3
FAULT_S = 8
STEADY_S = 4.0
WITHIN_S = 120.0
# What callers may see while a part is away. 409: the earlier attempt with the same key has not ended yet.
ALLOWED = {
    "opensearch": {"503", "409"},
    "postgresql": {"503", "409"},
    "redis-server": set[str](),
    # A request on the killed worker is cut: haproxy says 502, and the same key is answered afterwards.
    "worker": {"502", "503", "409"},
    "haproxy": {NO_ANSWER, "409"},
}


def break_part(site: Site, part: str, asked: list[Question], step: Step) -> None:
    """Kill a part, look at what callers get, start it again, and wait until all is well."""
    before = charges(site.machine)
    with site.load(asked, part) as load:
        time.sleep(BEFORE_S)
        site.kill(part)
        time.sleep(FAULT_S)
        site.start(part)
        back_s = load.now_s()
        recovered_s = load.recovered_s(back_s, STEADY_S, WITHIN_S)
    failed = load.failures()
    if others := set(failed) - ALLOWED[part]:
        raise ProofError(f"without {part}, requests ended with {sorted(others)}: {dict(failed)}")
    answers, charged = judge(load, asked, before, site.machine)
    outcome = "no attempt failed"
    if failed:
        statuses = ", ".join(f"{count} × {status}" for status, count in sorted(failed.items()))
        outcome = f"attempts that failed: {statuses}, the last {recovered_s:.1f} s after the part was back"
    step.note(f"{answers} requests, {charged} charges, each for one answer; {outcome}")
