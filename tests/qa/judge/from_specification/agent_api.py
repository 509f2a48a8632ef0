"""Breaks of the Agent API's responses, whole and streamed, after the text of its protocol.

The models give types and defaults: a wrong type has the level "must", and so has an attribute that
has no default and is missing; one with a default that is missing is shown in every example, and
has the level "should". What is `Optional`, or whose default is None, may be null.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.qa.judge.from_specification.grammar import Attribute, Variation, turned, vary
from tests.qa.judge.from_specification.replies import (
    CALL,
    JSON,
    OUTPUT,
    refused,
    sequence,
    whole,
)
from tests.qa.judge.mutants import (
    Level,
    Mutant,
    Response,
    changed,
    json_response,
    pointed,
    sse,
    stream_response,
    without,
)

A = Attribute
Sent = tuple[str, Response, Level, str]

STATUSES = ("created", "in_progress", "completed", "canceled", "failed", "rejected", "unknown")
MESSAGE_TYPES = (
    "message function_call function_call_output plugin_call plugin_call_output component_call "
    "component_call_output mcp_list_tools mcp_approval_request mcp_call mcp_approval_response "
    "heartbeat error"
).split()


def mutants() -> Iterator[Mutant]:
    """Return the mutants of whole responses and of streams."""
    for name, document in (("whole", whole()), ("failed", refused())):
        for variation in (
            *vary(document, _whole_attributes(document)),
            *_by_text(document),
            *_conforming(document),
        ):
            if name == "failed" and variation.name == "/error is left out":
                continue  # optional by its type; what a failed response lacks then is below
            if variation.name in CALL_LEFT_OUT:
                continue
            yield _whole(f"{name}: {variation.name}", variation)
    yield from _streamed_events()
    for name, response, level, sentence in (*_orders(), *_texts()):
        streamed = name.startswith("stream")
        yield _mutant(name, response, stream=streamed, level=level, sentence=sentence)


# Optional by their types, but the output of the call then answers a call that is not there, or is
# without the attributes that it must have.
CALL_LEFT_OUT = (
    "/output/0/content is left out",
    "/output/0/content/0/data is left out",
    "/output/0/content/0/data/call_id is left out",
    "/output/1/content is left out",
    "/output/1/content/0/data is left out",
)


def _request(*, stream: bool) -> JSON:
    content = [{"type": "text", "text": "Describe this image"}]
    message = {"role": "user", "type": "message", "content": content}
    return {"input": [message], "stream": stream}


def _mutant(name: str, response: Response, *, stream: bool, **verdict: Any) -> Mutant:
    return Mutant(
        name=f"agent-api {name}",
        protocol="agent-api",
        binding="http",
        version="1",
        operation="ask",
        request=_request(stream=stream),
        response=response,
        **verdict,
    )


def _whole(name: str, variation: Variation) -> Mutant:
    return _mutant(
        name,
        json_response(variation.document),
        stream=False,
        **variation.verdict(),
    )


# The models


def _response(at: str) -> list[Attribute]:
    return [
        A(f"{at}/object", "string", "§6: a response's object is “response”.", "should",
          values=("response",)),
        A(f"{at}/id", "string", "§6: id is a string.", "should", empty="must"),
        A(f"{at}/status", "string",
          "§1: the run statuses are a closed list; every example has one.", "should",
          values=STATUSES),
        A(f"{at}/sequence_number", "string null", "§6: sequence_number is a string."),
        A(f"{at}/created_at", "integer", "§6: created_at is an integer."),
        A(f"{at}/completed_at", "integer null", "§6: completed_at is an integer."),
        A(f"{at}/error", "object null", "§6, §7: error is an object with code and message."),
        A(f"{at}/output", "array null", "§6: output is a list of messages."),
        A(f"{at}/usage", "object null", "§6: usage is an object."),
        A(f"{at}/session_id", "string null", "§6: session_id is a string."),
    ]  # fmt: skip


def _message(at: str) -> list[Attribute]:
    return [
        A(f"{at}/object", "string", "§4: a message's object is “message”.", "should",
          values=("message",)),
        A(f"{at}/id", "string", "§4: id is the unique id of the message.", "should", empty="must"),
        # The stream examples end with messages that have no type.
        A(f"{at}/type", "string", "§1, §4: the types of messages are a closed list.",
          "should" if "/output/" in at else "", values=tuple(MESSAGE_TYPES)),
        A(f"{at}/status", "string", "§1, §4: the statuses are a closed list.", "should",
          values=STATUSES),
        A(f"{at}/role", "string null", "§4: the role should be user, system or assistant.",
          values=("assistant", "user", "system"), outside="should"),
        A(f"{at}/content", "array null", "§4: content is a list."),
        A(f"{at}/code", "string null", "§4: code is a string."),
        A(f"{at}/message", "string null", "§4: message is a string."),
    ]  # fmt: skip


def _content(at: str, kind: str) -> list[Attribute]:
    rows = [
        A(f"{at}/object", "string", "§3: a content's object is “content”.", "should",
          values=("content",)),
        A(f"{at}/type", "string", "§3: type is required; there are text, image and data.", "must",
          values=("text", "image", "data")),
        A(f"{at}/status", "string", "§1: the statuses are a closed list.", values=STATUSES),
        A(f"{at}/index", "integer null", "§3: index is an integer."),
        A(f"{at}/delta", "boolean null", "§3: delta is a boolean."),
        A(f"{at}/msg_id", "string null", "§3: msg_id is a string."),
    ]  # fmt: skip
    return rows + {
        "text": [A(f"{at}/text", "string null", "§3: text is a string.")],
        "image": [A(f"{at}/image_url", "string null", "§3: image_url is a string.")],
        "data": [A(f"{at}/data", "object null", "§3: data is an object.")],
    }.get(kind, [])


def _whole_attributes(document: JSON) -> list[Attribute]:
    rows = _response("")
    if document.get("error"):
        said = "§7: an error has a code and a message, strings."
        rows += [A(f"/error/{name}", "string", said, "must") for name in ("code", "message")]
    for number, message in enumerate(document.get("output", [])):
        at = f"/output/{number}"
        rows.append(A(at, "object", "§6: output holds messages."))
        rows += _message(at)
        for part, content in enumerate(message["content"]):
            rows.append(A(f"{at}/content/{part}", "object", "§4: content holds contents."))
            rows += _content(f"{at}/content/{part}", content["type"])
    if document.get("output"):
        rows += _call_attributes()
    return rows


def _call_attributes() -> list[Attribute]:
    call, output = "/output/0/content/0/data", "/output/1/content/0/data"
    said = "§2: call_id, name and arguments of a call are strings."
    rows = [A(f"{call}/{name}", "string null", said) for name in ("call_id", "name", "arguments")]
    said = "§2: call_id and output of an output are required, strings."
    return rows + [A(f"{output}/{name}", "string", said, "must") for name in ("call_id", "output")]


# Whole responses


def broken(name: str, made: Any, level: Level, sentence: str, *pointers: str) -> Variation:
    return Variation(name, made, level, sentence, pointers)


def _by_text(document: JSON) -> Iterator[Variation]:
    for sample, value in (("array", [document]), ("string", "text"), ("number", 7), ("null", None)):
        said = "§6: a response is an object."
        yield broken(f"the reply is of type {sample}", value, "must", said, "")
    if document["status"] == "failed":
        made = without(document, "/error")
        yield broken("failed without an error", made, "should", "Error Handling.", "/error")
        errors: tuple[Any, ...] = ("The model did not answer.", ["MODEL_UNAVAILABLE"])
        for value in errors:
            said = "§7: an error is an object with a code and a message."
            yield broken(
                f"error is {value!r}", changed(document, "/error", value), "must", said, "/error"
            )
        return
    done = "State table: completed means that the operation has finished."
    for pointer in ("/output/0", "/output/2", "/output/2/content/0"):
        for status in ("in_progress", "created"):
            made = changed(document, f"{pointer}/status", status)
            yield broken(f"{pointer} is still {status}", made, "must", done, f"{pointer}/status")
    said = "§4: the id of a message is unique."
    made = changed(document, "/output/1", {**OUTPUT, "id": CALL["id"]})
    made = changed(made, "/output/1/content/0/msg_id", CALL["id"])
    yield broken("two messages of one id", made, "must", said, "/output")
    said = "§3: msg_id is the id of the message."
    made = changed(document, "/output/2/content/0/msg_id", "msg_of_another")
    yield broken("msg_id of another message", made, "must", said, "/output/2/content/0/msg_id")
    said = "§3: index is the content's index in the list of the message."
    for pointer, value in (("/output/2/content/1/index", 0), ("/output/2/content/1/index", -1)):
        made = changed(document, pointer, value)
        yield broken(f"{pointer} is {value}", made, "must", said, "/output/2/content")
    said = "§2: call_id is the id of the call."
    again = changed(CALL, "/id", "msg_3")
    again = changed(again, "/content/0/msg_id", "msg_3")
    made = changed(document, "/output", [CALL, OUTPUT, again])
    yield broken("two calls of one id", made, "must", said, "/output")
    said = "§2: arguments are JSON in a string; output is a string."
    wrong: dict[str, Any] = {
        "/output/0/content/0/data/arguments": {"city": "Riga"},
        "/output/1/content/0/data/output": {"rain": True},
    }
    for pointer, value in wrong.items():
        made = changed(document, pointer, value)
        yield broken(f"{pointer} is an object", made, "must", said, pointer)
    yield from _lists(document)
    made = {"response": document}
    yield broken("the response within another object", made, "must", "§6: the object itself.", "")


def _lists(document: JSON) -> Iterator[Variation]:
    for kind in ("reasoning", "assistant_message", "tool_call"):
        made = changed(document, "/output/2/type", kind)
        yield broken(
            f"a message of type {kind}", made, "must", "§1: a closed list.", "/output/2/type"
        )
    for kind in ("audio", "video", "input_text", "refusal"):
        made = changed(document, "/output/2/content/0/type", kind)
        said = "§3: there are text, image and data."
        yield broken(f"a content of type {kind}", made, "must", said, "/output/2/content/0/type")
    for status in ("cancelled", "in-progress", "InProgress", "done", "queued"):
        made = changed(document, "/status", status)
        yield broken(f"status {status}", made, "must", "§1: a closed list.", "/status")
    for role in ("tool", "agent", "developer"):
        made = changed(document, "/output/2/role", role)
        said = "§4: the role should be user, system or assistant."
        yield broken(f"role {role}", made, "should", said, "/output/2/role")


def _conforming(document: JSON) -> Iterator[Variation]:
    yield Variation("as it is", document, "", "The models.")
    yield Variation("members turned round", turned(document), "", "JSON objects have no order.")
    reason = "The models do not close their objects."
    holders = ["", *(f"/output/{n}" for n in range(len(document.get("output", []))))]
    for pointer in (*holders, *(f"{holder}/content/0" for holder in holders[1:])):
        for name, value in (("x_vendor", {"a": [1, None]}), ("metadata", None), ("model", "m-1")):
            made = changed(document, pointer, {**pointed(document, pointer), name: value})
            yield Variation(f"{pointer or 'top'} has {name}", made, "", reason)
    if document["status"] == "failed":
        return
    for kind in MESSAGE_TYPES:
        made = changed(document, "/output/2/type", kind)
        if kind.startswith(("function", "error")):
            continue  # these say more about their contents
        yield Variation(f"a message of type {kind}", made, "", "§1 lists it.")
    for role in ("user", "system"):
        made = changed(document, "/output/2/role", role)
        yield Variation(f"a message of the {role}", made, "", "§1 lists it.")
    for name in ("session_id", "usage", "sequence_number", "completed_at"):
        made = {**document, name: None}
        yield Variation(f"{name} is null", made, "", "§6: its default is None.")
    for name, output in (("no messages", []), ("one message", [document["output"][2]])):
        yield Variation(name, changed(document, "/output", output), "", "No stated length.")
    made = changed(document, "/output/0/content/0/data/arguments", '{"city": Riga')
    yield Variation("arguments are no JSON", made, "", "§2 itself says that they may not be.")
    made = changed(document, "/output/2/content/0/text", "Ünïcødé 🍳 مرحبا \u2028 <b>&amp;")
    yield Variation("text of many scripts", made, "", "Any text is a string.")
    made = changed(document, "/output/2/content", None)
    yield Variation("a message without contents", made, "", "§4: content is optional.")
    made = changed(document, "/output/2/status", "incomplete")
    reason = "§4 names incomplete, the list of §1 does not: both readings pass."
    yield Variation("a message that is incomplete", made, "", reason)


# Streams


def _events(objects: list[JSON]) -> bytes:
    return sse([("", item) for item in objects])


def _stream(objects: list[JSON]) -> Response:
    return stream_response(_events(objects))


def _streamed_events() -> Iterator[Mutant]:
    """Break each object of the stream, one at a time."""
    objects = sequence()
    for index, item in enumerate(objects):
        rows = {"response": _response, "message": _message}.get(item["object"], _stream_content)("")
        if item["object"] == "content" and item["delta"]:
            said = "Content Streaming: each segment has an index."
            rows = [row for row in rows if row.pointer != "/index"]
            rows.append(A("/index", "integer", said, "must"))
        for number in range(len(item.get("output") or [])):
            rows.append(A(f"/output/{number}", "object", "§6: output holds messages."))
            rows += _message(f"/output/{number}")
            rows += _content(f"/output/{number}/content/0", "text")
        if item["object"] == "message" and item.get("content"):
            rows += [A("/content/0", "object", "§4: content holds contents.")]
            rows += _content("/content/0", "text")
        seen = [*vary(item, rows)]
        for sample, value in (("array", [item]), ("string", "x"), ("number", 1), ("null", None)):
            said = "Content Streaming: the stream is of objects."
            seen.append(Variation(f"of type {sample}", value, "must", said, ("",)))
        reason = "The models do not close their objects."
        seen.append(Variation("an unknown member", {**item, "x_vendor": {"a": 1}}, "", reason))
        seen.append(Variation("turned round", turned(item), "", "JSON objects have no order."))
        for variation in seen:
            if _another_deviation(item, variation):
                continue
            made = [*objects[:index], variation.document, *objects[index + 1 :]]
            yield _mutant(
                f"stream, object {index} {item['object']}: {variation.name}",
                _stream(made),
                stream=True,
                **variation.verdict(index),
            )


def _stream_content(at: str) -> list[Attribute]:
    return _content(at, "text")


def _another_deviation(item: JSON, variation: Variation) -> bool:
    """Say whether leaving out an optional attribute takes away what the sequence needs.

    The status of a content is no attribute of its model, but "final segment marks completion with
    status=completed"; `delta` says which segments there are, and an index where they belong; a
    text may be absent from a segment by its type, and then nothing was streamed. A message or a
    response that ends without a status never ends.
    """
    left = variation.name
    if item["object"] == "content":
        return left in (
            "/status is left out",
            "/delta is left out",
            "/text is left out",
            "/index is left out",
        )
    return item["status"] == "completed" and left == "/status is missing"


def _orders() -> Iterator[Sent]:
    created, running, message, hello, world, text, done, completed = sequence()
    flow = "Request/Response Lifecycle: created, in_progress, completed."

    def made(*objects: JSON) -> Response:
        return _stream([*objects])

    def of(item: JSON, **members: Any) -> JSON:
        return {**item, **members}

    yield "stream as it is", _stream(sequence()), "", "The second example, its types corrected."
    yield "stream of the first example", _stream(sequence("first-example")), "", "As it stands."
    yield "stream of the second example", _stream(sequence("second-example")), "", "As it stands."
    must: Level = "must"
    full = (created, running, message, hello, world, text, done, completed)
    yield "stream without an end", made(*full[:-1]), must, flow
    yield "stream without an end after a delta", made(*full[:5]), must, flow
    yield "stream of created only", made(created), must, flow
    ended = "The example sequence: what was created is also completed."
    yield (
        "stream without a completed message",
        made(*full[:6], of(completed, output=None)),
        "should",
        ended,
    )
    final = "Content Streaming: the final segment marks completion."
    no_text = made(*full[:5], of(done, content=None), of(completed, output=None))
    yield "stream without a completed content", no_text, must, final
    over = "State table: completed means that the operation has finished."
    yield "stream on after the end, a message", made(*full, message), must, over
    yield "stream on after the end, a response", made(*full, running), must, over
    yield (
        "stream with a message that goes back",
        (made(*full[:7], of(message, status="in_progress"), completed)),
        must,
        over,
    )
    yield (
        "stream with a delta after its content",
        made(*full[:6], world, done, completed),
        must,
        over,
    )
    another = "§6: the id is that of the response."
    yield (
        "stream with another response at the end",
        (made(*full[:-1], of(completed, id="response_999"))),
        must,
        another,
    )
    yield (
        "stream with another message at the end",
        (made(*full[:6], of(done, id="msg_999"), of(completed, output=None))),
        "should",
        ended,
    )
    yield (
        "stream with a content of no message",
        (made(*full[:3], of(hello, msg_id="msg_999"), *full[3:])),
        must,
        "§3: msg_id is the id of a message.",
    )
    yield (
        "stream with another session",
        (made(*full[:-1], of(completed, session_id="session_2"))),
        "should",
        "State Management: session_id is for continuity.",
    )
    yield (
        "stream with a message that changes its type",
        (made(*full[:6], of(done, type="plugin_call"), of(completed, output=None))),
        "should",
        "The examples: a message stays what it was created as.",
    )
    yield (
        "stream with a message that changes its role",
        (made(*full[:6], of(done, role="user"), of(completed, output=None))),
        "should",
        "The examples: a message stays what it was created as.",
    )
    yield (
        "stream with a content that changes its type",
        (
            made(
                *full[:5],
                of(text, type="image"),
                of(done, content=None),
                of(completed, output=None),
            )
        ),
        "should",
        "Content Streaming: index points to one content slot.",
    )
    shown = "The example sequence."
    yield "stream without created", made(*full[2:]), must, flow
    yield (
        "stream with content before its message",
        (made(created, running, hello, message, world, text, done, completed)),
        "should",
        shown,
    )
    yield (
        "stream that begins with its message",
        (made(message, created, running, hello, world, text, done, completed)),
        "should",
        shown,
    )
    yield (
        "stream without msg_id for two messages",
        _two_messages(),
        "should",
        ("Stream Handling: msg_id relates content to its message."),
    )
    order = "State Management: sequence_number is for ordering."
    yield "stream out of sequence", _numbered(1, 2, 3, 5, 4, 6, 7, 8), "should", order
    yield "stream with a sequence number twice", _numbered(1, 2, 3, 4, 4, 6, 7, 8), "should", order
    yield "stream in sequence", _numbered(*range(1, 9)), "", order
    yield "stream in sequence beyond ten", _numbered(*range(7, 15)), "", order
    yield "stream with a gap in sequence", _numbered(1, 2, 3, 4, 9, 10, 11, 12), "", order
    yield (
        "stream still running with its message at the end",
        (made(*full[:-1], changed(completed, "/output/0/status", "in_progress"))),
        must,
        over,
    )
    yield (
        "stream still running with its content at the end",
        (made(*full[:-1], changed(completed, "/output/0/content/0/status", "in_progress"))),
        must,
        over,
    )
    yield from _conforming_streams()


def _two_messages() -> Response:
    """Return a stream of two messages at once, one of them with contents that name neither."""
    created, running, message, hello, world, text, done, completed = sequence()
    other = {**message, "id": "msg_def"}
    bare = [{k: v for k, v in item.items() if k != "msg_id"} for item in (hello, world, text)]
    last = {**completed, "output": None}
    empty = {**other, "status": "completed", "content": []}
    return _stream([created, running, message, other, *bare, done, empty, last])


def _numbered(*numbers: int) -> Response:
    return _stream(
        [
            {**item, "sequence_number": str(number)}
            for number, item in zip(numbers, sequence(), strict=True)
        ]
    )


def _conforming_streams() -> Iterator[Sent]:
    created, running, message, hello, world, text, done, completed = sequence()
    full = (created, running, message, hello, world, text, done, completed)
    beat = {"id": "msg_beat", "object": "message", "type": "heartbeat"}
    beats = [{**beat, "status": status} for status in ("created", "completed")]
    yield "stream with a heartbeat", _stream([*full[:3], *beats, *full[3:]]), "", "§1 lists it."
    last = {**completed, "output": None}
    begun = [{**item, "status": "created", "content": None} for item in (CALL, OUTPUT)]
    calls = [begun[0], CALL, begun[1], OUTPUT]
    called = _stream([created, running, *calls, *full[2:7], last])
    yield "stream with a call", called, "", "§1, §2: contents may come whole."
    for status in ("failed", "rejected", "canceled"):
        end = {**created, "status": status, "error": {"code": "E1", "message": "It ended."}}
        yield f"stream that is {status}", _stream([created, running, end]), "", "State table."
    short = [created, message, text, done, completed]
    yield "stream without deltas", _stream(short), "", "delta is False by default."
    bare = [{k: v for k, v in item.items() if k != "msg_id"} for item in (hello, world, text)]
    one = [created, running, message, *bare, {**done, "content": bare[2:]}, completed]
    yield "stream without msg_id", _stream(one), "", "The first example has none."
    nulls: JSON = {"error": None, "output": None, "usage": None, "completed_at": None}
    yield "stream with nulls", _stream([{**created, **nulls}, *full[1:]]), "", "Optional."
    image = {**text, "type": "image", "index": 1, "image_url": "https://a.example/cat.png"}
    del image["text"]
    both = {**done, "content": [text, image]}
    more = [*full[:6], image, both, {**completed, "output": [both]}]
    yield "stream with two contents", _stream(more), "", "Multi-segment messages."
    other = {**message, "id": "msg_def"}
    second = {**text, "msg_id": "msg_def"}
    end = {**done, "id": "msg_def", "content": [second]}
    two = [*full[:4], other, second, *full[4:7], end, {**completed, "output": [done, end]}]
    yield "stream of two messages at once", _stream(two), "", "msg_id relates them."


def _texts() -> Iterator[Sent]:
    objects = sequence()
    body = _events(objects)
    good = stream_response(body)
    for name, old, new in (
        ("data broken off", b'" image shows..."}', b'" image'),
        ("data in single quotes", b'"This"', b"'This'"),
        ("data with NaN", b'"text": "This"', b'"text": "This", "x_score": NaN'),
        ("data in broken UTF-8", b'"This"', b'"This \xff\xfe"'),
    ):
        made = stream_response(body.replace(old, new, 1))
        yield f"stream, {name}", made, "must", "The stream is of JSON objects (RFC 8259)."
    for name, text in (
        ("with CRLF", body.replace(b"\n", b"\r\n")),
        ("with comments", body.replace(b"\n\n", b"\n\n: ping\n\n")),
        ("with retry", b"retry: 3000\n\n" + body),
        ("with ids", body.replace(b"data: ", b"id: 7\ndata: ")),
        ("named message", body.replace(b"data: ", b"event: message\ndata: ")),
        ("with a byte order mark", b"\xef\xbb\xbf" + body),
        ("of many scripts", body.replace(b"image shows", "картинка 🐈".encode())),
        ("in ASCII", b"".join(b"data: " + json.dumps(item).encode() + b"\n\n" for item in objects)),
    ):
        yield f"stream {name}", stream_response(text), "", "The same stream."
    for kind in ("text/plain", "text/html"):
        made = replace(good, headers=(("Content-Type", kind),))
        yield f"stream sent as {kind}", made, "should", "Streams are of type text/event-stream."
    for kind in ("text/event-stream; charset=utf-8", "Text/Event-Stream"):
        made = replace(good, headers=(("Content-Type", kind),))
        yield f"stream sent as {kind}", made, "", "The same media type (RFC 9110, 8.3.1)."
    whole_reply = json_response(whole())
    for name, text in (
        ("broken off", whole_reply.body[:-40]),
        ("empty", b""),
        ("with NaN", whole_reply.body[:-1] + b', "x_score": NaN}'),
        ("in broken UTF-8", whole_reply.body[:-1] + b', "x_name": "\xff"}'),
    ):
        made = replace(whole_reply, body=text)
        yield f"the body is {name}", made, "must", "§6: a response is an object (RFC 8259)."
    double = whole_reply.body[:-1] + b', "x_name": 1, "x_name": 2}'
    said = "RFC 8259, 4: names should be unique."
    yield "the body has a name twice", replace(whole_reply, body=double), "should", said
    for kind in ("application/json; charset=utf-8", "application/json;charset=UTF-8"):
        made = replace(whole_reply, headers=(("Content-Type", kind),))
        yield f"the body sent as {kind}", made, "", "The same media type (RFC 9110, 8.3.1)."
