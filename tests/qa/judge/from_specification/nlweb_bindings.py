"""NLWeb's replies as they travel: whole JSON over HTTP, Server-Sent Events, and MCP."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from tests.qa.judge.from_specification.grammar import (
    Attribute,
    Variation,
    others,
    put,
    turned,
    vary,
)
from tests.qa.judge.from_specification.nlweb import requests, variations
from tests.qa.judge.from_specification.replies import (
    JSON,
    Reply,
    broken_off,
    head,
    newer,
    older,
    streamed,
)
from tests.qa.judge.mutants import (
    JSON_HEADERS,
    RPC_ID,
    STREAM_HEADERS,
    Headers,
    Level,
    Mutant,
    Response,
    changed,
    encoded,
    json_response,
    sse,
    stream_response,
    without,
)

A = Attribute


def mutants() -> Iterator[Mutant]:
    """Return the mutants of both versions and both bindings."""
    for version, replies in (("0.54", older()), ("0.55", newer())):
        old = version == "0.54"
        for reply in replies:
            yield from _http(version, reply, old=old)
            yield from _mcp(version, reply, old=old)
        yield from _streams(version, old=old)
        yield from _rpc(version)
    yield from _plain_content()


def _mutant(
    version: str, binding: Any, reply: Reply, name: str, response: Response, **verdict: Any
) -> Mutant:
    return Mutant(
        name=f"{version} {binding} {reply.name}: {name}",
        protocol="nlweb",
        binding=binding,
        version=version,
        operation="await" if reply.operation == "await" else "ask",
        request=reply.request,
        response=response,
        **verdict,
    )


# Whole JSON over HTTP


def _http(version: str, reply: Reply, *, old: bool) -> Iterator[Mutant]:
    made = partial(_mutant, version, "http", reply)
    for variation in variations(reply, old=old):
        response = json_response(variation.document, reply.status)
        yield made(variation.name, response, **variation.verdict())
    good = json_response(reply.document, reply.status)
    for name, response, level, sentence in (
        *_statuses(reply, good, old=old),
        *_labels(good, old=old),
        # The two versions leave open what a body that is no JSON means beside a 400.
        *(_texts(good) if reply.status != 400 else ()),
    ):
        yield made(name, response, level=level, sentence=sentence)


Sent = tuple[str, Response, Level, str]


def _statuses(reply: Reply, good: Response, *, old: bool) -> Iterator[Sent]:
    kind = reply.document["_meta"]["response_type"]
    said = "notes on HTTP 2" if old else "§7.4"
    for status in {
        "promise": (200, 201, 400, 500),
        "failure": (201, 202),
    }.get(kind, (201, 202, 400, 401, 404, 429, 500)):
        sentence = f"{said}: a {kind} should not be sent with {status}."
        yield f"status {status}", replace(good, status=status), "should", sentence
    if reply.name == "failure":
        rows: tuple[tuple[Level, str, str], ...] = (
            ("", "fits the code", "INTERNAL_ERROR 500 RATE_LIMITED 429 INVALID_QUERY 400"),
            ("should", "does not fit", "NO_RESULTS 401 INTERNAL_ERROR 401 TIMEOUT 429"),
        )
        for level, fits, codes in rows:
            words = codes.split()
            for code, status in zip(words[::2], map(int, words[1::2]), strict=True):
                made = json_response(changed(reply.document, "/error/code", code), status)
                if status == 429:  # §2.5 recommends the header
                    made = replace(made, headers=(*made.headers, ("Retry-After", "30")))
                yield f"{code} with {status}", made, level, f"{said}: the status {fits}."
        if not old:
            made = json_response(reply.document)
            yield "status 200", made, "", f"{said}: an application-level response."
        empty = Response(400, (("Content-Type", "text/plain"),), b"Bad request")
        yield "400 in plain text", empty, "should", "§4: responses are always JSON objects."
        if not old:
            reason = "§2.4, §2.5: a matter of the transport, out of scope."
            for status, field in (
                (401, ("WWW-Authenticate", "Bearer")),
                (429, ("Retry-After", "30")),
            ):
                bare = Response(status, (("Content-Type", "text/plain"), field), b"No")
                yield f"{status} in plain text", bare, "", reason


def _labels(good: Response, *, old: bool) -> Iterator[Sent]:
    said = "the examples" if old else "§7.2"
    for kind in ("text/html", "text/plain", "application/octet-stream", "text/html; charset=utf-8"):
        made = replace(good, headers=(("Content-Type", kind),))
        yield f"sent as {kind}", made, "should", f"{said}: Content-Type is used as appropriate."
    yield "no Content-Type", replace(good, headers=()), "should", f"{said}: Content-Type."
    for kind in (
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        "Application/JSON",
        'application/json; charset="utf-8"; profile=x',
    ):
        made = replace(good, headers=(("content-type", kind),))
        yield f"sent as {kind}", made, "", "The same media type (RFC 9110, 8.3.1)."
    more: Headers = (*JSON_HEADERS, ("X-Request-Id", "1"), ("Cache-Control", "no-store"))
    yield "more headers", replace(good, headers=more), "", "HTTP headers are open."


def _texts(good: Response) -> Iterator[Sent]:
    """Return what JSON itself, RFC 8259, says of the text."""
    body = good.body
    document = json.loads(body)
    objects = "§4: a response is a JSON object."
    for name, text in (
        ("broken off", body[: len(body) // 2]),
        ("empty", b""),
        ("followed by another", body + body),
        ("with a comma too many", body[:-1] + b",}"),
        ("with single quotes", body.replace(b'"', b"'")),
        ("with a comment", b"/* reply */" + body),
        ("a page", b"<!doctype html><title>Welcome</title>"),
        ("with NaN", body[:-1] + b', "x_score": NaN}'),
        ("with Infinity", body[:-1] + b', "x_score": -Infinity}'),
        ("in broken UTF-8", body[:-1] + b', "x_name": "\xff\xfe"}'),
        ("in Latin-1", body[:-1] + ', "x_name": "Café"}'.encode("latin-1")),
        ("with a raw line break in a string", body[:-1] + b', "x_name": "a\nb"}'),
        ("with a byte order mark", b"\xef\xbb\xbf" + body),
        ("in UTF-16", body.decode().encode("utf-16")),
    ):
        yield f"the body is {name}", replace(good, body=text), "must", f"{objects} RFC 8259."
    double = body[:-1] + b', "x_name": 1, "x_name": 2}'
    said = "RFC 8259, 4: names should be unique."
    yield "the body has a name twice", replace(good, body=double), "should", said
    lone = body[:-1] + b', "x_name": "\\ud83d"}'
    said = "RFC 8259, 8.2: half a surrogate pair is legal, and unpredictable."
    yield "the body has a lone surrogate", replace(good, body=lone), "info", said
    for name, text in (
        ("indented", json.dumps(document, indent=4).encode()),
        ("in ASCII", json.dumps(document).encode()),
        ("without blanks", json.dumps(document, separators=(",", ":")).encode()),
        ("among blanks", b" \r\n\t" + body + b"\n\n "),
        ("with escaped slashes", body.replace(b"/", b"\\/")),
        ("with big numbers", body[:-1] + b', "x_n": 12345678901234567890123, "x_f": 1.5e300}'),
        ("deeply nested", body[:-1] + b', "x_n": ' + b"[" * 30 + b"]" * 30 + b"}"),
    ):
        yield f"the body is {name}", replace(good, body=text), "", "The same JSON value (RFC 8259)."


# Server-Sent Events


def _stream_attributes(name: str, *, old: bool) -> list[Attribute]:
    loose: Level = "should" if old else "must"
    where = "example 5" if old else "§6.1"
    if name == "result":
        return [
            A("/index", "integer", f"{where}: a result has an index.", loose, loose),
            # 0.54: the events deliver the results (§8.4), and these are objects (§4.1.1).
            A("/item", "object", f"{where}: a result has an item, an object.", loose),
            A("/item/@type", "string", "§4.1.1: @type is recommended, a string.", "should"),
            A("/item/grounding", "object", "§4.1.1: grounding is an object."),
            A("/item/actions", "object array" if old else "array", "§4.1.1: actions is an array."),
        ]
    if name == "error":
        return [
            A("/error", "object", "§6.1: the data follows the failure response.", "must"),
            A("/error/code", "string", "§4.1.4: code is required.", "must", empty="must"),
            A("/error/message", "string", "§4.1.4: the message is a string."),
        ]
    # 0.54 says only that the final event has the whole block; that `start` has one is an example.
    needed: Level = "should" if old and name == "start" else "must"
    typed: Level = "should" if old else "must"
    rows = [
        A("/_meta", "object", f"{where}: {name} has the _meta block.", needed, needed),
        A("/_meta/response_type", "string", "§4: response_type is required, one of four.", needed,
          needed, values=("answer", "elicitation", "promise", "failure"), outside=needed),
        A("/_meta/version", "string", "§4: version is required.", needed, typed, empty=needed),
        A("/_meta/session_context", "object", "§4: session_context is an object."),
    ]  # fmt: skip
    if name == "start":
        said = f"{where}: the start's _meta has streaming, true."
        rows.append(A("/_meta/streaming", "boolean", said, loose, loose))
    return rows


def _streams(version: str, *, old: bool) -> Iterator[Mutant]:
    made = partial(_mutant, version, "http", Reply("stream", {}, requests(version)))
    bases = {"stream": streamed(version), **({} if old else {"broken off": broken_off()})}
    for base, events in bases.items():
        for index, (name, data) in enumerate(events):
            for variation in _varied_data(name, data, old=old):
                changed_events = [*events[:index], (name, variation.document), *events[index + 1 :]]
                yield made(
                    f"{base}, event {index} {name}: {variation.name}",
                    stream_response(sse(changed_events)),
                    **variation.verdict(index),
                )
    sent = (*_orders(version, old=old), *_bytes(version), *_stream_labels(version))
    for name, response, level, sentence in sent:
        yield made(name, response, level=level, sentence=sentence)


def _varied_data(name: str, data: JSON, *, old: bool) -> Iterator[Variation]:
    """Vary the data of an event."""
    for variation in vary(data, _stream_attributes(name, old=old)):
        if old and variation.name == "/_meta/response_type is “Answer”":
            yield replace(variation, level="", sentence="§4 writes it so.")
        else:
            yield variation
    said = "§6.1: the data of an event is an object with what is listed."
    level: Level = "should" if old and name == "start" else "must"
    for sample, value in others(data):
        if old and name == "result" and sample == "array":
            continue  # 0.54 shows the shape of a result only, and an array may hold some
        yield Variation(f"data of type {sample}", value, level, said, ("",))
    more = {**data, "x_vendor": {"a": 1}}
    yield Variation("an unknown member", more, "", "§2.2: extensible.")
    yield Variation("turned round", turned(data), "", "JSON objects have no order.")


def _orders(version: str, *, old: bool) -> Iterator[Sent]:
    rows = [*_orders_of_both(version, old=old)]
    rows += _orders_older(version) if old else _orders_newer(version)
    for name, events, level, said in rows:
        yield name, stream_response(sse(events)), level, said


Order = tuple[str, tuple[tuple[str, Any], ...], Level, str]


def _at(event: tuple[str, Any], index: int) -> tuple[str, Any]:
    return event[0], {**event[1], "index": index}


def _orders_of_both(version: str, *, old: bool) -> list[Order]:
    start, first, second, third, complete = streamed(version)
    must: Level = "should" if old else "must"
    where = "example 5" if old else "§6.1"
    begins = f"{where}: start is sent once, at the beginning."
    # 0.54 says what the final event includes (notes 4), not that there has to be one (8.4).
    ends = "notes 4: the final complete event has _meta" if old else "§6.1: complete is sent once"
    # 0.54 only says that one of the events has the metadata (8.4).
    none, said = must, begins
    if old:
        none, said = "info", "8.4: one of the events must contain the meta block"
    silent = ("start", changed(start[1], "/_meta/streaming", False))
    true = f"{where}: start's _meta has streaming, true."
    position = f"{where}: index is the position in the final array."
    free, gaps = (
        "Results may arrive out of order.",
        "Index values are not guaranteed to be sequential.",
    )
    return [
        ("no start", (first, second, third, complete), none, said),
        ("no metadata", (first, second, third), "must", said),
        ("two starts", (start, start, first, second, complete), must, begins),
        ("start after a result", (first, start, second, complete), must, begins),
        ("start at the end", (first, second, complete, start), must, begins),
        ("no complete", (start, first, second, third), must, ends),
        ("two completes", (start, first, second, complete, complete), must, ends),
        ("complete before a result", (start, first, complete, second), must, ends),
        ("complete only", (complete,), none, said),
        ("start with streaming false", (silent, first, complete), must, true),
        ("start only", (start,), must, ends),
        ("a start and a complete in the middle", (start, first, complete, start, second, complete),
         must, begins),
        ("two results of one index", (start, first, _at(second, 0), complete), must, position),
        ("a negative index", (start, _at(first, -1), complete), must, position),
        ("Start with a capital", (("Start", start[1]), first, complete), none, begins),
        ("events without a name", tuple(("", data) for _, data in (start, first, complete)), must,
         f"{where}: the types of events are defined by name."),
        ("out of order", (start, third, first, second, complete), "", free),
        ("the summary last", (start, second, third, first, complete), "", free),
        ("indexes with a gap", (start, first, _at(second, 3), complete), "", gaps),
        ("no results", (start, complete), "", "No stated number of results."),
    ]  # fmt: skip


def _orders_newer(version: str) -> list[Order]:
    start, first, second, _, complete = streamed(version)
    said = "§6.1: the event types are listed; another is not among them."
    failure = {**head("failure", version), "error": {"code": "TIMEOUT", "message": "Late."}}
    after = (start, first, ("error", failure), second, complete)
    searching = {"text": "Searching…"}
    return [
        *((f"an event called {name}", (start, first, (name, searching), second, complete), "info",
           said) for name in ("progress", "thinking", "content", "end")),
        ("on after an error", after, "", "§6.1: after an error the stream may go on."),
    ]  # fmt: skip


def _orders_older(version: str) -> list[Order]:
    start, first, second, _, complete = streamed(version)
    said = "Example 5 has events called content and end."
    text = ("content", {"type": "text", "text": "Making pasta is easy."})
    step = ("content", {"type": "instruction", "step": 1, "text": "Pour the flour."})
    end = ("end", {"message": "Tutorial complete"})
    return [
        ("content events", (start, text, first, step, second, complete), "", said),
        ("an end event", (start, first, complete, end), "", said),
    ]


def _bytes(version: str) -> Iterator[Sent]:
    """Return what the stream may look like, and what no event stream is."""
    events = streamed(version)
    good = sse(events)
    for name, old, new in (
        ("data broken off", b'"Semolina Pasta"}}', b'"Semolina'),
        ("data in single quotes", b'{"index": 2', b"{'index': 2"),
        ("data with NaN", b'{"index": 2', b'{"x_score": NaN, "index": 2'),
        ("data in plain text", b'data: {"index": 2', b'data: Semolina {"index": 2'),
        ("data of two objects", b'data: {"index": 2', b'data: {"a": 1} {"index": 2'),
        ("data in broken UTF-8", b'"Semolina Pasta"', b'"Semolina \xff\xfe"'),
    ):
        said = "§6.1: the data of an event is JSON (RFC 8259)."
        yield name, stream_response(good.replace(old, new)), "must", said
    spread = good.replace(b'data: {"index": 2, ', b'data: {"index": 2,\ndata:  ')
    for name, body in (
        ("with CRLF", sse(events, "\r\n")),
        ("with CR", sse(events, "\r")),
        ("with comments", b": welcome\n\n" + good.replace(b"\n\n", b"\n\n: ping\n\n")),
        ("with retry", b"retry: 3000\n\n" + good),
        ("with ids", good.replace(b"event: ", b"id: 7\nevent: ")),
        ("with data before the name", _turned_fields(good)),
        ("without blanks after colons", good.replace(b": {", b":{").replace(b"event: ", b"event:")),
        ("with data on two lines", spread),
        ("with a byte order mark", b"\xef\xbb\xbf" + good),
        ("with an unknown field", good.replace(b"event: result", b"note: x\nevent: result")),
        ("with blank lines", b"\n\n" + good.replace(b"\n\n", b"\n\n\n\n")),
        (
            "with an event without data",
            good.replace(b"event: result", b"event: ping\n\nevent: result", 1),
        ),
        ("of many scripts", good.replace(b"Semolina", "Семолина 🍝".encode())),
    ):
        yield name, stream_response(body), "", "The same stream (HTML, Server-sent events)."


def _turned_fields(stream: bytes) -> bytes:
    blocks = stream.strip().split(b"\n\n")
    return b"".join(b"\n".join(reversed(block.split(b"\n"))) + b"\n\n" for block in blocks)


def _stream_labels(version: str) -> Iterator[Sent]:
    good = stream_response(sse(streamed(version)))
    for kind in ("text/plain", "text/html"):
        made = replace(good, headers=(("Content-Type", kind),))
        yield f"stream sent as {kind}", made, "should", "Streams are of type text/event-stream."
    for status in (201, 202, 500):
        said = "§7.4 and its examples: an answer is sent with 200."
        yield f"stream with {status}", replace(good, status=status), "should", said
    for kind in ("text/event-stream; charset=utf-8", "Text/Event-Stream"):
        made = replace(good, headers=(("Content-Type", kind),))
        yield f"stream sent as {kind}", made, "", "The same media type (RFC 9110, 8.3.1)."
    answer = {**head("answer", version), "results": [{"@type": "Recipe", "name": "Egg"}]}
    whole = json_response(answer)
    said = "§3.3: prefer has expectations; a request without Accept accepts any type."
    yield "whole although a stream was asked for", whole, "info", said


# MCP


def _enveloped(document: Any, *, direct: bool) -> JSON:
    result = document if direct else {"content": [{"type": "text", "text": json.dumps(document)}]}
    return {"jsonrpc": "2.0", "id": RPC_ID, "result": result}


def _mcp(version: str, reply: Reply, *, old: bool) -> Iterator[Mutant]:
    """Carry each variation as the version's examples do: 0.54 in `result`, 0.55 as a text."""
    made = partial(_mutant, version, "mcp", reply)
    before = "/result" if old else "/result/content/0/text"
    for variation in variations(reply, old=old):
        if old and not isinstance(variation.document, dict):
            continue  # a result of another type is a break of JSON-RPC, made below
        response = json_response(_enveloped(variation.document, direct=old))
        pointers = [start + each for each in variation.pointers for start in ("", before)]
        both = replace(variation, pointers=tuple(pointers))
        yield made(variation.name, response, **both.verdict())
    if old and reply.name == "failure":
        error = {"code": -32602, "message": "Invalid params", "data": reply.document}
        response = json_response({"jsonrpc": "2.0", "id": RPC_ID, "error": error})
        said = "MCP example 6: a failure in the data of an error."
        yield made("as an error", response, level="", sentence=said)


def _rpc(version: str) -> Iterator[Mutant]:
    """Break JSON-RPC 2.0 and the result of an MCP tool around a good reply."""
    old = version == "0.54"
    reply = (older() if old else newer())[0]
    made = partial(_mutant, version, "mcp", reply)
    good = _enveloped(reply.document, direct=old)
    for variation in (*vary(good, _rpc_attributes(old=old)), *_rpc_by_text(good, reply, old=old)):
        response = json_response(variation.document)
        yield made(f"JSON-RPC, {variation.name}", response, **variation.verdict())
    error = {"code": -32602, "message": "Invalid params"}
    rows = [
        A("/error", "object", "JSON-RPC 5: error is an object."),
        A("/error/code", "integer", "JSON-RPC 5.1: code must be an integer.", "must"),
        A("/error/message", "string", "JSON-RPC 5.1: an error has a message.", "must"),
    ]
    for variation in vary({"jsonrpc": "2.0", "id": RPC_ID, "error": error}, rows):
        if not variation.name.startswith("/error is left out"):
            response = json_response(variation.document)
            yield made(f"JSON-RPC error, {variation.name}", response, **variation.verdict())
    body = encoded(good)
    said = "MCP: a response may come as a stream."
    for name, headers, text, level, sentence in (
        ("cut in half", JSON_HEADERS, body[: len(body) // 2], "must", "RFC 8259."),
        ("empty", JSON_HEADERS, b"", "must", "JSON-RPC 5: a request has a response."),
        ("as a stream", STREAM_HEADERS, b"event: message\ndata: " + body + b"\n\n", "", said),
        ("as a stream with a ping", STREAM_HEADERS, b": ping\n\nid: 1\ndata: " + body + b"\n\n",
         "", said),
    ):  # fmt: skip
        response = Response(200, headers, text)
        yield made(f"JSON-RPC, {name}", response, level=level, sentence=sentence)


def _rpc_attributes(*, old: bool) -> list[Attribute]:
    rows = [
        A("/jsonrpc", "string", "JSON-RPC 5: jsonrpc must be “2.0”.", "must", values=("2.0",)),
        A("/id", "integer", "JSON-RPC 5: id is required, that of the request.", "must"),
        A("/result", "object", "JSON-RPC 5: result is required of a success.", "must"),
    ]
    if not old:
        rows += [
            A("/result/content", "array", "MCP: a tool's result has content.", "must"),
            A("/result/content/0", "object", "MCP: content holds objects."),
            A("/result/content/0/type", "string", "MCP: a content has a type of the list.", "must",
              values=("text",)),
            A("/result/content/0/text", "string", "MCP: a text content has a text.", "must"),
            A("/result/isError", "boolean", "MCP: isError is a boolean."),
        ]  # fmt: skip
    return rows


def _rpc_by_text(good: JSON, reply: Reply, *, old: bool) -> Iterator[Variation]:
    both = {**good, "error": {"code": -32603, "message": "Internal error"}}
    said = "JSON-RPC 5: either result or error, not both."
    yield Variation("result and error", both, "must", said, ("/error", "/result"))
    yield Variation("neither result nor error", without(good, "/result"), "must", said, ("",))
    said = "JSON-RPC 5: the id must be that of the request."
    yield Variation("the id of another", {**good, "id": RPC_ID + 4000}, "must", said, ("/id",))
    said = "JSON-RPC 5: an object of its own."
    yield Variation("the reply bare", reply.document, "must", said, ("",))
    yield Variation("members turned round", turned(good), "", "JSON objects have no order.")
    if old:
        return
    text = good["result"]["content"][0]["text"]
    at = "/result/content/0/text"
    said = "Appendix C: the text is the response; §4: with a required _meta."
    for name, value in (
        ("empty", ""),
        ("broken off", text[:-20]),
        ("prose", "Here are 5 recipes."),
    ):
        made = changed(good, at, value)
        yield Variation(f"the text is {name}", made, "must", said, ("/result",))
    no_content = ("no content", "/result/content", [], "§4: a response has _meta and content.")
    [emptied] = put(good, "must", no_content)
    yield replace(emptied, pointers=("/result",))
    result, part = good["result"], {"type": "text", "text": text, "annotations": {"priority": 1}}
    said = "MCP defines it; §2.2."
    yield from put(
        good, "",
        ("isError false", "/result", {**result, "isError": False}, said),
        ("structuredContent beside", "/result",
         {**result, "structuredContent": reply.document}, said),
        ("annotations", "/result", {"content": [part]}, said),
    )  # fmt: skip
    indented = json.dumps(reply.document, indent=2)
    yield from put(good, "", ("the text is indented", at, indented, "The same JSON value."))


def _plain_content() -> Iterator[Mutant]:
    """Break the shape of appendix A.3: prose in `content`, and `_meta` in the result."""
    version = "0.55"
    reply = newer()[0]
    good: JSON = {
        "jsonrpc": "2.0",
        "id": RPC_ID,
        "result": {
            "content": [{"type": "text", "text": "Here are 5 vegan high-protein recipes..."}],
            **head("answer", version, session_context={"conversation_id": "conv_123"}),
        },
    }
    rows = [
        A("/result/_meta", "object", "§4: _meta is required.", "must"),
        A("/result/_meta/response_type", "string", "§4: response_type is required, one of four.",
          "must", values=("answer", "elicitation", "promise", "failure")),
        A("/result/_meta/version", "string", "§4: version is required.", "must", empty="must"),
        A("/result/_meta/session_context", "object", "§4: session_context is an object."),
    ]  # fmt: skip
    shown = Variation("as it is", good, "", "Appendix A.3, against 4.1.1: both readings pass.")
    for variation in (shown, *vary(good, rows)):
        pointers = [each[len(cut) :] for each in variation.pointers for cut in ("", "/result")]
        both = replace(variation, pointers=tuple(pointers))
        response = json_response(variation.document)
        yield _mutant(version, "mcp", reply, f"A.3, {variation.name}", response, **both.verdict())
