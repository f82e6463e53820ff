"""Build the programs in Go that tests and `make deploy-check` need, once, into the engines' folder.

    go_tools.py            builds what is missing of those that CI needs, and prints where it is

`judge` and `compose_check` are ours, from `tests`; toxiproxy breaks connections between the service and its engines.
versitygw serves a folder as S3-compatible storage; `make long-s3` builds it.
Modules come from wherever this machine's Go gets them; those of our programs have their hashes in go.sum.
Only the standard library, as `engines.py`: CI builds while it still installs.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from pathlib import Path

from engine_host import CHECKOUT, EngineError, engines_root, locked, make_root, run, say

JUDGE_SOURCE = CHECKOUT / "tests/proof/judge"
COMPOSE_CHECK_SOURCE = CHECKOUT / "tests/deploy/compose_check"
TOXIPROXY_VERSION = "2.5.0"
TOXIPROXY = f"github.com/Shopify/toxiproxy/v2/cmd/server@v{TOXIPROXY_VERSION}"
VERSITYGW_VERSION = "1.8.0"
VERSITYGW = f"github.com/versity/versitygw/cmd/versitygw@v{VERSITYGW_VERSION}"


def _folder() -> Path:
    make_root(engines_root())
    folder = engines_root() / "go"
    folder.mkdir(exist_ok=True)
    return folder


def _go(words: list[str], folder: Path, **environment: str) -> None:
    if not shutil.which("go"):
        raise EngineError(
            "some programs of the tests are written in Go and there is no `go` here: install Go 1.24 or newer"
        )
    # The modules that go.sum names and the Go that is here: nothing newer is fetched on the way.
    run(["go", *words], cwd=folder, env={**os.environ, "GOTOOLCHAIN": "local", **environment})


def _built(program: Path, words: list[str], folder: Path, **environment: str) -> Path:
    with locked(program.with_suffix(".lock")):
        if not program.exists():
            since = time.monotonic()
            say("go", f"building {program.name}")
            _go(words, folder, **environment)
            say("go", f"built {program.name}", since)
    return program


def _ours(source: Path) -> Path:
    """A program of this checkout, built from its sources."""
    files = sorted(path for path in source.iterdir() if path.suffix in (".go", ".mod", ".sum"))
    digest = hashlib.sha256(b"".join(path.name.encode() + path.read_bytes() for path in files)).hexdigest()
    program = _folder() / f"{source.name}-{digest[:12]}"
    return _built(program, ["build", "-trimpath", "-o", str(program), "."], source)


def judge() -> Path:
    """The verifier `judge`."""
    return _ours(JUDGE_SOURCE)


def compose_check() -> Path:
    """Reads compose files as Docker Compose does."""
    return _ours(COMPOSE_CHECK_SOURCE)


def toxiproxy() -> Path:
    """The proxy, a minute and a half of building on two busy cores."""
    return _installed(f"toxiproxy-{TOXIPROXY_VERSION}", "server", TOXIPROXY)


def versitygw() -> Path:
    """The S3-compatible server, two minutes of building on two cores."""
    return _installed(f"versitygw-{VERSITYGW_VERSION}", "versitygw", VERSITYGW)


def _installed(name: str, program: str, module: str) -> Path:
    folder = _folder() / name
    folder.mkdir(exist_ok=True)
    # Outside the checkout's module; the checksum database, where the machine uses one, answers for its hash.
    return _built(folder / program, ["install", "-trimpath", module], folder, GOBIN=str(folder), GO111MODULE="on")


def main() -> int:
    os.umask(0o022)
    try:
        say("judge", str(judge()))
        say("toxiproxy", str(toxiproxy()))
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
