"""Conformance of the Agent API: every rule passes, except for faults on purpose."""

from __future__ import annotations

from typing import Any

import pytest

from playground.conformance import Level, Verdict, run_rules
from playground.demo.agent_api.handlers import ROWS
from playground.demo.agent_api.malformed import BROKEN
from playground.protocols.frames import Frame, FrameKind
from tests.demo.agent_api.client import CALENDAR, PANTRY, post, user_message

pytestmark = pytest.mark.django_db(transaction=True)

QUESTIONS = ("tomato soup", "zzzzz", "???", "What is in my pantry?",
             "Check my pantry and my calendar", *(row.text for row in ROWS))  # fmt: skip


async def frames_of(request: dict[str, Any]) -> list[Frame]:
    """The reply as the playground would have recorded it."""
    reply = await post(request)
    headers = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
    frames = [(FrameKind.HEAD, f"HTTP/1.1 {reply.status_code} OK\r\n{headers}\r\n".encode())]
    if reply.streaming:
        body = b"".join([chunk async for chunk in reply])
        blocks = body.removesuffix(b"\n\n").split(b"\n\n")
        frames += [(FrameKind.EVENT, block + b"\n\n") for block in blocks]
    else:
        frames.append((FrameKind.BODY, reply.content))
    frames.append((FrameKind.END, b""))
    return [Frame(seq, seq * 1000, kind, data) for seq, (kind, data) in enumerate(frames, 1)]


async def problems(text: str, stream: bool, least: tuple[Level, ...]) -> list[str]:
    """What a report says against the reply to a text."""
    request = {
        "input": [user_message(text)],
        "stream": stream,
        "tools": [PANTRY, CALENDAR],
        "session_id": "s",
    }
    report = run_rules(await frames_of(request), request, "1", protocol="agent-api", operation="")
    assert any(finding.verdict is Verdict.PASS for finding in report.findings)
    bad = (Verdict.FAIL, Verdict.INCOMPLETE)
    return [
        f"{finding.rule} at {finding.pointer}: {finding.message}"
        for finding in report.findings
        if finding.level in least and finding.verdict in bad
    ]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("text", QUESTIONS)
async def test_handlers_conform(text: str, stream: bool) -> None:
    assert await problems(text, stream, (Level.MUST, Level.SHOULD)) == []


@pytest.mark.parametrize("name", BROKEN)
async def test_what_is_broken_does_not(name: str) -> None:
    found = await problems(f"broken: {name}", True, tuple(Level))
    assert found
