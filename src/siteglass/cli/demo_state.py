"""Where `siteglass demo up` leaves the settings and the process of its service; `siteglass doctor` looks there, too."""

from __future__ import annotations

import json
from pathlib import Path

from siteglass.settings import Settings, load_settings

FOLDER = Path("var/demo")
# The environment that the service runs with; the demo's secrets are made once and kept in it.
SETTINGS_FILE = FOLDER / "settings.json"
PID_FILE = FOLDER / "pid"


def read_kept(path: Path) -> dict[str, str] | None:
    """A file of the demo's folder, or None."""
    try:
        kept: dict[str, str] = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return None  # one that cannot be read is created again
    return kept


def kept_settings() -> Settings | None:
    """What the demo of this folder was last started with, or None."""
    kept = read_kept(SETTINGS_FILE)
    return None if kept is None else load_settings(kept)


def running() -> int | None:
    """The pid of the service that `demo up` started in this folder, while it runs."""
    try:
        pid = int(PID_FILE.read_text())
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        here = Path(f"/proc/{pid}/cwd").samefile(Path.cwd())
    except (OSError, ValueError):
        return None
    # A pid that the system has since given to someone else is not ours.
    return pid if here and b"serve" in words else None
