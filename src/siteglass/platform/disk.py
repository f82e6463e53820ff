"""What must survive a power cut."""

from __future__ import annotations

import os
from pathlib import Path


def sync_to_disk(path: Path | str) -> None:
    """Return once a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
