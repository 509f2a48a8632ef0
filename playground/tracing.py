"""Traces of runs: the `traceparent` header of their calls, and spans for OpenTelemetry.

Spans are exported over OTLP/HTTP if the packages of the extra `otel` are installed and the standard
variables `OTEL_…` name an exporter or an endpoint; otherwise nothing of OpenTelemetry is imported.
A run has one span, and a child span for each of its calls. Their attributes have no bodies, no
query strings and no credentials.

A position in a trace is passed from one task to another as the value of a `traceparent` header:
`current_traceparent` in the first one, `attach` in the other.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import logging
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from playground import __version__
from playground.protocols.calls import HttpCall
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.http import read_head
from playground.protocols.origins import origin_of
from playground.protocols.problems import Problem
from playground.protocols.trace_context import (
    HEADER,
    TraceParent,
    has_traceparent,
    parse_traceparent,
)

logger = logging.getLogger(__name__)

#: Seconds that the end of the process waits for the last spans to be exported.
SHUTDOWN_SECONDS = 2.0
#: States in which a run ends without an error of the agent or the playground.
_WITHOUT_ERROR = frozenset({"completed", "cancelled"})

Attributes = Mapping[str, str | int]

#: Position in the trace of the code that is running.
_current: ContextVar[TraceParent | None] = ContextVar("traceparent", default=None)


def current_traceparent() -> str | None:
    """Return the position of the running code in its trace; None outside of a trace."""
    position = _current.get()
    return str(position) if position else None


@contextlib.contextmanager
def attach(traceparent: str | None) -> Iterator[None]:
    """Continue a trace in the block: runs that are created in it become part of the trace.

    None, or a value that is not valid, continues none.
    """
    token = _current.set(parse_traceparent(traceparent or ""))
    try:
        yield
    finally:
        _current.reset(token)


class RunTrace:
    """The trace of one run. Continues the trace of the code that creates it, if there is one."""

    def __init__(
        self,
        run: UUID,
        *,
        sends_header: bool,
        redact: Callable[[str], str] = str,
    ) -> None:
        """Trace the run with this key.

        If it `sends_header`, each call has a `traceparent` header unless it has one of its own.
        `redact` removes secrets from a URL.
        """
        self._run = run
        self._sends_header = sends_header
        self._redact = redact
        self._parent = _current.get()
        self._tracer = _tracer()
        #: The span, once the run is driven.
        self._span: Any = None
        self._position: TraceParent | None = None

    @contextlib.contextmanager
    def active(self, name: str, url: str, attributes: Attributes) -> Iterator[None]:
        """Be the trace of the block, in which the run is driven; its span ends with the block.

        `attributes` of the span are named `playground.…`.
        """
        if self._tracer:
            found = {f"playground.{key}": value for key, value in attributes.items()}
            found |= {"playground.run.id": str(self._run), **_server(self._redact(url))}
            context = _context(self._parent)
            self._span = self._tracer.start_span(name, context=context, attributes=found)
            self._position = _position_of(self._span)
        elif self._sends_header:
            self._position = self._new_position()
        token = _current.set(self._position)
        try:
            yield
        finally:
            _current.reset(token)
            if self._span:
                self._span.end()

    def _new_position(self) -> TraceParent:
        """Return a position without a span: the trace id is the run's key, with no trace given."""
        trace_id = self._parent.trace_id if self._parent else self._run.hex
        sampled = self._parent is None or self._parent.sampled
        return TraceParent(trace_id, secrets.token_hex(8), sampled)

    def note_end(self, state: str, problem: Problem | None, attributes: Attributes) -> None:
        """Add the final state to the span, and an error unless the run has completed."""
        if self._span is None:
            return
        self._span.set_attribute("playground.run.state", state)
        for key, value in attributes.items():
            self._span.set_attribute(f"playground.{key}", value)
        if problem and problem.limit:
            self._span.set_attribute("playground.limit", problem.limit)
        if state not in _WITHOUT_ERROR:
            _set_error(self._span, problem.stage if problem else state, state)

    def call(self, call: HttpCall) -> CallTrace:
        """Return the trace of the next call, as a context manager for the time that it takes."""
        span = None
        if self._span:
            url = self._redact(_without_query(call.url))
            span = self._tracer.start_span(
                call.method,
                context=_context(self._position),
                kind=_client_kind(),
                attributes={"http.request.method": call.method, "url.full": url, **_server(url)},
            )
        if self._sends_header and not has_traceparent(call.headers):
            position = _position_of(span) if span else self._new_position()
            call = replace(call, headers=(*call.headers, (HEADER, str(position))))
        return CallTrace(call, span)


class CallTrace:
    """The trace of one call: the call as it is to be sent, and its span."""

    def __init__(self, call: HttpCall, span: Any = None) -> None:
        self.call = call
        self._span = span
        self._has_status = False

    def __enter__(self) -> CallTrace:
        return self

    def __exit__(self, *_: object) -> None:
        if self._span:
            self._span.end()

    def observe(self, frames: Sequence[Frame]) -> None:
        """Add to the span what the next frames say: the status, or why the call has failed."""
        if self._span is None:
            return
        if not self._has_status:
            for frame in frames:
                if frame.kind is FrameKind.HEAD:
                    self._note_status(read_head(frame.data)[0])
        if frames[-1].kind is FrameKind.ERROR:
            problem = Problem.from_bytes(frames[-1].data)
            _set_error(self._span, problem.stage, problem.state)

    def _note_status(self, status: int) -> None:
        self._has_status = True
        self._span.set_attribute("http.response.status_code", status)
        if status >= 400:
            _set_error(self._span, str(status), f"status {status}")


def is_configured(environment: Mapping[str, str]) -> bool:
    """Return whether the standard variables ask for an export of traces over OTLP."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if exporters := environment.get("OTEL_TRACES_EXPORTER", "").strip().lower():
        return "otlp" in [name.strip() for name in exporters.split(",")]
    names = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    return any(environment.get(name, "").strip() for name in names)


def is_installed() -> bool:
    """Return whether the packages of the extra `otel` are installed; import none of them."""
    try:
        return importlib.util.find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:
        return False


def prepare() -> None:
    """Import the packages, if they are needed. A server does so before it has runs to drive."""
    _tracer()


@cache
def _tracer() -> Any:
    """Return the tracer, None where traces are not exported."""
    if not is_configured(os.environ):
        return None
    if not is_installed():
        logger.warning("Traces are not exported: the packages of the extra “otel” are missing")
        return None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = new_provider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    _shut_down_at_exit(provider.shutdown)
    return provider.get_tracer("playground", __version__)


def new_provider() -> Any:
    """Return a provider of tracers that exports nothing yet; `OTEL_…` variables take precedence."""
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider

    ours = {"service.name": "nlweb-playground", "service.version": __version__}
    resource = Resource.create(ours).merge(OTELResourceDetector().detect())
    # Its own handler at exit would wait for an exporter that does not respond.
    return TracerProvider(resource=resource, shutdown_on_exit=False)


def _shut_down_at_exit(shut_down: Callable[[], None]) -> None:
    """Call `shut_down` at the end of the process, which waits for a limited time.

    The thread is started now: at the end some versions of Python start none.
    """
    is_ending = threading.Event()

    def wait() -> None:
        is_ending.wait()
        shut_down()

    thread = threading.Thread(target=wait, name="tracing-shutdown", daemon=True)
    thread.start()

    def end() -> None:
        is_ending.set()
        thread.join(SHUTDOWN_SECONDS)

    atexit.register(end)


def _context(parent: TraceParent | None) -> Any:
    """Return the context of a span below `parent`, or of the first one of a trace."""
    from opentelemetry import trace
    from opentelemetry.context import Context

    if parent is None:
        return Context()
    position = trace.SpanContext(
        int(parent.trace_id, 16),
        int(parent.parent_id, 16),
        is_remote=True,
        trace_flags=trace.TraceFlags(parent.sampled),
    )
    return trace.set_span_in_context(trace.NonRecordingSpan(position), Context())


def _position_of(span: Any) -> TraceParent:
    found = span.get_span_context()
    sampled = bool(found.trace_flags.sampled)
    return TraceParent(f"{found.trace_id:032x}", f"{found.span_id:016x}", sampled)


def _client_kind() -> Any:
    from opentelemetry.trace import SpanKind

    return SpanKind.CLIENT


def _set_error(span: Any, error_type: str, description: str) -> None:
    from opentelemetry.trace import StatusCode

    span.set_attribute("error.type", str(error_type))
    span.set_status(StatusCode.ERROR, description)


def _without_query(url: str) -> str:
    """Return origin and path of a URL; "" if it has no origin."""
    origin = origin_of(url)
    return f"{origin}{urlsplit(url).path}" if origin else ""


def _server(url: str) -> Attributes:
    """Return the attributes for the server of a URL."""
    if not origin_of(url):
        return {}
    parts = urlsplit(origin_of(url))
    default = 443 if parts.scheme == "https" else 80
    return {"server.address": parts.hostname or "", "server.port": parts.port or default}
