"""`siteglass ingest run` over crawls of a page or two: what is missing there must not end a run, or the next one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from siteglass.corpus.evidence_files import evidence_of
from siteglass.corpus.lead_files import read_parquet
from siteglass.settings import Settings, environment_of
from testing.service import make_test_account, settings_for
from testing.warc_files import answer, response, revisit, write_warc

pytestmark = [pytest.mark.private_engines, pytest.mark.xdist_group("spark")]
PARKED = b"<html><title>old-name.example.com is for sale</title><body>This domain is for sale.</body></html>"
SILENT = (
    b"<html><title>Quiet House</title><body><h1>Quiet House</h1><p>We make tables of oak, by hand.</p></body></html>"
)


def _run(settings: Settings, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).parent / "siteglass"), "ingest", "run", *map(str, words), "--no-load"],
        env={**os.environ, **environment_of(settings)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def test_no_lead_no_contact_and_the_same_archive_twice(tmp_path: Path) -> None:
    settings = settings_for("small-runs")
    make_test_account(settings.postgres_dsn, settings.postgres_schema)
    parked, silent, work = tmp_path / "parked.warc.gz", tmp_path / "silent.warc.gz", tmp_path / "work"
    write_warc(parked, [response("https://old-name.org/", PARKED)])
    write_warc(silent, [response("https://quiet-house.org/", SILENT)])

    none = _run(settings, parked, "--work", work)
    assert none.returncode == 1
    assert none.stderr.splitlines()[-1] == (
        "The run failed: 1 pages gave no lead. Rejected domains, by reason: parked 1, suppressed 0."
    )

    (tmp_path / "elsewhere").mkdir()
    shutil.copy(silent, tmp_path / "elsewhere" / silent.name)
    good = _run(settings, silent, silent, tmp_path / "elsewhere" / silent.name, "--work", work)
    assert good.returncode == 0, good.stderr
    (file,) = Path(good.stdout.strip()).glob("*.parquet")
    ((lead,),) = [leads for _, leads in read_parquet(file)]
    assert (lead.domain, lead.title, lead.emails) == ("quiet-house.org", "Quiet House", ())
    assert evidence_of(file).exists()


def test_an_old_domain_is_an_alias_and_a_visit_without_its_page_is_counted(tmp_path: Path) -> None:
    settings = settings_for("small-runs")
    make_test_account(settings.postgres_dsn, settings.postgres_schema)
    archive = tmp_path / "crawl.warc.gz"
    moved = response("http://old-house.org/", b"", "Location: https://quiet-house.org/", status="301 Moved")
    visit = revisit("https://quiet-house.org/contact", answer(b""), "WARC-Payload-Digest: sha1:ELSEWHERE")
    write_warc(archive, [moved, response("https://quiet-house.org/", SILENT), visit])

    done = _run(settings, archive, "--work", tmp_path / "work")
    assert done.returncode == 0, done.stderr
    assert "revisits without their page: 1" in done.stderr
    (file,) = Path(done.stdout.strip()).glob("*.parquet")
    ((lead,),) = [leads for _, leads in read_parquet(file)]
    assert (lead.domain, lead.aliases) == ("quiet-house.org", ("old-house.org",))
