"""PostgreSQL, Redis and a haproxy before OpenSearch, as deploy/ configures them: with TLS and passwords.

Secrets and certificates are those that deploy/prepare makes for the test, and are gone with its folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

import engines
from engine import HOST
from engine_host import CHECKOUT, apt_install, as_user, engine_account, engines_root, give, run, wait_until
from engine_postgres import POSTGRES_BIN
from engine_redis import REDIS_SERVER
from testing.haproxy import HAPROXY
from testing.patience import PATIENT
from testing.ports import free_port

DEPLOY = CHECKOUT / "deploy"
SECRETS = (
    *("cursor_secrets", "key_secrets", "suppression_secret", "dashboard_secrets"),
    *("postgres_dsn", "postgres_owner_dsn", "redis_url", "opensearch_urls"),
)


def with_tls_lines(shipped: Path) -> str:
    """A shipped file whose lines for TLS, the last ones, are no longer comments."""
    text = shipped.read_text()
    head, mark, tail = text.partition("# Across machines, TLS only: ")
    assert mark, shipped
    first, _, lines = tail.partition("\n")
    return f"{head}{mark}{first}\n" + re.sub(r"^# ", "", lines, flags=re.MULTILINE)


class ShippedPostgres(engines.Postgres):
    """PostgreSQL with the files of deploy/postgresql; what a test changes comes after them."""

    def __init__(self, root: Path, prepared: Path, port: int, changes: str) -> None:
        super().__init__(root)
        self.variables: dict[str, str] = {}
        self.port = port
        self.ports = {self.port_setting: port}
        self._prepared = prepared
        self._changes = changes

    def install(self) -> None:
        super().install()
        tls = self.folder / "tls"
        give(tls, self.user)
        for name in ("postgres.crt", "postgres.key", "ca.pem"):
            shutil.copy(self._prepared / "tls" / name, tls / name)
        (tls / "postgres.key").chmod(0o600)
        give(tls, self.user)
        shipped = with_tls_lines(DEPLOY / "postgresql/siteglass.conf").replace("/etc/postgresql/tls", str(tls))
        for name, text in (("siteglass.conf", shipped), ("changes.conf", self._changes)):
            (self.data / name).write_text(text)
        shutil.copy(DEPLOY / "postgresql/pg_hba.conf", self.data / "pg_hba.conf")
        with (self.data / "postgresql.conf").open("a") as configuration:
            configuration.write("include 'siteglass.conf'\ninclude 'changes.conf'\n")
        account = engine_account(self.user)
        for path in self.data.glob("*.conf"):
            os.chown(path, account.pw_uid, account.pw_gid)

    def environment(self) -> dict[str, str]:
        return super().environment() | self.variables

    def make_ready(self) -> None:
        if "siteglass" not in self._sql("SELECT rolname FROM pg_roles;").stdout:
            sql = subprocess.run(
                [DEPLOY / "postgresql/roles", self._prepared / "secrets"], capture_output=True, text=True, check=True
            )
            made = self._sql(sql.stdout)
            assert made.returncode == 0, made.stderr

    def _sql(self, text: str) -> subprocess.CompletedProcess[str]:
        """As the superuser, who is let in by the socket only."""
        return subprocess.run(
            [str(POSTGRES_BIN / "psql"), "--no-psqlrc", "--quiet", "--host", str(self.data), "--port", str(self.port)],
            input=text,
            env=self.environment() | {"PGCONNECT_TIMEOUT": "2"},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            **as_user(self.user),
        )

    def value(self, statement: str, database: str = "siteglass") -> str:
        """The only value of a statement, as psql prints it."""
        done = self._sql(f"\\set ON_ERROR_STOP on\n\\pset tuples_only on\n\\pset format unaligned\n"
                         f"\\connect {database}\n{statement};\n")  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


class ShippedRedis(engines.Redis):
    """Redis with deploy/redis.conf."""

    def __init__(self, root: Path, prepared: Path, port: int) -> None:
        super().__init__(root)
        self.port = port
        self.ports = {self.port_setting: port}
        self._prepared = prepared

    def install(self) -> None:
        apt_install(REDIS_SERVER, "redis-server")
        own = self.folder / "work"
        give(own, self.user)
        for name in ("redis.crt", "redis.key", "ca.pem"):
            shutil.copy(self._prepared / "tls" / name, own / name)
        shutil.copy(self._prepared / "secrets/redis_password.conf", own)
        shipped = with_tls_lines(DEPLOY / "redis.conf").replace("tls-port 6379", f"tls-port {self.port}")
        for place in ("/etc/redis/tls", "/run/secrets"):
            shipped = shipped.replace(place, str(own))
        (own / "redis.conf").write_text(f"{shipped}\ndir {own}\n")
        give(own, self.user)

    def command(self) -> list[str]:
        return [str(REDIS_SERVER), str(self.folder / "work/redis.conf")]

    def answers(self) -> bool:
        try:
            with socket.create_connection((HOST, self.port), timeout=1):
                return True
        except OSError:
            return False


class Secured:
    """The engines, and the environment that a service finds them with."""

    def __init__(self, name: str, postgres_changes: str = "archive_mode = off\n") -> None:
        self.root = engines_root() / f"{name}-{os.getpid()}"
        self.prepared = self.root / "prepared"
        self.tls = self.prepared / "tls"
        self._ports = {"POSTGRES": free_port(), "REDIS": free_port(), "OPENSEARCH": free_port()}
        self.postgres = ShippedPostgres(self.root, self.prepared, self._ports["POSTGRES"], postgres_changes)
        self.redis = ShippedRedis(self.root, self.prepared, self._ports["REDIS"])
        self._proxies = contextlib.ExitStack()

    def __enter__(self) -> Self:
        if os.geteuid() != 0:
            pytest.skip("needs root: each engine gets its own files, as on a machine of production")
        self.root.mkdir(parents=True)
        places = {name: f"{HOST}:{port}" for name, port in self._ports.items()}
        run([str(DEPLOY / "prepare"), str(self.prepared)], env={**os.environ, **places, "TLS": "yes"})
        self.configure()
        self.postgres.start()
        self.redis.start()
        node = engines.engines()["opensearch"]
        environment = {
            "OPENSEARCH_PASSWORD": self.secret("opensearch_password"),
            "OPENSEARCH_TLS": str(self.tls),
            "OPENSEARCH_BIND": places["OPENSEARCH"],
            "OPENSEARCH_NODE": f"{HOST}:{node.port}",
        }
        self.start_haproxy("opensearch.cfg", self._ports["OPENSEARCH"], environment)
        return self

    def __exit__(self, *_: object) -> None:
        self._proxies.close()
        self.redis.kill()
        self.postgres.kill()
        shutil.rmtree(self.root, ignore_errors=True)

    def configure(self) -> None:
        """What else must be there before the engines start."""

    def secret(self, name: str) -> str:
        return (self.prepared / "secrets" / name).read_text().strip()

    def start_haproxy(self, name: str, port: int, environment: dict[str, str]) -> None:
        """haproxy with a shipped configuration, until the engines end."""
        self._proxies.enter_context(shipped_haproxy(name, port, environment))

    def environment(self, store: Path) -> dict[str, str]:
        """What an operator sets: files of secrets, and certificates. Nothing secret is in it."""
        others = {name: value for name, value in os.environ.items() if not name.startswith("SITEGLASS_")}
        files = {f"SITEGLASS_{name.upper()}_FILE": str(self.prepared / "secrets" / name) for name in SECRETS}
        for engine in ("POSTGRES", "REDIS", "OPENSEARCH"):
            files[f"SITEGLASS_{engine}_CA"] = str(self.tls / "ca.pem")
            files[f"SITEGLASS_{engine}_CERTIFICATE"] = str(self.tls / "siteglass.pem")
        # Long deadlines as in all tests; but these services have a load balancer, for which they drain.
        return {**others, **PATIENT, **files, "SITEGLASS_LEAD_STORE": str(store), "SITEGLASS_DRAIN_S": "5"}


@contextlib.contextmanager
def shipped_haproxy(name: str, port: int, environment: dict[str, str]) -> Iterator[None]:
    """haproxy with a shipped configuration, once it takes connections at this port."""

    def answers() -> bool:
        with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
            return True
        return False

    apt_install(HAPROXY, "haproxy")
    command = [str(HAPROXY), "-f", str(DEPLOY / "haproxy" / name)]
    process = subprocess.Popen(command, env={**os.environ, **environment})
    try:
        assert wait_until(answers, 30), name
        yield
    finally:
        process.kill()
        process.wait(10)
