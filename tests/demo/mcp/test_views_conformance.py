"""Conformance of the MCP server, in both generations, to the rules of NLWeb and of MCP."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import AsyncClient

from playground.conformance import Verdict
from playground.protocols import registry
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame, FrameKind
from tests.demo.conformance import problems, recorded, report
from tests.demo.conftest import Clock
from tests.demo.test_views_conformance import ASKED, VERSIONS, as_sent

pytestmark = pytest.mark.django_db(transaction=True)
PATHS = {"stateful": "mcp/older", "stateless": "mcp/newer"}


async def frames_of(call: HttpCall) -> list[tuple[FrameKind, bytes]]:
    """A call and its reply as the playground would have recorded them."""
    named = {name: value for name, value in call.headers if name != "Content-Type"}
    url = urlsplit(call.url)
    reply = await AsyncClient().post(
        f"{url.path}?{url.query}", call.body, content_type="application/json", headers=named
    )
    lines = "".join(f"{name}: {value}\r\n" for name, value in call.headers)
    head = f"POST {url.path} HTTP/1.1\r\n{lines}\r\n".encode()
    return [(FrameKind.CALL, head + (call.body or b"")), *await recorded(reply)]


async def run(path: str, request: Any, version: str) -> list[tuple[FrameKind, bytes]]:
    """Every frame of an exchange: the opening, the tools, the call."""
    url = f"http://testserver/demo/{path}?pace=0"
    exchange = registry.exchange(Target(url, binding="mcp", version=version), request)
    frames: list[tuple[FrameKind, bytes]] = []
    while (call := exchange.next_call()) is not None:
        for frame in await frames_of(call):
            frames.append(frame)
            exchange.receive(Frame(len(frames), 0, *frame))
    return frames


async def said_against(
    path: str, request: Any, version: str, operation: str = "ask"
) -> dict[str, str]:
    """Everything that a report says against a run; information aside."""
    frames = await run(path, request, version)
    found = report(frames, request, version, binding="mcp", operation=operation)
    passed = {finding.rule for finding in found.findings if finding.verdict is Verdict.PASS}
    assert {"mcp.nlweb-reply", "mcp.tool-ask-schema", "meta-present"} <= passed or (
        "mcp.error-object" in passed
    )
    return problems(found)


@pytest.mark.parametrize("generation", PATHS)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("about", ASKED)
async def test_ask(about: str, version: str, generation: str) -> None:
    request = as_sent(ASKED[about], version, None)
    assert await said_against(PATHS[generation], request, version) == {}


@pytest.mark.parametrize("generation", PATHS)
async def test_a_stream_of_notices(generation: str) -> None:
    request = as_sent(ASKED["search"], "0.55", True)
    assert await said_against(PATHS[generation], request, "0.55") == {}


@pytest.mark.parametrize("action", ["checkin", "cancel"])
@pytest.mark.parametrize("generation", PATHS)
async def test_await(generation: str, action: str, clock: Clock) -> None:
    path = PATHS[generation]
    asked = as_sent(ASKED["plan"], "0.55", None)
    frames = await run(path, asked, "0.55")
    text = b"".join(data for _, data in frames).decode()
    token = text.rpartition('"token":')[2].split('"')[1]
    request = {"promise_token": token, "action": action, "meta": {"version": "0.55"}}
    assert await said_against(path, request, "0.55", "await") == {}


async def test_a_question_of_the_stateless_generation() -> None:
    """It comes as a result, so no reply of NLWeb is there yet."""
    request = {"query": {"text": "surprise me, but ask first"}, "meta": {"version": "0.55"}}
    found = report(await run("mcp/newer", request, "0.55"), request, "0.55", binding="mcp")
    assert found.verdicts["mcp.input-required"] is Verdict.PASS
    assert found.verdicts["mcp.elicitation-flat"] is Verdict.PASS
    assert found.verdicts["meta-present"] is Verdict.NOT_APPLICABLE
    assert found.problems == ()
