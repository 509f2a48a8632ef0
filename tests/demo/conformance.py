"""Replies of the demo agent as the playground records them, and what a report says of them."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from playground.conformance import ConformanceReport, Level, Verdict, run_rules
from playground.protocols import sse
from playground.protocols.frames import Frame, FrameKind
from tests.demo.client import body_of, post

#: Everything but information.
VIOLATIONS = (Level.MUST, Level.SHOULD)


async def recorded(reply: Any) -> list[tuple[FrameKind, bytes]]:
    """The head, the body and the end of a response of Django's client."""
    streamed = reply.streaming and reply.headers["Content-Type"] == "text/event-stream"
    body = await body_of(reply)
    if reply.headers.get("Content-Encoding") == "gzip":
        body = zlib.decompress(body, wbits=31)
    line = f"HTTP/1.1 {reply.status_code} {HTTPStatus(reply.status_code).phrase}"
    headers = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
    found = [(FrameKind.HEAD, f"{line}\r\n{headers}\r\n".encode())]
    if streamed:
        splitter = sse.Splitter()
        found += [(FrameKind.EVENT, block.data) for block in splitter.feed(body)]
        if tail := splitter.flush():
            found.append((FrameKind.TAIL, tail))
    elif body:
        found.append((FrameKind.BODY, body))
    return [*found, (FrameKind.END, b"")]


def report(
    frames: Iterable[tuple[FrameKind, bytes]], request: Any, version: str, **options: Any
) -> ConformanceReport:
    """The report on a run with these frames."""
    numbered = [Frame(seq, seq * 1000, *each) for seq, each in enumerate(frames, 1)]
    found = run_rules(numbered, request, version, **options)
    assert any(finding.verdict is Verdict.PASS for finding in found.findings)
    return found


async def report_on(
    path: str, request: Any, version: str = "0.55", operation: str = "ask"
) -> ConformanceReport:
    """The report on the reply to a request that is sent as it is to a path below /demo/."""
    frames = await recorded(await post(path, request))
    return report(frames, request, version, operation=operation)


def problems(found: ConformanceReport, levels: Iterable[Level] = VIOLATIONS) -> dict[str, str]:
    """The rules that failed or could not be decided, with what is said of the last finding."""
    bad = (Verdict.FAIL, Verdict.INCOMPLETE)
    return {
        finding.rule: f"{finding.verdict} at {finding.pointer}: {finding.message}"
        for finding in found.findings
        if finding.level in levels and finding.verdict in bad
    }
