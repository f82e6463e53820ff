"""The proof of charging, in one command:

    PYTHONPATH=scripts python -m tests.proof --seed 1 [--full] [--ledger-charges N] [--http-charges N]
        [--postgres-kills N] [--worker-kills N] [--ledger-twins N] [--http-twins N] [--defects all|none|NAME,NAME]
        [--folder var/proof] [--result result.json] [--page docs/proof.md]

Without options it has CI's size; `make nightly` runs more of it, `--full` is that of `make proof`. The seed decides
every fault and what each client does. Histories stay in the folder, so that the verifier can read them again. Exits
with 1 unless every check passed and every defect was caught.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

from page_sections import write_section
from tests.proof.defects import DEFECTS
from tests.proof.report import page
from tests.proof.run import Plan, prove

ALL = tuple(defect.name for defect in DEFECTS)
CI = Plan(1, 1_000, 200, 1, 2, 2, 1, ALL[:1])
NIGHT = Plan(1, 10_000, 2_000, 8, 12, 15, 5, ALL)
NUMBERS = ("seed", "ledger_charges", "http_charges", "postgres_kills", "worker_kills", "ledger_twins", "http_twins")
FULL = Plan(1, 960_000, 40_000, 120, 80, 1_000, 100, ALL)


def plan_of(options: argparse.Namespace) -> Plan:
    """The usual size, and what was asked for instead."""
    usual = FULL if options.full else CI
    asked = {name: getattr(options, name) for name in NUMBERS if getattr(options, name) is not None}
    chosen = {"all": ALL, "none": ()}.get(options.defects) or tuple(filter(None, options.defects.split(",")))
    if unknown := set(chosen) - set(ALL) - {"none"}:
        raise SystemExit(f"no such defect: {', '.join(sorted(unknown))}; there are: {', '.join(ALL)}")
    return replace(usual, **asked, defects=() if options.defects == "none" else chosen)


def _command(plan: Plan) -> str:
    """The command that runs this again."""
    if plan == FULL:
        return "make proof"
    numbers = [f"--{name.replace('_', '-')} {getattr(plan, name)}" for name in NUMBERS]
    return " ".join(["python -m tests.proof", *numbers])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    for name in NUMBERS:
        parser.add_argument(f"--{name.replace('_', '-')}", type=int)
    parser.add_argument("--defects", default="all")
    parser.add_argument("--folder", type=Path, default=Path("var/proof"))
    parser.add_argument("--result", type=Path)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    started = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - started:7.1f} s  {text}", flush=True)

    shutil.rmtree(options.folder, ignore_errors=True)
    plan = plan_of(options)
    result = prove(plan, options.folder, say, _command(plan))
    options.folder.joinpath("result.json").write_text(json.dumps(result, indent=1) + "\n")
    if options.result:
        # Every single fault follows from the seed: counted is enough.
        short = {name: value for name, value in result.items() if name != "faults"}
        options.result.write_text(json.dumps(short, indent=1) + "\n")
    if options.page:
        write_section(options.page, page(result))
    say("good" if result["good"] else "BAD")
    return 0 if result["good"] else 1


if __name__ == "__main__":
    sys.exit(main())
