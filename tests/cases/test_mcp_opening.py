"""Servers that do not answer MCP's newest first request are spoken to in the older generation."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from playground.engine import runs, tasks
from playground.engine.request import request_to
from playground.models import Agent, Run
from tests.cases import Answer, ask, page_text
from tests.support.commands import run_command
from tests.support.servers import (
    CLOSE,
    HOLD,
    LAST_CHUNK,
    RESET,
    STREAM_HEAD,
    Script,
    chunk,
    free_port,
    head,
    reply,
    serve,
    serving,
)

OVER_MCP = ("--binding", "mcp")
DISCOVER, OLDER = "server/discover", ["initialize", "notifications/initialized", "tools/list"]
TOOLS = [{"name": "ask", "inputSchema": {"type": "object", "properties": {"query": {}}}}]
FOUND = {"_meta": {"response_type": "answer", "version": "0.55"}, "results": [{"name": "Soup"}]}
RESULTS: dict[str, Any] = {
    "initialize": {"protocolVersion": "2025-06-18", "serverInfo": {"name": "s", "version": "1"}},
    "tools/list": {"tools": TOOLS},
    "tools/call": {"content": [{"type": "text", "text": json.dumps(FOUND)}]},
}
LOG = b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"busy"}}\n\n'
HOSTILE = b"<script>alert(1)</script>\x1b[31m\r\n::error::x"


def message_of(request: bytes) -> dict[str, Any]:
    """The JSON-RPC message of a request; its HTTP method where it has none."""
    line, _, body = request.partition(b"\r\n\r\n")
    return json.loads(body) if body else {"method": line.split(b" ")[0].decode()}


def methods(requests: list[bytes]) -> list[str]:
    return [message_of(request).get("method", "") for request in requests]


def rpc(request: bytes, **members: Any) -> bytes:
    body = {"jsonrpc": "2.0", "id": message_of(request).get("id"), **members}
    return reply(json.dumps(body).encode())


def older(request: bytes) -> Script:
    """A server of the older generation, which keeps no session."""
    method = message_of(request)["method"]
    if method in RESULTS:
        return (rpc(request, result=RESULTS[method]),)
    return (head("202 Accepted", content_length="0"),)


def on_discover(*script: Any) -> Callable[[bytes], Script]:
    """The same, but for what it answers to `server/discover`."""
    return lambda request: script if DISCOVER.encode() in request else older(request)


@pytest.fixture(autouse=True)
def short_limit(settings: Any) -> None:
    settings.RUN_LIMITS = replace(settings.RUN_LIMITS, mcp_discovery_timeout=0.15)


def remark(answer: Answer) -> str:
    """What the run says about the older generation, "" for nothing."""
    found = re.findall(r"Discovery failed: [^\"]*", "\n".join(map(json.dumps, answer.lines)))
    return found[0] if found else ""


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ((HOLD,), "No response within 0.15 seconds."),
        ((STREAM_HEAD, HOLD), "No response within 0.15 seconds."),
        ((STREAM_HEAD, chunk(b": still there\n\n"), HOLD), "No response within 0.15 seconds."),
        ((STREAM_HEAD, *[chunk(LOG)] * 3, HOLD), "No response within 0.15 seconds."),
        ((STREAM_HEAD, chunk(LOG), LAST_CHUNK), "HTTP 200 without an answer."),
        ((head(content_length="20"), b'{"json', HOLD), "No response within 0.15 seconds."),
        ((CLOSE,), "The server closed the connection without a response."),
        ((RESET,), "The server closed the connection without a response."),
        ((STREAM_HEAD, chunk(LOG), RESET), "The connection was lost before the response"),
        ((b"\x00\x01 what is this?\r\n\r\n",), "The received data is not an HTTP/1.1 response."),
        ((reply(b"<h1>Hello</h1>", "text/html"),), "HTTP 200 without an answer."),
        ((reply(b"x", "text/plain", "400 Bad Request"),), "HTTP 400 without an answer."),
        ((reply(b"x", "text/plain", "404 Not Found"),), "HTTP 404 without an answer."),
        ((reply(b"", status="405 Method Not Allowed"),), "HTTP 405 without an answer."),
        ((reply(b'{"detail":"x"}', status="500 Oh"),), "HTTP 500 without an answer."),
        ((head("202 Accepted", content_length="0"),), "HTTP 202 without an answer."),
        ((reply(b'{"jsonrpc":"2.0","id":"another","result":{}}'),), "HTTP 200 without an answer."),
        ((reply(b"[" * 90 + b"]" * 90),), "HTTP 200 without an answer."),
        ((reply(HOSTILE, "text/html", "500 Oh"),), "HTTP 500 without an answer."),
        ((reply(b"<p>" * 1_000_000, "text/html"),), "HTTP 200 without an answer."),
        ((STREAM_HEAD, chunk(LOG * 10_000), HOLD), "No response within 0.15 seconds."),
    ],
)
def test_a_server_that_does_not_answer_is_asked_in_the_older_generation(
    script: Script, reason: str
) -> None:
    answer = ask(arguments=OVER_MCP, answer=on_discover(*script))
    assert answer.ending == ("completed", "answer", 0)
    assert methods(answer.requests) == [DISCOVER, *OLDER, "tools/call"]
    assert reason in remark(answer)
    assert "(--mcp-version 2025-11-25)" in remark(answer)
    assert "Soup" in answer.page


@pytest.mark.parametrize(
    "members",
    [{"error": {"code": -32601, "message": "Method not found"}}, {"error": {"code": -32000}}],
)
def test_a_server_that_rejects_the_method_says_so_itself(members: Any) -> None:
    def answer(request: bytes) -> Script:
        return (rpc(request, **members),) if DISCOVER.encode() in request else older(request)

    answered = ask(arguments=OVER_MCP, answer=answer)
    assert (answered.ending, remark(answered)) == (("completed", "answer", 0), "")


def test_it_is_told_in_events_sequence_and_on_the_terminal() -> None:
    with serving(answer=on_discover(HOLD)) as server:
        done = run_command("send", server.url, "--text", "x", *OVER_MCP)
    assert done.returncode == 0
    assert "log warning: Discovery failed: No response within 0.15 seconds." in done.stdout
    answer = ask(arguments=OVER_MCP, answer=on_discover(HOLD))
    for tab in ("events", "sequence"):
        text = page_text(f"/runs/{answer.end['run']}/{tab}/")
        assert "Discovery failed: No response within 0.15 seconds." in text
        assert "--mcp-version 2025-11-25" in text
    timeline = page_text(f"/runs/{answer.end['run']}/timeline/")
    assert re.search(r"Waiting for response headers \d+ ms.*Download.*log 1", timeline)


def test_a_saved_agent_waits_once() -> None:
    with serving(answer=on_discover(HOLD)) as server:
        Agent.objects.create(name="Old", slug="old", url=server.url, binding="mcp")
        for _ in range(2):
            assert run_command("send", "old", "--text", "x").returncode == 0
    assert methods(server.requests) == [DISCOVER, *OLDER, "tools/call", "tools/call"]


def test_a_set_version_of_the_older_generation_does_not_wait() -> None:
    arguments = (*OVER_MCP, "--mcp-version", "2025-11-25")
    answer = ask(arguments=arguments, answer=on_discover(HOLD))
    assert methods(answer.requests) == [*OLDER, "tools/call"]


def test_a_set_version_of_the_newest_generation_has_the_time_of_every_request(
    settings: Any,
) -> None:
    settings.RUN_LIMITS = replace(settings.RUN_LIMITS, idle_timeout=0.3)
    answer = ask(arguments=(*OVER_MCP, "--mcp-version", "2026-07-28"), answer=on_discover(HOLD))
    assert (methods(answer.requests), answer.ending) == ([DISCOVER], ("failed", "none", 3))
    assert answer.lines[-2]["limit"] == "idle_timeout"


def test_a_server_of_the_newest_generation_that_was_slow_is_one_all_the_same() -> None:
    """A server that is being started: it does not know `initialize`."""
    requests: list[str] = []

    def answer(request: bytes) -> Script:
        requests.append(method := message_of(request)["method"])
        if method == "initialize":
            return (rpc(request, error={"code": -32601, "message": "Unknown"}),)
        if method == DISCOVER:
            versions = {"supportedVersions": ["2026-07-28"], "capabilities": {}}
            found = {**versions, "resultType": "complete"}
            return (HOLD,) if requests.count(DISCOVER) == 1 else (rpc(request, result=found),)
        return older(request)

    answered = ask(arguments=OVER_MCP, answer=answer)
    assert answered.ending == ("completed", "answer", 0)
    assert requests == [DISCOVER, "initialize", DISCOVER, "tools/list", "tools/call"]


def test_a_server_that_names_the_newest_version_at_initialize_gets_it() -> None:
    data = {"supported": ["2026-07-28"], "requested": "2025-11-25"}

    def answer(request: bytes) -> Script:
        method = message_of(request)["method"]
        if method == "initialize":
            return (rpc(request, error={"code": -32022, "message": "No", "data": data}),)
        return (HOLD,) if method == DISCOVER else older(request)

    answered = ask(arguments=OVER_MCP, answer=answer)
    assert answered.ending == ("completed", "answer", 0)
    assert methods(answered.requests) == [DISCOVER, "initialize", "tools/list", "tools/call"]
    assert b"Mcp-Method: tools/call" in answered.requests[-1]


class TestNothingElseIsTriedTwice:
    """A server that cannot be reached, requires credentials, or is over its time."""

    def test_connection_refused(self) -> None:
        done = run_command(
            "send", f"http://127.0.0.1:{free_port()}", "--text", "x", *OVER_MCP, "--output", "jsonl"
        )
        *_, error, end = done.json_lines
        assert ("Nothing listens on" in error["cause"], end["events"]) == (True, 0)
        assert [line["type"] for line in done.json_lines] == ["error", "end"]

    def test_no_name(self) -> None:
        done = run_command("send", "http://no.invalid", "--text", "x", *OVER_MCP)
        assert done.returncode == 3
        assert "could not be resolved" in done.stderr
        assert "Discovery failed" not in done.stdout

    def test_tls_on_this_port(self) -> None:
        alert = b"\x15\x03\x01\x00\x02\x02\x16"
        answer = ask(alert, CLOSE, arguments=OVER_MCP)
        assert (methods(answer.requests), answer.ending[0]) == ([DISCOVER], "failed")
        assert "Use https://" in answer.lines[-2]["fix"]

    @pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "503 Busy", "302 At"])
    def test_statuses(self, status: str) -> None:
        answer = ask(head(status, content_length="0"), arguments=OVER_MCP)
        assert (methods(answer.requests), answer.ending[0]) == ([DISCOVER], "failed")

    def test_the_time_of_the_run(self, settings: Any) -> None:
        settings.RUN_LIMITS = replace(settings.RUN_LIMITS, mcp_discovery_timeout=30)
        answer = ask(HOLD, arguments=(*OVER_MCP, "--timeout", "0.8"))
        assert (methods(answer.requests), answer.ending) == ([DISCOVER], ("failed", "none", 3))
        assert answer.lines[-2]["limit"] == "total_timeout"
        assert remark(answer) == ""


def test_a_server_that_is_silent_to_both_fails_with_the_second_silence(settings: Any) -> None:
    settings.RUN_LIMITS = replace(settings.RUN_LIMITS, idle_timeout=0.3)
    answer = ask(HOLD, arguments=OVER_MCP)
    assert (methods(answer.requests), answer.ending) == (
        [DISCOVER, "initialize"],
        ("failed", "none", 3),
    )
    assert answer.lines[-2]["limit"] == "idle_timeout"


def test_the_problem_after_the_older_first_request_is_not_lost() -> None:
    page = reply(b"<h1>Hello</h1>", "text/html")
    answer = ask(
        arguments=OVER_MCP,
        answer=lambda request: (HOLD,) if DISCOVER.encode() in request else (page,),
    )
    assert [line["limit"] for line in answer.of("error")] == ["mcp_discovery_timeout", None]
    assert "HTTP 200" in answer.of("error")[-1]["cause"]


class TestDoctor:
    """The connection doctor, in text."""

    def report(self, answer: Callable[[bytes], Script], path: str = "/mcp") -> tuple[int, str]:
        with serving(answer=answer) as server:
            done = run_command("doctor", server.url + path, *OVER_MCP)
        return done.returncode, done.stdout

    @pytest.mark.parametrize("script", [(HOLD,), (CLOSE,), (reply(b"x", status="404 No"),)])
    def test_names_the_version_that_skips_discovery(self, script: Script) -> None:
        code, text = self.report(on_discover(*script))
        assert (code, "FAILED" in text) == (0, False)
        assert "Found: NLWeb 0.55 over MCP 2025-06-18" in text
        assert "responds to initialize: MCP 2025-06-18. Discovery failed: " in text
        assert "set the MCP version (--mcp-version 2025-11-25)." in text

    def test_names_the_transport_before_streamable_http_in_its_headline(self) -> None:
        endpoint = (STREAM_HEAD, chunk(b"event: endpoint\ndata: /messages\n\n"), HOLD)
        refusal = (reply(b"Method Not Allowed", "text/plain", "405 Method Not Allowed"),)
        code, text = self.report(
            lambda request: endpoint if request.startswith(b"GET /sse") else refusal, "/sse"
        )
        headline = text.splitlines()[2]
        assert (code, "HTTP+SSE transport of MCP 2024-11-05" in headline) == (1, True)
        assert text.count("HTTP+SSE") == 1

    @pytest.mark.parametrize("body", [b"", b'{"error":"invalid_token"}', HOSTILE])
    def test_says_once_that_credentials_are_required(self, body: bytes) -> None:
        challenge = b'\r\nWWW-Authenticate: Bearer realm="cooks"\r\n\r\n'
        denied = reply(body, status="401 Unauthorized").replace(b"\r\n\r\n", challenge, 1)
        code, text = self.report(lambda _: (denied,))
        cause = "Authentication required (HTTP 401): Bearer, realm “cooks”."
        assert (code, text.splitlines()[2], text.count(cause)) == (1, cause, 1)
        assert text.count("Add a bearer token") == 1
        with serving(denied) as server:
            done = run_command("send", server.url, "--text", "x", *OVER_MCP)
        assert (done.stdout + done.stderr).count("HTTP 401") == 1
        run = Run.objects.latest("created_at")
        assert page_text(f"/runs/{run.pk}/", "response").count("HTTP 401)") == 1


async def test_a_run_that_is_cancelled_meanwhile_ends_as_cancelled() -> None:
    async with serve(HOLD) as server:

        def record() -> Any:
            agent = Agent(name="s", url=server.url, binding="mcp")
            prepared = request_to(agent, {"query": {"text": "x"}})
            return runs.create_run(prepared), prepared

        run, prepared = await sync_to_async(record)()
        task = tasks.send_here(run, prepared)
        await server.asked.wait()
        await tasks.cancel(run)
        await task
        await run.arefresh_from_db()
    assert (run.state, methods(server.requests)) == ("cancelled", [DISCOVER])
