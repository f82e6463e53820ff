"""Back up, opt people out, lose the database, restore it to a chosen second: nobody who opted out is shown."""

from __future__ import annotations

import json
import time

from deploy_proof.load import wait_for
from deploy_proof.scorecard import ProofError, Step
from deploy_proof.site import SERVICES, Site
from testing.fault_runs.history import Question
from testing.fault_runs.traffic import SEARCH

EARLY, LATE = 3, 5
NOW = "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')"


def restore(site: Site, asked: list[Question], step: Step) -> None:
    """Everything as docs/guides/backups.md says it."""
    searches = [question for question in asked if question.path == SEARCH and question.domains]
    shown = dict.fromkeys(domain for question in searches for domain in question.domains)
    domains = [*shown][: EARLY + LATE]
    early, late = domains[:EARLY], domains[EARLY:]
    if _shown(site, searches, domains) != set(domains):
        raise ProofError("leads are hidden before anybody opted out")
    site.run("backup-now")
    site.command(f"suppress add {' '.join(early)} --reason early")
    time.sleep(1.1)
    chosen = site.machine.sql(NOW)
    time.sleep(1.1)
    site.command(f"suppress add {' '.join(late)} --reason late")
    site.command("credits grant 1 --api 40 --reference after-the-chosen-second")
    rows = int(site.machine.sql("SELECT count(*) FROM siteglass.ledger"))
    _archive(site)

    report = json.loads(site.run("drill-then", **{"2026-11-17 19:30:00": chosen}))
    if (
        report["problems"]
        or report["opt_outs_newer"] < LATE
        or report["opt_outs_in_journal"] != report["opt_outs_newer"]
    ):
        raise ProofError(f"the drill found: {report}")
    step.note(
        f"the drill to {chosen} UTC: {report['ledger_rows']:,} rows of the ledger verified, {report['opt_outs_newer']} "
        "opt-outs are newer than the copy, all in the journal"
    )

    started = time.monotonic()
    site.machine.sh("systemctl stop siteglass siteglass-b")
    site.run("restore", **{"2026-11-17 19:30:00": chosen})
    wait_for(lambda: site.machine.sql("SELECT pg_is_in_recovery()") == "f", "PostgreSQL takes writes again")
    took_s = time.monotonic() - started
    restored = int(site.machine.sql("SELECT count(*) FROM siteglass.ledger"))
    if restored != rows - 1:
        raise ProofError(f"{restored} rows of the ledger came back instead of {rows - 1}")
    verified = site.command("credits verify").strip().splitlines()[-1]
    if " 0 problems" not in verified:
        raise ProofError(f"credits verify: {verified}")
    step.note(f"restored in {took_s:.0f} s; credits verify: {verified}")

    # Without the journal's entries, the service must not answer.
    site.machine.sh("systemctl start siteglass siteglass-b")
    wait_for(lambda: all(map(site.alive, SERVICES)), "the services run")
    time.sleep(3)
    if any(map(site.ready, SERVICES)):
        raise ProofError("a service is ready although the list of opt-outs lacks entries of the journal")
    replayed = site.run("replay").strip().splitlines()[0]
    step.note(f"a service that starts before the replay is not ready; suppress replay: {replayed}")
    site.wait_until_ready()
    # The index lost them when they opted out. One that is built anew from all leads must not have them either.
    site.run("leads")
    if again := _shown(site, searches, domains):
        raise ProofError(f"{len(again)} domains that opted out are shown, such as {min(again)}")
    step.note(f"{len(domains)} domains that opted out, {LATE} of them after the restored second, are still hidden")


def _archive(site: Site) -> None:
    """Wait until everything so far is in the archive, as it is a minute later anyway."""
    segment = site.machine.sql("SELECT pg_walfile_name(pg_switch_wal())")
    archived = "SELECT coalesce(last_archived_wal, '') FROM pg_stat_archiver"
    wait_for(lambda: site.machine.sql(archived) >= segment, "the archive has the newest changes")


def _shown(site: Site, searches: list[Question], domains: list[str]) -> set[str]:
    """Which of the domains an enrichment or one of the searches shows."""
    items = site.search({"domains": domains}, "/v1/leads/enrich")["results"]
    shown = {item["domain"] for item in items if item["status"] == "success"}
    for question in searches:
        shown |= {record["domain"] for record in site.search(question.body)["results"]}
    return shown & set(domains)
