"""Back up, lose, restore: with pgbackrest as deploy/ configures it, to the end and to a chosen second."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine_host import apt_install, as_user, give, wait_until
from siteglass.billing.in_doubt import report_unsettled
from siteglass.platform.backends import open_backends
from siteglass.settings import load_settings
from testing.metrics import scrape, total
from testing.service import RUN_PREFIX
from tests.deploy.commands import command
from tests.deploy.secured import DEPLOY, Secured

pytestmark = [pytest.mark.private_engines, pytest.mark.xdist_group("deploy")]

PGBACKREST = Path("/usr/bin/pgbackrest")
CHECKLIST = (
    "encryption",
    "passwords",
    "secrets",
    "backups",
    "journal",
    "public address",
    "outgoing",
    "metrics",
    "open files",
)


class BackedUp(Secured):
    """Engines whose PostgreSQL archives to a folder of the test."""

    def __init__(self) -> None:
        super().__init__("restore", postgres_changes="")
        self._repository = self.root / "repository"
        self._file = self.root / "pgbackrest.conf"

    def configure(self) -> None:
        apt_install(PGBACKREST, "pgbackrest")
        give(self._repository, self.postgres.user)
        shipped = (DEPLOY / "pgbackrest.conf").read_text()
        shipped = shipped.replace("/var/lib/pgbackrest", str(self._repository))
        shipped = shipped.replace("/var/lib/postgresql/15/main", str(self.postgres.data))
        own = f"pg1-port={self.postgres.port}\npg1-socket-path={self.postgres.data}\n"
        self._file.write_text(shipped + own)
        passwords = self.root / "conf.d"
        passwords.mkdir()
        shutil.copy(self.prepared / "secrets/backup_password.conf", passwords)
        give(passwords, self.postgres.user)
        self.postgres.variables = {
            "PGBACKREST_CONFIG": str(self._file),
            "PGBACKREST_LOCK_PATH": str(self._repository / "lock"),
            "PGBACKREST_CONFIG_INCLUDE_PATH": str(passwords),
        }

    def pgbackrest(self, *words: str) -> str:
        done = subprocess.run(
            [str(PGBACKREST), "--stanza=siteglass", *words],
            env=self.postgres.environment(),
            cwd=self.postgres.folder,
            capture_output=True,
            text=True,
            check=False,
            **as_user(self.postgres.user),
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return str(done.stdout)

    def archive(self) -> None:
        """Wait until everything so far is in the archive, as it is a minute later anyway."""
        segment = self.postgres.value("SELECT pg_walfile_name(pg_switch_wal())")
        archived = "SELECT coalesce(last_archived_wal, '') FROM pg_stat_archiver"
        assert wait_until(lambda: self.postgres.value(archived) >= segment, 30)


@pytest.fixture
def engines() -> Iterator[BackedUp]:
    with BackedUp() as backed_up:
        yield backed_up


def _checklist(environment: dict[str, str]) -> dict[str, str]:
    """The states of what `--production` adds."""
    # There are no leads in this installation, which the doctor reports, too.
    told = json.loads(command(environment, "doctor", "--production", "--json", code=1))
    return {finding["check"]: finding["state"] for finding in told["checks"] if finding["check"] in CHECKLIST}


def _archive_failing(environment: dict[str, str]) -> float | None:
    """What a worker reports."""

    async def report() -> None:
        async with open_backends(load_settings(environment)) as backends:
            await report_unsettled(backends.postgres)

    asyncio.run(report())
    return total(scrape(), "siteglass_archive_failing")


def _drill(environment: dict[str, str], *words: str, code: int = 0) -> dict[str, Any]:
    told = command(environment, "backup", "drill", "--json", *words, code=code)
    return dict(json.loads(told))


def test_what_was_backed_up_comes_back_and_nobody_who_opted_out(engines: BackedUp, tmp_path: Path) -> None:
    prefix = f"{RUN_PREFIX}-restore"
    environment = engines.environment(tmp_path) | engines.postgres.variables
    environment |= {"SITEGLASS_INDEX_PREFIX": prefix, "SITEGLASS_REDIS_PREFIX": prefix}
    environment |= {"SITEGLASS_OPT_OUT_JOURNAL": str(tmp_path / "opt-outs.jsonl")}
    command(environment, "migrate")
    command(environment, "account", "create", "smoke")
    command(environment, "credits", "grant", "1", "--api", "10")
    # Without a stanza, nothing can be archived.
    engines.postgres.value("SELECT pg_switch_wal()")
    assert wait_until(lambda: _archive_failing(environment) == 1, 30)
    engines.pgbackrest("stanza-create")
    engines.pgbackrest("--type=full", "backup")
    assert _archive_failing(environment) == 0
    command(environment, "credits", "grant", "1", "--api", "20")
    command(environment, "suppress", "add", "early.example", "--reason", "ticket 1")
    chosen = engines.postgres.value("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')")
    time.sleep(0.1)
    command(environment, "suppress", "add", "late.example", "--reason", "ticket 2")
    command(environment, "credits", "grant", "1", "--api", "40")
    engines.archive()

    everything = _drill(environment)
    assert (everything["problems"], everything["ledger_rows"], everything["ledger_accounts"]) == ([], 3, 1)
    assert everything["counts"]["suppressed"] == [2, 2]
    assert (everything["opt_outs_newer"], everything["opt_outs_in_journal"]) == (0, 0)
    assert 0 <= everything["data_loss_s"] < 60
    then = _drill(environment, "--to", chosen)
    assert (then["problems"], then["counts"]["ledger"], then["counts"]["suppressed"]) == ([], [2, 3], [1, 2])
    assert (then["opt_outs_newer"], then["opt_outs_in_journal"], then["data_loss_s"]) == (1, 1, None)

    # The checklist holds, and a backup that grows old is noticed.
    info = tmp_path / "info.json"
    info.write_text(engines.pgbackrest("--output=json", "info"))
    ready = environment | {
        "SITEGLASS_BACKUP_INFO": str(info),
        "SITEGLASS_PUBLIC_URL": "https://leads.example.com",
        "SITEGLASS_METRICS_PORT": "9464",
    }
    assert _checklist(ready) == dict.fromkeys(CHECKLIST, "ok")
    old = re.sub(r'"stop":\d{10}', f'"stop":{int(time.time()) - 100_000}', info.read_text())
    info.write_text(old)
    assert _checklist(ready) == dict.fromkeys(CHECKLIST, "ok") | {"backups": "wrong"}

    # A drill must see what a restore would lose, and a copy that is not an earlier state of the live database.
    alone = {name: text for name, text in environment.items() if name != "SITEGLASS_OPT_OUT_JOURNAL"}
    engines.postgres.value(
        "SET session_replication_role = replica; UPDATE siteglass.ledger SET hash = sha256(hash) WHERE seq = 2"
    )
    other, lost = _drill(alone, "--to", chosen, code=1)["problems"]
    assert other == "1 accounts end with rows that the live ledger lacks, such as 1"
    assert lost.startswith("1 opt-outs are neither in the copy nor in a journal")

    # The machine is lost; what the archive has is restored to the chosen moment, in place.
    engines.postgres.kill()
    shutil.rmtree(engines.postgres.data)
    give(engines.postgres.data, engines.postgres.user)
    engines.pgbackrest("--type=time", f"--target={chosen}+00", "--target-action=promote", "restore")
    engines.postgres.start()
    assert wait_until(lambda: engines.postgres.value("SELECT pg_is_in_recovery()") == "f", 30)
    assert "2 rows of 1 accounts read, 0 problems." in command(environment, "credits", "verify")
    assert "not suppressed" in command(environment, "suppress", "check", "late.example", code=1)
    assert command(environment, "suppress", "replay").startswith("2 entries read; 1 were missing from the list.")
    assert command(environment, "suppress", "check", "early.example", "late.example").count("suppressed since") == 2
