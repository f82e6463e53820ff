"""Writes the section "Charging" of docs/proof.md from the result of a run."""

from __future__ import annotations

from typing import Any

PAGE = """## Charging

Run on {date}, seed {seed}, by {command}. The figures are those of
`bench/results/proof.json`; decision
[0007](decisions/proofs.md#0007-a-proof-by-a-separate-verifier) explains how it works. CI
runs it with 10,000 charges at ledger level and 2,000 over HTTP.

**{charges:,} charges under {kills} `kill -9`: {lost} lost, {doubled} doubled.** No failure in N charges bounds the rate
of lost or doubled ones at 3/N with 95 % confidence: 3/{charges:,} = {bound:.1e}. Verdict of the
verifiers: **{verdict}**.

| level | charges | found by a retry | replays, byte-identical | operations verified | of unknown outcome |
| --- | --- | --- | --- | --- | --- |
{levels}

"Found by a retry": the request was charged, a fault cut off its response, and a retry with the same key returned it.

| fault | ledger | HTTP |
| --- | --- | --- |
{faults}

| 64 duplicates of one key at once | rounds | charged once | carried out |
| --- | --- | --- | --- |
{twins}

In every round, another account sent the same key at the same time, and was charged for its own response.

| seeded defect | charged by | caught | by |
| --- | --- | --- | --- |
{defects}

`batch` and `single` are the two ways of charging at ledger level (decision
[0030](decisions/charges.md#0030-charges-of-an-account-go-in-batches)); all other runs have accounts of both.

Without a defect, the same small runs pass. The whole proof took {minutes:.0f} minutes on {cores} cores (load average
{load_before} before, {load_after} after).

**What it does not show.** `kill -9` ends processes, not the machine: data in the kernel survives. PostgreSQL's `fsync`
and `synchronous_commit` make a commit wait for the disk; beyond the seeded defect, this proof does not test them.
"""


def _level(name: str, part: dict[str, Any]) -> str:
    judge = part["judge"]
    return (
        f"| {name} | {part['charges']:,} | {part['found_by_retry']:,} | {part['replays_compared']:,} "
        f"| {judge['operations']:,} on {judge['accounts']:,} accounts | {judge['unknown']:,} |"
    )


def _twins(name: str, part: dict[str, Any]) -> str:
    times = part.get("rounds_carried_out")
    said = "decided by the database"
    if times is not None:
        said = ", ".join(f"{count}x in {rounds} rounds" for count, rounds in sorted(times.items()))
    return f"| {name} | {part['rounds']:,} | {'all' if part['good'] else 'NOT all'} | {said} |"


def page(result: dict[str, Any]) -> str:
    """The section, whatever the verdict."""
    parts, plan = result["parts"], result["plan"]
    names = sorted(set(parts["ledger"]["faults"]) | set(parts["http"]["faults"]))
    counts = [(name, parts["ledger"]["faults"].get(name, 0), parts["http"]["faults"].get(name, 0)) for name in names]
    return PAGE.format(
        command=f"`{result['command']}`",
        date=result["date"],
        seed=plan["seed"],
        charges=result["charges"],
        kills=sum(ledger + http for name, ledger, http in counts if name.startswith("kill")),
        lost=result["lost"],
        doubled=result["doubled"],
        bound=result["bound_95"],
        verdict="good" if result["good"] else "BAD",
        levels="\n".join((_level("ledger", parts["ledger"]), _level("HTTP", parts["http"]))),
        faults="\n".join(f"| {name} | {ledger} | {http} |" for name, ledger, http in counts),
        twins="\n".join((_twins("ledger", parts["ledger_twins"]), _twins("HTTP", parts["http_twins"]))),
        defects="\n".join(
            f"| {row['name']} | {row['level']} | {'yes' if row['caught'] else 'NO'} | {', '.join(row['broken'])} |"
            for row in parts["defects"]
        ),
        minutes=result["seconds"] / 60,
        cores=result["cores"],
        load_before=result["load_before"],
        load_after=result["load_after"],
    )
