"""What pgbackrest says about backups: the file that `siteglass-backup.service` writes after each of them."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

from siteglass.platform.metrics import BACKUP_MADE

REPORT_EVERY_S = 60.0


def newest_backups(path: Path) -> dict[str, datetime]:
    """When the newest backup without an error was complete, by stanza; raises OSError, ValueError, KeyError or
    TypeError."""
    newest = {}
    for stanza in json.loads(path.read_text(encoding="utf-8")):
        stops = [backup["timestamp"]["stop"] for backup in stanza["backup"] if not backup.get("error")]
        if stops:
            newest[stanza["name"]] = datetime.fromtimestamp(max(stops), UTC)
    return newest


async def report_backups(path: Path) -> None:
    """Set the metric of backups; a job of every worker, since each has its own metrics."""
    for stanza, made_at in (await asyncio.to_thread(newest_backups, path)).items():
        BACKUP_MADE.labels(stanza).set(made_at.timestamp())
