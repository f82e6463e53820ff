"""Prometheus on loopback with the rules of deploy/prometheus, whose times are all divided by one factor."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Self

import httpx

from engine_host import CHECKOUT, apt_install
from testing.ports import free_port

PROMETHEUS = Path("/usr/bin/prometheus")
RULES = ("slo.yaml", "alerts.yaml")
_UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000}
# How long an alert must last, and ranges of samples. Names of recorded series stay as they are.
_TIME = re.compile(r"(?P<before>\bfor: |\[)(?P<number>\d+)(?P<unit>[smh])\b")

_CONFIGURATION = """
global:
  scrape_interval: 1s
  scrape_timeout: 1s
  evaluation_interval: 1s
rule_files: [{rules}]
scrape_configs:
  - job_name: siteglass
    static_configs:
      - targets: [{service}]
  - job_name: haproxy
    static_configs:
      - targets: ["127.0.0.1:{haproxy}"]
  - job_name: siteglass-crawler
    static_configs:
      - targets: ["127.0.0.1:{crawler}"]
"""


def shorten(rules: str, factor: int) -> str:
    """The rules with all of their times divided by a factor."""

    def shorter(found: re.Match[str]) -> str:
        return f"{found['before']}{int(found['number']) * _UNITS_MS[found['unit']] // factor}ms"

    return _TIME.sub(shorter, rules)


class Prometheus:
    """The process, in a folder of the test; it scrapes the ports of a service, haproxy and a crawler every second."""

    def __init__(self, folder: Path, service: int, haproxy: int, crawler: int, factor: int) -> None:
        self._folder = folder
        self._service, self._haproxy, self._crawler = service, haproxy, crawler
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        for name in RULES:
            (folder / name).write_text(shorten((CHECKOUT / "deploy/prometheus" / name).read_text(), factor))
        self.watch()

    def __enter__(self) -> Self:
        apt_install(PROMETHEUS, "prometheus")
        with (self._folder / "prometheus.log").open("wb") as log:
            self._process = subprocess.Popen(
                [
                    str(PROMETHEUS),
                    f"--config.file={self._folder / 'prometheus.yaml'}",
                    f"--storage.tsdb.path={self._folder / 'data'}",
                    f"--web.listen-address=127.0.0.1:{self._port}",
                    "--log.level=warn",
                ],
                stdout=log,
                stderr=log,
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)

    def watch(self, *, service: bool = True) -> None:
        """Scrape haproxy and the crawler, and the service or not."""
        (self._folder / "prometheus.yaml").write_text(
            _CONFIGURATION.format(
                rules=", ".join(RULES),
                service=f'"127.0.0.1:{self._service}"' if service else "",
                haproxy=self._haproxy,
                crawler=self._crawler,
            )
        )
        if self._process is not None:
            self._process.send_signal(signal.SIGHUP)

    def firing(self) -> set[str] | None:
        """The names of alerts that fire now; None if Prometheus does not answer yet."""
        try:
            response = httpx.get(f"http://127.0.0.1:{self._port}/api/v1/alerts", timeout=10, trust_env=False)
        except httpx.TransportError:
            return None
        if response.status_code != 200:
            return None
        alerts = response.json()["data"]["alerts"]
        return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}

    def wait_until_firing(self, names: Iterable[str], within_s: float) -> dict[str, float]:
        """Wait until each of these has fired; the seconds that it took. Others may fire, too."""
        return self._wait(set(names), within_s, fire=True)

    def wait_until_resolved(self, names: Iterable[str], within_s: float) -> dict[str, float]:
        """Wait until none of these fires any more; the seconds that it took."""
        return self._wait(set(names), within_s, fire=False)

    def _wait(self, names: set[str], within_s: float, *, fire: bool) -> dict[str, float]:
        began = time.monotonic()
        took: dict[str, float] = {}
        while names - took.keys():
            firing = self.firing()
            if firing is not None:
                for name in names - took.keys():
                    if (name in firing) is fire:
                        took[name] = round(time.monotonic() - began, 1)
            if time.monotonic() - began > within_s:
                late = f"{sorted(names - took.keys())} did not {'fire' if fire else 'resolve'}"
                raise TimeoutError(f"{late} within {within_s:g} s; now firing: {firing}")
            time.sleep(0.3)
        return took
