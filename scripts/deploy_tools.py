"""Environments that deploying needs beside the project's own: the tools that check it, and fresh ones to install into.

    deploy_tools.py            installs what is missing and prints where it is

The tools (squawk, kubernetes-validate, cyclonedx-py) are in deploy/tools.lock, with hashes. They come from wherever
this machine's pip gets packages.
"""

from __future__ import annotations

import hashlib
import sys
import time
from pathlib import Path

from engine_host import CHECKOUT, EngineError, engines_root, locked, make_root, run, say

TOOLS_LOCK = CHECKOUT / "deploy/tools.lock"


def make_environment(folder: Path, lock: Path) -> None:
    """A new environment with exactly what a lock lists."""
    run([sys.executable, "-m", "venv", str(folder)])
    python = str(folder / "bin/python")
    wanted = ["--quiet", "--require-hashes", "--requirement", str(lock)]
    uv = Path(sys.executable).parent / "uv"
    try:
        run([str(uv), "pip", "install", "--python", python, *wanted])
    except (EngineError, OSError):  # there is no uv, or it does not find what this machine tells pip alone
        run([python, "-m", "pip", "install", "--retries", "5", *wanted])


def tools() -> Path:
    """The folder of the tools' programs."""
    make_root(engines_root())
    digest = hashlib.sha256(TOOLS_LOCK.read_bytes()).hexdigest()
    folder = engines_root() / f"deploy-tools-{digest[:12]}"
    done = folder / "installed"
    with locked(folder.with_suffix(".lock")):
        if not done.exists():
            since = time.monotonic()
            say("tools", "installing")
            make_environment(folder, TOOLS_LOCK)
            done.touch()
            say("tools", "installed", since)
    return folder / "bin"


def build_wheel(into: Path) -> Path:
    """The wheel of the service, built from this checkout."""
    run([sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(into)], cwd=CHECKOUT)
    (wheel,) = into.glob("siteglass_server-*.whl")
    return wheel


def install_wheel(folder: Path, wheel: Path, lock: Path = CHECKOUT / "deploy/requirements.lock") -> Path:
    """A fresh environment with the wheel, as an operator installs it; returns its folder of programs."""
    make_environment(folder, lock)
    run([str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "--no-deps", str(wheel)])
    return folder / "bin"


def main() -> int:
    try:
        print(tools())
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
