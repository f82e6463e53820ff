"""The proofs of tests/accounts at full size: 1,000 races, typos of 1,000 keys, 10,000 refusals of each kind.

    python -m bench.prove_accounts [race] [typos] [times]

Uses its own schema, dropped afterwards. The times want a quiet machine.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import time

from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings
from testing import account_proofs
from testing.accounts import drop_schema, make_schema

ROUNDS = 1_000
KEYS = 1_000
REFUSALS = 10_000
MOST_DIFFERENCE_US = 50


async def prove(what: str, dsn: str, schema: str) -> str:
    """One proof; raises AssertionError if it fails."""
    postgres = Postgres(dsn, schema)
    try:
        if what == "race":
            await account_proofs.race(postgres, dsn, ROUNDS)
            return f"{ROUNDS} rounds of {account_proofs.RACERS} clients for {account_proofs.PRIZE} credits"
        if what == "typos":
            return f"{await account_proofs.typos(dsn, schema, KEYS):,} typos of {KEYS} keys, no query"
        times = await account_proofs.refusal_times_us(postgres, REFUSALS)
        assert max(times.values()) - min(times.values()) < MOST_DIFFERENCE_US, times
        return f"medians of {REFUSALS} refusals in µs: " + ", ".join(f"{kind} {us:.1f}" for kind, us in times.items())
    finally:
        await postgres.close()


async def main() -> None:
    """All that were asked for, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proofs", nargs="*", choices=["race", "typos", "times", []])
    asked = parser.parse_args().proofs or ["race", "typos", "times"]
    dsn, schema = Settings().postgres_dsn, f"prove_{secrets.token_hex(4)}"
    await make_schema(dsn, schema)
    try:
        for what in asked:
            started = time.monotonic()
            print(f"{what}: {await prove(what, dsn, schema)}; {time.monotonic() - started:.0f} s")
    finally:
        await drop_schema(dsn, schema)


if __name__ == "__main__":
    asyncio.run(main())
