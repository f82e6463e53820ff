"""Runs the proof: see the package. Exits with 1 unless every step showed what it had to."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from deploy_proof.faults import ALLOWED, FAULT_S, break_part
from deploy_proof.install import configure, install, serve
from deploy_proof.load import RATE
from deploy_proof.machine import SHIM, Machine, cut_network
from deploy_proof.releases import Release, build, run_previous_tests
from deploy_proof.restore import restore
from deploy_proof.scorecard import DEVIATIONS, PAGE, ProofError, Scorecard, Step
from deploy_proof.site import Site
from deploy_proof.upgrade import upgrade
from engine_host import EngineError, engines_root, make_root
from page_sections import write_section
from testing.fault_runs.history import Question
from testing.private_engines import PrivateEngines
from testing.progress import say

LEADS = 5_000
MEMORY_LOAD_S = 20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leads", type=int, default=LEADS)
    parser.add_argument("--page", type=Path, help="write the scorecard into its section there")
    parser.add_argument("--keep", action="store_true", help="keep the files of the bare Debian")
    parser.add_argument("--skip-previous-tests", action="store_true", help="for a look at the rest; writes no page")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("error: only root can make a Debian root and network namespaces", file=sys.stderr)
        return 1
    # Ends by an exception, so that everything that was started is ended, too.
    signal.signal(signal.SIGTERM, _stop)
    started, load_before = time.monotonic(), os.getloadavg()
    card = Scorecard()
    for text in _deviations():
        say(f"other than in an installation: {text}")
    root = engines_root()
    make_root(root)
    folder = root / f"deploy-proof-{os.getpid()}"
    folder.mkdir()
    try:
        releases = _prove(card, folder, options)
    except (ProofError, EngineError) as error:
        print(f"{card.table()}\n\nerror: {error}", file=sys.stderr)
        return 1
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(card.table())
    if options.page is not None and not options.skip_previous_tests:
        page = _page(card, releases, (time.monotonic() - started) / 60, load_before[0])
        write_section(options.page, page)
    return 0


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise ProofError("stopped")


def _prove(card: Scorecard, folder: Path, options: argparse.Namespace) -> tuple[Release, Release]:
    with card.step("build both releases", 300) as step:
        previous, this = build(folder)
        step.note(f"previous: {previous.title}; this: {this.title}")
    if not options.skip_previous_tests:
        with card.step("tests of the previous release on the tables of this one", 1800) as step:
            step.note(run_previous_tests(previous))
    with Machine(folder / "machine", engines_root() / "debian-packages", keep=options.keep) as machine:
        with card.step("make a bare Debian", 600) as step:
            step.note(machine.make())
        site = Site(machine, PrivateEngines())
        with card.step("install from the guide", 1200) as step:
            install(site, previous, this, step)
        cut_network()
        try:
            _run_site(card, site, this, options.leads)
        finally:
            site.close()
    return previous, this


def _run_site(card: Scorecard, site: Site, this: Release, count: int) -> None:
    with card.step("configure PostgreSQL, Redis, OpenSearch and backups", 300) as step:
        configure(site, step)
    with card.step("load leads and serve over TLS", 900) as step:
        _, asked = serve(site, count, step)
    with card.step(f"upgrade to {this.title} under load", 300) as step:
        upgrade(site, this, asked, step)
    with card.step("memory after searches", 120) as step:
        _measure_memory(site, asked, step)
    for part in ALLOWED:
        with card.step(f"kill {part}", 300) as step:
            break_part(site, part, asked, step)
    with card.step("restore to a chosen second", 600) as step:
        restore(site, asked, step)


def _measure_memory(site: Site, asked: list[Question], step: Step) -> None:
    with site.load(asked, "memory") as load:
        time.sleep(MEMORY_LOAD_S)
    if failed := load.failures():
        raise ProofError(f"requests failed: {dict(failed)}")
    held = site.memory_mb()
    step.note(", ".join(f"{part} {size:,} MB" for part, size in held.items()) + f"; {sum(held.values()):,} MB in all")


def _page(card: Scorecard, releases: tuple[Release, Release], minutes: float, load_before: float) -> str:
    previous, this = releases
    return PAGE.format(
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        previous=previous.title,
        this=this.title,
        minutes=minutes,
        cores=os.cpu_count(),
        load_before=round(load_before, 1),
        load_after=round(os.getloadavg()[0], 1),
        table=card.table(),
        rate=RATE,
        fault_s=FAULT_S,
        deviations="\n".join(f"- {text}" for text in _deviations()),
    )


def _deviations() -> list[str]:
    lines = len(SHIM.read_text().splitlines())
    return [text.format(systemctl=lines) for text in DEVIATIONS]


if __name__ == "__main__":
    sys.exit(main())
