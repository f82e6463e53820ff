"""The service over TLS and with passwords to all engines and from its callers, with the configurations in deploy/."""

from __future__ import annotations

import json
import re
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis import Redis

from engine_host import CHECKOUT, wait_until
from siteglass.corpus.lead_files import write_parquet
from siteglass.settings import load_settings
from siteglass_demo.leads import generate
from testing.metrics import scrape, total
from testing.ports import free_port
from testing.service import RUN_PREFIX
from tests.deploy.commands import SITEGLASS, command
from tests.deploy.secured import Secured

pytestmark = [pytest.mark.private_engines, pytest.mark.xdist_group("deploy")]

PREFIX = f"{RUN_PREFIX}-tls"
ENGINES = ("postgresql", "redis", "opensearch")


@pytest.fixture(scope="module")
def engines() -> Iterator[Secured]:
    with Secured("tls") as secured:
        yield secured


@pytest.fixture(scope="module")
def environment(engines: Secured, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Tables, an account and 40 leads, made with the commands of the operator."""
    folder = tmp_path_factory.mktemp("tls")
    (folder / "store").mkdir()
    made = engines.environment(folder / "store") | {"SITEGLASS_INDEX_PREFIX": PREFIX, "SITEGLASS_REDIS_PREFIX": PREFIX}
    write_parquet(folder / "leads.parquet", generate(40, seed=6))
    command(made, "migrate")
    command(made, "account", "create", "smoke")
    command(made, "credits", "grant", "1", "--api", "100", "--lead", "1000")
    command(made, "index", "rebuild", str(folder / "leads.parquet"), "--promote")
    return made


def findings(environment: Mapping[str, str], code: int) -> dict[str, dict[str, Any]]:
    told = json.loads(command(environment, "doctor", "--json", code=code))
    return {finding["check"]: finding for finding in told["checks"]}


def test_searches_are_answered_over_tls_while_a_process_goes(engines: Secured, environment: dict[str, str]) -> None:
    key = re.findall(r"sg_live_\w+", command(environment, "key", "create", "1"))[0]
    (engines.tls / "public.pem").write_bytes((engines.tls / "siteglass.pem").read_bytes())
    ports = [free_port(), free_port()]
    public, counts = free_port(), free_port()
    processes = [
        subprocess.Popen([SITEGLASS, "serve", "--port", str(port)], env=environment, stderr=subprocess.DEVNULL)
        for port in ports
    ]
    try:
        engines.start_haproxy(
            "public.cfg",
            public,
            {
                "PUBLIC_TLS": str(engines.tls),
                "PUBLIC_BIND": f"127.0.0.1:{public}",
                "PUBLIC_METRICS": f"127.0.0.1:{counts}",
                "SERVICE_A": f"127.0.0.1:{ports[0]}",
                "SERVICE_B": f"127.0.0.1:{ports[1]}",
            },
        )
        trusted = ssl.create_default_context(cafile=engines.tls / "ca.pem")
        with httpx.Client(
            base_url=f"https://localhost:{public}", verify=trusted, headers={"X-API-Key": key}, trust_env=False
        ) as client:
            for port in ports:
                assert wait_until(partial(_is_ready, port), 120), port
            # haproxy looks once a second.
            assert wait_until(lambda: client.get("/readyz").status_code == 200, 30)
            time.sleep(3)  # haproxy asks each of them once a second
            first = client.post("/v1/leads/search", json={"limit": 5}, timeout=30).raise_for_status()
            assert len(first.json()["results"]) == 5
            assert first.headers["strict-transport-security"] == "max-age=63072000"
            for path in ("/metrics", "/%6detrics"):  # a worker of the previous release would answer
                hidden = client.get(path)
                assert (hidden.status_code, "x-request-id" in hidden.headers) == (404, False), path
            processes[0].send_signal(signal.SIGTERM)
            refused = []
            for _ in range(40):  # longer than it drains, and slower than the rate limit
                response = client.post("/v1/leads/search", json={"limit": 1}, timeout=30)
                if response.status_code != 200:
                    refused.append((response.status_code, dict(response.headers), response.text))
                time.sleep(0.15)
            assert refused == []
            assert processes[0].poll() is not None
            # What the engines say of it: every connection of the service is encrypted.
            clear = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename LIKE 'siteglass%'"
            assert int(engines.postgres.value(clear)) > 0
            assert engines.postgres.value(f"{clear} AND NOT ssl") == "0"
            settings = load_settings({name: text for name, text in environment.items() if name.startswith("SITEGLASS")})
            with Redis.from_url(settings.redis_url) as redis:
                assert redis.keys(f"{PREFIX}*")
            # No service is left. What haproxy answers by itself is in the counts that the rules read.
            processes[1].kill()
            time.sleep(4)  # haproxy takes it out after two checks
            before = _failures(counts)
            assert [client.get("/v1/leads/values").json()["error"] for _ in range(3)] == ["UNAVAILABLE"] * 3
            assert _failures(counts) == before + 3
    finally:
        for process in processes:
            process.kill()
            process.wait(10)


def _failures(port: int) -> float:
    rules = (CHECKOUT / "deploy/prometheus/slo.yaml").read_text()
    series = re.search(r'(haproxy_\w+){job="haproxy", (.*?)}\[5m', rules)
    assert series
    return total(scrape(port), series[1], **dict(re.findall(r'(\w+)="(.*?)"', series[2]))) or 0.0


def _is_ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def test_the_doctor_finds_all_engines_and_opt_outs_work(environment: dict[str, str]) -> None:
    told = command(environment, "suppress", "add", "example.com", "--reason", "ticket 1")
    assert told.startswith("1 values, 1 of them new")
    found = findings(environment, code=0)
    assert {found[engine]["state"] for engine in ENGINES} == {"ok"}


def _another_authority(environment: dict[str, str], engines: Secured, folder: Path) -> dict[str, str]:
    """A stranger between the service and its engines: certificates that another authority signed."""
    subprocess.run([CHECKOUT / "deploy/prepare", folder / "other"], check=True)
    other = str(folder / "other/tls/ca.pem")
    return environment | {f"SITEGLASS_{name}_CA": other for name in ("POSTGRES", "REDIS", "OPENSEARCH")}


def _another_password(environment: dict[str, str], engines: Secured, folder: Path) -> dict[str, str]:
    changed = dict(environment)
    for name in ("postgres_dsn", "redis_url", "opensearch_urls"):
        changed[f"SITEGLASS_{name.upper()}"] = re.sub(r"[0-9a-f]{48}", "wrong", engines.secret(name))
    return changed


def _no_tls(environment: dict[str, str], engines: Secured, folder: Path) -> dict[str, str]:
    """Plain connections with the right passwords."""
    changed = {name: text for name, text in environment.items() if not name.endswith(("_CA", "_CERTIFICATE"))}
    return changed | {
        "SITEGLASS_POSTGRES_DSN": engines.secret("postgres_dsn").replace("verify-full", "disable"),
        "SITEGLASS_REDIS_URL": engines.secret("redis_url").replace("rediss:", "redis:"),
        "SITEGLASS_OPENSEARCH_URLS": engines.secret("opensearch_urls").replace("https:", "http:"),
    }


def test_redis_listens_on_loopback_only(engines: Secured) -> None:
    port = engines.redis.port
    socket.create_connection(("127.0.0.1", port), timeout=5).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port), timeout=5)


@pytest.mark.parametrize("change", [_another_authority, _another_password, _no_tls])
def test_no_engine_is_reached_otherwise(
    engines: Secured, environment: dict[str, str], tmp_path: Path, change: Any
) -> None:
    found = findings(change(environment, engines, tmp_path), code=1)
    assert {engine: found[engine]["state"] for engine in ENGINES} == dict.fromkeys(ENGINES, "wrong")
    assert not re.search(r"[0-9a-f]{48}", json.dumps(found))
