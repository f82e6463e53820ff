"""The two releases: what is built of each, and the tests of the previous one on the tables of this one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from deploy_proof.scorecard import ProofError
from engine_host import CHECKOUT, engines_root, run
from release import PREVIOUS, git, previous_release

# Money and search through the outer surface. Tests of the tables themselves are about their own release only.
PREVIOUS_TESTS = (
    "tests/api/test_credits.py",
    "tests/api/test_money_model.py",
    "tests/api/test_race.py",
    "tests/api/retries",
    "tests/api/receipt",
    "tests/api/ledger",
    "tests/api/search",
    "tests/api/enrich",
)
TESTS_TIMEOUT_S = 1500


@dataclass(frozen=True, slots=True)
class Release:
    """A tree, and the folder with what an operator gets of it: dist/ and deploy/."""

    commit: str
    version: str
    tree: Path
    folder: Path

    @property
    def title(self) -> str:
        return f"{self.version} ({self.commit[:8]})"


def previous_commit() -> str:
    """The commit of the previous release; an error if the history lacks it."""
    _version, commit = previous_release()
    if git("cat-file", "-e", f"{commit}^{{commit}}") is None:
        raise ProofError(
            f"{PREVIOUS.relative_to(CHECKOUT)} names {commit}, which this clone does not have: fetch the whole history "
            "(`git fetch --unshallow`)"
        )
    return commit


def build(folder: Path) -> tuple[Release, Release]:
    """The previous release and this one, each built from its own tree."""
    commit = previous_commit()
    tree = folder / "previous-tree"
    tree.mkdir()
    archive = folder / "previous.tar"
    run(["git", "archive", "--format=tar", f"--output={archive}", commit], cwd=CHECKOUT)
    run(["tar", "--extract", "--file", str(archive), "--directory", str(tree)])
    archive.unlink()
    previous = _release(commit, tree, folder / "previous")
    this = _release(str(git("rev-parse", "HEAD")), CHECKOUT, folder / "this")
    return previous, this


def _release(commit: str, tree: Path, folder: Path) -> Release:
    dist = folder / "dist"
    dist.mkdir(parents=True)
    hatch = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(dist)]
    run(hatch, cwd=tree)
    wheels = [*dist.glob("siteglass_server-*.whl")]
    if len(wheels) != 1:
        raise ProofError(f"{tree} built {len(wheels)} wheels")
    # The guide is that of this tree, and so are the files that it names; the lock belongs to the wheel.
    shutil.copytree(CHECKOUT / "deploy", folder / "deploy")
    shutil.copy(tree / "deploy/requirements.lock", folder / "deploy/requirements.lock")
    return Release(commit, wheels[0].name.split("-")[1], tree, folder)


def run_previous_tests(previous: Release) -> str:
    """Run the previous release's tests, with every table made by this release; returns pytest's last line."""
    paths = [previous.tree / "src", previous.tree, previous.tree / "scripts", CHECKOUT / "scripts"]
    command = [
        *(sys.executable, "-m", "pytest", "-n", "0", "-q", "-m", "not timing", "-p", "deploy_proof.new_tables"),
        *("-p", "no:cacheprovider", *PREVIOUS_TESTS),
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": ":".join(map(str, paths)),
        # The engines of this checkout, which `make up` started, also for the tests of the other tree.
        "SITEGLASS_ENGINES_DIR": os.environ.get("SITEGLASS_ENGINES_DIR", str(engines_root())),
        "DEPLOY_PROOF_TABLES_OF": str(CHECKOUT / "src"),
    }
    done = subprocess.run(
        command,
        cwd=previous.tree,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TESTS_TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        raise ProofError(f"tests of the previous release fail on the tables of this one:\n{done.stdout[-6000:]}")
    made = re.findall(r"^made by (\S+)$", done.stdout, re.MULTILINE)
    if not made:
        raise ProofError("the tests made no tables: the proof shows nothing")
    return done.stdout.strip().splitlines()[-1].strip("= ")
