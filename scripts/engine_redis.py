"""Redis: the machine's own package, with nothing kept on disk."""

from __future__ import annotations

import socket
from pathlib import Path

from engine import HOST, Engine
from engine_host import ENGINES_USER, apt_install, give

REDIS_SERVER = Path("/usr/bin/redis-server")


class Redis(Engine):
    name = "redis"
    default_port = 16379
    start_timeout_s = 120
    user = ENGINES_USER

    def install(self) -> None:
        apt_install(REDIS_SERVER, "redis-server")
        give(self.folder / "work", self.user)

    def command(self) -> list[str]:
        settings = {
            "bind": HOST,
            "port": str(self.port),
            "dir": str(self.folder / "work"),
            # It holds only what may be lost, and says so when it is full instead of forgetting.
            "save": "",
            "appendonly": "no",
            "maxmemory": "256mb",
            "maxmemory-policy": "noeviction",
        }
        return [str(REDIS_SERVER), *(word for k, v in settings.items() for word in (f"--{k}", v))]

    def answers(self) -> bool:
        try:
            with socket.create_connection((HOST, self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False
