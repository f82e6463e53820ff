"""The upgrade under load: the new release migrates first, then the services restart one after the other."""

from __future__ import annotations

import time

from deploy_proof.load import charges, judge
from deploy_proof.releases import Release
from deploy_proof.scorecard import ProofError, Step
from deploy_proof.site import Site
from testing.fault_runs.history import Question

SETTLE_S = 5


def upgrade(site: Site, this: Release, asked: list[Question], step: Step) -> None:
    """No request fails, every answer is right, and all processes are of the new release."""
    said = site.run("upgrade-check")
    before = charges(site.machine)
    with site.load(asked, "upgrade") as load:
        time.sleep(SETTLE_S)
        site.run("migrate-first", "restart-one-by-one")
        time.sleep(SETTLE_S)
    answers, charged = judge(load, asked, before, site.machine)
    if failed := load.failures():
        raise ProofError(f"requests failed: {dict(failed)}")
    old = [line for line in site.machine.pids().values() if "/opt/siteglass-0.2.0/" in line]
    if old:
        raise ProofError(f"processes of the previous release still run: {old}")
    step.note(f"{answers:,} requests, 0 failed, {charged:,} charges, slowest {load.slowest_s():.1f} s")
    step.note(f"`siteglass upgrade check` of {this.title}: {said.strip().splitlines()[-1]}")
