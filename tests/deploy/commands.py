"""Commands of the operator, with the environment that an installation has."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

SITEGLASS = Path(sys.executable).parent / "siteglass"


def command(environment: Mapping[str, str], *words: str, code: int = 0) -> str:
    """Run `siteglass`; returns what it prints, with its error output after it if it was to fail."""
    done = subprocess.run(
        [str(SITEGLASS), *words], env=environment, capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stdout + done.stderr
