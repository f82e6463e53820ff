"""What must survive a power cut."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def sync_to_disk(path: Path | str) -> None:
    """Return once a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def append_lines(path: Path, lines: bytes) -> None:
    """Append lines to a file that several processes write to, and return once they are on the disk; raises OSError."""
    is_new = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            lines = b"\n" + lines  # a crash cut the last line
        while lines:
            lines = lines[os.write(descriptor, lines) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if is_new:
        sync_to_disk(path.parent)
