"""The engine answers, but not as it should: errors, nonsense, silence. Nothing of that is shown."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from siteglass.settings import Settings
from testing.api_calls import DIAGNOSE, ENRICH, FACETS, INTERPRET, SEARCH, refused
from testing.service import serving

SECRET_TEXT = "org.engine.SecretException: shard 7 of node-secret burnt down"


@contextmanager
def _engine(status: int, body: str, delay_s: float = 0) -> Iterator[str]:
    """An engine that gives one answer to everything."""

    class Answer(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            time.sleep(delay_s)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_POST = do_HEAD = _answer

        def log_message(self, format: str, *args: object) -> None:
            pass

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                return  # the service did not wait

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


PARTIAL = (
    '{"responses": ['
    '{"timed_out": false, "_shards": {"total": 2, "successful": 1, "failed": 1, "failures": [{"reason": "secret"}]},'
    ' "hits": {"total": {"value": 0, "relation": "eq"}, "hits": []}, "status": 200},'
    '{"timed_out": true, "_shards": {"total": 2, "successful": 1, "failed": 1},'
    ' "hits": {"total": {"value": 0, "relation": "eq"}, "hits": []}, "status": 200}],'
    ' "timed_out": true, "_shards": {"total": 2, "successful": 1, "failed": 1},'
    ' "hits": {"total": {"value": 0, "relation": "eq"}, "hits": []}}'
)


@pytest.mark.promise("errors.no_engine", cases={"too late": "setting.search_timeout_ms"})
@pytest.mark.parametrize(
    ("status", "body", "delay_s"),
    [
        (500, f'{{"error": {{"reason": "{SECRET_TEXT}"}}, "status": 500}}', 0),
        (503, SECRET_TEXT, 0),
        (429, f'{{"error": {{"reason": "{SECRET_TEXT}"}}, "status": 429}}', 0),
        (404, f'{{"error": {{"reason": "{SECRET_TEXT}"}}, "status": 404}}', 0),
        (200, PARTIAL, 0),
        (200, "{}", 0.5),
    ],
    ids=["500", "503", "429", "404", "in part", "too late"],
)
def test_faults_of_the_engine(own_settings: Settings, status: int, body: str, delay_s: float) -> None:
    with (
        _engine(status, body, delay_s) as url,
        serving(replace(own_settings, opensearch_urls=(url,), search_timeout_ms=200)) as client,
    ):
        response = client.post(SEARCH, json={"keywords": ["dentist"]})
        refused(response, 503, "UNAVAILABLE")
        assert int(response.headers["retry-after"]) >= 1
        assert "ecret" not in response.text


@pytest.mark.promise("errors.no_engine")
@pytest.mark.parametrize("body", ["", "<html>secret</html>", "[]", "{}", '{"docs": "secret"}'])
def test_nonsense_of_the_engine(own_settings: Settings, body: str) -> None:
    with _engine(200, body) as url, serving(replace(own_settings, opensearch_urls=(url,))) as client:
        bodies: dict[str, dict[str, Any]] = {ENRICH: {"domains": ["own-host.com"]}}
        for path in (SEARCH, INTERPRET, FACETS, DIAGNOSE, ENRICH):
            asked = bodies.get(path, {})
            response = client.post(path, json=asked)
            assert response.status_code in (500, 503)
            refused(response, response.status_code, "INTERNAL" if response.status_code == 500 else "UNAVAILABLE")
            assert "secret" not in response.text
            assert "Traceback" not in response.text
