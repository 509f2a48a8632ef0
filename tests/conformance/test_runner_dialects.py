"""Known behaviour of real agents, line by line, with the findings on each.

Lines that deviate have a response, made by hand or captured, and the rules that report it. Lines
that comply, or that the specification leaves open, have a response without findings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import pytest

from playground.conformance import Verdict
from playground.protocols.frames import FrameKind
from playground.protocols.problems import Problem, Stage
from tests.conformance.agent_api.scripts import (
    around,
    at_once,
    data,
    message,
    numbered,
    response,
    text,
    tool,
)
from tests.conformance.mcp import scripts as mcp
from tests.conformance.scripts import (
    COMPLETE,
    ITEM,
    SSE,
    START,
    ScriptedResponse,
    answer,
    asking,
    capture,
    document,
    event,
    failure,
    head,
    meta,
    promise,
    question,
    stream,
)
from tests.conformance.scripts import numbered as frames_of


class Line(NamedTuple):
    """A line: what is told there, a reply, and the rules that fail on it."""

    about: str
    reply: ScriptedResponse
    rules: Sequence[str] = ()
    version: str = "0.54"


META = {"_meta": {"version": "0.54", "response_type": "answer"}}
BROKEN = Problem("truncated", Stage.BODY, "Broke.", "Look.", "HTTP/1.1 200 OK\r\n\r\n").to_bytes()
NO_TYPE = {"url": "https://example.com", "name": "Soup", "site": "x", "siteUrl": "y", "score": 5}

ASK_AGENT = (
    # The request asks for 0.55.
    Line("response_type is capitalised", capture("ask_agent/ask_json"),
         ["response-type-lowercase", "version-asked"]),
    Line("frames have no event name, no index, and no complete", capture("ask_agent/ask_stream"),
         ["response-type-lowercase", "stream-events-named", "stream-start-first",
          "stream-complete-present"]),
    Line("an elicitation in such a stream, with questions of type text",
         capture("ask_agent/ask_stream_elicitation"),
         ["response-type-lowercase", "question-type-known", "stream-events-named",
          "stream-start-first", "stream-complete-present"]),
    Line("a failure after the stream began writes a second head, which breaks the transfer",
         ScriptedResponse(frames_of([(FrameKind.HEAD, head(200, SSE)),
                                     (FrameKind.EVENT, START.replace(b"@version", b"0.54")),
                                     (FrameKind.ERROR, BROKEN)]), state="truncated")),
    Line("streaming is the default, whatever Accept says",
         stream(START, COMPLETE).asked(prefer={"streaming": False}), ["streaming-honoured"]),
    Line("an unknown attribute of the query gives 400, or 200 and a failure in a stream",
         failure({"code": "INVALID_REQUEST", "message": "m"}, 400), ["failure-code-known"]),
    Line("error codes of its own with 400 and 500",
         failure({"code": "MISSING_FIELD", "message": "m"}, 500), ["failure-code-known"]),
    Line("malformed JSON gives 500 in plain text",
         document(b"Server got itself in trouble", 500, "text/plain"), ["http-error-failure"]),
    Line("the version is called api_version",
         document({"_meta": {"response_type": "answer", "api_version": "0.54"}, "results": [ITEM]}),
         ["version-present"]),
    Line("response_format is conv_search: other names than those listed are allowed",
         document({"_meta": {**META["_meta"], "response_format": "conv_search"},
                   "results": [ITEM]})),
    Line("a promise is answered with 200", document({**meta("promise"), "promise": {"token": "p"}}),
         ["http-status"]),
    Line("cancel is answered with a promise", promise({"token": "p"}).awaited("cancel"),
         ["await-cancelled"]),
    Line("items carry score, site and source_urls; metadata carry request_id",
         answer({**ITEM, "score": 8, "site": "x", "grounding": {"source_urls": ["https://x"]}},
                request_id="r", decontextualized_query="q")),
    Line("questions always have type text", asking(question(type="text")), ["question-type-known"]),
    Line("/mcp speaks protocol 2024-11-05",
         mcp.opened({**mcp.INITIALIZED, "protocolVersion": "2024-11-05"}), ["mcp.version-current"]),
    Line("/mcp returns only _meta for an object query", mcp.asked(mcp.result(META)),
         ["answer-content"]),
    Line("/mcp-sse sends later frames without an id",
         mcp.run(mcp.ask(),
                 mcp.told(mcp.response({**META, "content": []}),
                          {"jsonrpc": "2.0", "result": {"results": [ITEM], "content": []}})),
         ["mcp.response-id", "answer-content", "mcp.reply-shape"]),
)  # fmt: skip

#: The older server has no version of the specification; judged as the earliest all the same.
OLDER = (
    Line("events are unnamed and typed by message_type", capture("nlweb/get_stream"),
         ["meta-present", "item-type", "stream-events-named", "stream-start-first",
          "stream-complete-present"]),
    Line("result items have no type",
         stream(event(None, {"message_type": "result_batch", "results": [NO_TYPE]})),
         ["meta-present", "item-type", "stream-events-named", "stream-start-first",
          "stream-complete-present"]),
    Line("comments as heartbeats", stream(START, b": keep-alive\n\n", COMPLETE)),
)  # fmt: skip

NULL = text("Hello", "completed", delta=None)
AGENT_SCOPE = (
    Line("sequence_number is an integer",
         at_once(response(sequence_number=0), response("completed", sequence_number=1)),
         ["sequence-type"]),
    Line("sequence_number is null on nested content",
         numbered(*around(text("a", "completed"))[:3],
                  message("completed", content=[text("a", "completed", sequence_number=None)]),
                  response("completed"))),
    Line("the response is announced as created, then as in_progress",
         numbered(response(), response("in_progress"), response("completed"))),
    Line("a message opens with in_progress",
         numbered(response(), message("in_progress"), message("completed"), response("completed")),
         ["initial-status"]),
    Line("completed content has delta null", numbered(*around(NULL)), ["content-delta"]),
    Line("arguments arrive as whole replacements",
         numbered(response(), message(type="function_call"),
                  data({"call_id": "c", "name": "n", "arguments": ""}, "in_progress"),
                  data({"call_id": "c", "name": "n", "arguments": "{}"}),
                  message("completed", type="function_call"), response("completed")),
         ["data-in-pieces"]),
    *(
        Line(
            f"the message type {kind}",
            numbered(response(), message(type=kind), message("completed", type=kind),
                     response("completed")),
            ["message-type-used"],
        )
        for kind in ("reasoning", "mcp_call_output", "a2ui_response", "a2ui_action")
    ),
    *(
        Line(
            f"the content type {kind}",
            numbered(*around({**data({"a": 1}), "type": kind})),
            ["content-type-known"],
        )
        for kind in ("file", "audio", "video", "refusal")
    ),
    Line("the role tool",
         numbered(response(), message(role="tool"), message("completed", role="tool"),
                  response("completed")), ["role-known"]),
    *(
        Line(
            f"the status {status}",
            numbered(response(), message(), message(status), response("completed")),
            rules,
        )
        for status, rules in (
            ("queued", ["status-known", "message-ended"]),
            ("incomplete", ["status-incomplete"]),
        )
    ),
    Line("the message fields usage and metadata",
         numbered(response(), message(usage=None, metadata={}), message("completed"),
                  response("completed")), ["members-known"]),
    Line("an error in mid-stream leaves the message open",
         numbered(response(), message(), text("Part"),
                  response("failed", error={"code": "E", "message": "m"})),
         ["message-ended-failed"]),
    Line("an invalid request is HTTP 200 with a bare error",
         replace(capture("agentscope/bad_request_no_input"), protocol="agent-api"),
         ["error-status", "bare-error", "error-object"]),
    Line("malformed JSON is a 422",
         replace(document({"detail": "no JSON"}, 422), protocol="agent-api"), ["error-status"]),
    Line("stream: false is ignored", numbered(*around()).asked(stream=False), ["stream-honoured"]),
    Line("deltas for a message that was never announced",
         numbered(response(), text("a"), text("a", "completed"), response("completed")),
         ["message-announced"]),
    Line("U+2028 and U+0085 in data", numbered(*around(text("\u2028\u0085", "completed")))),
    Line("a call and its output in messages of their own",
         numbered(response(),
                  *tool("plugin_call", {"call_id": "c", "name": "n", "arguments": "{}"}, "a"),
                  *tool("plugin_call_output", {"call_id": "c", "output": "o"}, "b"),
                  response("completed"))),
)  # fmt: skip

MCP = (
    Line("up to 2025-11-25: a session from initialize on",
         mcp.opened(mcp.INITIALIZED, extra="Mcp-Session-Id: a\r\n")),
    Line("2026-07-28: server/discover", mcp.opened(mcp.DISCOVERED, "server/discover")),
    Line("SSE with CR LF, where the server likes",
         mcp.run(mcp.ask(), mcp.told(mcp.response(mcp.result())))),
    Line("elicitation/create in mid-call",
         mcp.run(mcp.ask(), mcp.told(mcp.question(**mcp.FORM), mcp.response(mcp.result())))),
    Line("input_required with a retry",
         mcp.modern({"resultType": "input_required", "requestState": "s",
                     "inputRequests": {"a": {"method": "elicitation/create",
                                             "params": mcp.FORM}}})),
    Line("a foreign Host gives 421", mcp.run(mcp.ask(), mcp.nothing(421))),
    Line("a foreign Origin gives 403", mcp.run(mcp.ask(), mcp.nothing(403))),
    Line("a missing token gives 401 with WWW-Authenticate",
         mcp.run(mcp.ask(), mcp.nothing(401, extra="WWW-Authenticate: Bearer\r\n"))),
    Line("a tool's exception arrives as isError with text",
         mcp.asked(mcp.result("ValueError: no", isError=True)), ["mcp.error-explained"]),
)  # fmt: skip

LINES = (*ASK_AGENT, *OLDER, *AGENT_SCOPE, *MCP)


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.about.replace(" ", "-"))
def test_line(line: Line) -> None:
    version = "1" if line.reply.protocol == "agent-api" else line.version
    if line.reply.protocol == "nlweb" and line.reply.binding == "mcp" and not line.rules:
        version = "0.55"
    report = line.reply.report_for(version)
    failed = {rule for rule, verdict in report.verdicts.items() if verdict is Verdict.FAIL}
    told = {rule.removeprefix("agent-api.") for rule in failed}
    assert told == set(line.rules)


def test_a_dialect_without_a_version_is_not_judged() -> None:
    """The older server is a version of its own, which predates every rule."""
    report = capture("nlweb/get_stream").report_for("legacy")
    assert set(report.verdicts.values()) == {Verdict.NOT_APPLICABLE}
    assert report.problems == ()
