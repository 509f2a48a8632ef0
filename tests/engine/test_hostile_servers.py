"""Servers that are broken or hostile: bounded, named, and all that was received is kept.

Each goes through engine and database, is judged, and is shown on its page.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.test import Client

from playground.base.limits import MIB
from playground.cli import output
from playground.conformance import ConformanceReport, Verdict
from playground.models import Agent, Run
from playground.protocols.events import Event, Note, Result, Tools
from playground.protocols.frames import FrameKind
from playground.stored_runs import conformance_report, read_events
from tests.engine.conftest import Send, calls_of
from tests.support.markup import Element, read
from tests.support.pictures import OTHERS, PNG
from tests.support.servers import LAST_CHUNK, STREAM_HEAD, Script, chunk, closing, reply, serve

pytestmark = pytest.mark.django_db(transaction=True)

DOCUMENT = {"query": {"text": "eggs"}, "meta": {"version": "0.55"}}
SOUP = {"_meta": {"response_type": "answer", "version": "0.55"}, "results": [{"name": "Soup"}]}
ANSWER = {"content": [{"type": "text", "text": json.dumps(SOUP)}]}
#: Seconds of processing for a page or a report, on a slow machine.
PATIENCE = 20
KEPT = (FrameKind.BODY, FrameKind.EVENT, FrameKind.COMMENT, FrameKind.TAIL)


def rpc(own_id: Any, result: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": own_id, "result": result}).encode()


def priming(event_id: str = "e1") -> bytes:
    return f"id: {event_id}\nretry: 1\ndata: \n\n".encode()


class HostileServer:
    """An MCP server with a session; `sent` has the bodies of its responses, in order."""

    def __init__(
        self,
        result: Any = ANSWER,
        *,
        tools: Sequence[Any] = ({"name": "ask", "inputSchema": {"type": "object"}},),
        stream: Sequence[bytes] | None = None,
        resumed: Sequence[bytes] = (),
        ids: Callable[[Any], Any] = lambda own_id: own_id,
        sessions: Iterator[str] | None = None,
    ) -> None:
        self.result, self.tools, self.stream, self.resumed = result, tools, stream, resumed
        self.ids, self.sessions = ids, sessions
        self.sent: list[bytes] = []

    def __call__(self, request: bytes) -> Script:
        """Return the response to a request."""
        head, _, body = request.partition(b"\r\n\r\n")
        if head.startswith(b"GET "):
            return self._stream(self.resumed)
        if head.startswith(b"DELETE "):
            return [closing(reply(b""))]
        message = json.loads(body)
        method, own_id = message["method"], message.get("id")
        if method == "server/discover":
            error = {"code": -32601, "message": "No."}
            return self._reply(
                json.dumps({"jsonrpc": "2.0", "id": own_id, "error": error}).encode()
            )
        if method == "initialize":
            result = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "soup"}}
            return self._reply(rpc(own_id, result))
        if own_id is None:
            return [closing(reply(b"", status="202 Accepted"))]
        if method == "tools/call" and self.stream is not None:
            return self._stream(self.stream)
        result = self.result if method == "tools/call" else {"tools": self.tools}
        return self._reply(rpc(self.ids(own_id), result))

    def _stream(self, pieces: Sequence[bytes]) -> Script:
        self.sent += pieces
        return [closing(STREAM_HEAD), *map(chunk, pieces), LAST_CHUNK]

    def _reply(self, body: bytes) -> Script:
        self.sent.append(body)
        response = reply(body)
        if self.sessions:
            session = b"\r\nMcp-Session-Id: %s\r\n\r\n" % next(self.sessions).encode()
            response = response.replace(b"\r\n\r\n", session, 1)
        return [closing(response)]


@dataclasses.dataclass
class Outcome:
    """The result of a run: what is stored, found and shown."""

    run: Run
    events: list[Event]
    report: ConformanceReport
    #: The bytes of the bodies that are stored.
    kept: bytes
    page: Element
    page_size: int

    @property
    def problem(self) -> dict[str, Any]:
        """Why the run has failed."""
        assert self.run.problem is not None
        return dict(self.run.problem)

    def failed(self) -> set[str]:
        """The rules of MCP that were violated."""
        found = self.report.verdicts.items()
        return {rule for rule, verdict in found if verdict is Verdict.FAIL and "mcp." in rule}


async def meet(send: Send, server: HostileServer, **limits: Any) -> Outcome:
    """Send a request to a server; read, judge and show what came."""
    async with serve(answer=server) as serving:
        run = await send(
            serving.url,
            DOCUMENT,
            agent={"binding": "mcp"},
            limits=dataclasses.replace(settings.RUN_LIMITS, **limits),
        )
    return await sync_to_async(_look_at)(run)


def _look_at(run: Run) -> Outcome:
    started = time.process_time()
    events = [event for _, found in read_events(run) for event in found]
    kept = b"".join(frame.data for frame in run.read_frames() if frame.kind in KEPT)
    report = conformance_report(run)
    pages = {}
    for name in ("", "timeline/", "wire/", "events/", "results/", "conformance/"):
        response = Client().get(f"/runs/{run.pk}/{name}")
        assert response.status_code == 200, name
        pages[name] = response.content.decode()
    assert time.process_time() - started < PATIENCE
    whole = max(map(len, pages.values()))
    return Outcome(run, events, report, kept, read(pages[""]), whole)


async def test_resuming_for_ever(send: Send) -> None:
    log = b'data: {"jsonrpc": "2.0", "method": "notifications/message", "params": %s}\n\n'
    log %= b'{"level": "info", "data": "Working"}'
    server = HostileServer(stream=[priming()], resumed=[priming("e2"), b"id: e3\n" + log])
    found = await meet(send, server)
    assert found.run.state == "truncated"
    assert "The stream was resumed 100 times." in found.problem["cause"]
    assert found.kept == b"".join(server.sent)
    assert "mcp.one-response" in found.failed()
    # Every request is a call of the run.
    calls = await calls_of(found.run)
    assert (len(calls), sum(b"Last-Event-ID: e" in call for call in calls)) == (5 + 100, 100)


async def test_changing_session_ids(send: Send) -> None:
    server = HostileServer(sessions=(f"s{n}" for n in range(1_000)))
    found = await meet(send, server)
    assert (found.run.state, found.run.outcome, found.run.results) == ("completed", "answer", 1)
    assert found.kept == b"".join(server.sent)
    names = [event.name for event in found.events if isinstance(event, Note)]
    assert names.count("mcp session changed") == 2
    assert "mcp.session-kept" in found.failed()


async def test_two_calls_answered_with_one_id(send: Send) -> None:
    server = HostileServer(ids=lambda _: 1)
    found = await meet(send, server)
    assert (found.run.state, found.run.outcome, found.run.results) == ("completed", "answer", 1)
    assert found.kept == b"".join(server.sent)
    assert "mcp.response-id" in found.failed()


@pytest.mark.slow
async def test_a_hundred_thousand_priming_events(send: Send) -> None:
    many = [priming() * 1_000] * 100
    found = await meet(send, HostileServer(stream=[*many, b"data: never\n\n"]))
    assert (found.run.state, found.problem["limit"]) == ("refused", "max_frames")
    assert found.kept.count(priming()) > 99_900
    assert found.page_size < 5 * MIB
    # With room for them they are no events, and no violations.
    server = HostileServer(stream=[*many, b"data: " + rpc("x", ANSWER) + b"\n\n"])
    found = await meet(send, server, max_frames=200_000)
    assert (found.run.state, found.run.outcome, found.run.results) == ("completed", "answer", 1)
    assert found.kept == b"".join(server.sent)
    assert len(found.events) < 10


@pytest.mark.slow
async def test_a_picture_of_40_mb(send: Send) -> None:
    data = base64.b64encode(PNG + bytes(40 * MIB - len(PNG))).decode()
    server = HostileServer({"content": [{"type": "image", "data": data, "mimeType": "image/png"}]})
    found = await meet(send, server)
    assert (found.run.state, found.problem["limit"]) == ("refused", "max_bytes")
    assert b"".join(server.sent).startswith(found.kept)
    assert len(found.kept) > 31 * MIB
    # With room for it, it is named and not shown.
    server = HostileServer(server.result)
    found = await meet(send, server, max_bytes=64 * MIB)
    assert (found.run.state, found.run.problem) == ("completed", None)
    assert found.kept == b"".join(server.sent)
    assert "image/png, 40.0 MB" in found.page.text
    assert "Pictures of up to 1.0 MB are shown." in found.page.text
    assert not [image for image in found.page.find("img") if "data:" in str(image.attributes)]
    assert found.page_size < MIB
    assert [*output.text_lines(found.events)][-1] == "[image image/png, 40.0 MB]"


async def test_svg_with_a_script(send: Send) -> None:
    data = base64.b64encode(OTHERS["svg"]).decode()
    uri = {"uri": "a:b.svg", "mimeType": "image/svg+xml"}
    content = [
        {"type": "image", "data": data, "mimeType": "image/svg+xml"},
        {"type": "image", "data": data, "mimeType": "image/png"},
        {"type": "resource", "resource": {**uri, "text": OTHERS["svg"].decode()}},
        {"type": "resource", "resource": {**uri, "blob": data}},
    ]
    server = HostileServer({"content": content})
    found = await meet(send, server)
    assert found.kept == b"".join(server.sent)
    assert [event.item for event in found.events if isinstance(event, Result)] == content
    assert "SVG can contain scripts, so it is not shown." in found.page.text
    pictures = [each.attributes.get("src") or "" for each in found.page.find("img")]
    assert not [each for each in pictures if "svg+xml" in each or data in each]
    assert found.page.find("svg script") == []
    assert not [each for each in found.page.find("script") if "alert(1)" in str(each)]
    lines = [*output.text_lines(found.events)]
    assert [line.partition("]")[0] for line in lines if "[" in line] == [
        "[image image/svg+xml, 71 B",
        "[image image/png, 71 B",
        "[file image/svg+xml, 71 B",
        "[image image/svg+xml, 71 B",
    ]


SELF = {"$ref": "#"}
SCHEMAS = {
    "itself": SELF,
    "a property": {"type": "object", "properties": {"query": SELF, "meta": SELF}},
    "two definitions": {
        "type": "object",
        "properties": {"query": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}},
    },
    "twice as many each time": {
        "type": "object",
        "properties": {"query": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"anyOf": [{"properties": {"b": {"$ref": "#/$defs/a"}}}] * 8}},
    },
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
async def test_a_schema_that_refers_to_itself(send: Send, schema: Any) -> None:
    tools = [{"name": name, "inputSchema": schema, "outputSchema": schema} for name in "ab"]
    server = HostileServer(tools=[*tools, {"name": "ask", "inputSchema": schema}])
    found = await meet(send, server)
    assert (found.run.state, found.run.outcome, found.run.results) == ("completed", "answer", 1)
    assert found.kept == b"".join(server.sent)
    names = [finding.message for finding in found.report.problems]
    is_endless = schema is SCHEMAS["itself"] or schema is SCHEMAS["two definitions"]
    assert bool([each for each in names if "itself" in each]) is is_endless, names


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
async def test_a_question_whose_schema_refers_to_itself(send: Send, schema: Any) -> None:
    params = {"message": "Who?", "requestedSchema": schema}
    asked = {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params}
    server = HostileServer(stream=[b"data: " + json.dumps(asked).encode() + b"\n\n"])
    found = await meet(send, server)
    assert (found.run.state, found.run.outcome) == ("truncated", "elicitation")
    assert found.kept == b"".join(server.sent)
    assert "Who?" in found.page.text


@pytest.mark.slow
async def test_five_thousand_tools(send: Send) -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    tools = [
        {"name": f"t{n}", "description": "Soup. " * 20, "inputSchema": schema}
        for n in range(5_000)
    ]  # fmt: skip
    server = HostileServer(tools=tools)
    async with serve(answer=server) as serving:
        agent = await Agent.objects.acreate(name="many", url=serving.url, binding="mcp")
        run = await send(serving.url, DOCUMENT, agent={"binding": "mcp"})
        sent = b"".join(server.sent)
        page = await sync_to_async(Client().post)(f"/agents/{agent.slug}/tools/", follow=True)
    found = await sync_to_async(_look_at)(run)
    assert (found.run.state, found.run.outcome, found.run.results) == ("completed", "answer", 1)
    assert found.kept == sent
    (listed,) = [event for event in found.events if isinstance(event, Tools)]
    assert (len(listed.tools), listed.more) == (1_000, True)
    (line,) = [each for each in output.text_lines([listed]) if "tools" in each]
    assert line.endswith("t39 and 960 more (the list is incomplete)")
    assert found.page_size < MIB
    assert page.status_code == 200
    await agent.arefresh_from_db()
    assert len(json.dumps(agent.handshake)) < 200_000
    assert len(page.content) < MIB


def in_message(data: bytes, media_type: str) -> dict[str, Any]:
    """A response of the Agent API with a picture in a message."""
    url = f"data:{media_type};base64,{base64.b64encode(data).decode()}"
    picture = {"object": "content", "type": "image", "image_url": url, "status": "completed"}
    message = {"object": "message", "id": "m", "type": "message", "role": "assistant"}
    message |= {"status": "completed", "content": [picture]}
    return {"object": "response", "id": "r", "status": "completed", "output": [message]}


async def ask_agent_api(send: Send, response: bytes, **limits: Any) -> Outcome:
    request = {"input": [{"role": "user", "content": [{"type": "text", "text": "Draw"}]}]}
    async with serve(response) as server:
        run = await send(
            f"{server.url}/process",
            request,
            agent={"protocol": "agent-api", "version": "1"},
            limits=dataclasses.replace(settings.RUN_LIMITS, **limits),
        )
    return await sync_to_async(_look_at)(run)


@pytest.mark.slow
async def test_a_picture_of_40_mb_in_a_message(send: Send) -> None:
    document = json.dumps(in_message(PNG + bytes(40 * MIB - len(PNG)), "image/png")).encode()
    found = await ask_agent_api(send, reply(document), max_bytes=64 * MIB)
    assert (found.run.state, found.run.problem) == ("completed", None)
    assert found.kept == document
    assert "image/png, 40.0 MB" in found.page.text
    assert found.page_size < MIB
    # A line of an event may be as long as the response.
    stream = b"".join([STREAM_HEAD, chunk(b"data: " + document + b"\n\n"), LAST_CHUNK])
    found = await ask_agent_api(send, stream, max_bytes=64 * MIB)
    assert (found.run.state, found.run.problem) == ("completed", None)
    assert "image/png, 40.0 MB" in found.page.text
    assert found.page_size < MIB
    found = await ask_agent_api(send, stream, max_bytes=MIB)
    assert (found.run.state, found.problem["limit"]) == ("refused", "max_bytes")
    assert document.startswith(found.kept.removeprefix(b"data: "))
    assert found.page_size < MIB


async def test_svg_with_a_script_in_a_message(send: Send) -> None:
    document = json.dumps(in_message(OTHERS["svg"], "image/svg+xml")).encode()
    for response in (reply(document), STREAM_HEAD + chunk(b"data: " + document + b"\n\n")):
        found = await ask_agent_api(send, response + LAST_CHUNK)
        assert document in found.kept
        assert "SVG can contain scripts, so it is not shown." in found.page.text
        pictures = [each.attributes.get("src") or "" for each in found.page.find("img")]
        assert not [each for each in pictures if "svg+xml" in each]
