"""Where the time of a request goes: seconds for its log line, and a trace for an OpenTelemetry collector.

    with span("query"):                  # a step; it does nothing unless the request is traced
        ...
    with timed_span("engine") as step:   # its time is also counted for the log line, of every request
        send(step.traceparent)           # empty unless the request is traced

Traces are off unless an endpoint is set; then a part of the requests is traced. A trace is the request with its steps
below it, one level deep. Its attributes are our own names and numbers: never a caller's text, a domain or an address.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from contextvars import ContextVar, Token
from types import TracebackType
from typing import TYPE_CHECKING, Literal, NamedTuple, Self
from urllib.parse import urlsplit

from siteglass.settings import Settings, SettingsError, variable

if TYPE_CHECKING:
    from siteglass.platform.otlp import Collector, RequestSpan, StepSpan

TRACEPARENT = "traceparent"

# As W3C's Trace Context says: version, trace, span, flags. Later versions may add parts.
_TRACEPARENT = re.compile(
    r"(?!ff)(?P<version>[0-9a-f]{2})-(?!0{32})(?P<trace_id>[0-9a-f]{32})-(?!0{16})(?P<span_id>[0-9a-f]{16})"
    r"-(?P<flags>[0-9a-f]{2})(?P<more>-.*)?"
)
_SAMPLED = 1


class Parent(NamedTuple):
    """The caller's span."""

    trace_id: str
    span_id: str
    is_sampled: bool


def read_traceparent(header: str) -> Parent | None:
    """The span that a caller names; None if the header is not valid, and is therefore ignored."""
    match = _TRACEPARENT.fullmatch(header)
    if match is None or (match["version"] == "00" and match["more"] is not None):
        return None
    return Parent(match["trace_id"], match["span_id"], bool(int(match["flags"], 16) & _SAMPLED))


class NoSpan:
    """A step that is not traced."""

    __slots__ = ()
    traceparent = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


NO_SPAN = NoSpan()


class RequestTrace:
    """A request while it runs: the seconds of its timed steps, and its span if it is traced."""

    __slots__ = ("_request_span", "_token", "seconds", "trace_id")

    def __init__(self, trace_id: str = "", request_span: RequestSpan | None = None) -> None:
        self.trace_id = trace_id
        """The caller's or our own; empty: there is none."""
        self.seconds: dict[str, float] = {}
        """By the name of the step; steps that run at the same time are added up."""
        self._request_span = request_span

    def __enter__(self) -> Self:
        self._token: Token[RequestTrace | None] = _current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _current.reset(self._token)
        if self._request_span is not None:
            self._request_span.end()

    @property
    def traceparent(self) -> str:
        """The header of the response; empty: the request is not traced."""
        return "" if self._request_span is None else self._request_span.traceparent

    def start_step(self, name: str, *, is_call: bool = False) -> StepSpan | NoSpan:
        """A step that begins now."""
        return NO_SPAN if self._request_span is None else self._request_span.start_step(name, is_call=is_call)

    def describe(self, status: int, **attributes: str | int) -> None:
        """Say in the trace what was answered, and to whom."""
        if self._request_span is not None:
            ours = {f"siteglass.{name}": value for name, value in attributes.items()}
            self._request_span.describe({"http.response.status_code": status, **ours}, failed=status >= 500)

    def log_fields(self) -> dict[str, float | str]:
        """The milliseconds of each timed step, and the trace, if there is one."""
        fields: dict[str, float | str] = {f"{name}_ms": round(s * 1e3, 2) for name, s in self.seconds.items()}
        if self.trace_id:
            fields["trace_id"] = self.trace_id
        return fields


# Tasks that a request starts have its value, too: what they ask the engine counts for the request.
_current: ContextVar[RequestTrace | None] = ContextVar("siteglass_request", default=None)


class TimedSpan:
    """A step whose seconds are counted, traced or not."""

    __slots__ = ("_name", "_request", "_started", "_step")

    def __init__(self, request: RequestTrace, name: str) -> None:
        self._request = request
        self._name = name

    def __enter__(self) -> StepSpan | NoSpan:
        self._step = self._request.start_step(self._name, is_call=True)
        self._started = time.perf_counter()
        return self._step

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        seconds = self._request.seconds
        seconds[self._name] = seconds.get(self._name, 0.0) + time.perf_counter() - self._started
        self._step.__exit__(kind, error, trace)


def span(name: str) -> StepSpan | NoSpan:
    """A step of the request that runs, to be used with `with`."""
    request = _current.get()
    return NO_SPAN if request is None else request.start_step(name)


def timed_span(name: Literal["engine", "charge"]) -> TimedSpan | NoSpan:
    """A step that another process does: its time is in the log line of the request as well, as `NAME_ms`."""
    request = _current.get()
    return NO_SPAN if request is None else TimedSpan(request, name)


class Tracing:
    """Begins the trace of each request. One per worker; without a collector, none is traced."""

    def __init__(self, collector: Collector | None = None, ratio: float = 0.0) -> None:
        self._collector = collector
        self._ratio = ratio

    def start(self) -> None:
        """Begin to send."""
        if self._collector is not None:
            self._collector.start()

    async def close(self) -> None:
        """Send what is left, for a few seconds at most."""
        if self._collector is not None:
            await asyncio.to_thread(self._collector.close)

    def begin(self, operation: str, traceparent: str | None) -> RequestTrace:
        """A request with this header, or none.

        A caller can keep a request out of the traces, but not get one in: strangers must not decide how much we store.
        """
        if self._collector is None:
            return RequestTrace()
        parent = read_traceparent(traceparent) if traceparent else None
        if (parent is not None and not parent.is_sampled) or random.random() >= self._ratio:  # noqa: S311 -- guards nothing
            return RequestTrace("" if parent is None else parent.trace_id)
        ids = (0, 0) if parent is None else (int(parent.trace_id, 16), int(parent.span_id, 16))
        request_span = self._collector.start_request(operation, *ids)
        return RequestTrace(request_span.traceparent.split("-")[1], request_span)


def open_tracing(settings: Settings) -> Tracing:
    """Tracing as the settings say; it sends nothing before `start`."""
    if not settings.traces_endpoint:
        return Tracing()
    endpoint = urlsplit(settings.traces_endpoint)
    if endpoint.scheme not in ("http", "https") or not endpoint.netloc:
        raise SettingsError(f"{variable('traces_endpoint')}: expected a URL such as http://collector:4318.")
    if not 0 <= settings.traces_ratio <= 1:
        raise SettingsError(f"{variable('traces_ratio')} must be from 0 to 1, found {settings.traces_ratio:g}.")
    try:
        from siteglass.platform.otlp import Collector
    except ImportError as error:
        raise SettingsError(
            f"{variable('traces_endpoint')} is set, but {error.name} is not installed. Traces need the extra "
            "`tracing`: install deploy/requirements.lock, which contains it, or unset the variable."
        ) from None
    return Tracing(Collector(settings.traces_endpoint), settings.traces_ratio)
