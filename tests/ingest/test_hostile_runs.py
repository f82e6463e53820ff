"""`siteglass ingest run` over hostile archives: no fact and no lead of a domain that only another one's page names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from siteglass.corpus.lead_files import read_parquet
from siteglass.settings import environment_of
from testing.service import make_test_account, settings_for
from testing.warc_files import packed, record, response
from tests.ingest.drive.test_hostile_archives import (
    DAMAGE,
    HOSTILE,
    LAYOUTS,
    MALFORMED,
    ONE_EACH,
    hostile_answer,
    stored,
)

SITEGLASS = Path(sys.executable).parent / "siteglass"
pytestmark = pytest.mark.alone  # Spark takes all cores: alone
PAGE = b"<html><title>Oak House %d</title><body><h1>Oak House</h1><p>We make tables of oak, by hand.</p></body></html>"


def _good(number: int) -> bytes:
    return response(f"https://oak-house-{number}.org/", PAGE % number)


def test_a_page_never_speaks_for_another_domain(tmp_path: Path) -> None:
    """Every layout, malformed in every way; and a record to a member, damaged in every way."""
    settings = settings_for("hostile-runs")
    make_test_account(settings.postgres_dsn, settings.postgres_schema)
    hostile = record("response", HOSTILE, hostile_answer())
    archives: list[Path] = []
    expected: set[str] = set()
    unread: dict[str, int] = {}
    number = 0
    for layout, pack in LAYOUTS.items():
        for change in MALFORMED.values():
            number += 2
            path = tmp_path / f"{number:04}.warc.gz"
            path.write_bytes(pack([_good(number), change(hostile), _good(number + 1)]))
            archives.append(path)
            expected |= {f"oak-house-{number}.org"}
            expected |= {f"oak-house-{number + 1}.org"} if layout in ONE_EACH else set()
    for pack_one in (packed, stored, lambda one: packed(one, "zstd"), bytes):
        for change in DAMAGE.values():
            number += 2
            path = tmp_path / f"{number:04}.warc.gz"
            good, damaged, after = pack_one(_good(number)), change(pack_one(hostile)), pack_one(_good(number + 1))
            path.write_bytes(good + damaged + after)
            archives.append(path)
            expected |= {f"oak-house-{number}.org"}
            unread[path.name] = len(damaged + after)

    work = tmp_path / "work"
    run = subprocess.run(
        [str(SITEGLASS), "ingest", "run", *map(str, archives), "--work", str(work), "--no-load"],
        env={**os.environ, **environment_of(settings)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    leads = [
        lead for file in Path(run.stdout.strip()).glob("*.parquet") for _, group in read_parquet(file) for lead in group
    ]
    assert {lead.domain for lead in leads} == expected
    facts = [
        domain for file in (work / "facts").glob("*.parquet") for domain in pq.read_table(file)["domain"].to_pylist()
    ]
    assert sorted(map(str, facts)) == sorted(expected)
    (report_file,) = (work / "runs").glob("*/report.json")
    report = json.loads(report_file.read_bytes())
    assert len(report["damage"]) == 20
    quarantine = [
        json.loads(line) for file in (work / "facts").glob("*.ndjson") for line in file.read_text().splitlines()
    ]
    assert sum(one["unread_bytes"] for one in quarantine) == report["unread_bytes"]
    assert {one["archive"]: one["unread_bytes"] for one in quarantine if one["archive"] in unread} == unread
    first = report["damage"][0]
    assert f"not read because of damage: {report['unread_bytes']:,} bytes, first:" in run.stderr
    assert (
        f"  {first['archive']} at {first['offset']:,}: {first['unread_bytes']:,} bytes, {first['reason']}" in run.stderr
    )
