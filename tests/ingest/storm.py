"""A gate before OpenSearch that refuses writes for a while, as a node does whose queue is full."""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

_TOO_MANY = {"type": "rejected_execution_exception", "reason": "the queue is full"}


@contextlib.contextmanager
def refusing_writes(engine: str, refused: int) -> Iterator[tuple[str, list[int]]]:
    """The address of a gate to the engine, and what it answered to bulk requests.

    Of those, the first ones are refused: by turns as a whole, and each lead by itself.
    """
    statuses: list[int] = []
    numbers = itertools.count()

    class Gate(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            is_bulk = "_bulk" in self.path
            number = next(numbers) if is_bulk else refused
            if number >= refused:
                kept = {"Content-Type": self.headers.get("Content-Type", "application/json")}
                found = client.request(self.command, self.path, content=body, headers=kept)
                status, content = found.status_code, found.content
            elif number % 2:
                status, content = 429, json.dumps({"error": _TOO_MANY, "status": 429}).encode()
            else:
                actions = [json.loads(line) for line in body.splitlines()[::2]]
                items = [{"index": {**action["index"], "status": 429, "error": _TOO_MANY}} for action in actions]
                status, content = 200, json.dumps({"took": 1, "errors": True, "items": items}).encode()
            if is_bulk:
                statuses.append(status)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_any

        def log_message(self, *_: object) -> None:
            """Nothing: the test says what it saw."""

    with httpx.Client(base_url=engine, timeout=60, trust_env=False) as client:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Gate)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", statuses
        finally:
            server.shutdown()
            thread.join(10)
            server.server_close()
