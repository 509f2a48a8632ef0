"""Builders of scripted Agent API responses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.conformance.scripts import ScriptedResponse, document, event, stream


def at_once(*objects: Any, **options: Any) -> ScriptedResponse:
    """A stream of objects: head 1, then a frame for each. Strings are data as they are."""
    made = stream(*(event(None, each) for each in objects), **options)
    return replace(made, protocol="agent-api")


def numbered(*objects: dict[str, Any], **options: Any) -> ScriptedResponse:
    """The same, with sequence numbers as the specification types them."""
    counted = [{"sequence_number": str(at), **each} for at, each in enumerate(objects)]
    return at_once(*counted, **options)


def whole(value: Any, **options: Any) -> ScriptedResponse:
    """A response that is one document. Findings about its JSON stand at 3."""
    made = document(value, **options)
    return replace(made, protocol="agent-api", request={"stream": False})


def response(status: str = "created", **more: Any) -> dict[str, Any]:
    times = {"created_at": 1, "completed_at": 2, "usage": {"tokens": 3}}
    ends = times if status == "completed" else {}
    return {"object": "response", "id": "r", "status": status, **ends, **more}


def message(status: str = "created", name: str = "m", **more: Any) -> dict[str, Any]:
    return {
        "object": "message", "id": name, "type": "message", "role": "assistant",
        "status": status, **more,
    }  # fmt: skip


def text(words: str, status: str = "in_progress", **more: Any) -> dict[str, Any]:
    return {
        "object": "content", "type": "text", "msg_id": "m", "index": 0, "status": status,
        "delta": status == "in_progress", "text": words, **more,
    }  # fmt: skip


def data(value: Any, status: str = "completed", name: str = "m", **more: Any) -> dict[str, Any]:
    return {
        "object": "content", "type": "data", "msg_id": name, "index": 0, "status": status,
        "delta": False, "data": value, **more,
    }  # fmt: skip


def around(*objects: Any) -> list[dict[str, Any]]:
    """The objects within a message within a response."""
    return [response(), message(), *objects, message("completed"), response("completed")]


def tool(kind: str, value: Any, name: str) -> list[dict[str, Any]]:
    """A message of a call or an output."""
    return [
        message(name=name, type=kind), data(value, name=name),
        message("completed", name=name, type=kind),
    ]  # fmt: skip


def tools(*parts: list[dict[str, Any]]) -> ScriptedResponse:
    inner = [each for part in parts for each in part]
    return numbered(response(), *inner, response("completed"))


HELLO = (text("Hel"), text("lo"), text("Hello", "completed"))
GOOD = numbered(*around(*HELLO))
CALL = {"call_id": "c", "name": "weather", "arguments": '{"city": "Rome"}'}
OUTPUT = {"call_id": "c", "output": "21 C"}
#: A whole response with everything that one can have.
WHOLE = response(
    "completed",
    output=[
        message("completed", content=[text("Hello", "completed")]),
        message("completed", "c1", type="plugin_call", content=[data(CALL, name="c1")]),
        message("completed", "o1", type="plugin_call_output", content=[data(OUTPUT, name="o1")]),
    ],
)


def repeating(*parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A stream that repeats contents in their messages, and messages in the output."""
    same = {"created_at": 1, "session_id": "s"}
    objects, output = [response(**same), response("in_progress", **same)], []
    for part in parts:
        contents = [each for each in part if each["object"] == "content"]
        whole_message = {
            **part[-1],
            "content": [each for each in contents if each["status"] == "completed"],
        }
        objects += [*part[:-1], whole_message]
        output.append(whole_message)
    return [*objects, response("completed", output=output, **same)]


#: A stream with every kind of repetition. The response is at 0, 1 and 14, its messages at 7, 10
#: and 13.
REPEATING = repeating(
    [message(), message("in_progress"), *HELLO, message("completed")],
    tool("plugin_call", CALL, "c1"),
    tool("plugin_call_output", OUTPUT, "o1"),
)
BAD_REQUEST = {"error": "1 validation error"}
