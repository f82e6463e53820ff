"""The TypeScript compiler and openapi-typescript: they build the client, and check types of the API document.

    typescript.py            installs what is missing and prints where it is
    typescript.py --build    builds clients/typescript into its folder dist

The versions and their hashes are in tests/typescript/package-lock.json; packages come from wherever this machine's npm
gets them. Without `--build` only the standard library is used, as by `engines.py`: CI installs the compiler while it
still sets up.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import time
from pathlib import Path

from engine_host import CHECKOUT, EngineError, engines_root, locked, make_root, run, say

SOURCE = CHECKOUT / "tests/typescript"
CLIENT = CHECKOUT / "clients/typescript"


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


def call(program: str, *words: str, folder: Path) -> None:
    """Run one of the programs; raises EngineError with what it found."""
    run([str(programs() / "node_modules/.bin" / program), *words], cwd=folder)


def generate(target: Path) -> None:
    """Write the types of the API document to a file."""
    # Here, because CI installs the programs before there is the package.
    from siteglass.openapi.document import document
    from siteglass.settings import Settings

    source = target.with_suffix(".json")
    source.write_text(json.dumps(document(Settings())), "utf-8")
    call("openapi-typescript", source.name, "--output", target.name, folder=target.parent)
    source.unlink()


def build(folder: Path) -> Path:
    """Build the client in its folder, or in a copy of it; returns the folder with the result."""
    generate(folder / "src/document.ts")
    call("tsc", "--project", "tsconfig.json", folder=folder)
    return folder / "dist"


def main(words: list[str]) -> int:
    try:
        print(build(CLIENT) if words == ["--build"] else programs())
    except EngineError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
