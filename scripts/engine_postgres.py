"""PostgreSQL: the machine's own package, with our data folder, role and database."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from engine import HOST, Engine
from engine_host import EngineError, apt_install, as_user, give, run, say

POSTGRES_BIN = Path("/usr/lib/postgresql/15/bin")
# The database, the role that owns it, and the role of the service, in psql's language: PostgreSQL has no
# CREATE … IF NOT EXISTS for either. CREATEDB is for tests that want their own database.
MAKE_DATABASE = r"""
SELECT 'CREATE ROLE siteglass LOGIN'
    WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'siteglass') \gexec
SELECT 'CREATE ROLE siteglass_owner LOGIN CREATEDB'
    WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'siteglass_owner') \gexec
SELECT 'CREATE DATABASE siteglass OWNER siteglass_owner'
    WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'siteglass') \gexec
SELECT 'CREATE ROLE siteglass_crawl LOGIN'
    WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'siteglass_crawl') \gexec
SELECT 'CREATE DATABASE siteglass_crawl OWNER siteglass_crawl'
    WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'siteglass_crawl') \gexec
-- a data folder of before the roles were two
ALTER ROLE siteglass NOCREATEDB;
\connect siteglass
REASSIGN OWNED BY siteglass TO siteglass_owner;
"""


class Postgres(Engine):
    name = "postgres"
    default_port = 15432
    start_timeout_s = 240
    user = "postgres"

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.data = self.folder / "data"

    def install(self) -> None:
        apt_install(POSTGRES_BIN / "postgres", "postgresql-15")
        if (self.data / "PG_VERSION").exists():
            return
        since = time.monotonic()
        aside = self.folder / "initialising"
        shutil.rmtree(aside, ignore_errors=True)
        give(aside, self.user)
        run(
            [
                *(str(POSTGRES_BIN / "initdb"), "--pgdata", str(aside), "--username", "postgres"),
                *("--encoding", "UTF8", "--locale", "C.UTF-8", "--data-checksums", "--auth", "trust"),
            ],
            env=self.environment(),
            cwd=aside,
            **as_user(self.user),
        )
        aside.rename(self.data)
        say(self.name, "made an empty data folder", since)

    def command(self) -> list[str]:
        settings = {
            "listen_addresses": HOST,
            "port": self.port,
            "max_connections": 400,
            # What a charge has taken must survive a crash, in tests as in production.
            "fsync": "on",
            "synchronous_commit": "on",
            "unix_socket_directories": self._socket_folder(),
        }
        options = [option for key, value in settings.items() for option in ("-c", f"{key}={value}")]
        return [str(POSTGRES_BIN / "postgres"), "-D", str(self.data), *options]

    def _socket_folder(self) -> str:
        # The system cuts socket names at 107 bytes; a deep checkout does without a socket.
        return str(self.data) if len(os.fsencode(self.data)) < 85 else ""

    def answers(self) -> bool:
        return self._sql("SELECT 1").returncode == 0

    def make_ready(self) -> None:
        made = self._sql(MAKE_DATABASE)
        if made.returncode != 0:
            raise EngineError(f"the database could not be made: {made.stderr}")

    def _sql(self, text: str) -> subprocess.CompletedProcess[str]:
        address = ["--host", HOST, "--port", str(self.port), "--username", "postgres"]
        return subprocess.run(
            [str(POSTGRES_BIN / "psql"), "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", *address],
            input=text,
            env=self.environment() | {"PGCONNECT_TIMEOUT": "2"},
            capture_output=True,
            text=True,
            check=False,
        )

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        # SIGTERM lets PostgreSQL wait for its clients to leave; SIGINT is its quick, clean way.
        super().stop(signal.SIGINT if how is signal.SIGTERM else how)
