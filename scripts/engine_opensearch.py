"""OpenSearch: fetched with Maven, unpacked, configured for one node on loopback."""

from __future__ import annotations

import json
import os
import shutil
import time
import tomllib
import urllib.request
import zipfile
from pathlib import Path

from engine import HOST, Engine
from engine_host import CHECKOUT, ENGINES_USER, fetch, give, java_home, port_from_environment, run, say

OPENSEARCH_VERSION = "3.6.0"
# Maven coordinates and the sha256 of the file, so that no mirror can hand us something else.
OPENSEARCH_ZIP = (
    f"org.opensearch.distribution.integ-test-zip:opensearch:{OPENSEARCH_VERSION}:zip",
    "a91faa1dc1cadc78cb278b4f63847e19e1627a4e9de698e14e7efc14ee37b286",
)
KNN_ZIP = (
    f"org.opensearch.plugin:opensearch-knn:{OPENSEARCH_VERSION}.0:zip",
    "ac392ca28a39b3bf290648a422ef30cb149dda2963a9d7feb26060e932341c9a",
)
MIN_JDK = 21
CLUSTER_SETTINGS = CHECKOUT / "src" / "siteglass" / "index" / "cluster_settings.toml"


class OpenSearch(Engine):
    name = "opensearch"
    default_port = 19200
    start_timeout_s = 600
    user = ENGINES_USER

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.home = self.folder / f"opensearch-{OPENSEARCH_VERSION}"
        self.config = self.folder / "config"
        setting = "SITEGLASS_OPENSEARCH_TRANSPORT_PORT"
        self.transport_port = port_from_environment(setting, 19300)
        self.ports[setting] = self.transport_port

    def install(self) -> None:
        java_home(MIN_JDK)  # fails before the download where there is none
        if not self.home.exists():
            self._unpack()
        self.config.mkdir(exist_ok=True)
        for name in ("jvm.options", "log4j2.properties"):
            shutil.copyfile(self.home / "config" / name, self.config / name)
        # What is shipped for production, then what is this node's own.
        shipped = (CHECKOUT / "deploy" / "opensearch.yml").read_text()
        settings = tomllib.loads(CLUSTER_SETTINGS.read_text()) | self.settings()
        own = "".join(f"{key}: {json.dumps(value)}\n" for key, value in settings.items())
        (self.config / "opensearch.yml").write_text(
            f"# Written by scripts/engines.py at every start.\n{shipped}\n{own}"
        )
        for folder in (self.config, self.home / "logs", self.folder / "data", self.folder / "tmp"):
            give(folder, self.user)

    def settings(self) -> dict[str, object]:
        """What this node has of its own."""
        return {
            "cluster.name": "siteglass-development",
            "node.name": "development-1",
            "path.data": str(self.folder / "data"),
            "path.logs": str(self.home / "logs"),
            "network.host": HOST,
            "http.port": self.port,
            "transport.port": self.transport_port,
            "discovery.type": "single-node",
            # A developer's disk is often fuller than a server's may be. `siteglass doctor` compares with the watermarks
            # all the same, so these are small here.
            "cluster.routing.allocation.disk.threshold_enabled": False,
            "cluster.routing.allocation.disk.watermark.low": "2gb",
            "cluster.routing.allocation.disk.watermark.high": "1gb",
            "cluster.routing.allocation.disk.watermark.flood_stage": "500mb",
        }

    def _unpack(self) -> None:
        downloads = self.folder / "download"
        distribution, plugin = (fetch(*artifact, downloads) for artifact in (OPENSEARCH_ZIP, KNN_ZIP))
        since = time.monotonic()
        # Unpacked aside and renamed when complete: an interrupted `up` leaves no half engine.
        aside = self.folder / "unpacking"
        shutil.rmtree(aside, ignore_errors=True)
        with zipfile.ZipFile(distribution) as archive:
            archive.extractall(aside)
        home = aside / self.home.name
        for program in (home / "bin").iterdir():
            program.chmod(0o755)
        run(
            [str(home / "bin/opensearch-plugin"), "install", "--batch", plugin.as_uri()],
            env=self.environment() | {"OPENSEARCH_PATH_CONF": str(home / "config")},
        )
        home.rename(self.home)
        shutil.rmtree(aside)
        shutil.rmtree(downloads)  # Maven's local repository still has them
        say(self.name, f"unpacked {OPENSEARCH_VERSION} with k-NN", since)

    def environment(self) -> dict[str, str]:
        heap = os.environ.get("ENGINE_HEAP", "1g")
        return super().environment() | {
            "OPENSEARCH_JAVA_HOME": str(java_home(MIN_JDK)),
            "OPENSEARCH_JAVA_OPTS": f"-Xms{heap} -Xmx{heap}",
            "OPENSEARCH_PATH_CONF": str(self.config),
            "OPENSEARCH_TMPDIR": str(self.folder / "tmp"),
        }

    def command(self) -> list[str]:
        return [str(self.home / "bin/opensearch")]

    def answers(self) -> bool:
        return self._get("/", timeout_s=2)

    def make_ready(self) -> None:
        # Let the shards of existing indices come back. A broken index of someone's must not
        # keep the engine down, so the answer is not looked at.
        self._get("/_cluster/health?wait_for_status=yellow&timeout=30s", timeout_s=35)

    def _get(self, path: str, timeout_s: float) -> bool:
        # No proxy, whatever the environment says: this is loopback.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"http://{HOST}:{self.port}{path}", timeout=timeout_s) as response:
                return bool(response.status == 200)
        except OSError:
            return False
