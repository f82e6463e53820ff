"""Run the walker, and kill it at moments that nobody chose well."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def start(how: str, form: str, output: Path, resume: Path, limit: int, key: str, url: str) -> subprocess.Popen[bytes]:
    """The walker, on its way."""
    paths = [str(ROOT), str(ROOT / "clients/python/src")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "SITEGLASS_API_KEY": key, "SITEGLASS_URL": url}
    return subprocess.Popen(
        [sys.executable, "-m", "testing.client_walker", how, form, str(output), str(resume), str(limit)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def kill_after(walker: subprocess.Popen[bytes], pages: int, delay_s: float) -> bool:
    """Kill it after so many pages and a moment; False if it was done before."""
    assert walker.stdout is not None
    for _ in range(pages):
        if not walker.stdout.readline():
            break
    time.sleep(delay_s)
    walker.kill()
    _, told = walker.communicate()
    if walker.returncode == 0:
        return False
    assert walker.returncode == -9, told.decode()
    return True


def finish(walker: subprocess.Popen[bytes], timeout_s: float) -> None:
    """Let it come to its end."""
    _, told = walker.communicate(timeout=timeout_s)
    assert walker.returncode == 0, told.decode()


def some_delay_s(chance: random.Random, page_s: float) -> float:
    """A moment within the time that a page takes."""
    return chance.random() * page_s
