"""A backup of PostgreSQL, restored by pgbackrest into a folder and started beside the live server, to look at it.

It listens on a socket in that folder only, and archives nothing: the backups stay as they are.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

RESTORE_TIMEOUT_S = 24 * 3600
PORT = 5432
POLL_S = 0.2


class RestoreError(Exception):
    """A backup that cannot be restored; the message says what the program reported."""


@dataclass(frozen=True, slots=True)
class Backup:
    """Which backup, and the programs that read it. They run as `user` if this process is root's."""

    stanza: str
    until: datetime | None
    """The last moment that is restored; None: all that was archived."""
    programs: Path
    user: str

    def run(self, command: list[str], folder: Path) -> None:
        """Run a program as the user of PostgreSQL; raises RestoreError if it fails."""
        try:
            subprocess.run(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=RESTORE_TIMEOUT_S,
                check=True,
                **self.as_user(),
            )
        except OSError as error:
            raise RestoreError(f"{command[0]} cannot be run: {error.strerror}. Install it on this machine.") from None
        except subprocess.CalledProcessError as error:
            raise RestoreError(f"{Path(command[0]).name} failed: {(error.stdout + error.stderr)[-1500:]}") from None

    def as_user(self) -> dict[str, Any]:
        """Arguments of subprocess: PostgreSQL refuses to run as root."""
        if os.geteuid() != 0:
            return {}
        account = pwd.getpwnam(self.user)
        return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


class RestoredServer:
    """The restored server; it ends with the block, and its files with it."""

    def __init__(self, backup: Backup, folder: Path) -> None:
        self._backup = backup
        # A socket's path must be short, and others must not get to it.
        self._folder = Path(tempfile.mkdtemp(prefix="siteglass-drill-", dir=folder))
        self._data = self._folder / "data"
        self._log = self._folder / "log"
        self.restore_s = self.replay_s = 0.0

    def __enter__(self) -> Self:
        try:
            self._restore()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _restore(self) -> None:
        if os.geteuid() == 0:
            shutil.chown(self._folder, self._backup.user)
        self._data.mkdir(mode=0o700)
        if os.geteuid() == 0:
            shutil.chown(self._data, self._backup.user)
        started = time.monotonic()
        until = self._backup.until
        target = (
            [] if until is None else ["--type=time", f"--target={until.isoformat(sep=' ')}", "--target-action=promote"]
        )
        restore = [f"--stanza={self._backup.stanza}", f"--pg1-path={self._data}", "--archive-mode=off", *target]
        self._backup.run(["pgbackrest", *restore, "restore"], self._folder)
        restored = time.monotonic()
        self._start()
        self.restore_s, self.replay_s = restored - started, time.monotonic() - restored

    def _start(self) -> None:
        configuration, access = self._folder / "drill.conf", self._folder / "drill_hba.conf"
        configuration.write_text("")
        access.write_text("local all all trust\n")
        # On the command line they come before what the live server's files say.
        settings = {
            "config_file": configuration,
            "hba_file": access,
            "listen_addresses": "",
            "unix_socket_directories": self._folder,
            "port": PORT,
            # Without it, the server needs no room for as many connections as the live one has.
            "hot_standby": "off",
            "archive_mode": "off",
            "ssl": "off",
            "synchronous_standby_names": "",
            # It is thrown away.
            "fsync": "off",
        }
        for path in (configuration, access):
            path.chmod(0o644)
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
        self._pg_ctl("start", "--options", options, "--log", str(self._log))
        # pg_ctl does not wait until the archive is replayed.
        ready = [str(self._backup.programs / "pg_isready"), "--quiet", "--host", str(self._folder), "--port", str(PORT)]
        while subprocess.run(ready, check=False).returncode != 0:
            if not self._is_running():
                raise RestoreError(f"PostgreSQL ended while it replayed the archive: {self._log.read_text()[-1500:]}")
            time.sleep(POLL_S)

    def _is_running(self) -> bool:
        return (self._data / "postmaster.pid").exists()

    def _pg_ctl(self, *words: str) -> None:
        command = [str(self._backup.programs / "pg_ctl"), "--wait", "--pgdata", str(self._data), *words]
        self._backup.run(command, self._folder)

    def dsn(self, role: str, database: str) -> str:
        """Its address, for a role of the live server; no password is asked for."""
        return f"postgresql://{quote(role)}@/{quote(database)}?host={quote(str(self._folder), safe='/')}&port={PORT}"

    def __exit__(self, *_: object) -> None:
        if self._is_running():
            self._pg_ctl("stop", "--mode", "immediate")
        shutil.rmtree(self._folder, ignore_errors=True)
