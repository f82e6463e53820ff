"""Three PostgreSQL servers on loopback: a primary and two standbys that stream from it, one of which must confirm each
commit. Tests kill, freeze and promote them; nothing here decides when.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import psutil

import engines
from engine import HOST
from engine_host import as_user, engines_root, give, run, wait_until
from engine_postgres import POSTGRES_BIN
from testing.ports import free_port

WAIT_S = 60.0


class Node(engines.Postgres):
    """One server; its name is the one that synchronous_standby_names lists."""

    def __init__(self, root: Path, name: str) -> None:
        self.name = name
        super().__init__(root)
        self.port = free_port()
        self.ports = {self.port_setting: self.port}
        self.frozen = False

    def command(self) -> list[str]:
        # A frozen server must be noticed by the others before the test ends. After a promotion, commits wait until the
        # other standby follows the new primary, by default for up to five seconds.
        quick = ("wal_receiver_timeout=5s", "wal_sender_timeout=5s", "wal_retrieve_retry_interval=200ms")
        return [*super().command(), *(word for setting in quick for word in ("-c", setting))]

    def make_ready(self) -> None:
        if self.value("SELECT pg_is_in_recovery()") == "f":
            super().make_ready()

    def value(self, statement: str, database: str = "postgres") -> str:
        """The only value of a statement, as psql prints it."""
        address = ["--host", HOST, "--port", str(self.port), "--username", "postgres", "--dbname", database]
        plain = ["--no-psqlrc", "--tuples-only", "--no-align"]
        done = subprocess.run(
            [str(POSTGRES_BIN / "psql"), *plain, *address, "--command", statement],
            env=self.environment() | {"PGCONNECT_TIMEOUT": "5"},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def set(self, name: str, value: str) -> None:
        """Change a setting and apply it; standbys can do this, too."""
        self.value(f"ALTER SYSTEM SET {name} = '{value}'")
        self.value("SELECT pg_reload_conf()")

    def freeze(self) -> None:
        """Stop all of its processes where they are; its connections stay open."""
        self._signal(signal.SIGSTOP)
        self.frozen = True

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)
        self.frozen = False

    def _signal(self, what: signal.Signals) -> None:
        parent = psutil.Process(self.pid())
        for process in (parent, *parent.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(what)

    def follow(self, primary: Node | None) -> None:
        """Stream from this server, or from none."""
        self.set("primary_conninfo", "" if primary is None else self._source(primary))

    def receives_nothing(self) -> bool:
        return self.value("SELECT count(*) FROM pg_stat_wal_receiver") == "0"

    def _source(self, primary: Node) -> str:
        return f"host={HOST} port={primary.port} user=postgres application_name={self.name}"

    def copy(self, primary: Node) -> None:
        """Become a standby of this server, with a fresh copy of its data."""
        shutil.rmtree(self.data, ignore_errors=True)
        give(self.folder, self.user)
        backup = [
            "--pgdata",
            str(self.data),
            "--dbname",
            self._source(primary),
            "--checkpoint",
            "fast",
            "--write-recovery-conf",
        ]
        run(
            [str(POSTGRES_BIN / "pg_basebackup"), *backup],
            env=self.environment(),
            cwd=self.folder,
            **as_user(self.user),
        )

    def promote(self) -> None:
        run(
            [str(POSTGRES_BIN / "pg_ctl"), "promote", "--wait", "--pgdata", str(self.data)],
            env=self.environment(),
            cwd=self.folder,
            **as_user(self.user),
        )


class PostgresCluster:
    """The servers; `primary` is the one that was promoted last."""

    def __init__(self) -> None:
        self._root = engines_root() / f"cluster-{os.getpid()}"
        self._root.mkdir(parents=True)
        self.nodes = [Node(self._root, name) for name in ("pg_a", "pg_b", "pg_c")]
        self.primary, *self.standbys = self.nodes

    def __enter__(self) -> Self:
        self.primary.start()
        for standby in self.standbys:
            standby.folder.mkdir()
            standby.copy(self.primary)
            standby.start()
        names = ", ".join(node.name for node in self.nodes)
        for node in self.nodes:  # also the standbys: one of them may become the primary
            node.set("synchronous_standby_names", f"ANY 1 ({names})")
        self.wait_until_streaming(self.standbys)
        return self

    def __exit__(self, *_: object) -> None:
        for node in self.nodes:
            if node.frozen:
                node.thaw()
            node.kill()
        shutil.rmtree(self._root, ignore_errors=True)

    def dsn(self, role: str = "siteglass") -> str:
        """All servers, in the order in which they were made."""
        hosts = ",".join(f"{HOST}:{node.port}" for node in self.nodes)
        return f"postgresql://{role}@{hosts}/siteglass?target_session_attrs=read-write"

    def wait_until_streaming(self, standbys: Sequence[Node]) -> None:
        """Wait until the primary counts these standbys."""
        names = ", ".join(f"'{node.name}'" for node in standbys)
        count = (
            f"SELECT count(*) FROM pg_stat_replication WHERE application_name IN ({names})"
            " AND state = 'streaming' AND sync_state = 'quorum'"
        )
        if not wait_until(lambda: self.primary.value(count) == str(len(standbys)), WAIT_S):
            raise RuntimeError(f"{names} do not stream from {self.primary.name}")

    def fail_over(self) -> Node:
        """Promote the standby that received most, after both have let go of the old primary, which may still run.

        So the old primary can confirm nothing any more: this is what a failover manager must ensure, too.
        """
        for standby in self.standbys:
            standby.follow(None)
        for standby in self.standbys:
            if not wait_until(standby.receives_nothing, WAIT_S):
                raise RuntimeError(f"{standby.name} still receives from the old primary")
        newest = max(self.standbys, key=lambda s: int(s.value("SELECT pg_last_wal_receive_lsn() - '0/0'::pg_lsn")))
        newest.promote()
        old, self.primary = self.primary, newest
        self.standbys = [standby for standby in self.standbys if standby is not newest]
        for standby in self.standbys:
            standby.follow(newest)
        return old

    def rejoin(self, node: Node) -> None:
        """Make a server that was the primary before a standby of the new one."""
        node.kill()
        node.copy(self.primary)
        node.start()
        self.standbys.append(node)
        self.wait_until_streaming([node])
