"""Cases of the rules of Chat Completions.

In a stream the first chunk is frame 2; findings about a whole response stand at 3.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.conformance.case import Case, at, case
from tests.conformance.scripts import ScriptedResponse, document, event, stream, without

CHOICE = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
CALL = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def completion(*choices: Any, **more: Any) -> dict[str, Any]:
    known = {"id": "r", "object": "chat.completion", "created": 1, "model": "m"}
    return {**known, "choices": list(choices), **more}


def chunk(delta: Any = None, reason: Any = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": reason}
    return completion(choice, **{"object": "chat.completion.chunk", **more})


def whole(value: Any, **options: Any) -> ScriptedResponse:
    return replace(document(value, **options), protocol="chat-completions", request={})


def said(message: Any, **more: Any) -> ScriptedResponse:
    return whole(completion({**CHOICE, "message": message, **more}))


def chunks(*payloads: Any, end: str = "[DONE]", **options: Any) -> ScriptedResponse:
    blocks = [event(None, each) for each in payloads]
    made = stream(*blocks, *([event(None, end)] if end else []), **options)
    return replace(made, protocol="chat-completions", request={"stream": True})


FIRST = chunk({"role": "assistant", "content": ""})
LAST = chunk(reason="stop")
GOOD = whole(completion(CHOICE, usage=USAGE))
STREAM = chunks(FIRST, chunk({"content": "Hi"}), LAST)
ERROR = {"error": {"message": "No.", "type": "t", "param": None, "code": None}}
WITH_USAGE = {"stream": True, "stream_options": {"include_usage": True}}


def calling(*calls: Any) -> ScriptedResponse:
    """A stream with a piece of a call in each chunk, the first in frame 3."""
    pieces = (chunk({"tool_calls": [each]}) for each in calls)
    return chunks(FIRST, *pieces, chunk(reason="tool_calls"))


CALLED = "/choices/0/delta/tool_calls/0"
MESSAGE = "/choices/0/message"

CASES: tuple[Case, ...] = (
    case("chat-completions.reply must", GOOD,
         (whole(b""), at("", seq=1)),
         (whole({"hello": 1}), at(""))),
    case("chat-completions.content-type must", STREAM,
         (whole(completion(CHOICE), media_type="text/plain"), at("", seq=1)),
         (chunks(FIRST, LAST, media_type=None), at("", seq=1))),
    case("chat-completions.stream-honoured must", STREAM,
         (GOOD.asked(stream=True), at("", seq=1)),
         (STREAM.asked(), at("", seq=1))),
    case("chat-completions.object must", STREAM,
         (whole(completion(CHOICE, object="chat.completion.chunk")), at("/object")),
         (whole(without(completion(CHOICE), "object")), at("/object")),
         (chunks({**FIRST, "object": "chat.completion"}, LAST), at("/object", seq=2))),
    case("chat-completions.members must", GOOD,
         (whole({"object": "chat.completion"}), at("/id", "/model", "/created", "/choices")),
         (whole(completion(CHOICE, id=1, created="now")), at("/id", "/created"))),
    case("chat-completions.choice-index must", GOOD,
         (whole(completion(without(CHOICE, "index"))), at("/choices/0/index"))),
    case("chat-completions.message must", STREAM,
         (said("Hi"), at(MESSAGE)),
         (chunks(completion({"index": 0}, object="chat.completion.chunk"), LAST),
          at("/choices/0/delta", seq=2))),
    case("chat-completions.role must", STREAM,
         (said({"content": "Hi"}), at(f"{MESSAGE}/role")),
         (chunks(chunk({"role": "bot"}), LAST), at("/choices/0/delta/role", seq=2))),
    case("chat-completions.content must", said({"role": "assistant", "content": None}),
         (said({"role": "assistant", "content": [{"type": "text"}]}), at(f"{MESSAGE}/content"))),
    case("chat-completions.finish-reason must", STREAM,
         (whole(completion({**CHOICE, "finish_reason": "tired"})), at("/choices/0/finish_reason"))),
    case("chat-completions.finished must", STREAM,
         (whole(completion(without(CHOICE, "finish_reason"))), at("/choices/0/finish_reason")),
         (chunks(FIRST, chunk({"content": "Hi"})), at("/choices/0/finish_reason", seq=3))),
    case("chat-completions.tool-calls must",
         calling(CALL, {"index": 0, "function": {"arguments": ""}}),
         (said({"role": "assistant", "tool_calls": {}}), at(f"{MESSAGE}/tool_calls")),
         (calling({"index": 0}), at(f"{CALLED}/id", f"{CALLED}/type", seq=3)),
         (calling({**CALL, "function": {"arguments": {}}}),
          at(f"{CALLED}/function/name", f"{CALLED}/function/arguments", seq=3))),
    case("chat-completions.tool-arguments should",
         calling({**CALL, "function": {"name": "f", "arguments": '{"a"'}},
                 {"index": 0, "function": {"arguments": ": 1}"}}),
         (calling({**CALL, "function": {"name": "f", "arguments": "[1"}}),
          at(f"{CALLED}/function/arguments", seq=3))),
    case("chat-completions.data-json must", STREAM,
         (chunks(FIRST, "oops", LAST), at("", seq=3)),
         (chunks(FIRST, "[DONE]", LAST), at("", seq=4))),
    case("chat-completions.id-same must", STREAM,
         (chunks(FIRST, {**LAST, "id": "other"}), at("/id", seq=3))),
    case("chat-completions.done must", STREAM, (chunks(FIRST, LAST, end=""), at("", seq=3))),
    case("chat-completions.usage-chunk must",
         replace(chunks(FIRST, {**LAST, "choices": [], "usage": USAGE}), request=WITH_USAGE),
         (replace(STREAM, request=WITH_USAGE), at("/usage", seq=4))),
    case("chat-completions.usage must", GOOD,
         (whole(completion(CHOICE, usage=21)), at("/usage")),
         (whole(completion(CHOICE, usage={"prompt_tokens": "1"})),
          at("/usage/prompt_tokens", "/usage/completion_tokens", "/usage/total_tokens"))),
    case("chat-completions.error-status must", whole(ERROR, status=400),
         (whole(ERROR), at("", seq=1)),
         (whole({"detail": "No."}, status=400), at("", seq=1))),
    case("chat-completions.error-object must", chunks(FIRST, ERROR),
         (whole({"error": "No."}, status=400), at("/error")),
         (whole({"error": {"code": 5}}, status=400),
          at("/error/message", "/error/type", "/error/param", "/error/code"))),
)  # fmt: skip
