"""What the shipped haproxy compresses for callers."""

from __future__ import annotations

import os
import ssl
import subprocess
from collections.abc import Iterator

import httpx
import pytest

from engine_host import CHECKOUT, apt_install, wait_until
from testing.haproxy import HAPROXY
from testing.loopback_servers import Site, certificate, hosting
from testing.ports import free_port

TEXT = b'{"results": []}' * 500


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with hosting(version="HTTP/1.1") as made:
        yield made


@pytest.fixture(scope="module")
def callers(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of haproxy, before a server that answers everything with what the test says."""
    apt_install(HAPROXY, "haproxy")
    folder, port = tmp_path_factory.mktemp("public"), free_port()
    public, key = certificate(folder)
    (folder / "public.pem").write_bytes(public.read_bytes() + key.read_bytes())
    service = f"127.0.0.1:{site.port}"
    given = {"PUBLIC_TLS": str(folder), "PUBLIC_BIND": f"127.0.0.1:{port}", "SERVICE_A": service, "SERVICE_B": service}
    command = [str(HAPROXY), "-f", str(CHECKOUT / "deploy/haproxy/public.cfg")]
    process = subprocess.Popen(command, env={**os.environ, **given})
    trusted = ssl.create_default_context(cafile=public)
    with httpx.Client(base_url=f"https://127.0.0.1:{port}", verify=trusted, trust_env=False) as client:
        try:
            assert wait_until(lambda: _answers(client), 30)
            yield client
        finally:
            process.kill()
            process.wait(10)


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.parametrize(
    ("path", "kind", "compressed"),
    [
        ("/v1/leads/search", "application/json", True),
        ("/v1/ledger", "text/csv", True),
        ("/docs", "text/html; charset=utf-8", True),
        ("/docs/files/1/picture.png", "image/png", False),
        ("/dashboard/files/1/app.js", "application/json", True),
        ("/dashboard/keys", "text/html; charset=utf-8", False),
    ],
)
def test_texts_are_compressed_but_not_pages_with_secrets(
    site: Site, callers: httpx.Client, path: str, kind: str, compressed: bool
) -> None:
    site.say(TEXT, 200, **{"Content-Type": kind})
    response = callers.get(path)
    assert (response.content, response.headers.get("content-encoding") == "gzip") == (TEXT, compressed)
    assert (response.num_bytes_downloaded < len(TEXT) / 10) is compressed
    plain = callers.get(path, headers={"Accept-Encoding": "identity"})
    assert (plain.content, plain.headers.get("content-encoding")) == (TEXT, None)
