"""Builders of scripted NLWeb responses, and their conformance reports."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from playground.conformance import ConformanceReport, EarlierResponses, Verdict, run_rules
from playground.conformance.rule_input import NOTHING_EARLIER
from playground.protocols import sse
from playground.protocols.frames import Frame, FrameKind
from tests.support.playbook import CAPTURES

JSON, SSE = "application/json", "text/event-stream"
#: Stands in replies for the version that they are judged as.
VERSION = "@version"


@dataclass(frozen=True)
class ScriptedResponse:
    """A reply as frames, and what belongs to it. The head is frame 1, what follows is next."""

    frames: tuple[Frame, ...]
    request: Any = field(default_factory=dict)
    operation: str = "ask"
    state: str = "completed"
    earlier: EarlierResponses = NOTHING_EARLIER
    protocol: str = "nlweb"
    binding: str = "http"

    def asked(self, **request: Any) -> ScriptedResponse:
        return replace(self, request=request)

    def awaited(self, action: str, token: str = "p") -> ScriptedResponse:
        request = {"promise_token": token, "action": action}
        return replace(self, operation="await", request=request)

    def after(self, *progress: float, **facts: Any) -> ScriptedResponse:
        return replace(self, earlier=EarlierResponses(progress, **facts))

    def broken_off(self, state: str = "truncated") -> ScriptedResponse:
        """The same without its end."""
        return replace(self, frames=self.frames[:-1], state=state)

    def report_for(self, version: str = "0.55") -> ConformanceReport:
        frames = [
            frame.with_data(frame.data.replace(VERSION.encode(), version.encode()))
            for frame in self.frames
        ]
        return run_rules(
            frames,
            self.request,
            version,
            protocol=self.protocol,
            binding=self.binding,
            operation=self.operation,
            state=self.state,
            earlier=self.earlier,
        )


def head(status: int, media_type: str | None, extra: str = "") -> bytes:
    kind = f"Content-Type: {media_type}\r\n" if media_type else ""
    return f"HTTP/1.1 {status} Whatever\r\n{kind}{extra}\r\n".encode()


def numbered(pairs: Iterable[tuple[FrameKind, bytes]]) -> tuple[Frame, ...]:
    return tuple(Frame(at, at * 1000, kind, data) for at, (kind, data) in enumerate(pairs, 1))


def document(
    value: Any, status: int = 200, media_type: str | None = JSON, extra: str = ""
) -> ScriptedResponse:
    """A whole reply: head 1, body 2, end 3. Findings about its JSON stand at 3."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    pairs = [(FrameKind.HEAD, head(status, media_type, extra)), (FrameKind.BODY, body)]
    return ScriptedResponse(numbered([*pairs, (FrameKind.END, b"")]))


def stream(
    *blocks: bytes, status: int = 200, media_type: str | None = SSE, extra: str = ""
) -> ScriptedResponse:
    """A stream: head 1, then a frame for each block, then the end."""
    pairs = [(FrameKind.HEAD, head(status, media_type, extra))]
    splitter = sse.Splitter()
    pairs += [
        (FrameKind.COMMENT if block.is_comment else FrameKind.EVENT, block.data)
        for block in splitter.feed(b"".join(blocks))
    ]
    if rest := splitter.flush():
        pairs.append((FrameKind.TAIL, rest))
    return ScriptedResponse(numbered([*pairs, (FrameKind.END, b"")]))


def event(name: str | None, payload: Any) -> bytes:
    data = payload if isinstance(payload, str) else json.dumps(payload)
    return (f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode()


# Captures


def sent(name: str) -> tuple[bytes, bytes]:
    """Head and body of a captured request; tools write the empty line between them twice."""
    raw = (CAPTURES / f"{name}.req.txt").read_bytes().replace(b"\r\n", b"\n")
    top, _, body = raw.partition(b"\n\n")
    return top.replace(b"\n", b"\r\n") + b"\r\n\r\n", body.strip()


def capture(name: str) -> ScriptedResponse:
    """A captured reply, with the request beside it."""
    top, _, body = (CAPTURES / f"{name}.txt").read_bytes().partition(b"\r\n\r\n")
    asked = sent(name)[1]
    made = stream if b"event-stream" in top else document
    reply = made(body)
    frames = (reply.frames[0].with_data(top + b"\r\n\r\n"), *reply.frames[1:])
    return replace(reply, frames=frames, request=json.loads(asked) if asked else {})


# What replies are made of


def meta(kind: str = "answer", **more: Any) -> dict[str, Any]:
    return {"_meta": {"response_type": kind, "version": VERSION, **more}}


def answer(*items: Any, **more: Any) -> ScriptedResponse:
    return document({**meta(**more), "results": list(items)})


def app(**more: Any) -> dict[str, Any]:
    text = [{"type": "text", "text": "Eggs."}]
    return {**meta(), "content": text, "structuredData": [ITEM], **more}


def elicitation(value: Any) -> ScriptedResponse:
    return document({**meta("elicitation"), "elicitation": value})


def question(**more: Any) -> dict[str, Any]:
    return {"id": "q", "text": "Which?", "type": "multi_select", "options": ["a", "b"], **more}


def asking(*questions: Any) -> ScriptedResponse:
    return elicitation({"text": "Tell me:", "questions": list(questions)})


def promise(value: Any) -> ScriptedResponse:
    return document({**meta("promise"), "promise": value}, 202)


def failure(value: Any, status: int = 200, extra: str = "") -> ScriptedResponse:
    return document({**meta("failure"), "error": value}, status, extra=extra)


def acting(*actions: Any) -> ScriptedResponse:
    return answer({"@type": "Recipe", "actions": list(actions)})


ITEM = {"@type": "Recipe", "name": "Eggs"}
SUMMARY = {"@type": "SearchSummary", "text": "Eggs, all of them."}
ACTION = {
    "name": "save",
    "description": "Save it",
    "protocol": "HTTP",
    "method": "POST",
    "endpoint": "https://example.com/save",
}
START = event("start", meta(streaming=True))
COMPLETE = event("complete", meta())


def result(index: Any, item: Any = ITEM) -> bytes:
    return event("result", {"index": index, "item": item})


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: inner for name, inner in value.items() if name not in names}


def verdicts(report: ConformanceReport, *wanted: Verdict) -> set[str]:
    """The rules with one of these verdicts."""
    return {rule for rule, verdict in report.verdicts.items() if verdict in wanted}


def locations(report: ConformanceReport, rule: str) -> list[tuple[int | None, str]]:
    """Where a rule failed."""
    return [
        (finding.seq, finding.pointer)
        for finding in report.findings
        if finding.rule == rule and finding.verdict is Verdict.FAIL
    ]
