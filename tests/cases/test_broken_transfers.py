"""Transfers that break off: verdicts concern received bytes only.

Each conforming response is broken in every kind of way: what was received violates nothing, and
what would need the rest is undecided.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from playground.base.limits import RunLimits
from playground.conformance import Verdict, run_rules
from playground.protocols import json_decoder
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem, Stage
from playground.transport import errors
from playground.transport.recorder import BodyRecorder, RemainingLimits
from playground.transport.redaction import Redactor
from tests.cases import MCP_ARGUMENTS, ask, mcp_server
from tests.support.servers import HOLD, RESET, Script, chunk, head

JSON, SSE = "application/json", "text/event-stream"


@dataclass(frozen=True)
class Conforming:
    """A conforming response, and the arguments of `send` that ask for it."""

    body: bytes
    media_type: str = JSON
    version: str = "0.55"
    protocol: str = "nlweb"
    binding: str = "http"
    request: dict[str, Any] = field(default_factory=lambda: {"query": {"text": "eggs"}})

    @property
    def arguments(self) -> tuple[str, ...]:
        named = ("--protocol", self.protocol)
        if self.binding == "mcp":
            named = MCP_ARGUMENTS
        if self.protocol == "nlweb":
            streaming = str(self.media_type == SSE and self.binding == "http").lower()
            return (*named, "--version", self.version, "--set", f"prefer.streaming={streaming}")
        return (*named, "--set", f"stream={str(self.media_type == SSE).lower()}")


def event(payload: Any, name: str = "") -> bytes:
    first = f"event: {name}\n" if name else ""
    return f"{first}data: {json.dumps(payload, ensure_ascii=False)}\n\n".encode()


def meta(version: str, kind: str = "answer", **more: Any) -> dict[str, Any]:
    return {"_meta": {"response_type": kind, "version": version, **more}}


ACTION = {
    "name": "save",
    "description": "Save it",
    "protocol": "HTTP",
    "method": "POST",
    "endpoint": "https://example.com/save",
}
ITEM = {"@type": "Recipe", "name": "Crème brûlée 🥚", "actions": [ACTION]}
SUMMARY = {"@type": "SearchSummary", "text": "HTTP/1.1 200 OK is a status line."}
QUESTION = {"id": "q", "text": "Which?", "type": "single_select", "options": ["a", "b"]}


def document(version: str, payload: Any, **more: Any) -> Conforming:
    return Conforming(json.dumps(payload, ensure_ascii=False).encode(), version=version, **more)


def over_mcp(version: str, result: Any, media_type: str = JSON) -> Conforming:
    message = {"jsonrpc": "2.0", "id": "ID", "result": result}
    body = json.dumps(message).encode() if media_type == JSON else event(message, "message")
    return Conforming(body, media_type, version, binding="mcp")


def as_text(payload: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": json.dumps(payload)}]}


def nlweb(version: str) -> Iterator[tuple[str, Conforming]]:
    answer = {**meta(version), "results": [SUMMARY, ITEM]}
    yield "answer", document(version, answer)
    elicitation = {"text": "Tell me:", "questions": [QUESTION]}
    yield (
        "elicitation",
        document(version, {**meta(version, "elicitation"), "elicitation": elicitation}),
    )
    yield (
        "failure",
        document(version, {**meta(version, "failure"), "error": {"code": "NO_RESULTS"}}),
    )
    blocks = (
        event(meta(version, streaming=True), "start"),
        b": still looking\n\n",
        # Any order is allowed: the rest follows.
        event({"index": 1, "item": ITEM}, "result"),
        event({"index": 0, "item": SUMMARY}, "result"),
        # The name of an event may follow its data.
        b"\n".join(reversed(event({"index": 2, "item": ITEM}, "result").strip().split(b"\n")))
        + b"\n\n",
        event(meta(version, session_context={"id": "c"}), "complete"),
    )
    yield "stream", Conforming(b"".join(blocks), SSE, version)
    yield "MCP", over_mcp(version, as_text(answer))
    yield "MCP stream", over_mcp(version, as_text(answer), SSE)


def agent_api() -> Iterator[tuple[str, Conforming]]:
    made = {"id": "r", "object": "response", "created_at": 1}
    message = {"id": "m", "object": "message", "type": "message", "role": "assistant"}
    content = {"object": "content", "type": "text", "msg_id": "m", "index": 0}
    text = {**content, "status": "completed", "delta": False, "text": "Eggs."}
    second = {**text, "index": 1, "text": "More."}
    whole = {**message, "status": "completed", "content": [text, second]}
    done = {**made, "status": "completed", "completed_at": 2, "usage": {}, "output": [whole]}
    objects = [
        {**made, "status": "created"},
        {**message, "status": "created"},
        second,
        {**content, "status": "in_progress", "delta": True, "text": "Eggs"},
        {**content, "status": "in_progress", "delta": True, "text": "."},
        text,
        whole,
        done,
    ]
    numbered = ({**each, "sequence_number": str(at)} for at, each in enumerate(objects))
    more: dict[str, Any] = {"version": "1", "protocol": "agent-api"}
    asked = {"input": [], "stream": True}
    yield "stream", Conforming(b"".join(map(event, numbered)), SSE, request=asked, **more)
    yield "document", document(payload=done, request={"input": [], "stream": False}, **more)


RESPONSES = {
    **{f"0.54 {name}": made for name, made in nlweb("0.54")},
    **{f"0.55 {name}": made for name, made in nlweb("0.55")},
    **{f"Agent API {name}": made for name, made in agent_api()},
}


# The rules on every position of a break


def recorded(made: Conforming, body: bytes, problem: Problem | None) -> list[Frame]:
    """The frames of a body that was received up to here; None as the problem for a whole one."""
    call = {"jsonrpc": "2.0", "id": "ID", "method": "tools/call", "params": {"name": "ask"}}
    sent = json.dumps(call).encode() if made.binding == "mcp" else b""
    frames = [
        Frame(0, 0, FrameKind.CALL, b"POST /ask HTTP/1.1\r\nHost: a\r\n\r\n" + sent),
        Frame(0, 0, FrameKind.HEAD, head(content_type=made.media_type)),
    ]
    limits = RemainingLimits.of(RunLimits())
    recorder = BodyRecorder(made.media_type, "", limits, Redactor(), frames.extend)
    recorder.add(body)
    for _ in recorder.finish(0, clean=problem is None):
        pass
    last = (FrameKind.ERROR, problem.to_bytes()) if problem else (FrameKind.END, b"")
    frames.append(Frame(0, 0, *last))
    return [Frame(at, at, frame.kind, frame.data) for at, frame in enumerate(frames, 1)]


def judged(made: Conforming, body: bytes, problem: Problem | None) -> dict[Verdict, set[str]]:
    """The rules by verdict."""
    report = run_rules(
        recorded(made, body, problem),
        made.request,
        made.version,
        protocol=made.protocol,
        binding=made.binding,
        state=problem.state if problem else "completed",
    )
    found: dict[Verdict, set[str]] = {verdict: set() for verdict in Verdict}
    for finding in report.findings:
        found[finding.verdict].add(finding.rule)
    return found


#: Problems quote what was received last, the head included.
QUOTED = "peer closed connection\n\nHTTP/1.1 200 OK\nContent-Type: text/event-stream\n\n"
PROBLEMS = {
    "lost": Problem("truncated", Stage.BODY, "The connection was lost.", "Look.", QUOTED),
    "reset": Problem("truncated", Stage.BODY, "The connection was lost.", "Look.", "reset"),
    "framing": Problem("truncated", Stage.BODY, "Broken framing.", "Look.", "HTTP/1.1 500 Oops\n"),
    "compression": errors.cut_compressed("gzip"),
    "corrupt": errors.undecodable("gzip", "Error -3"),
    "size": errors.limit_exceeded("max_bytes", RunLimits()),
    "silence": errors.timed_out("idle_timeout", RunLimits(), Stage.BODY),
    "time": errors.timed_out("total_timeout", RunLimits(), Stage.BODY),
    "cancelled": Problem("cancelled", Stage.BODY, "Cancelled.", ""),
}


def positions(body: bytes) -> list[int]:
    """Where a body is cut: at each line, around it, and in between."""
    lines = {
        at + step for at in (m.end() for m in re.finditer(rb"\n", body)) for step in (-1, 0, 1)
    }
    return sorted(at for at in {*lines, *range(0, len(body), 13), len(body)} if at <= len(body))


@pytest.mark.parametrize("name", RESPONSES)
def test_what_was_received_violates_nothing(name: str) -> None:
    made = RESPONSES[name]
    whole = judged(made, made.body, None)
    problems = list(PROBLEMS.values())
    for turn, at in enumerate(positions(made.body)):
        broken = judged(made, made.body[:at], problems[turn % len(problems)])
        assert broken[Verdict.FAIL] <= whole[Verdict.FAIL], made.body[:at]
        assert broken[Verdict.INCOMPLETE]
    assert not {rule for rule in whole[Verdict.FAIL] if rule not in ALLOWED}


#: Rules of level info that fail on whole responses, too.
ALLOWED = {"result-order", "stream-compression"}


@pytest.mark.parametrize("name", RESPONSES)
def test_each_problem_at_the_ends_and_in_the_middle(name: str) -> None:
    made = RESPONSES[name]
    whole = judged(made, made.body, None)[Verdict.FAIL]
    for problem in PROBLEMS.values():
        for at in (0, len(made.body) // 2, len(made.body)):
            assert judged(made, made.body[:at], problem)[Verdict.FAIL] <= whole


def test_a_response_over_mcp_in_two_parts() -> None:
    """Some servers send the metadata first, and the results without an id."""
    first = over_mcp("0.55", meta("0.55"), SSE)
    rest = {"jsonrpc": "2.0", "result": {"results": [ITEM]}}
    whole = Conforming(first.body + event(rest, "message"), SSE, binding="mcp")
    content = {rule for rule in judged(whole, whole.body, None)[Verdict.FAIL] if "mcp" not in rule}
    broken = judged(first, first.body, PROBLEMS["lost"])
    assert {rule for rule in broken[Verdict.FAIL] if "mcp" not in rule} == content == set()
    assert "answer-content" in broken[Verdict.INCOMPLETE]


#: More levels, and more values, than the playground reads.
BEYOND = {"depth": "[" * 120 + "]" * 120, "values": "[" + "{}," * 900 + "{}]"}


@pytest.mark.parametrize("beyond", BEYOND)
@pytest.mark.parametrize("name", ["0.55 answer", "0.55 stream", "0.55 MCP", "Agent API stream"])
def test_what_exceeds_a_limit_of_the_playground_is_undecided(
    name: str, beyond: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Agents may send JSON of any size: a limit of the playground is no violation of theirs."""
    for limit in ("MAX_VALUES", "MAX_EVENT_VALUES"):
        monkeypatch.setattr(json_decoder, limit, 1_000)
    made = RESPONSES[name]
    *_, before_last, _ = (found.start() for found in re.finditer(rb"}", made.body))
    more = b', "x": ' + BEYOND[beyond].encode()
    broken = judged(made, made.body[:before_last] + more + made.body[before_last:], None)
    assert broken[Verdict.FAIL] <= judged(made, made.body, None)[Verdict.FAIL]
    assert broken[Verdict.INCOMPLETE]


# The same as bytes on a connection, through `send`


def short(made: Conforming, body: bytes) -> Script:
    return [head(content_type=made.media_type, content_length=str(len(made.body) + 9)) + body]


def reset(made: Conforming, body: bytes) -> Script:
    return [*chunked(made, body), 0.02, RESET]


def chunked(made: Conforming, body: bytes) -> Script:
    opened = head(content_type=made.media_type, transfer_encoding="chunked")
    return [opened + chunk(body)]


def malformed_chunk(made: Conforming, body: bytes) -> Script:
    return [*chunked(made, body), b"zz\r\n"]


def second_head(made: Conforming, body: bytes) -> Script:
    return [*chunked(made, body), head("500 Oops", content_type=JSON) + b"{}"]


def packed(encode: Callable[[bytes], bytes], coding: str) -> Callable[[Conforming, bytes], Script]:
    def script(made: Conforming, body: bytes) -> Script:
        data = encode(made.body)
        data = data[: len(data) * 2 // 3]
        length = str(len(data))
        return [
            head(content_type=made.media_type, content_encoding=coding, content_length=length)
            + data
        ]

    return script


def corrupt(body: bytes) -> bytes:
    data = gzip.compress(body)
    return data[:60] + b"\xff" * 20 + data[80:]


def silent(made: Conforming, body: bytes) -> Script:
    return [*chunked(made, body), HOLD]


KINDS: dict[str, Callable[[Conforming, bytes], Script]] = {
    "too short": short,
    "reset": reset,
    "closed between chunks": chunked,
    "malformed chunk": malformed_chunk,
    "second head": second_head,
    "gzip cut": packed(gzip.compress, "gzip"),
    "deflate cut": packed(zlib.compress, "deflate"),
    "gzip corrupt": packed(corrupt, "gzip"),
    "br": packed(lambda body: body, "br"),
}


def sent(made: Conforming, script: Script, *arguments: str) -> Any:
    """What `send` makes of a script."""
    named = (*made.arguments, *arguments)
    if made.binding != "mcp":
        return ask(*script, arguments=named)

    def called(id_: Any) -> Script:
        own = json.dumps(id_).encode()
        return [step.replace(b'"ID"', own) if isinstance(step, bytes) else step for step in script]

    return ask(answer=mcp_server(called), arguments=named)


ONE_OF_EACH = ("0.54 stream", "0.55 answer", "0.55 stream", "0.55 MCP stream", "Agent API stream")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_broken_transfer_is_no_violation(name: str, kind: str) -> None:
    made = RESPONSES[name]
    answer = sent(made, KINDS[kind](made, made.body[: len(made.body) * 2 // 3]))
    assert answer.end["state"] in ("truncated", "failed")
    assert answer.code == 3
    assert not answer.findings.keys() - ALLOWED
    assert any(found["verdict"] == "incomplete" for found in answer.end["findings"])


def test_a_time_limit_is_no_violation() -> None:
    made = RESPONSES["0.55 stream"]
    answer = sent(made, silent(made, made.body[:200]), "--timeout", "0.3")
    assert answer.end["state"] == "failed"
    assert not answer.findings.keys() - ALLOWED
