"""Spans in OpenTelemetry's own form, and the thread that sends them to a collector. Needs the extra `tracing`.

Only `tracing.open_tracing` imports this, and only where an endpoint is set.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    StatusCode,
    TraceFlags,
    Tracer,
    set_span_in_context,
)

from siteglass import __version__

# Spans that wait for the collector in a worker, some 2 MB. Further ones push out the oldest.
MAX_QUEUE = 2_048
MAX_BATCH = 512
SEND_EVERY_MS = 1_000
# For a batch and all its attempts.
SEND_TIMEOUT_S = 3
# What is left when the worker stops has this long; then it is dropped.
CLOSE_S = 2.0


def _traceparent(span: Span) -> str:
    context = span.get_span_context()
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-01"


class StepSpan:
    """A step of a traced request, while it runs."""

    __slots__ = ("_span",)

    def __init__(self, span: Span) -> None:
        self._span = span

    @property
    def traceparent(self) -> str:
        """What the next service gets, so that its spans are below this one."""
        return _traceparent(self._span)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            # Not its message, which may quote an address.
            self._span.set_attribute("error.type", kind.__name__)
            self._span.set_status(StatusCode.ERROR)
        self._span.end()


class RequestSpan:
    """A traced request; its steps are below it."""

    __slots__ = ("_context", "_root", "_tracer")

    def __init__(self, tracer: Tracer, root: Span) -> None:
        self._tracer = tracer
        self._root = root
        self._context = set_span_in_context(root, Context())

    @property
    def traceparent(self) -> str:
        """What the caller gets."""
        return _traceparent(self._root)

    def start_step(self, name: str, *, is_call: bool) -> StepSpan:
        """A span that begins now; `is_call`: another process does the work."""
        kind = SpanKind.CLIENT if is_call else SpanKind.INTERNAL
        return StepSpan(self._tracer.start_span(name, self._context, kind))

    def describe(self, attributes: Mapping[str, str | int], *, failed: bool) -> None:
        """What is known when the response is."""
        self._root.set_attributes(attributes)
        if failed:
            self._root.set_status(StatusCode.ERROR)

    def end(self) -> None:
        """It is answered."""
        self._root.end()


class Collector:
    """Sends spans to a collector from a separate thread. A collector that is slow or gone costs spans, never time."""

    def __init__(self, endpoint: str) -> None:
        self._exporter = OTLPSpanExporter(_traces_url(endpoint), timeout=SEND_TIMEOUT_S)
        resource = Resource.create({"service.name": "siteglass", "service.version": __version__})
        # Which requests are traced is decided before: see `tracing`.
        self._provider = TracerProvider(ALWAYS_ON, resource, shutdown_on_exit=False)
        self._tracer = self._provider.get_tracer("siteglass", __version__)

    def start(self) -> None:
        """Start the thread. In a worker only: the process that starts workers checks the settings, too."""
        self._provider.add_span_processor(
            BatchSpanProcessor(
                self._exporter,
                max_queue_size=MAX_QUEUE,
                schedule_delay_millis=SEND_EVERY_MS,
                max_export_batch_size=MAX_BATCH,
            )
        )

    def start_request(self, name: str, trace_id: int, parent_id: int) -> RequestSpan:
        """The span of a request that begins now, below the caller's span or, with zeros, a new trace."""
        parent = SpanContext(trace_id, parent_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
        context = set_span_in_context(NonRecordingSpan(parent), Context())
        return RequestSpan(self._tracer, self._tracer.start_span(name, context, SpanKind.SERVER))

    def close(self) -> None:
        """Send what is left, within a bound: an exporter that is shut down drops batches instead of sending them."""
        give_up = threading.Timer(CLOSE_S, self._exporter.shutdown)
        give_up.start()
        self._provider.shutdown()
        give_up.cancel()


def _traces_url(endpoint: str) -> str:
    """Where OTLP over HTTP takes traces, below the address of a collector."""
    return endpoint if endpoint.endswith("/v1/traces") else f"{endpoint.rstrip('/')}/v1/traces"
