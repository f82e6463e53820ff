"""Install, load and serve, as a new operator does it from the guide."""

from __future__ import annotations

import re
import time
from pathlib import Path

from deploy_proof.load import wait_for
from deploy_proof.releases import Release
from deploy_proof.scorecard import ProofError, Step
from deploy_proof.site import SERVICES, Site
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import write_parquet
from siteglass_demo.leads import generate
from testing.fault_runs.history import Question
from testing.fault_runs.traffic import questions

SEED = 31
QUESTIONS = 40
# The load is one account's; the default plan is made for less.
RATE_LIMIT = "plan set standard --rate 1000 --burst 1000"


def install(site: Site, previous: Release, this: Release, step: Step) -> None:
    """Packages and both releases; this one is only put beside the other."""
    started = time.monotonic()
    site.run("packages")
    step.note(f"packages of the guide: {time.monotonic() - started:.0f} s")
    for release, block in ((previous, "siteglass"), (this, "new-release")):
        started = time.monotonic()
        site.put_release(release)
        site.run(block)
        step.note(f"{release.title} from its wheel and lock: {time.monotonic() - started:.0f} s")
    tools = site.machine.sh("ls /opt/siteglass/bin /usr/bin | grep -xE 'pytest|mypy|ruff|gcc|make|git' || true").split()
    if tools:
        raise ProofError(f"tools of developers are installed: {tools}")


def configure(site: Site, step: Step) -> None:
    """Secrets, the three engines over TLS, units, tables, and the first backup."""
    site.run("secrets")
    site.start_opensearch()
    site.run("redis", "postgresql", "units", "backups", "tables")
    public = site.machine.root / "etc/siteglass/tls/public.pem"
    public.write_bytes((public.parent / "siteglass.pem").read_bytes())
    archives = "SELECT archived_count > 0 AND (last_failed_time IS NULL OR last_archived_time > last_failed_time)"
    wait_for(lambda: site.machine.sql(f"{archives} FROM pg_stat_archiver") == "t", "PostgreSQL archives")
    step.note("PostgreSQL, Redis and OpenSearch take only TLS and passwords; the first backup was made")


def serve(site: Site, count: int, step: Step) -> tuple[list[Lead], list[Question]]:
    """Leads, an account with a key, two services behind haproxy, and what the doctor says."""
    leads = list(generate(count, SEED))
    file = Path("srv/leads.parquet")
    write_parquet(site.machine.root / file, leads)
    (site.machine.root / file).chmod(0o644)
    started = time.monotonic()
    site.run("leads")
    step.note(f"{count:,} leads loaded in {time.monotonic() - started:.0f} s")
    site.command(RATE_LIMIT)
    printed = site.run("account")
    (site.api_key,) = re.findall(r"sg_live_\w+", printed)
    site.command("credits grant 1 --api 1000000 --lead 10000000 --reference proof")
    site.run("services", "public")
    site.wait_until_ready()
    doctor = site.run("check")
    asked = questions(leads, QUESTIONS, SEED)
    for question in asked[:4]:
        site.search(question.body, question.path)
    encrypted = site.machine.sql(
        "SELECT count(*) FILTER (WHERE ssl), count(*) FILTER (WHERE NOT ssl) FROM pg_stat_ssl"
        " JOIN pg_stat_activity USING (pid) WHERE usename LIKE 'siteglass%'"
    )
    with_tls, without = map(int, encrypted.split("|"))
    if without or not with_tls:
        raise ProofError(f"{without} connections to PostgreSQL are not encrypted, {with_tls} are")
    with site.client() as client:
        if client.get("/metrics").status_code != 404:
            raise ProofError("callers can read /metrics")
    step.note(f"{len(SERVICES)} services of 2 workers answer over TLS; {with_tls} encrypted connections to PostgreSQL")
    step.note(doctor.strip().splitlines()[-1])
    return leads, asked
