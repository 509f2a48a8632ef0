"""Cases of the Agent API's rules.

In a stream the response is frame 2, the first message frame 3, its first content frame 4.
"""

from __future__ import annotations

import json
from dataclasses import replace

from tests.conformance.agent_api.scripts import (
    BAD_REQUEST,
    CALL,
    GOOD,
    HELLO,
    OUTPUT,
    WHOLE,
    around,
    at_once,
    data,
    message,
    numbered,
    response,
    text,
    tool,
    tools,
    whole,
)
from tests.conformance.case import Case, ExpectedLocation, at
from tests.conformance.scripts import ScriptedResponse, stream, without

V1 = ("1",)
PAIR = tools(tool("plugin_call", CALL, "a"), tool("plugin_call_output", OUTPUT, "b"))
FAILED = numbered(response(), response("failed", error={"code": "E", "message": "Broke."}))
IMAGE = {"object": "content", "type": "image", "msg_id": "m", "index": 0, "delta": False}

#: The objects of a stream without its framing.
LINES = b"".join(json.dumps(each).encode() + b"\n" for each in around(*HELLO))


def case(
    rule: str, good: ScriptedResponse, *bad: tuple[ScriptedResponse, tuple[ExpectedLocation, ...]]
) -> Case:
    return Case(f"agent-api.{rule}", good, bad, V1)


def tailed(reply: ScriptedResponse) -> ScriptedResponse:
    return replace(stream(b'data: {"object": "response"}'), protocol=reply.protocol)


def inside(*objects: object) -> ScriptedResponse:
    """Objects within a message; the first is frame 4."""
    return numbered(*around(*objects))


WIRE = (
    case(
        "reply",
        GOOD,
        (at_once(), at("", seq=1)),
        (at_once({"hello": 1}), at("", seq=2)),
        (whole(b"<html>"), at("")),
        (whole(message("completed")), at("/object")),
    ),
    case(
        "content-type",
        GOOD,
        (numbered(*around(*HELLO), media_type="application/json"), at("", seq=1)),
        (whole(WHOLE, media_type=None), at("", seq=1)),
        (whole(WHOLE, media_type="text/plain"), at("", seq=1)),
    ),
    case(
        "error-status",
        whole({"error": {"code": "E", "message": "No."}}, status=422),
        (whole({"detail": "no"}, status=422), at("")),
        (whole(b"", status=500), at("", seq=1)),
        (at_once(BAD_REQUEST), at("", seq=1)),
    ),
    case(
        "stream-honoured",
        GOOD,
        (whole(WHOLE).asked(), at("", seq=1)),
        (GOOD.asked(stream=False), at("", seq=1)),
    ),
    case("stream-closed", GOOD, (tailed(GOOD), at("", seq=2))),
    case(
        "data-json",
        GOOD,
        (at_once(response(), "oops"), at("", seq=3)),
        (at_once(response(), [1]), at("", seq=3)),
        (at_once(response(), ""), at("", seq=3)),
        (
            replace(
                stream(b"data: " + LINES.strip().replace(b"\n", b"\ndata: ") + b"\n\n"),
                protocol="agent-api",
            ),
            at("", seq=2),
        ),
        (
            replace(stream(b"data: {}\n\n" + LINES + b"\n"), protocol="agent-api"),
            at("", seq=3),
        ),
    ),
    case("done-marker", GOOD, (at_once(*around(*HELLO), "[DONE]"), at("", seq=9))),
    case(
        "event-names",
        GOOD,
        (
            replace(
                stream(b'event: delta\ndata: {"object": "response"}\n\n'), protocol="agent-api"
            ),
            at("", seq=2),
        ),
    ),
    case(
        "object-known",
        GOOD,
        (at_once(response(), {"object": "thing"}), at("/object", seq=3)),
        (at_once(response(), {"status": "created"}), at("/object", seq=3)),
        (at_once(response(output=[{"object": "thing"}])), at("/output/0/object", seq=2)),
    ),
    case(
        "object-present",
        whole(WHOLE),
        (
            whole(response("completed", output=[without(message(content=[{}]), "object")])),
            at("/output/0/object", "/output/0/content/0/object"),
        ),
    ),
    case(
        "bare-error",
        FAILED,
        (at_once(BAD_REQUEST), at("/object", seq=2)),
    ),
)

FIELDS = (
    case(
        "response-fields",
        GOOD,
        (at_once(response(id="", status=None)), at("/id", "/status", seq=2)),
        (
            at_once(response(created_at="", output={}, usage=[], session_id=4, completed_at=0.5)),
            at("/created_at", "/completed_at", "/output", "/usage", "/session_id", seq=2),
        ),
        (at_once(response(created_at=None)), at("/created_at", seq=2)),
        (at_once(response(output=["m", None, []])),
         at("/output/0", "/output/1", "/output/2", seq=2)),
    ),
    case(
        "message-fields",
        GOOD,
        (
            at_once(response(), message("", "", type=None, role=4, content="hi")),
            at("/id", "/type", "/role", "/content", seq=3),
        ),
        (at_once(response(), message(content=["hi", None])),
         at("/content/0", "/content/1", seq=3)),
    ),
    case(
        "response-members",
        GOOD,
        (at_once({"object": "response"}), at("/id", "/status", seq=2)),
    ),
    case(
        "message-members",
        GOOD,
        (
            whole(response("completed", output=[{}])),
            at("/output/0/id", "/output/0/status", "/output/0/type"),
        ),
    ),
    case(
        "content-fields",
        GOOD,
        (
            inside(text(4, type=None, delta="yes", index="0", msg_id=3, data=[], image_url=True)),
            at(*("/type", "/index", "/delta", "/msg_id", "/text", "/image_url", "/data"), seq=4),
        ),
        (
            whole(response("completed", output=[message("completed", content=[{}])])),
            at("/output/0/content/0/type"),
        ),
    ),
    case(
        "content-index",
        GOOD,
        (inside(text("a", index=None)), at("/index", seq=4)),
        (inside(text("a", index=-1)), at("/index", seq=4)),
        (inside(without(text("a"), "index")), at("/index", seq=4)),
    ),
    case(
        "content-msg-id",
        GOOD,
        (
            numbered(response(), message(), message(name="n"), without(text("a"), "msg_id")),
            at("/msg_id", seq=5),
        ),
        (
            numbered(response(), message(), message(name="n"), text("a", msg_id=None)),
            at("/msg_id", seq=5),
        ),
    ),
    case("content-status", GOOD, (inside(without(text("a"), "status")), at("/status", seq=4))),
    case(
        "content-delta",
        GOOD,
        (inside(text("a", "completed", delta=None)), at("/delta", seq=4)),
        (inside(without(text("a"), "delta")), at("/delta", seq=4)),
    ),
    case(
        "listed-delta",
        numbered(response(), message("completed", content=[text("a", "completed")])),
        (
            numbered(response(), message("completed", content=[text("a", delta=True)])),
            at("/content/0/delta", seq=3),
        ),
    ),
    case(
        "content-payload",
        inside({**IMAGE, "status": "completed", "image_url": "https://example.com/a.png"}),
        (inside({**IMAGE, "status": "completed"}), at("/image_url", seq=4)),
        (inside(data(None)), at("/data", seq=4)),
        (
            whole(response("completed", output=[message(content=[{"type": "text"}])])),
            at("/output/0/content/0/text"),
        ),
    ),
    case(
        "message-type-known",
        GOOD,
        (
            numbered(response(), message(type="novel"), message(name="n", type="novel")),
            at("/type", seq=3),
        ),
    ),
    case(
        "message-type-used",
        GOOD,
        (
            numbered(response(), message(type="reasoning"), message(name="n", type="reasoning")),
            at("/type", seq=3),
        ),
        (numbered(response(), message(type="assistant")), at("/type", seq=3)),
    ),
    case("content-type-known", GOOD, (inside(text("a", type="audio")), at("/type", seq=4))),
    case("role-known", GOOD, (numbered(response(), message(role="tool")), at("/role", seq=3))),
    case(
        "status-known",
        GOOD,
        (numbered(response("queued"), message("paused")),
         (*at("/status", seq=2), *at("/status", seq=3))),
        (numbered(response("incomplete")), at("/status", seq=2)),
    ),
    case(
        "status-incomplete",
        GOOD,
        (numbered(response(), message(), message("incomplete"), message("incomplete", "n")),
         at("/status", seq=4)),
    ),
    case(
        "members-known",
        GOOD,
        (numbered(response(), message(usage=None, metadata={})),
         at("/usage", "/metadata", seq=3)),
        (numbered(response(**{"a/b": 1})), at("/a~1b", seq=2)),
    ),
)  # fmt: skip

LIFECYCLE = (
    case("response-first", GOOD, (numbered(message(), response()), at("/object", seq=2))),
    case(
        "initial-status",
        GOOD,
        (numbered(response(), message("in_progress")), at("/status", seq=3)),
        (numbered(response("in_progress")), at("/status", seq=2)),
        (numbered(response("completed")), at("/status", seq=2)),
    ),
    case(
        "status-transitions",
        GOOD,
        (numbered(response(), response("in_progress"), response("created")), at("/status", seq=4)),
        (
            numbered(response(), message(), message("completed"), message("in_progress")),
            at("/status", seq=5),
        ),
        (inside(text("a"), text("", "created")), at("/status", seq=5)),
    ),
    case(
        "nothing-after-end",
        GOOD,
        (numbered(response(), response("completed"), message()), at("", seq=4)),
        (numbered(response(), response("failed"), response("completed")), at("", seq=4)),
    ),
    case("response-ended", GOOD, (numbered(response(), message()), at("", seq=3))),
    case("document-ended", whole(WHOLE), (whole(response("in_progress")), at("/status"))),
    case(
        "message-ended",
        GOOD,
        (numbered(response(), message(), response("completed")), at("/status", seq=3)),
        (numbered(response(), message()), at("/status", seq=3)),
    ),
    case(
        "output-ended",
        whole(response("completed", output=[message("completed"), message("failed", "n")])),
        (
            whole(response("completed", output=[message("in_progress"), message("created", "n")])),
            at("/output/0/status", "/output/1/status"),
        ),
    ),
    case(
        "message-ended-failed",
        numbered(response(), message(), message("failed"), response("failed")),
        (numbered(response(), message(), response("failed")), at("/status", seq=3)),
    ),
    case(
        "messages-in-output",
        numbered(*around(*HELLO)[:-1], response("completed", output=[message("completed")])),
        (numbered(*around(*HELLO)[:-1], response("completed", output=[])), at("/output", seq=8)),
    ),
    case(
        "sequence-present",
        GOOD,
        (at_once(*around(*HELLO)), at("/sequence_number", seq=2)),
        (at_once(response(sequence_number="0"), message()), at("/sequence_number", seq=3)),
    ),
    case(
        "sequence-type",
        GOOD,
        (at_once(response(sequence_number=0)), at("/sequence_number", seq=2)),
        (
            at_once(response(sequence_number="0", output=[message(sequence_number=1)])),
            at("/output/0/sequence_number", seq=2),
        ),
    ),
    case(
        "sequence-digits",
        GOOD,
        (at_once(response(sequence_number="first")), at("/sequence_number", seq=2)),
    ),
    case(
        "sequence-increasing",
        GOOD,
        (
            at_once(*(response(sequence_number=n) for n in ("1", "0", "1", "2"))),
            (*at("/sequence_number", seq=3), *at("/sequence_number", seq=4)),
        ),
    ),
    case(
        "sequence-gapless",
        GOOD,
        (at_once(*(response(sequence_number=n) for n in (0, 2))), at("/sequence_number", seq=3)),
    ),
)

TWO = (message(name="a", status="completed"), message(name="b", status="completed"))
IDENTITY = (
    case(
        "response-id-kept",
        numbered(response(), response("completed")),
        (numbered(response(), response("completed", id="other")), at("/id", seq=3)),
    ),
    case(
        "created-at-kept",
        numbered(response(created_at=1), response("completed", created_at=1.0)),
        (numbered(response(created_at=0), response("completed")), at("/created_at", seq=3)),
    ),
    case(
        "session-kept",
        numbered(response(session_id="s"), response("completed")),
        (
            numbered(response(session_id="s"), response("completed", session_id="t")),
            at("/session_id", seq=3),
        ),
    ),
    case(
        "message-kept",
        GOOD,
        (
            numbered(response(), message(), message("completed", type="error", role="user")),
            at("/type", "/role", seq=4),
        ),
        (
            numbered(response(), message(), response("completed", output=[message(role="user")])),
            at("/output/0/role", seq=4),
        ),
    ),
    case(
        "message-id-kept",
        numbered(*around(*HELLO)[:-1], response("completed", output=[message("completed")])),
        (
            numbered(*around(*HELLO)[:-2], message("completed", "n"), response("completed")),
            at("/id", seq=7),
        ),
        (
            numbered(*around(*HELLO)[:-1],
                     response("completed", output=[message("completed", "n")])),
            at("/output/0/id", seq=8),
        ),
    ),
    case(
        "message-id-unique",
        whole(response("completed", output=TWO)),
        (whole(response("completed", output=[*TWO, TWO[0]])), at("/output/2/id")),
    ),
    case(
        "content-kept",
        GOOD,
        (inside(text("a"), text("b", type="image"), text("ab", "completed")), at("/type", seq=5)),
    ),
    case(
        "content-in-message",
        numbered(response(), message("completed", content=[text("a", "completed")])),
        (
            numbered(response(), message(content=[text("a", "completed", msg_id="n")])),
            at("/content/0/msg_id", seq=3),
        ),
    ),
)  # fmt: skip

CONTENTS = (
    case(
        "message-announced",
        GOOD,
        (numbered(response(), text("a")), at("/msg_id", seq=3)),
        (inside(text("a", msg_id="other")), at("/msg_id", seq=4)),
    ),
    case(
        "message-before-content",
        GOOD,
        (numbered(response(), text("a"), message()), at("/msg_id", seq=3)),
    ),
    case(
        "content-after-message",
        GOOD,
        (numbered(response(), message(), message("completed"), text("a")), at("/msg_id", seq=5)),
    ),
    case(
        "content-after-end",
        GOOD,
        (inside(*HELLO, text("!")), at("/index", seq=7)),
    ),
    case(
        "content-ended",
        GOOD,
        (inside(text("a"), text("b")), at("/status", seq=5)),
        (
            whole(response("completed", output=[message("completed", content=[text("a")])])),
            at("/output/0/content/0/status"),
        ),
    ),
    case(
        "content-index-gapless",
        inside(text("b", "completed", index=1), text("a", "completed")),
        (inside(text("b", "completed", index=1)), at("/index", seq=4)),
        (
            whole(response("completed", output=[message(content=[text("a", index=-1)])])),
            at("/output/0/content/0/index"),
        ),
    ),
    case(
        "delta-sum",
        GOOD,
        (inside(text("Hel"), text("lo"), text("Hello you", "completed")), at("/text", seq=6)),
        (inside(text("Hel"), text("lo"), text("", "completed")), at("/text", seq=6)),
        (
            inside(text("Hel"), text("lo"), text("Hello", "completed", delta=True)),
            at("/delta", seq=6),
        ),
    ),
    case(
        "delta-sum-punctuation",
        GOOD,
        (inside(text("Hel"), text("lo"), text("Hello!", "completed")), at("/text", seq=6)),
    ),
    case(
        "text-in-pieces",
        GOOD,
        (inside(text("Hel", delta=False), text("Hello", "completed")), at("/delta", seq=4)),
    ),
    case(
        "data-in-pieces",
        inside(data({"a": 1})),
        (inside(data({"a": ""}, "in_progress"), data({"a": 1})), at("/delta", seq=4)),
    ),
    case(
        "message-content",
        numbered(
            *around(*HELLO)[:-2],
            message("completed", content=[text("Hello", "completed")]),
            response("completed"),
        ),
        (
            numbered(*around(*HELLO)[:-2], message("completed", content=[text("Hullo")])),
            at("/content/0", seq=7),
        ),
        (
            numbered(*around(*HELLO)[:-2], message("completed", content=[])),
            at("/content", seq=7),
        ),
        (
            numbered(
                *around(data({"a": 1}))[:-2], message("completed", content=[data({"a": True})])
            ),
            at("/content/0", seq=5),
        ),
        (
            numbered(
                *around(text("Hel"), text("lo", "completed", delta=True))[:-2],
                message("completed", content=[text("lo", "completed")]),
            ),
            at("/content/0", seq=6),
        ),
    ),
)

TOOLS = (
    case(
        "call-fields",
        PAIR,
        (
            tools(tool("mcp_call", {"arguments": "{}"}, "a")),
            at("/data/call_id", "/data/name", seq=4),
        ),
    ),
    case(
        "call-types",
        PAIR,
        (
            tools(tool("function_call", {"call_id": 1, "name": [], "arguments": {"a": 1}}, "a")),
            at("/data/call_id", "/data/name", "/data/arguments", seq=4),
        ),
    ),
    case(
        "call-arguments",
        PAIR,
        (
            tools(tool("function_call", {**CALL, "arguments": '{"a": '}, "a")),
            at("/data/arguments", seq=4),
        ),
        (
            tools(tool("function_call", {**CALL, "arguments": "[" * 200}, "a")),
            at("/data/arguments", seq=4),
        ),
    ),
    case(
        "output-fields",
        PAIR,
        (
            tools(tool("plugin_call_output", {"call_id": 4, "output": None}, "a")),
            at("/data/call_id", "/data/output", seq=4),
        ),
        (
            tools(tool("function_call_output", {}, "a")),
            at("/data/call_id", "/data/output", seq=4),
        ),
    ),
    case(
        "output-members",
        PAIR,
        (
            tools(tool("plugin_call_output", {}, "a")),
            at("/data/call_id", "/data/output", seq=4),
        ),
    ),
    case(
        "output-paired",
        PAIR,
        (tools(tool("plugin_call_output", OUTPUT, "a")), at("/data/call_id", seq=4)),
        (
            whole(response("completed", output=WHOLE["output"][2:])),
            at("/output/0/content/0/data/call_id"),
        ),
    ),
    case(
        "call-id-unique",
        PAIR,
        (
            tools(tool("plugin_call", CALL, "a"), tool("plugin_call", CALL, "b")),
            at("/data/call_id", seq=7),
        ),
    ),
    case(
        "output-unique",
        PAIR,
        (
            tools(
                tool("plugin_call", CALL, "a"),
                tool("plugin_call_output", OUTPUT, "b"),
                tool("plugin_call_output", OUTPUT, "c"),
            ),
            at("/data/call_id", seq=10),
        ),
    ),
    case(
        "call-answered",
        PAIR,
        (tools(tool("component_call", CALL, "a")), at("/data/call_id", seq=4)),
    ),
)

ENDINGS = (
    case(
        "error-object",
        FAILED,
        (at_once(BAD_REQUEST), at("/error", seq=2)),
        (
            numbered(response(), response("failed", error={"code": 4})),
            at("/error/code", "/error/message", seq=3),
        ),
    ),
    case(
        "error-explained",
        FAILED,
        (
            numbered(response(), response("failed", error={"code": "", "message": " "})),
            at("/error/code", "/error/message", seq=3),
        ),
    ),
    case(
        "failed-error",
        FAILED,
        (numbered(response(), response("failed")), at("/error", seq=3)),
        (numbered(response(), message("failed")), at("/code", "/message", seq=3)),
        (
            numbered(response(), message("completed", type="error", code="E")),
            at("/message", seq=3),
        ),
    ),
    case(
        "error-failed",
        FAILED,
        (
            numbered(response("completed", error={"code": "E", "message": "M"})),
            at("/status", seq=2),
        ),
        (
            numbered(response(), message("completed", error={"code": "E", "message": "M"})),
            at("/status", seq=3),
        ),
    ),
    case(
        "usage",
        GOOD,
        (numbered(response("completed", usage=None)), at("/usage", seq=2)),
        (
            numbered(response("completed", usage={"a": "many", "b": -1, "c": 2, "d": {"e": 1}})),
            at("/usage/a", "/usage/b", seq=2),
        ),
    ),
    case(
        "times",
        GOOD,
        (numbered(response("completed", completed_at=None)), at("/completed_at", seq=2)),
    ),
    case(
        "times-order",
        GOOD,
        (numbered(response("failed", created_at=5, completed_at=4)), at("/completed_at", seq=2)),
    ),
    case(
        "session-echoed",
        numbered(response(session_id="s"), response("completed")).asked(session_id="s"),
        (numbered(response(session_id="other")).asked(session_id="s"), at("/session_id", seq=2)),
    ),
)

CASES: tuple[Case, ...] = (*WIRE, *FIELDS, *LIFECYCLE, *IDENTITY, *CONTENTS, *TOOLS, *ENDINGS)
