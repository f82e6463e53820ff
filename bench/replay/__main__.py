"""Record what the service responds to a fixed set of requests, or compare its responses with a recording.

    python -m bench.replay record FILE
    python -m bench.replay compare FILE

FILE is gzipped JSON lines. `compare` prints every difference and exits with 1 if there are any. The engines must be
up. Ids, times, cursors and secrets are compared by equality only; see `bench/replay/recording.py`.

To compare with an older commit, record there with the requests of this checkout:

    git worktree add --detach BEFORE COMMIT
    cp bench/replay/*.py BEFORE/bench/replay/
    (cd BEFORE && make setup && .venv/bin/python -m bench.replay record /tmp/before.jsonl.gz)
    .venv/bin/python -m bench.replay compare /tmp/before.jsonl.gz
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from bench.replay import drawn, listed, malformed
from bench.replay.recording import Difference, Entry, differences, read_recording, write_recording
from bench.replay.world import SEED, World, open_world
from testing.progress import say

PARTS: dict[str, Callable[[World, Random], None]] = {
    "search": drawn.search,
    "pages": drawn.pages,
    "enrich": drawn.enrich,
    "interpret": drawn.interpret,
    "values": drawn.values,
    "account": listed.account,
    "sandbox": listed.sandbox,
    "errors": listed.errors,
    "malformed": malformed.malformed,
    "parameters": malformed.parameters,
    "hostile": malformed.hostile,
    "opt_out": listed.opt_out,
}
MAX_SHOWN = 200


def replay(share: float = 1.0, parts: Sequence[str] = tuple(PARTS)) -> list[Entry]:
    """Send the requests and return what was responded; `share` of those that are drawn."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, open_world(Path(folder), tuple(PARTS), share) as world:
        say(f"the service is up after {time.monotonic() - started:.0f} s")
        for name in parts:
            PARTS[name](world, Random(f"{SEED} {name}"))
        counts = Counter(entry.part for entry in world.entries)
        say(", ".join(f"{name} {count}" for name, count in counts.items()))
        say(f"{len(world.entries)} requests after {time.monotonic() - started:.0f} s")
        return world.entries


def _print(found: Sequence[Difference]) -> None:
    for difference in found[:MAX_SHOWN]:
        print(f"\n{difference.number}. {difference.request[:300]}\n  {difference.place}")
        print(f"  before: {difference.before}\n  after:  {difference.after}")
    requests = len({difference.number for difference in found})
    print(f"\n{len(found)} differences in {requests} responses" + (f", {MAX_SHOWN} shown" * (len(found) > MAX_SHOWN)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    given = parser.parse_args()
    before = read_recording(given.file) if given.command == "compare" else None
    after = replay()
    if before is None:
        write_recording(given.file, after)
        return 0
    found = list(differences(before, after))
    _print(found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
