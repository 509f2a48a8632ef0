"""Traces of runs: the headers that an agent receives, and the spans that are exported."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from opentelemetry import context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from playground.base import tracing
from playground.base.limits import RunLimits
from playground.engine import tasks
from playground.models import Run
from tests.engine.conftest import COMPLETE, START, Begin, Send, calls_of
from tests.support import mcp_servers
from tests.support.servers import (
    HOLD,
    LAST_CHUNK,
    STREAM_HEAD,
    Script,
    chunk,
    free_port,
    reply,
    serve,
)

pytest.importorskip("opentelemetry.sdk")

STREAM = (STREAM_HEAD, chunk(START), chunk(COMPLETE), LAST_CHUNK)
SECRET = "hunter2hunter2"
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def traceparents(requests: list[bytes]) -> list[str]:
    """Return the `traceparent` header of each request; "" if it has none."""
    found = []
    for request in requests:
        lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")
        values = [line.partition(":")[2] for line in lines if line.startswith("traceparent:")]
        assert len(values) <= 1
        found.append(values[0].strip() if values else "")
    return found


@contextlib.contextmanager
def attached(traceparent: str) -> Iterator[None]:
    """Continue a trace in the block."""
    found = TraceContextTextMapPropagator().extract({"traceparent": traceparent})
    token = context.attach(found)
    yield
    context.detach(token)


@sync_to_async
def timeline_of(run: Run) -> str:
    return Client().get(f"/runs/{run.pk}/timeline/").content.decode()


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Export spans to memory; yields a function that returns those that have ended."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "_tracer", provider.get_tracer("playground"))
    monkeypatch.setattr(tracing.trace, "get_tracer_provider", lambda: provider)
    yield exporter.get_finished_spans
    provider.shutdown()


class TestHeaders:
    async def test_of_every_call_of_a_run(self, send: Send, settings: Any) -> None:
        settings.TRACEPARENT = True
        with mcp_servers.serving(mcp_servers.Recipes()) as url:
            run = await send(url, agent={"binding": "mcp"})
        values = traceparents(await calls_of(run))
        assert (run.state, len(values)) == ("completed", 3)
        assert {value[:36] for value in values} == {f"00-{run.pk.hex}-"}
        assert {value[-3:] for value in values} == {"-01"}
        assert len(set(values)) == len(values)
        assert run.pk.hex in await timeline_of(run)

    async def test_off_by_default(self, send: Send) -> None:
        async with serve(*STREAM) as server:
            run = await send(server.url)
        assert traceparents(server.requests) == [""]
        assert run.pk.hex not in await timeline_of(run)

    async def test_one_of_the_request_stays(self, send: Send, settings: Any) -> None:
        settings.TRACEPARENT = True
        async with serve(*STREAM) as server:
            await send(server.url, agent={"headers": [["traceparent", TRACEPARENT]]})
        assert traceparents(server.requests) == [TRACEPARENT]

    @pytest.mark.parametrize("flags", ["01", "00"])
    async def test_a_trace_is_continued(self, send: Send, settings: Any, flags: str) -> None:
        settings.TRACEPARENT = True
        async with serve(*STREAM) as server:
            with attached(TRACEPARENT[:-2] + flags):
                await send(server.url)
        (value,) = traceparents(server.requests)
        assert (value[:36], value[-2:]) == (TRACEPARENT[:36], flags)
        assert value[36:52] != TRACEPARENT[36:52]


#: How a call ends: the server's script, and attributes of the spans of the call and of the run.
ENDS: dict[str, tuple[Script | None, dict[str, Any], dict[str, Any]]] = {
    "an error status": (
        [reply(b'{"_meta": {"response_type": "failure"}, "error": {"code": "INTERNAL_ERROR"}}',
               status="503 Service Unavailable")],
        {"http.response.status_code": 503, "error.type": "503"},
        {"playground.run.outcome": "failure"},
    ),
    "no connection": (None, {"error.type": "connect"}, {"error.type": "connect"}),
    "a limit": (STREAM * 2, {"error.type": "limit"}, {"playground.limit": "max_bytes"}),
}  # fmt: skip


class TestSpans:
    async def test_a_run_and_its_call(self, send: Send, spans: Any, settings: Any) -> None:
        settings.TRACEPARENT = True
        async with serve(*STREAM) as server:
            run = await send(server.url)
        call, whole = spans()
        assert (whole.name, call.name) == ("ask nlweb", "POST")
        assert whole.parent is None
        assert call.parent.span_id == whole.context.span_id
        assert dict(whole.attributes) == {
            "playground.run.id": str(run.pk),
            "playground.run.kind": "ask",
            "playground.run.source": "user",
            "playground.protocol": "nlweb",
            "playground.binding": "http",
            "playground.version": run.version,
            "server.address": "127.0.0.1",
            "server.port": server.port,
            "playground.run.state": "completed",
            "playground.run.outcome": "answer",
            "playground.run.events": 2,
            "playground.run.bytes": run.bytes,
        }
        assert dict(call.attributes) == {
            "http.request.method": "POST",
            "url.full": f"{server.url}/ask",
            "server.address": "127.0.0.1",
            "server.port": server.port,
            "http.response.status_code": 200,
        }
        assert whole.status.is_unset
        assert call.status.is_unset
        # The spans of the agent join the trace below that of the call.
        expected = f"00-{call.context.trace_id:032x}-{call.context.span_id:016x}"
        assert [value[:52] for value in traceparents(server.requests)] == [expected]

    async def test_a_trace_is_continued_without_headers(self, send: Send, spans: Any) -> None:
        async with serve(*STREAM) as server:
            with attached(TRACEPARENT):
                await send(server.url)
        _, whole = spans()
        assert f"{whole.context.trace_id:032x}" == TRACEPARENT[3:35]
        assert f"{whole.parent.span_id:016x}" == TRACEPARENT[36:52]
        assert traceparents(server.requests) == [""]

    @pytest.mark.parametrize("end", ENDS)
    async def test_a_call_that_fails(self, send: Send, spans: Any, end: str) -> None:
        script, of_call, of_run = ENDS[end]
        async with serve(*script or ()) as server:
            url = server.url if script else f"http://127.0.0.1:{free_port()}"
            await send(url, limits=RunLimits(max_bytes=100))
        call, whole = spans()
        assert not call.status.is_ok
        for span, expected in ((call, of_call), (whole, of_run)):
            assert expected.items() <= dict(span.attributes).items()

    async def test_a_run_that_is_stopped(self, begin: Begin, spans: Any) -> None:
        async with serve(STREAM_HEAD, chunk(START), HOLD) as server:
            run, task = await begin(server.url)
            await server.asked.wait()
            tasks.stop(run)
            await task
        _, whole = spans()
        assert whole.attributes["playground.run.state"] == "cancelled"
        assert whole.status.is_unset

    async def test_no_secret_is_in_an_attribute(self, send: Send, spans: Any) -> None:
        """In the path and the query of the URL, and in what the agent sends back."""
        async with serve(reply(f"<b>{SECRET}</b>".encode(), "text/html")) as server:
            run = await send(f"{server.url}/x/{SECRET}?key={SECRET}", redact=[SECRET])
        assert run.state == "failed"
        assert any(SECRET.encode() in request for request in server.requests)
        found = "".join(span.to_json() for span in spans())
        assert found
        assert SECRET not in found
        assert "key=" not in found


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://127.0.0.1:4318/v1/metrics"}, False),
        ({"OTEL_TRACES_EXPORTER": "console, OTLP"}, True),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a"}, False),
        ({"OTEL_SDK_DISABLED": "True", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a"}, False),
    ],
)
def test_the_standard_variables(environment: Mapping[str, str], expected: bool) -> None:
    assert tracing.is_configured(environment) is expected
