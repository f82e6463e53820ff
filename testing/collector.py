"""An OpenTelemetry collector for tests: takes spans over HTTP as a real one does, and keeps them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from testing.loopback_servers import running


@dataclass
class ReceivedSpans:
    """What came, and how the collector behaves from now on."""

    endpoint: str = ""
    spans: list[Span] = field(default_factory=list)
    resource: dict[str, str] = field(default_factory=dict)
    requests: int = 0
    delay_s: float = 0

    def of_trace(self, trace_id: str, count: int, within_s: float = 15) -> list[Span]:
        """The spans of a trace in the order in which they began, once so many have come."""
        deadline = time.monotonic() + within_s
        while True:
            found = [span for span in list(self.spans) if span.trace_id.hex() == trace_id]
            if len(found) >= count or time.monotonic() > deadline:
                return sorted(found, key=lambda span: span.start_time_unix_nano)
            time.sleep(0.02)


def attributes(span: Span) -> dict[str, str | int]:
    """The attributes of a span."""
    return {
        item.key: item.value.int_value if item.value.HasField("int_value") else item.value.string_value
        for item in span.attributes
    }


@contextmanager
def collecting() -> Iterator[ReceivedSpans]:
    """The collector, while it listens."""
    received = ReceivedSpans()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            received.requests += 1
            time.sleep(received.delay_s)
            body = self.rfile.read(int(self.headers["Content-Length"]))
            for of_resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                received.resource = {item.key: item.value.string_value for item in of_resource.resource.attributes}
                received.spans += [span for scope in of_resource.scope_spans for span in scope.spans]
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass  # the sender did not wait

    with running(Server(("127.0.0.1", 0), Handler)) as port:
        received.endpoint = f"http://127.0.0.1:{port}"
        yield received
