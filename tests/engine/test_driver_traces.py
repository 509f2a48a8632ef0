"""Traces of runs: the headers that an agent receives, and the spans that are exported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from playground import tracing
from playground.limits import RunLimits
from playground.models import Run
from playground.protocols.frames import FrameKind
from playground.rendering.timeline import run_timeline
from playground.tracing import attach
from tests.engine.conftest import Send
from tests.support import mcp_servers
from tests.support.servers import LAST_CHUNK, STREAM_HEAD, chunk, free_port, reply, serve

pytest.importorskip("opentelemetry.sdk")

START = b'event: start\ndata: {"_meta": {"response_type": "answer", "version": "0.55"}}\n\n'
COMPLETE = b'event: complete\ndata: {"_meta": {"response_type": "answer", "version": "0.55"}}\n\n'
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


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Export spans to memory; yields a function that returns those that have ended."""
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), tracing.new_provider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "_tracer", lambda: provider.get_tracer("playground"))
    yield exporter.get_finished_spans
    provider.shutdown()


class TestHeaders:
    async def test_of_every_call_of_a_run(self, send: Send, settings: Any) -> None:
        settings.TRACEPARENT = True
        with mcp_servers.serving(mcp_servers.Recipes()) as url:
            run = await send(url, agent={"binding": "mcp"})
        assert run.state == "completed"
        frames = await sync_to_async(lambda: list(run.read_frames()))()
        values = traceparents([frame.data for frame in frames if frame.kind is FrameKind.CALL])
        assert len(values) == 3
        assert {value[:36] for value in values} == {f"00-{run.pk.hex}-"}
        assert len(set(values)) == len(values)
        assert (await sync_to_async(run_timeline)(run)).trace_id == run.pk.hex

    async def test_off_by_default(self, send: Send) -> None:
        async with serve(*STREAM) as server:
            run = await send(server.url)
        assert traceparents(server.requests) == [""]
        assert (await sync_to_async(run_timeline)(run)).trace_id == ""

    async def test_one_of_the_request_stays(self, send: Send, settings: Any) -> None:
        settings.TRACEPARENT = True
        async with serve(*STREAM) as server:
            await send(server.url, agent={"headers": [["traceparent", TRACEPARENT]]})
        assert traceparents(server.requests) == [TRACEPARENT]

    async def test_a_trace_is_continued(self, send: Send, settings: Any) -> None:
        settings.TRACEPARENT = True
        async with serve(*STREAM) as server:
            with attach(TRACEPARENT):
                await send(server.url)
        assert traceparents(server.requests)[0].startswith(TRACEPARENT[:36])


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
        expected = f"00-{call.context.trace_id:032x}-{call.context.span_id:016x}-01"
        assert traceparents(server.requests) == [expected]

    async def test_without_headers(self, send: Send, spans: Any) -> None:
        async with serve(*STREAM) as server:
            await send(server.url)
        assert len(spans()) == 2
        assert traceparents(server.requests) == [""]

    async def test_a_trace_is_continued(self, send: Send, spans: Any) -> None:
        async with serve(*STREAM) as server:
            with attach(TRACEPARENT):
                await send(server.url)
        _, whole = spans()
        assert f"{whole.context.trace_id:032x}" == TRACEPARENT[3:35]
        assert f"{whole.parent.span_id:016x}" == TRACEPARENT[36:52]

    async def test_an_error_status(self, send: Send, spans: Any) -> None:
        body = {"_meta": {"response_type": "failure"}, "error": {"code": "INTERNAL_ERROR"}}
        script = reply(json.dumps(body).encode(), status="503 Service Unavailable")
        async with serve(script) as server:
            await send(server.url)
        call, whole = spans()
        assert call.attributes["http.response.status_code"] == 503
        assert (call.attributes["error.type"], call.status.is_ok) == ("503", False)
        assert whole.attributes["playground.run.outcome"] == "failure"

    async def test_no_connection(self, send: Send, spans: Any) -> None:
        await send(f"http://127.0.0.1:{free_port()}")
        call, whole = spans()
        for span in (call, whole):
            assert span.attributes["error.type"] == "connect"
            assert span.status.status_code.name == "ERROR"
            assert "failed" in span.status.description

    async def test_a_limit(self, send: Send, spans: Any) -> None:
        async with serve(*STREAM) as server:
            await send(server.url, limits=RunLimits(max_bytes=50))
        call, whole = spans()
        assert whole.attributes["playground.limit"] == "max_bytes"
        assert call.attributes["error.type"] == "limit"

    async def test_a_run_that_is_stopped(self, begin: Any, spans: Any) -> None:
        from playground import engine
        from tests.support.servers import HOLD

        async with serve(STREAM_HEAD, chunk(START), HOLD) as server:
            run, task = await begin(server.url)
            await server.asked.wait()
            engine.stop(run)
            await task
        _, whole = spans()
        assert whole.attributes["playground.run.state"] == "cancelled"
        assert whole.status.is_unset

    async def test_no_secret_is_in_an_attribute(self, begin: Any, spans: Any) -> None:
        """In the path and the query of the URL, and in what the agent sends back."""

        def answer(_: bytes) -> tuple[bytes, ...]:
            return (reply(f"<b>{SECRET}</b>".encode(), "text/html"),)

        async with serve(answer=answer) as server:
            run = await self._run_with_secret(begin, f"{server.url}/x/{SECRET}?key={SECRET}")
        assert run.state == "failed"
        assert any(SECRET.encode() in request for request in server.requests)
        found = spans()
        assert len(found) == 2
        assert SECRET not in "".join(span.to_json() for span in found)
        assert "key=" not in "".join(span.to_json() for span in found)

    async def _run_with_secret(self, begin: Any, url: str) -> Run:
        from playground import engine
        from playground.models import Agent

        def record() -> Any:
            prepared = engine.request_to(
                Agent(name="scripted", url=url), {"query": {"text": "eggs"}}
            )
            return engine.create_run(prepared), prepared.target

        run, target = await sync_to_async(record)()
        await engine.start(run, target, redact=[SECRET])
        await run.arefresh_from_db()
        return run
