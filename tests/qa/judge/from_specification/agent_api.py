"""Breaks of the Agent API's responses, whole and streamed, after the text of its protocol.

The models give types and defaults: a wrong type has the level "must", and so has an attribute that
has no default and is missing; one with a default that is missing is shown in every example, and
has the level "should". What is `Optional`, or whose default is None, may be null.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.qa.judge.from_specification.grammar import (
    Attribute,
    Variation,
    others,
    put,
    turned,
    vary,
)
from tests.qa.judge.from_specification.replies import CALL, JSON, OUTPUT, refused, sequence, whole
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


def _text_content(at: str) -> list[Attribute]:
    return _content(at, "text")


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
    for sample, value in others(document):
        yield broken(
            f"the reply is of type {sample}", value, "must", "§6: a response is an object.", ""
        )
    if document["status"] == "failed":
        made = without(document, "/error")
        yield broken("failed without an error", made, "should", "Error Handling.", "/error")
        said = "§7: an error is an object with a code and a message."
        values = ("The model did not answer.", ["MODEL_UNAVAILABLE"])
        rows = ((f"error is {value!r}", "/error", value, said) for value in values)
        yield from put(document, "must", *rows)
        return
    done = "State table: completed means that the operation has finished."
    for pointer in ("/output/0", "/output/2", "/output/2/content/0"):
        rows = ((f"{pointer} is still {status}", f"{pointer}/status", status, done)
                for status in ("in_progress", "created"))  # fmt: skip
        yield from put(document, "must", *rows)
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
    for pointer, value in (
        ("/output/0/content/0/data/arguments", {"city": "Riga"}),
        ("/output/1/content/0/data/output", {"rain": True}),
    ):
        yield from put(document, "must", (f"{pointer} is an object", pointer, value, said))
    yield from _lists(document)
    made = {"response": document}
    yield broken("the response within another object", made, "must", "§6: the object itself.", "")


def _lists(document: JSON) -> Iterator[Variation]:
    closed, role = "§1: a closed list.", "§4: the role should be user, system or assistant."
    for what, pointer, values, level, said in (
        ("a message of type", "/output/2/type", "reasoning assistant_message tool_call", "must",
         closed),
        ("a content of type", "/output/2/content/0/type", "audio video input_text refusal", "must",
         "§3: there are text, image and data."),
        ("status", "/status", "cancelled in-progress InProgress done queued", "must", closed),
        ("role", "/output/2/role", "tool agent developer", "should", role),
    ):  # fmt: skip
        rows = ((f"{what} {value}", pointer, value, said) for value in values.split())
        yield from put(document, level, *rows)  # type: ignore[arg-type]


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
    # A call, an output and an error say more about their contents.
    kinds = [kind for kind in MESSAGE_TYPES if not kind.startswith(("function", "error"))]
    reason = "§4 names incomplete, the list of §1 does not: both readings pass."
    null, message = "§6: its default is None.", document["output"][2]
    yield from put(
        document, "",
        *((f"a message of type {kind}", "/output/2/type", kind, "§1 lists it.") for kind in kinds),
        *((f"a message of the {role}", "/output/2/role", role, "§1 lists it.")
          for role in ("user", "system")),
        *((f"{name} is null", f"/{name}", None, null)
          for name in ("session_id", "usage", "sequence_number", "completed_at")),
        ("no messages", "/output", [], "No stated length."),
        ("one message", "/output", [message], "No stated length."),
        ("arguments are no JSON", "/output/0/content/0/data/arguments", '{"city": Riga',
         "§2 itself says that they may not be."),
        ("text of many scripts", "/output/2/content/0/text",
         "Ünïcødé 🍳 مرحبا \u2028 <b>&amp;", "Any text is a string."),
        ("a message without contents", "/output/2/content", None, "§4: content is optional."),
        ("a message that is incomplete", "/output/2/status", "incomplete", reason),
    )  # fmt: skip


# Streams


def _events(objects: list[JSON]) -> bytes:
    return sse([("", item) for item in objects])


def _stream(objects: list[JSON]) -> Response:
    return stream_response(_events(objects))


def _streamed_events() -> Iterator[Mutant]:
    """Break each object of the stream, one at a time."""
    objects = sequence()
    for index, item in enumerate(objects):
        rows = {"response": _response, "message": _message}.get(item["object"], _text_content)("")
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
        said = "Content Streaming: the stream is of objects."
        seen += [broken(f"of type {kind}", value, "must", said, "") for kind, value in others(item)]
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


def _another_deviation(item: JSON, variation: Variation) -> bool:
    """Say whether leaving out an optional attribute takes away what the sequence needs.

    The status of a content is no attribute of its model, but "final segment marks completion with
    status=completed"; `delta` says which segments there are, and an index where they belong; a
    text may be absent from a segment by its type, and then nothing was streamed. A message or a
    response that ends without a status never ends.
    """
    left = variation.name
    if item["object"] == "content":
        return left in {f"/{name} is left out" for name in ("status", "delta", "text", "index")}
    return item["status"] == "completed" and left == "/status is missing"


def _orders() -> Iterator[Sent]:
    yield "stream as it is", _stream(sequence()), "", "The second example, its types corrected."
    for example in ("first", "second"):
        objects = sequence(f"{example}-example")
        yield f"stream of the {example} example", _stream(objects), "", "As it stands."
    for name, objects, level, said in _orders_by_text():
        yield f"stream {name}", _stream([*objects]), level, said
    said = "Stream Handling: msg_id relates content to its message."
    yield "stream without msg_id for two messages", _two_messages(), "should", said
    said = "State Management: sequence_number is for ordering."
    for name, numbers, level in (
        ("out of sequence", (1, 2, 3, 5, 4, 6, 7, 8), "should"),
        ("with a sequence number twice", (1, 2, 3, 4, 4, 6, 7, 8), "should"),
        ("in sequence", range(1, 9), ""),
        ("in sequence beyond ten", range(7, 15), ""),
        ("with a gap in sequence", (1, 2, 3, 4, 9, 10, 11, 12), ""),
    ):
        yield f"stream {name}", _numbered(*numbers), level, said  # type: ignore[misc]
    yield from _conforming_streams()


def _orders_by_text() -> list[tuple[str, tuple[JSON, ...], Level, str]]:
    """Return streams in which objects are missing, out of place or not what they were."""
    full = created, running, message, hello, world, text, done, completed = tuple(sequence())
    bare = {**completed, "output": None}
    empty = {**done, "content": None}
    late = changed(completed, "/output/0/status", "in_progress")
    late_content = changed(completed, "/output/0/content/0/status", "in_progress")
    flow = "Request/Response Lifecycle: created, in_progress, completed."
    ended = "The example sequence: what was created is also completed."
    final = "Content Streaming: the final segment marks completion."
    over = "State table: completed means that the operation has finished."
    stays = "The examples: a message stays what it was created as."
    shown = "The example sequence."
    return [
        ("without an end", full[:-1], "must", flow),
        ("without an end after a delta", full[:5], "must", flow),
        ("of created only", (created,), "must", flow),
        ("without created", full[2:], "must", flow),
        ("without a completed message", (*full[:6], bare), "should", ended),
        ("without a completed content", (*full[:5], empty, bare), "must", final),
        ("on after the end, a message", (*full, message), "must", over),
        ("on after the end, a response", (*full, running), "must", over),
        ("with a message that goes back",
         (*full[:7], {**message, "status": "in_progress"}, completed), "must", over),
        ("with a delta after its content", (*full[:6], world, done, completed), "must", over),
        ("with another response at the end", (*full[:-1], {**completed, "id": "response_999"}),
         "must", "§6: the id is that of the response."),
        ("with another message at the end", (*full[:6], {**done, "id": "msg_999"}, bare), "should",
         ended),
        ("with a content of no message", (*full[:3], {**hello, "msg_id": "msg_999"}, *full[3:]),
         "must", "§3: msg_id is the id of a message."),
        ("with another session", (*full[:-1], {**completed, "session_id": "session_2"}), "should",
         "State Management: session_id is for continuity."),
        ("with a message that changes its type", (*full[:6], {**done, "type": "plugin_call"}, bare),
         "should", stays),
        ("with a message that changes its role", (*full[:6], {**done, "role": "user"}, bare),
         "should", stays),
        ("with a content that changes its type",
         (*full[:5], {**text, "type": "image"}, empty, bare), "should",
         "Content Streaming: index points to one content slot."),
        ("with content before its message",
         (created, running, hello, message, world, text, done, completed), "should", shown),
        ("that begins with its message",
         (message, created, running, hello, world, text, done, completed), "should", shown),
        ("still running with its message at the end", (*full[:-1], late), "must", over),
        ("still running with its content at the end", (*full[:-1], late_content), "must", over),
    ]  # fmt: skip


def _two_messages() -> Response:
    """Return a stream of two messages at once, one of them with contents that name neither."""
    created, running, message, hello, world, text, done, completed = sequence()
    other = {**message, "id": "msg_def"}
    bare = [{k: v for k, v in item.items() if k != "msg_id"} for item in (hello, world, text)]
    last = {**completed, "output": None}
    empty = {**other, "status": "completed", "content": []}
    return _stream([created, running, message, other, *bare, done, empty, last])


def _numbered(*numbers: int) -> Response:
    pairs = zip(numbers, sequence(), strict=True)
    return _stream([{**item, "sequence_number": str(number)} for number, item in pairs])


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
