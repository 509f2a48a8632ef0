"""Traces: positions that are passed on, `traceparent` headers, and the end of the export."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping
from uuid import UUID

import pytest

from playground import tracing
from playground.protocols.calls import HttpCall
from playground.protocols.trace_context import parse_traceparent
from playground.tracing import RunTrace, attach, current_traceparent, is_configured

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
RUN = UUID("1234abcd-0000-4000-8000-000000000001")
CALL = HttpCall("POST", "http://agent.example/ask", (("Accept", "*/*"),))


def sent(trace: RunTrace, call: HttpCall = CALL) -> list[str]:
    """Return the `traceparent` headers of a call."""
    with trace.call(call) as traced:
        headers = traced.call.headers
    assert headers[: len(call.headers)] == call.headers
    return [value for name, value in headers if name.lower() == "traceparent"]


class TestPositions:
    def test_none_outside_of_a_trace(self) -> None:
        assert current_traceparent() is None

    def test_one_that_is_attached(self) -> None:
        with attach(TRACEPARENT):
            assert current_traceparent() == TRACEPARENT
        assert current_traceparent() is None

    @pytest.mark.parametrize("value", [None, "", "mine"])
    def test_none_to_continue(self, value: str | None) -> None:
        with attach(TRACEPARENT), attach(value):
            assert current_traceparent() is None


class TestHeaders:
    def test_one_trace_id_for_a_run_and_a_parent_id_for_each_call(self) -> None:
        trace = RunTrace(RUN, sends_header=True)
        with trace.active("ask", "http://agent.example", {}):
            values = [*sent(trace), *sent(trace), current_traceparent() or ""]
        found = [parse_traceparent(value) for value in values]
        assert {position and position.trace_id for position in found} == {RUN.hex}
        assert len({position and position.parent_id for position in found}) == 3
        assert all(position and position.sampled for position in found)

    def test_off(self) -> None:
        trace = RunTrace(RUN, sends_header=False)
        with trace.active("ask", "http://agent.example", {}):
            assert sent(trace) == []
            assert current_traceparent() is None

    @pytest.mark.parametrize("name", ["traceparent", "TraceParent"])
    def test_a_request_with_a_header_of_its_own(self, name: str) -> None:
        trace = RunTrace(RUN, sends_header=True)
        own = HttpCall("POST", CALL.url, ((name, "mine"),))
        with trace.active("ask", CALL.url, {}):
            assert sent(trace, own) == ["mine"]

    @pytest.mark.parametrize("flags", ["01", "00"])
    def test_a_trace_that_is_continued(self, flags: str) -> None:
        with attach(f"{TRACEPARENT[:-2]}{flags}"):
            trace = RunTrace(RUN, sends_header=True)
        # As a task does that is started with an empty context.
        with trace.active("ask", CALL.url, {}):
            (value,) = sent(trace)
        assert value.startswith(f"00-{TRACE}-")
        assert value.endswith(f"-{flags}")
        assert value[36:52] != TRACEPARENT[36:52]


class TestConfiguration:
    @pytest.mark.parametrize(
        ("environment", "expected"),
        [
            ({}, False),
            ({"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, False),
            ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, True),
            ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, True),
            ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://127.0.0.1:4318/v1/metrics"}, False),
            ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
            ({"OTEL_TRACES_EXPORTER": "console, OTLP"}, True),
            ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a"}, False),
            ({"OTEL_TRACES_EXPORTER": "console", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a"}, False),
            ({"OTEL_SDK_DISABLED": "True", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a"}, False),
        ],
    )
    def test_the_standard_variables(self, environment: Mapping[str, str], expected: bool) -> None:
        assert is_configured(environment) is expected

    def test_the_packages_are_missing(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
        monkeypatch.setattr(tracing, "is_installed", lambda: False)
        assert tracing._tracer.__wrapped__() is None
        assert "the packages of the extra “otel” are missing" in caplog.text


@pytest.mark.process
@pytest.mark.parametrize("variable", ["", "OTEL_EXPORTER_OTLP_ENDPOINT"])
def test_what_is_imported_and_how_long_the_end_waits(variable: str) -> None:
    """Without configuration nothing of OpenTelemetry; with it, an exporter that hangs is left."""
    code = f"""
import os, sys, socket
hanging = socket.create_server(("127.0.0.1", 0))  # Accepts, and never responds.
if {variable!r}:
    os.environ[{variable!r}] = f"http://127.0.0.1:{{hanging.getsockname()[1]}}"
from uuid import uuid4
from playground import tracing
tracing.prepare()
assert any(name.startswith("opentelemetry") for name in sys.modules) is bool({variable!r})
trace = tracing.RunTrace(uuid4(), sends_header=False)
with trace.active("ask", "http://agent.example", {{}}):
    pass
print("ended", flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ended\n"
        began = time.monotonic()
        assert process.wait(20) == 0
    # The exporter alone would wait for ten seconds.
    assert time.monotonic() - began < tracing.SHUTDOWN_SECONDS + 6
