"""Version, changelog and the release before agree, and `make release` builds files that can be checked."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import release
from engine_host import CHECKOUT
from siteglass import __version__

CLAIMS = release.Claims(
    package="0.3.0",
    module="0.3.0",
    image="0.3.0",
    changelog="# Changelog\n\n## 0.3.0 (2026-12-01)\n\n## 0.2.0 (2026-11-17)\n\n## 0.1.0 (2026-11-16)\n",
    previous=f"0.2.0 {'d' * 40}\n",
)
IN_WORK = replace(
    CLAIMS,
    package="0.3.0.dev0",
    module="0.3.0.dev0",
    image="0.3.0.dev0",
    changelog=CLAIMS.changelog.replace("## 0.3.0 (2026-12-01)", "## Unreleased"),
)


def test_this_checkout_agrees_with_itself() -> None:
    assert release.find_problems(release.read_claims()) == []
    version, commit = release.previous_release()
    known = subprocess.run(["git", "cat-file", "-e", commit], cwd=CHECKOUT, capture_output=True, check=False)
    if known.returncode == 0:  # a copy without history has no commits
        assert release.find_git_problems(__version__) == []
    assert f"\n## {version} (" in (CHECKOUT / "CHANGELOG.md").read_text()


def test_a_release_and_a_version_in_work_that_agree() -> None:
    assert release.find_problems(CLAIMS) == []
    assert release.find_problems(IN_WORK) == []


@pytest.mark.parametrize(
    ("claims", "problem"),
    [
        (replace(CLAIMS, module="0.2.9"), "src/siteglass/__init__.py says 0.2.9, pyproject.toml 0.3.0"),
        (replace(CLAIMS, image="0.2.0"), "deploy/kubernetes says 0.2.0, pyproject.toml 0.3.0"),
        (
            replace(CLAIMS, package="three", module="three", image="three"),
            "pyproject.toml: three is not a version such as 0.3.0 or 0.3.0.dev0",
        ),
        (
            replace(CLAIMS, changelog=CLAIMS.changelog.replace("# Changelog\n", "# Changelog\n\n## Unreleased\n")),
            "CHANGELOG.md: the first section must be 0.3.0 with its day",
        ),
        (
            replace(IN_WORK, changelog=IN_WORK.changelog.replace("## Unreleased\n", "")),
            "CHANGELOG.md: 0.3.0.dev0 needs a section `## Unreleased` at the top",
        ),
        (
            replace(CLAIMS, changelog=CLAIMS.changelog.replace(" (2026-11-16)", "")),
            "CHANGELOG.md: expected headings such as `## Unreleased` and `## 0.2.0 (2026-11-17)`",
        ),
        (
            replace(CLAIMS, changelog=CLAIMS.changelog.replace("0.1.0", "0.2.1")),
            "CHANGELOG.md: releases must be listed once, newest first, found 0.3.0, 0.2.0, 0.2.1",
        ),
        (
            replace(CLAIMS, previous=f"0.1.0 {'d' * 40}\n"),
            "deploy/previous-release says 0.1.0, but the release before 0.3.0 is 0.2.0 by CHANGELOG.md",
        ),
        (
            replace(CLAIMS, previous="0.2.0 daf5659\n"),
            "deploy/previous-release: expected one line, the version and the whole commit",
        ),
        (
            replace(IN_WORK, package="0.2.0.dev1", module="0.2.0.dev1", image="0.2.0.dev1"),
            "0.2.0.dev1 is not newer than the release before, 0.2.0",
        ),
    ],
)
def test_a_contradiction_is_named(claims: release.Claims, problem: str) -> None:
    assert release.find_problems(claims) == [problem]


@pytest.mark.nightly
@pytest.mark.private_engines
@pytest.mark.xdist_group("deploy")
def test_the_files_of_a_release(tmp_path: Path) -> None:
    files = {file.name for file in release.build(tmp_path, __version__)}
    assert files == {
        f"siteglass_server-{__version__}-py3-none-any.whl",
        f"siteglass_server-{__version__}.tar.gz",
        f"siteglass_server-{__version__}-requirements.cdx.json",
        f"siteglass_server-{__version__}-requirements-ingest.cdx.json",
        "requirements.lock",
        "requirements-ingest.lock",
        "SHA256SUMS",
    }
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path, capture_output=True, check=True)
    assert len((tmp_path / "SHA256SUMS").read_text().splitlines()) == len(files) - 1
    for lock in release.LOCKS:
        bom = json.loads((tmp_path / f"siteglass_server-{__version__}-{Path(lock).stem}.cdx.json").read_text())
        locked = re.findall(r"^([a-z0-9._-]+)(?:\[[a-z,]+\])?==([^ ;\\]+)", (tmp_path / lock).read_text(), re.MULTILINE)
        listed = [(component["name"], component["version"]) for component in bom["components"]]
        assert sorted(listed) == sorted(locked)
        application = bom["metadata"]["component"]
        assert (application["name"], application["version"]) == ("siteglass-server", __version__)
        assert not any(str(folder) in json.dumps(bom) for folder in (tmp_path, CHECKOUT))
    # Built again, they are the same bytes.
    before = (tmp_path / "SHA256SUMS").read_bytes()
    release.build(tmp_path, __version__)
    assert (tmp_path / "SHA256SUMS").read_bytes() == before


def test_the_command_says_what_it_checked() -> None:
    script = str(CHECKOUT / "scripts/release.py")
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    if "fetch the whole history" in done.stderr or "not a git checkout" in done.stderr:
        pytest.skip("a copy without history")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"check      {__version__}: version, changelog, release before and tag agree\n")
