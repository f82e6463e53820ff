"""The TypeScript compiler and openapi-typescript, which check that types generated from the API document work.

    typescript.py            installs what is missing and prints where it is

The versions and their hashes are in tests/typescript/package-lock.json; packages come from wherever this machine's npm
gets them. Only the standard library, as `engines.py`: CI installs them while it still sets up.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import time
from pathlib import Path

from engine_host import CHECKOUT, EngineError, engines_root, locked, make_root, run, say

SOURCE = CHECKOUT / "tests/typescript"


def programs() -> Path:
    """The folder with the packages of this checkout's lock file."""
    if not shutil.which("npm"):
        raise EngineError("the check of generated types needs npm, which is not here: install Node.js 20 or newer")
    make_root(engines_root())
    digest = hashlib.sha256((SOURCE / "package-lock.json").read_bytes()).hexdigest()
    folder = engines_root() / f"typescript-{digest[:12]}"
    folder.mkdir(exist_ok=True)
    done = folder / "installed"
    with locked(folder / "lock"):
        if not done.exists():
            since = time.monotonic()
            say("typescript", "installing")
            for name in ("package.json", "package-lock.json"):
                shutil.copy(SOURCE / name, folder / name)
            run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder)
            done.touch()
            say("typescript", "installed", since)
    return folder


def main() -> int:
    try:
        print(programs())
    except EngineError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
