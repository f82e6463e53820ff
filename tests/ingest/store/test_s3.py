"""A facts store on S3-compatible storage: a real versitygw."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import read_parquet
from siteglass.ingest.facts import PageFacts
from siteglass.ingest.store.facts_store import open_store
from siteglass.ingest.store.manifest import StoreError
from siteglass.settings import environment_of
from siteglass_demo.sites import write_folder
from testing.random_facts import write_facts
from testing.s3_server import BUCKET, S3Server
from tests.ingest.store.reference_fold import folded
from tests.ingest.store.test_folding import random_captures
from tests.ingest.store.test_store import pages_of, tasks_in

NIGHTLY = True

pytestmark = [
    pytest.mark.private_engines,
]

SITEGLASS = Path(sys.executable).parent / "siteglass"
STORE = f"s3://{BUCKET}/a/store"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with S3Server(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture
def captures(tmp_path: Path) -> list[PageFacts]:
    found = random_captures(random.Random(7), 60)
    write_facts(tmp_path / "facts", found)
    return found


def objects_in(server: S3Server, folder: str) -> set[str]:
    """The names of all objects of a store."""
    root = server.objects / BUCKET / folder
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_pages_come_back_from_s3_and_are_compacted_there(
    server: S3Server, tmp_path: Path, captures: list[PageFacts]
) -> None:
    """From a base and three deltas. What a killed command left is deleted, and nothing else."""
    address = f"s3://{BUCKET}/pages"
    for name, path in tasks_in(tmp_path).items():
        with open_store(address, server.settings) as store:
            store.append({name: path})
            store.commit()
    with open_store(address, server.settings) as store:
        assert pages_of(store) == folded(captures)
        committed = store.manifest.names
        store.compact()  # and killed before it counts
    assert objects_in(server, "pages") > {*committed, "manifest.json"}
    with open_store(address, server.settings) as store:
        assert objects_in(server, "pages") == {*committed, "manifest.json"}
        store.compact()
        store.commit()
        assert store.manifest.deltas == {}
        assert objects_in(server, "pages") == {*store.manifest.names, "manifest.json"}
        assert pages_of(store) == folded(captures)


@pytest.mark.parametrize(
    ("address", "keys", "problem"),
    [
        (
            "s3://no-such-bucket/store",
            ("an-access-key", "a-secret-key"),
            "There is no bucket no-such-bucket that these",
        ),
        (STORE, ("an-access-key", "another-secret"), f"The store {STORE} cannot be used: "),
        (STORE, ("nobody", "another-secret"), f"There is no bucket {BUCKET} that these keys may see"),
        (STORE, ("an-access-key", ""), f"The store {STORE} cannot be used: .*secret_key"),
    ],
)
def test_a_store_that_cannot_be_used_says_why(
    server: S3Server, address: str, keys: tuple[str, str], problem: str
) -> None:
    with pytest.raises(StoreError, match=problem) as raised:
        open_store(address, replace(server.settings, s3_access_key=keys[0], s3_secret_key=keys[1])).__enter__()
    assert not keys[1] or keys[1] not in str(raised.value)


def test_runs_on_s3_give_the_leads_of_runs_in_a_folder(server: S3Server, tmp_path: Path) -> None:
    """The command itself, with its settings from the environment; two runs, then a rebuild of the whole store."""
    write_folder(tmp_path / "sites", 40, seed=3, files=2)
    archives = sorted((tmp_path / "sites").glob("*.warc.gz"))
    leads: dict[str, list[list[Lead]]] = {}
    for name, store in (("folder", str(tmp_path / "store")), ("s3", STORE)):
        common = ["--work", str(tmp_path / name), "--store", store, "--no-load"]
        runs = [
            *(_ran(server, "run", str(archive), *common) for archive in archives),
            _ran(server, "rebuild", *common),
        ]
        leads[name] = [_leads(Path(run)) for run in runs]
    assert all(leads["folder"])
    assert leads["s3"] == leads["folder"]
    assert "manifest.json" in objects_in(server, "a/store")
    assert not any(path.suffix == ".parquet" for path in (tmp_path / "s3" / "store").rglob("*"))


def _ran(server: S3Server, *words: str) -> str:
    """The folder of leads that a command prints."""
    done = subprocess.run(
        [str(SITEGLASS), "ingest", *words],
        env={**os.environ, **environment_of(server.settings)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def _leads(folder: Path) -> list[Lead]:
    files = sorted(folder.glob("*.parquet"))
    return sorted((lead for path in files for _, group in read_parquet(path) for lead in group), key=_domain)


def _domain(lead: Lead) -> str:
    return lead.domain
