"""The downloaded records, unpacked once a run."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.ingest.real.downloads import guide_package, warcs_package


@pytest.fixture(scope="session")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one folder of pages per language."""
    folder = tmp_path_factory.mktemp("guide")
    subprocess.run(["dpkg-deb", "-x", guide_package(), folder], check=True, timeout=60)
    return folder / "usr/share/doc/installation-guide-amd64"


@pytest.fixture(scope="session")
def warcs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of WARC files."""
    folder = tmp_path_factory.mktemp("warcs")
    with tarfile.open(warcs_package()) as package:
        for member in package:
            if "/sample_archive/warcs/" in member.name and ".warc" in member.name:
                member.name = Path(member.name).name
                package.extract(member, folder, filter="data")
    return folder
