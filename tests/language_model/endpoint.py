"""A language model's endpoint for the tests: answers what a test sets, and keeps the requests."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "a key of the endpoint that nobody may see"
NAME = "reader-7b"


def condition(
    field: str, *values: str, said: str, negated: bool = False, operator: str = "is", **more: Any
) -> dict[str, Any]:
    """A condition as a model writes it."""
    return {
        "field": field, "operator": operator, "values": list(values), "negated": negated, "source_text": said, **more,
    }  # fmt: skip


@dataclass
class Endpoint:
    """What the endpoint answers from now on, and what it was asked so far."""

    url: str = ""
    status: int = 200
    body: bytes = b""
    delay_s: float = 0
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    seen_headers: list[dict[str, str]] = field(default_factory=list)

    def begin(self) -> None:
        """Forget what was asked, and answer without conditions."""
        self.delay_s, self.asked, self.seen_headers = 0, [], []
        self.says()

    def says(self, *conditions: Any) -> None:
        """Answer with these conditions."""
        self.writes(json.dumps({"conditions": conditions}))

    def writes(self, content: str) -> None:
        """Answer with this text of the model."""
        message = {"role": "assistant", "content": content}
        self.sends(json.dumps({"choices": [{"index": 0, "message": message}], "usage": {}}).encode())

    def sends(self, body: bytes, status: int = 200, **headers: str) -> None:
        """Answer with these bytes."""
        self.body, self.status, self.headers = body, status, headers


@contextmanager
def listening() -> Iterator[Endpoint]:
    """The endpoint, while it listens."""
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            endpoint.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            endpoint.seen_headers.append({"path": self.path, **self.headers})
            time.sleep(endpoint.delay_s)
            self.send_response(endpoint.status)
            for name, value in endpoint.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(endpoint.body)))
            self.end_headers()
            self.wfile.write(endpoint.body)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass  # whoever asked did not wait for the answer

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield endpoint
    finally:
        server.shutdown()
        thread.join(5)
        server.server_close()
