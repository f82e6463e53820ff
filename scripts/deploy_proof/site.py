"""The installation under proof: its parts by name, how each is killed and started again, and how callers reach it."""

from __future__ import annotations

import os
import re
import shutil
import ssl
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from deploy_proof import guide
from deploy_proof.load import PaidLoad, wait_for
from deploy_proof.machine import RELEASE, Machine
from deploy_proof.releases import Release
from deploy_proof.scorecard import ProofError
from engine_host import CHECKOUT, apt_install
from testing.fault_runs.history import Question
from testing.haproxy import HAPROXY
from testing.private_engines import PrivateEngines

URL = "https://localhost"
SERVICES = {"siteglass": 8080, "siteglass-b": 8081}
POSTMASTER = "/var/lib/postgresql/15/main/postmaster.pid"
# How the processes of each part are recognised. Those of PostgreSQL first: they also name the role siteglass.
MEMORY_OF = {
    "postgres": "PostgreSQL",
    "redis-server": "Redis",
    "haproxy": "haproxy",
    "/opt/siteglass": "services",
    "opensearch": "OpenSearch",
}


@dataclass(slots=True)
class Site:
    """The bare Debian with everything but OpenSearch, which runs beside it."""

    machine: Machine
    opensearch: PrivateEngines
    api_key: str = ""
    _gate: subprocess.Popen[bytes] | None = field(default=None)

    def run(self, *names: str, **changes: str) -> str:
        """Run blocks of the guides, one after the other; what the guide has as an example may be another word."""
        return "".join(self.machine.sh(guide.block(name, changes), quiet=False) for name in names)

    def command(self, words: str, code: int = 0) -> str:
        """A command of the operator, as the guide says."""
        return self.machine.sh(f"sudo siteglass-command {words}", code=code, quiet=False)

    def put_release(self, release: Release) -> None:
        """What the operator has copied to the machine."""
        place = self.machine.root / RELEASE.relative_to("/")
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(release.folder, place)

    # --- OpenSearch and the haproxy before it, which are another machine ------------------------------------------

    def start_opensearch(self) -> None:
        """The node, and haproxy with TLS and the password that `deploy/prepare` made."""
        node = self.opensearch.get("opensearch")
        if self._gate is not None:
            return
        apt_install(HAPROXY, "haproxy")
        prepared = self.machine.root / "etc/siteglass"
        environment = {
            "OPENSEARCH_PASSWORD": (prepared / "secrets/opensearch_password").read_text().strip(),
            "OPENSEARCH_TLS": str(prepared / "tls"),
            "OPENSEARCH_BIND": ":9200",
            "OPENSEARCH_NODE": f"127.0.0.1:{node.port}",
        }
        self._gate = subprocess.Popen(
            [str(HAPROXY), "-f", str(CHECKOUT / "deploy/haproxy/opensearch.cfg")],
            env={**os.environ, **environment},
            stderr=subprocess.DEVNULL,
        )

    def close(self) -> None:
        """End what runs outside of the bare Debian."""
        if self._gate is not None:
            self._gate.kill()
            self._gate.wait(10)
        self.opensearch.close()

    # --- parts ---------------------------------------------------------------------------------------------------

    def pid_command(self, part: str) -> str:
        """The shell command that prints the process to kill."""
        match part:
            case "postgresql":
                return f"head -n 1 {POSTMASTER}"
            case "worker":
                # Its parent replaces it. The parent's other child only counts resources.
                return (
                    "parent=$(cat /run/proof-siteglass.pid); for pid in $(cat /proc/$parent/task/$parent/children); do "
                    "if grep --quiet --text spawn_main /proc/$pid/cmdline; then echo $pid; break; fi; done"
                )
            case _:
                return f"cat /run/proof-{part}.pid"

    def kill(self, part: str) -> None:
        """End a part without warning, as a crash would."""
        if part == "opensearch":
            self.opensearch.get(part).kill()
            return
        if not self.machine.sh(self.pid_command(part)).strip():
            raise ProofError(f"{part} does not run")
        self.machine.sh(f"kill -KILL $({self.pid_command(part)})")

    def start(self, part: str) -> None:
        """Start a part again after a kill. A worker is replaced by the service itself."""
        match part:
            case "opensearch":
                self.opensearch.start(part)
            case "worker":
                pass
            case "postgresql":
                # Until the last of the killed server's processes has gone, a new one refuses to start.
                retry = "for _ in $(seq 20); do systemctl start postgresql && exit 0; sleep 0.5; done; exit 1"
                self.machine.sh(retry)
            case _:
                self.machine.sh(f"systemctl start {part}")

    def memory_mb(self) -> dict[str, int]:
        """What the processes of each part hold in memory; pages that several share are counted once."""
        found = dict.fromkeys(MEMORY_OF.values(), 0)
        java = self.opensearch.get("opensearch").pid() or 0
        for pid, line in {**self.machine.pids(), java: "opensearch"}.items():
            part = next((part for word, part in MEMORY_OF.items() if word in line), None)
            if part is not None:
                rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                pss = re.search(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)
                found[part] += int(pss[1]) // 1024 if pss else 0
        return found

    # --- callers -------------------------------------------------------------------------------------------------

    def tls(self) -> ssl.SSLContext:
        """Trusts the authority that `deploy/prepare` made, and nobody else."""
        return ssl.create_default_context(cafile=str(self.machine.root / "etc/siteglass/tls/ca.pem"))

    def client(self) -> httpx.Client:
        return httpx.Client(
            base_url=URL, headers={"X-API-Key": self.api_key}, verify=self.tls(), timeout=60, trust_env=False
        )

    def load(self, asked: list[Question], name: str) -> PaidLoad:
        return PaidLoad(URL, self.api_key, self.tls(), asked, name)

    def ready(self, service: str) -> bool:
        """Whether a service can answer and charge."""
        return _status(f"http://127.0.0.1:{SERVICES[service]}/readyz") == 200

    def alive(self, service: str) -> bool:
        """Whether a service runs, ready or not."""
        return _status(f"http://127.0.0.1:{SERVICES[service]}/healthz") == 200

    def wait_until_ready(self) -> float:
        """Until callers are answered through haproxy; returns the seconds it took."""

        def answered() -> bool:
            try:
                with self.client() as client:
                    return client.get("/readyz").status_code == 200
            except httpx.HTTPError:
                return False

        started = wait_for(lambda: all(map(self.ready, SERVICES)), "the services are ready")
        return started + wait_for(answered, "haproxy sends requests to them")

    def search(self, body: dict[str, Any], path: str = "/v1/leads/search") -> dict[str, Any]:
        """One request that must be answered."""
        with self.client() as client:
            response = client.post(path, json=body)
        if response.status_code != 200:
            raise ProofError(f"{path} answered {response.status_code}: {response.text}")
        return dict(response.json())


def _status(url: str) -> int:
    try:
        return httpx.get(url, trust_env=False, timeout=10).status_code
    except httpx.HTTPError:
        return 0
