"""Three OpenSearch nodes of a test's own, to kill and freeze one after the other."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

import engines
from engine_host import engines_root
from testing.ports import free_port
from testing.private_engines import environment, link_unpacked

NODES = 3
HEAP = "512m"
GREEN_WITHIN_S = 120


class Node(engines.OpenSearch):
    """One node of a cluster, each in its own zone."""

    def __init__(self, root: Path, name: str) -> None:
        ports = {f"SITEGLASS_OPENSEARCH_{kind}": str(free_port()) for kind in ("PORT", "TRANSPORT_PORT")}
        with environment(ports):
            super().__init__(root / name)
        self.node = name
        self.peers: list[Node] = []

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def settings(self) -> dict[str, object]:
        """As a node beside its peers."""
        own = super().settings()
        del own["discovery.type"]
        return own | {
            "cluster.name": f"siteglass-{self.root.parent.name}",
            "node.name": self.node,
            "node.attr.zone": self.node,
            "discovery.seed_hosts": [f"127.0.0.1:{peer.transport_port}" for peer in self.peers],
            "cluster.initial_cluster_manager_nodes": [peer.node for peer in self.peers],
            # Killed nodes come back within seconds: copying their shards elsewhere meanwhile only costs time.
            "gateway.recover_after_data_nodes": 2,
        }

    def environment(self) -> dict[str, str]:
        """With the quick compiler only: a node that is started again must not take the machine for a minute."""
        ours = super().environment()
        return ours | {"OPENSEARCH_JAVA_OPTS": f"{ours['OPENSEARCH_JAVA_OPTS']} -XX:TieredStopAtLevel=1"}

    def make_ready(self) -> None:
        """The cluster says when it is ready, see `green`."""

    def freeze(self) -> None:
        """Stop its process, so that connections stay open and nothing is answered."""
        os.kill(self._required_pid(), signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it run on."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._required_pid(), signal.SIGCONT)

    def _required_pid(self) -> int:
        pid = self.pid()
        if pid is None:
            raise ProcessLookupError(f"{self.node} does not run")
        return pid


@contextlib.contextmanager
def running_cluster() -> Iterator[Cluster]:
    """A cluster that is green, and is deleted afterwards."""
    made = Cluster()
    try:
        made.start()
        yield made
    finally:
        made.close()


class Cluster:
    """The nodes; `close` ends them and deletes their data."""

    def __init__(self, nodes: int = NODES) -> None:
        self._folder = engines_root() / f"cluster-{os.getpid()}-{free_port()}"
        self._folder.mkdir(parents=True)
        self.nodes = [Node(self._folder, f"node-{number}") for number in range(nodes)]
        for node in self.nodes:
            node.peers = self.nodes
            node.folder.mkdir(parents=True)
            link_unpacked(node)

    @property
    def urls(self) -> tuple[str, ...]:
        """Of all nodes."""
        return tuple(node.url for node in self.nodes)

    def start(self) -> None:
        """Start what does not run, and wait until all copies of all shards are there."""
        with environment({"ENGINE_HEAP": HEAP}), ThreadPoolExecutor() as pool:
            list(pool.map(lambda node: node.pid() or node.start(), self.nodes))
        self.green()

    def start_again(self, node: Node) -> None:
        """Start a node that was killed."""
        with environment({"ENGINE_HEAP": HEAP}):
            node.start()

    def green(self) -> None:
        """Wait until all nodes are in, and all copies of all shards are there."""
        ends = time.monotonic() + GREEN_WITHIN_S
        while time.monotonic() < ends:
            with contextlib.suppress(httpx.HTTPError):
                health = httpx.get(f"{self.nodes[0].url}/_cluster/health", timeout=5, trust_env=False).json()
                if health["status"] == "green" and health["number_of_nodes"] == len(self.nodes):
                    return
            time.sleep(0.2)
        raise TimeoutError(f"the cluster was not green within {GREEN_WITHIN_S} s")

    def close(self) -> None:
        """Kill all nodes and delete their data."""
        for node in self.nodes:
            node.thaw()
            node.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
