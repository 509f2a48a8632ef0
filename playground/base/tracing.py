"""Traces of runs: spans of OpenTelemetry, and the `traceparent` header of their calls.

A run has one span, and a child span for each of its calls. Their attributes have no bodies, no
query strings and no credentials. Spans are exported if `OTEL_…` variables ask for it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from opentelemetry import context, trace
from opentelemetry.trace import Span, SpanContext, SpanKind, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from playground import __version__
from playground.protocols.calls import HttpCall
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.headers import has_traceparent
from playground.protocols.origins import origin_of
from playground.protocols.problems import Problem
from playground.protocols.response import read_head

#: Without an exporter its spans do nothing.
_tracer = trace.get_tracer("playground", __version__)


class RunTrace:
    """The span of one run, below that of the code that creates it, and the spans of its calls.

    `sends_header`: each call has a `traceparent` header, unless it has one of its own. `redact`
    removes secrets from a URL.
    """

    def __init__(self, run: UUID, *, sends_header: bool, redact: Callable[[str], str]) -> None:
        self._run, self._sends_header, self._redact = run, sends_header, redact
        self._context = context.get_current()

    @contextlib.contextmanager
    def active(self, name: str, url: str, attributes: Mapping[str, Any]) -> Iterator[None]:
        """Let the run's span be the current one in the block."""
        found = {**attributes, **_server(self._redact(url))}
        with self._start(name, SpanKind.INTERNAL, found) as span:
            self._context = trace.set_span_in_context(span, self._context)
            with trace.use_span(span, record_exception=False, set_status_on_exception=False):
                yield

    def call(self, call: HttpCall) -> tuple[HttpCall, Span]:
        """Return the next call as it is to be sent, and its span, a context that ends it."""
        origin = origin_of(call.url)
        url = self._redact(f"{origin}{urlsplit(call.url).path}" if origin else "")
        found = {"http.request.method": call.method, "url.full": url, **_server(url)}
        span = self._start(call.method, SpanKind.CLIENT, found)
        if self._sends_header and not has_traceparent(call.headers):
            added: dict[str, str] = {}
            TraceContextTextMapPropagator().inject(added, trace.set_span_in_context(span))
            call = replace(call, headers=(*call.headers, *added.items()))
        return call, span

    def _start(self, name: str, kind: SpanKind, attributes: Mapping[str, Any]) -> Span:
        span = _tracer.start_span(
            name, self._context, kind, attributes,
            record_exception=False, set_status_on_exception=False,
        )  # fmt: skip
        parent = trace.get_current_span(self._context).get_span_context()
        if self._sends_header and span.get_span_context() in (parent, trace.INVALID_SPAN_CONTEXT):
            # Nothing is exported: the trace id is the run's key, with no trace given.
            flags = parent.trace_flags if parent.is_valid else TraceFlags(TraceFlags.SAMPLED)
            trace_id, span_id = parent.trace_id or self._run.int, secrets.randbits(64) or 1
            span = trace.NonRecordingSpan(SpanContext(trace_id, span_id, False, flags))
        return span


def is_recording() -> bool:
    """Return whether spans do anything: there is an exporter, or another library records them."""
    prepare()
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def observe(span: Span, frames: Sequence[Frame]) -> None:
    """Add to the span of a call what its next frames say: the status, or why it has failed."""
    for frame in frames if span.is_recording() else ():
        if frame.kind is FrameKind.HEAD:
            status = read_head(frame.data)[0]
            span.set_attribute("http.response.status_code", status)
            if status >= 400:
                set_error(span, str(status), f"status {status}")
        elif frame.kind is FrameKind.ERROR:
            problem = Problem.from_bytes(frame.data)
            set_error(span, problem.stage, problem.state)


def set_error(span: Span, error_type: str, description: str) -> None:
    span.set_attribute("error.type", str(error_type))
    span.set_status(trace.StatusCode.ERROR, description)


def _server(url: str) -> Mapping[str, Any]:
    """Return the attributes for the server of a URL."""
    parts = urlsplit(origin_of(url))
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return {"server.address": parts.hostname, "server.port": port} if parts.hostname else {}


def is_configured(environment: Mapping[str, str]) -> bool:
    """Return whether the standard variables ask for an export of traces over OTLP."""
    names = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    has_endpoint = any(environment.get(name, "").strip() for name in names)
    exporters = environment.get("OTEL_TRACES_EXPORTER", "").strip()
    is_disabled = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return not is_disabled and ("otlp" in exporters.lower() if exporters else has_endpoint)


@cache
def prepare() -> None:
    """Export spans, if that is configured; a server does so before it has runs to drive."""
    if not is_configured(os.environ) or find_spec("opentelemetry.sdk") is None:
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # The process waits for the last spans at its end.
    os.environ.setdefault("OTEL_EXPORTER_OTLP_TIMEOUT", "2")
    ours = Resource.create({"service.name": "nlweb-playground", "service.version": __version__})
    provider = TracerProvider(resource=ours.merge(OTELResourceDetector().detect()))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
