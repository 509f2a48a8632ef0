"""Conformance of the MCP server, in both generations, to the rules of NLWeb and of MCP."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import AsyncClient

from playground.conformance import Level, Verdict, run_rules
from playground.protocols import registry, sse
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame, FrameKind
from tests.demo.conftest import Clock
from tests.demo.test_views_conformance import ASKED, VERSIONS, as_sent

pytestmark = pytest.mark.django_db(transaction=True)
PATHS = {"stateful": "mcp/older", "stateless": "mcp/newer"}


def head_of(first: str, headers: Any) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"{first}\r\n{lines}\r\n".encode()


async def frames_of(call: HttpCall) -> list[tuple[FrameKind, bytes]]:
    """A call and its reply as the playground would have recorded them."""
    named = {name: value for name, value in call.headers if name != "Content-Type"}
    url = urlsplit(call.url)
    reply = await AsyncClient().post(
        f"{url.path}?{url.query}", call.body, content_type="application/json", headers=named
    )
    frames = [
        (FrameKind.CALL, head_of(f"POST {url.path} HTTP/1.1", call.headers) + (call.body or b"")),
        (FrameKind.HEAD, head_of(f"HTTP/1.1 {reply.status_code} X", reply.headers.items())),
    ]
    if getattr(reply, "streaming", False):
        splitter = sse.Splitter()
        body = b"".join([chunk async for chunk in reply])  # type: ignore[attr-defined]
        frames += [(FrameKind.EVENT, block.data) for block in splitter.feed(body)]
        assert splitter.flush() == b""
    elif reply.content:
        frames.append((FrameKind.BODY, reply.content))
    return [*frames, (FrameKind.END, b"")]


async def run(path: str, request: Any, version: str) -> list[Frame]:
    """Every frame of an exchange: the opening, the tools, the call."""
    url = f"http://testserver/demo/{path}?pace=0"
    exchange = registry.exchange(Target(url, binding="mcp", version=version), request)
    frames: list[Frame] = []
    while (call := exchange.next_call()) is not None:
        for kind, data in await frames_of(call):
            frames.append(Frame(len(frames) + 1, len(frames), kind, data))
            exchange.receive(frames[-1])
    return frames


async def problems(path: str, request: Any, version: str, operation: str = "ask") -> list[str]:
    """Everything that a report says against a run; information aside."""
    frames = await run(path, request, version)
    report = run_rules(frames, request, version, binding="mcp", operation=operation)
    passed = {finding.rule for finding in report.findings if finding.verdict is Verdict.PASS}
    assert {"mcp.nlweb-reply", "mcp.tool-ask-schema", "meta-present"} <= passed or (
        "mcp.error-object" in passed
    )
    return [
        f"{finding.rule} {finding.verdict} at {finding.pointer}: {finding.message}"
        for finding in report.findings
        if finding.level is not Level.INFO and finding.verdict in (Verdict.FAIL, Verdict.INCOMPLETE)
    ]


@pytest.mark.parametrize("generation", PATHS)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("about", ASKED)
async def test_ask(about: str, version: str, generation: str) -> None:
    request = as_sent(ASKED[about], version, None)
    assert await problems(PATHS[generation], request, version) == []


@pytest.mark.parametrize("generation", PATHS)
async def test_a_stream_of_notices(generation: str) -> None:
    request = as_sent(ASKED["search"], "0.55", True)
    assert await problems(PATHS[generation], request, "0.55") == []


@pytest.mark.parametrize("action", ["checkin", "cancel"])
@pytest.mark.parametrize("generation", PATHS)
async def test_await(generation: str, action: str, clock: Clock) -> None:
    path = PATHS[generation]
    asked = as_sent(ASKED["plan"], "0.55", None)
    frames = await run(path, asked, "0.55")
    text = b"".join(frame.data for frame in frames).decode()
    token = text.rpartition('"token":')[2].split('"')[1]
    request = {"promise_token": token, "action": action, "meta": {"version": "0.55"}}
    assert await problems(path, request, "0.55", "await") == []


async def test_a_question_of_the_stateless_generation() -> None:
    """It comes as a result, so no reply of NLWeb is there yet."""
    request = {"query": {"text": "surprise me, but ask first"}, "meta": {"version": "0.55"}}
    report = run_rules(await run("mcp/newer", request, "0.55"), request, "0.55", binding="mcp")
    assert report.verdicts["mcp.input-required"] is Verdict.PASS
    assert report.verdicts["mcp.elicitation-flat"] is Verdict.PASS
    assert report.verdicts["meta-present"] is Verdict.NOT_APPLICABLE
    assert report.problems == ()
