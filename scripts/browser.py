"""The browser that tests of pages drive: Debian's Chromium, and how it is started.

    browser.py install     installs it where it is missing; needs root and apt

Only the standard library, as `engines.py`: CI installs it while it still sets up.
"""

from __future__ import annotations

import sys
from pathlib import Path

from engine_host import EngineError, apt_install

PROGRAM = Path("/usr/bin/chromium")
FLAGS = (
    "--headless",
    "--no-sandbox",  # it refuses to run as root with one, and it sees only our own pages
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Whatever a page asks for, nothing leaves the machine.
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)


def main(words: list[str]) -> int:
    if words != ["install"]:
        print("usage: browser.py install", file=sys.stderr)
        return 2
    try:
        apt_install(PROGRAM, "chromium")
    except EngineError as error:
        print(error, file=sys.stderr)
        return 1
    print(PROGRAM)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
