"""Real records that are fetched when they are first needed, and never committed: kept in var/downloads from then on."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine_host import CHECKOUT, EngineError, locked, run

KEPT = CHECKOUT / "var/downloads"
ATTEMPTS = 3
ATTEMPT_TIMEOUT_S = 120
PAUSE_S = 2

_GUIDE = "installation-guide-amd64"
_WARCS = "pywb-2.10.0.tar.gz"
# The hash is checked before anything of it is run: to download a source distribution, pip asks it for its metadata.
_WARCS_REQUIREMENT = "pywb==2.10.0 --hash=sha256:5ae43c9b2a5321e39b9c8e16538bfbc0146eeb6fe26713232e45378b774a1a96\n"


def guide_package() -> Path:
    """Debian's installation guide, one folder of pages per language; of whatever release this machine is."""
    return _kept(
        f"{_GUIDE}_*.deb",
        _download_guide,
        f"Needed are apt-get and a Debian mirror that has the package {_GUIDE}: try `apt-get update` as root, "
        f"or put the package's .deb file into {KEPT}.",
    )


def warcs_package() -> Path:
    """The source distribution of pywb, whose sample archives are WARC files of several writers, some of them broken."""
    return _kept(
        _WARCS,
        _download_warcs,
        "Needed is a package index that pip reaches: try `python -m pip download --no-deps --no-binary pywb "
        f"pywb==2.10.0`, or put {_WARCS} into {KEPT}.",
    )


def _kept(pattern: str, download: Callable[[Path, int], None], remedy: str) -> Path:
    """The file of this name, downloaded unless an earlier run did; a test that cannot have it fails."""
    KEPT.mkdir(parents=True, exist_ok=True)
    problem = ""
    with locked(KEPT / ".lock"):
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(PAUSE_S)
            if not any(KEPT.glob(pattern)):
                problem = _attempt(pattern, download, attempt)
            if found := sorted(KEPT.glob(pattern)):
                return found[-1]
    pytest.fail(f"{pattern} could not be downloaded. {remedy}\n{problem}", pytrace=False)


def _attempt(pattern: str, download: Callable[[Path, int], None], attempt: int) -> str:
    """Downloads beside the place and moves the file there when it is whole; says what went wrong, if something did."""
    with tempfile.TemporaryDirectory(dir=KEPT, prefix=".") as folder:
        try:
            download(Path(folder), attempt)
        except (EngineError, OSError) as error:
            return str(error)
        for path in Path(folder).glob(pattern):
            path.replace(KEPT / path.name)
            return ""
    return "The command succeeded but left no such file."


def _download_guide(folder: Path, attempt: int) -> None:
    if not shutil.which("apt-get"):
        raise EngineError("there is no apt-get on this machine")
    # Root may write where apt's own user may not: without this apt warns.
    apt = ["apt-get", "--quiet", "-o", "Acquire::Retries=5", "-o", "APT::Sandbox::User=root"]
    if attempt > 0 and os.geteuid() == 0:
        # The lists are missing, or older than what the mirror still has.
        run([*apt, "update"], timeout=ATTEMPT_TIMEOUT_S)
    run([*apt, "download", _GUIDE], timeout=ATTEMPT_TIMEOUT_S, cwd=folder)


def _download_warcs(folder: Path, _attempt: int) -> None:
    requirement = folder / "requirement.txt"
    requirement.write_text(_WARCS_REQUIREMENT)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--retries", "5"]
    asked = ["--no-deps", "--no-binary", "pywb", "--require-hashes", "--requirement", str(requirement)]
    run([*pip, "download", *asked, "--dest", str(folder)], timeout=ATTEMPT_TIMEOUT_S, cwd=folder)
