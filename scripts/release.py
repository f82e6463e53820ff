"""Check that a release is consistent, and build its files into dist/.

    release.py            check, build, and print the tag to set
    release.py --check    check only

Built are the wheel, the source distribution, the locks to install them with, an SBOM (CycloneDX) for each lock, and
SHA256SUMS. A development version such as 0.3.0.dev0 can be built, too, and gets no tag.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

import deploy_tools
from engine_host import CHECKOUT, EngineError, run, say
from siteglass import __version__

DIST = CHECKOUT / "dist"
LOCKS = ("requirements.lock", "requirements-ingest.lock")
PREVIOUS = CHECKOUT / "deploy/previous-release"

_VERSION = re.compile(r"(?P<final>\d+\.\d+\.\d+)(?P<dev>\.dev\d+)?")
_SECTION = re.compile(
    r"^## (?:(?P<unreleased>Unreleased)|(?P<version>\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\))$", re.MULTILINE
)
_PREVIOUS = re.compile(r"(?P<version>\d+\.\d+\.\d+) (?P<commit>[0-9a-f]{40})\n")
_IMAGE_TAG = re.compile(r"^ +newTag: (?P<tag>\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Claims:
    """What the files of a checkout say about its version."""

    package: str
    """pyproject.toml"""
    module: str
    """`siteglass.__version__`, which `siteglass --version` prints"""
    image: str
    """the tag in deploy/kubernetes"""
    changelog: str
    previous: str
    """deploy/previous-release: version and commit"""


def read_claims() -> Claims:
    """What this checkout says."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    image = _IMAGE_TAG.search((CHECKOUT / "deploy/kubernetes/kustomization.yaml").read_text("utf-8"))
    return Claims(
        project["version"],
        __version__,
        image["tag"] if image else "",
        (CHECKOUT / "CHANGELOG.md").read_text("utf-8"),
        PREVIOUS.read_text("utf-8"),
    )


def previous_release() -> tuple[str, str]:
    """Version and commit of the release before this one; raises EngineError."""
    match = _PREVIOUS.fullmatch(PREVIOUS.read_text("utf-8"))
    if match is None:
        raise EngineError("deploy/previous-release: expected one line, the version and the whole commit")
    return match["version"], match["commit"]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def find_problems(claims: Claims) -> list[str]:
    """Every contradiction between them."""
    version, previous = _VERSION.fullmatch(claims.package), _PREVIOUS.fullmatch(claims.previous)
    if version is None:
        return [f"pyproject.toml: {claims.package} is not a version such as 0.3.0 or 0.3.0.dev0"]
    if previous is None:
        return ["deploy/previous-release: expected one line, the version and the whole commit"]
    problems = [
        f"{where} says {found}, pyproject.toml {claims.package}"
        for where, found in (("src/siteglass/__init__.py", claims.module), ("deploy/kubernetes", claims.image))
        if found != claims.package
    ]
    sections = [*_SECTION.finditer(claims.changelog)]
    headings = re.findall(r"^## (.*)$", claims.changelog, re.MULTILINE)
    if len(headings) != len(sections):
        problems.append("CHANGELOG.md: expected headings such as `## Unreleased` and `## 0.2.0 (2026-11-17)`")
    released = [section["version"] for section in sections if section["version"]]
    if released != sorted(set(released), key=_numbers, reverse=True):
        problems.append(f"CHANGELOG.md: releases must be listed once, newest first, found {', '.join(released)}")
    unreleased = bool(sections and sections[0]["unreleased"])
    if version["dev"]:
        newest = released[:1]
        if not unreleased:
            problems.append(f"CHANGELOG.md: {claims.package} needs a section `## Unreleased` at the top")
    else:
        newest = released[1:2]
        if unreleased or released[:1] != [claims.package]:
            problems.append(f"CHANGELOG.md: the first section must be {claims.package} with its day")
    if newest != [previous["version"]]:
        problems.append(
            f"deploy/previous-release says {previous['version']}, but the release before {claims.package} is "
            f"{', '.join(newest) or 'none'} by CHANGELOG.md"
        )
    if _numbers(version["final"]) <= _numbers(previous["version"]):
        problems.append(f"{claims.package} is not newer than the release before, {previous['version']}")
    return problems


def git(*arguments: str) -> str | None:
    """What git prints; None if it fails."""
    done = subprocess.run(["git", *arguments], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def find_git_problems(version: str) -> list[str]:
    """What contradicts the history: another commit has the tag, or the release before is not in it."""
    head = git("rev-parse", "HEAD")
    if head is None:
        return ["this is not a git checkout: a release is built from a commit"]
    problems = []
    name, commit = previous_release()
    if git("cat-file", "-e", f"{commit}^{{commit}}") is None:
        problems.append(f"the commit of {name} is not in this checkout: fetch the whole history")
    elif git("merge-base", "--is-ancestor", commit, head) is None:
        problems.append(f"the commit of {name} is not one of those before {head[:12]}")
    tagged = git("rev-list", "-n", "1", f"v{version}")
    if tagged not in (None, head):
        problems.append(f"the tag v{version} is set on {str(tagged)[:12]}, this is {head[:12]}")
    if git("status", "--porcelain") and ".dev" not in version:
        problems.append("there are changes that are not committed")
    return problems


def build(into: Path, version: str) -> list[Path]:
    """The files of the release; those of earlier builds are removed first."""
    into.mkdir(exist_ok=True)
    for old in (*into.glob("siteglass_server-*"), *into.glob("requirements*.lock"), *into.glob("SHA256SUMS")):
        old.unlink()
    targets = ["--target", "wheel", "--target", "sdist", "--directory", str(into)]
    run([sys.executable, "-m", "hatchling", "build", *targets], cwd=CHECKOUT)
    for lock in LOCKS:
        shutil.copyfile(CHECKOUT / "deploy" / lock, into / lock)
        write_sbom(CHECKOUT / "deploy" / lock, into / f"siteglass_server-{version}-{Path(lock).stem}.cdx.json")
    files = sorted([*into.glob("siteglass_server-*"), *(into / lock for lock in LOCKS)])
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (into / "SHA256SUMS").write_text("".join(sums))
    return [*files, into / "SHA256SUMS"]


def write_sbom(lock: Path, path: Path) -> None:
    """Every package of a lock, with version, hashes and the project that needs it."""
    project = ["--pyproject", str(CHECKOUT / "pyproject.toml"), "--mc-type", "application"]
    form = ["--output-reproducible", "--spec-version", "1.6", "--output-format", "JSON", "--output-file", str(path)]
    run([str(deploy_tools.tools() / "cyclonedx-py"), "requirements", *project, *form, str(lock)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="build nothing")
    given = parser.parse_args()
    claims = read_claims()
    try:
        problems = find_problems(claims) or find_git_problems(claims.package)
        if problems:
            print("\n".join(f"error: {problem}" for problem in problems), file=sys.stderr)
            return 1
        say("check", f"{claims.package}: version, changelog, release before and tag agree")
        if not given.check:
            since = time.monotonic()
            files = build(DIST, claims.package)
            say("build", ", ".join(file.name for file in files), since)
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if ".dev" in claims.package:
        say("tag", f"none: {claims.package} is a development version. docs/guides/upgrading.md says how to release")
    elif git("rev-list", "-n", "1", f"v{claims.package}") is None:
        say("tag", f"run: git tag --annotate v{claims.package} --message 'Siteglass {claims.package}'")
    return 0


if __name__ == "__main__":
    sys.exit(main())
