"""Annotations of runs over every protocol and binding."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import sse
from playground.protocols.annotations import (
    MAX_BYTES,
    AnnotatedBlock,
    Annotation,
    AnnotationKind,
    Annotator,
)
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.registry import first_calls
from tests.support.agent_api_examples import REQUEST, STREAMS
from tests.support.playbook import CAPTURES, EXAMPLES, JSON, SSE
from tests.support.stored_runs import PIECES, batches

K = FrameKind
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"


#: Kind and data of a frame.
Part = tuple[FrameKind, bytes]


def frames_of(*parts: Part) -> list[Frame]:
    return [Frame(seq, seq * 10, kind, data) for seq, (kind, data) in enumerate(parts, 1)]


def call(document: Any, method: str = "POST", path: str = "/ask") -> Part:
    head = f"{method} {path} HTTP/1.1\r\nHost: agent.example\r\n\r\n".encode()
    return K.CALL, head + (b"" if document is None else json.dumps(document).encode())


def event(data: Any, name: str = "") -> Part:
    text = data if isinstance(data, str) else json.dumps(data)
    return K.EVENT, (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


def body(value: Any) -> Part:
    return K.BODY, value if isinstance(value, bytes) else json.dumps(value).encode()


def blocks(
    *parts: Part, sent_as: tuple[str, str, str] = ("nlweb", "http", "0.55")
) -> list[AnnotatedBlock]:
    return list(Annotator(*sent_as).blocks(frames_of(*parts)))


def named(block: AnnotatedBlock) -> dict[str, str]:
    """Return the pointers of the JSON of a block with the bytes that they cover."""
    return {each.pointer: covered(block, each) for each in block.annotations if each.pointer}


def covered(block: AnnotatedBlock, annotation: Annotation) -> str:
    return block.text[annotation.start : annotation.end]


def at(block: AnnotatedBlock, pointer: str) -> Annotation:
    return next(
        each
        for each in block.annotations
        if each.pointer == pointer and each.kind in (AnnotationKind.MEMBER, AnnotationKind.ELEMENT)
    )


def places(block: AnnotatedBlock) -> dict[str, str]:
    return {each.pointer: str(each.place) for each in block.annotations if each.pointer}


MCP, LEGACY = ("nlweb", "mcp", "0.55"), ("nlweb", "http", "legacy")
ANSWER = {"_meta": {"response_type": "answer"}, "results": [{"@type": "Recipe", "name": "Soup"}]}


NLWEB, AGENT_API, A2A = ("nlweb", "http", "0.55"), ("agent-api", "http", "1"), ("action", "a2a", "")
ARGUMENTS = {"name": "ask", "arguments": {"query": {"text": "eggs"}}}
CALLED = call({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ARGUMENTS})
TEXT = {"content": [{"type": "text", "text": json.dumps(ANSWER)}]}
CARD = call(None, "GET", "/.well-known/agent-card.json")

#: The last part of a run, what is sent, and the place in a schema of a pointer in it.
PLACES = [
    (NLWEB, [call({"query": {"text": "eggs"}})], "/query/text",
     "nlweb/0.55/ask-request#/query/text"),
    (NLWEB, [event({"index": 0, "item": {"name": "x"}}, "result")], "/index",
     "nlweb/0.55/event-result#/index"),
    (MCP, [CALLED], "/jsonrpc", "mcp/1/message#/jsonrpc"),
    (MCP, [CALLED], "/params/arguments/query/text", "nlweb/0.55/ask-request#/query/text"),
    (MCP, [body({"result": TEXT})], "/result/content/0/text#/results/0",
     "nlweb/0.55/answer#/results/0"),
    (MCP, [body({"result": {"content": [], "structuredContent": ANSWER}})],
     "/result/structuredContent/results", "nlweb/0.55/answer#/results"),
    (MCP, [body({"result": ANSWER})], "/result/results/0", "nlweb/0.55/answer#/results/0"),
    (MCP, [body({"result": ANSWER})], "/result/_meta/response_type",
     "nlweb/0.55/answer#/_meta/response_type"),
    (MCP, [body([{"jsonrpc": "2.0", "id": 1, "result": {}}])], "/0/jsonrpc",
     "mcp/1/message#/jsonrpc"),
    (AGENT_API, [call({"input": [{"role": "user", "content": []}]})], "/input/0/role",
     "agent-api/1/request#/input/0/role"),
    (AGENT_API, [event({"object": "message", "status": "created"})], "/status",
     "agent-api/1/message#/status"),
    (A2A, [CARD, body({"name": "x"})], "/name", "a2a/1/card#/name"),
    (A2A, [CARD, call({"method": "message/send"}, path="/a2a"), body({"jsonrpc": "2.0"})],
     "/jsonrpc", "a2a/1/message#/jsonrpc"),
]  # fmt: skip


@pytest.mark.parametrize(("sent_as", "parts", "pointer", "place"), PLACES)
def test_the_place_of_a_name(
    sent_as: tuple[str, str, str], parts: list[Part], pointer: str, place: str
) -> None:
    block = blocks(*parts, sent_as=sent_as)[-1]
    assert str(at(block, pointer).place) == place
    assert at(block, pointer).explanation is not None


class TestHttp:
    def test_request_line_and_headers(self) -> None:
        block = blocks(call({"query": {"text": "eggs"}}, path="/ask?a=b%20c"))[0]
        found = [(each.kind.value, each.name, covered(block, each)) for each in block.annotations]
        assert found[:5] == [
            ("method", "POST", "POST"),
            ("target", "/ask?a=b%20c", "/ask?a=b%20c"),
            ("parameter", "a", "a=b%20c"),
            ("HTTP version", "HTTP/1.1", "HTTP/1.1"),
            ("header", "Host", "Host: agent.example"),
        ]
        assert str(block.annotations[4].place) == "http/1/request-headers#/host"

    def test_flat_parameters(self) -> None:
        (block,) = blocks(call(None, "GET", "/ask?query=eggs"), sent_as=LEGACY)
        assert "nlweb/legacy/parameters#/query" in {str(each.place) for each in block.annotations}

    def test_status_and_response_headers(self) -> None:
        (block,) = blocks((K.HEAD, HEAD))
        assert [str(each.place) for each in block.annotations] == [
            "http/1/status#/200",
            "http/1/response-headers#/content-type",
        ]

    @pytest.mark.parametrize("head", [b"", b"\r\n", b"nonsense", b"HTTP/1.1\r\n: x\r\n\r\n"])
    def test_any_head(self, head: bytes) -> None:
        (block,) = blocks((K.HEAD, head))
        assert_nested(block)


class TestDocuments:
    def test_a_body_in_pieces_is_one_text(self) -> None:
        text = json.dumps(ANSWER, ensure_ascii=False).encode()
        pieces = [body(text[n : n + 7]) for n in range(0, len(text), 7)]
        found = blocks(call({}), (K.HEAD, HEAD), *pieces, (K.END, b""))
        assert len(found) == 3 + len(pieces)
        assert found[2].text == text.decode()
        assert (found[2].pieces, found[2].last) == (len(pieces), 2 + len(pieces))
        assert [each.piece_of for each in found[3:-1]] == [3] * (len(pieces) - 1)
        assert "/results/0/name" in named(found[2])

    def test_properties_of_an_item_name_its_type(self) -> None:
        document = {"results": [{"@type": "Recipe", "own": 1}]}
        (block,) = blocks(body(document), sent_as=("action", "http", ""))
        assert at(block, "/results/0/own").note == "Property of Recipe."

    @pytest.mark.parametrize("text", [b"<html>", b"Not found", b"\xff\xfe\x00", b"[DONE]"])
    def test_what_is_not_json(self, text: bytes) -> None:
        (block,) = blocks(body(text))
        (found,) = block.annotations
        assert (found.kind, found.note) == (AnnotationKind.TEXT, "Not JSON.")

    def test_json_that_ends_too_early(self) -> None:
        (block,) = blocks(body(b'{"results": [{"name": "So'))
        assert block.annotations[-1].note == "The JSON ends before it is complete."
        assert named(block)["/results/0/name"] == '"name": "So'
        assert at(block, "/results").explanation is not None

    def test_json_that_is_invalid(self) -> None:
        (block,) = blocks(body(b'{"results": [], oops}'))
        problem = block.annotations[-1]
        assert (problem.kind, covered(block, problem)) == (AnnotationKind.PROBLEM, "oops}")

    def test_a_byte_order_mark_is_not_part_of_the_document(self) -> None:
        (block,) = blocks(body(b'\xef\xbb\xbf{"results": []}'))
        assert named(block)["/results"] == '"results": []'


class TestStreams:
    def test_fields(self) -> None:
        (block,) = blocks((K.EVENT, b"id: 7\nevent: result\nretry: 5\nfoo: x\n\n"))
        found = [(each.name, str(each.place), each.note) for each in block.annotations]
        assert found[:2] == [("id", "http/1/sse#/id", ""), ("event", "http/1/sse#/event", "")]
        assert found[3] == ("foo", "http/1/sse#/foo", "Unknown field: clients ignore it.")

    def test_data_in_several_lines_is_one_document(self) -> None:
        (block,) = blocks((K.EVENT, b'data: {"a":\r\nevent: result\r\ndata: {"b": 1}}\r\n\r\n'))
        assert_nested(block)
        assert named(block)["/a/b"] == '"b": 1'

    def test_a_repeated_event_is_recognized(self) -> None:
        item = {"@type": "Recipe", "name": "x"}
        found = blocks(
            event({"index": 0, "item": item}, "result"),
            event({"index": 1, "item": item}, "result"),
            event({"index": 2, "item": {"@type": "Movie"}}, "result"),
            event({"_meta": {}}, "complete"),
        )
        assert [block.is_repeated for block in found] == [False, True, False, False]

    @given(st.integers(0, 400))
    def test_the_chunks_make_no_difference(self, cut: int) -> None:
        data = "".join(f"{piece}\n\n" for piece in PIECES).encode()
        assert stream_names([data[:cut], data[cut:]]) == stream_names([data])


def stream_names(chunks: Iterable[bytes]) -> list[Any]:
    splitter = sse.Splitter()
    frames: list[Part] = []
    for chunk in chunks:
        frames += [
            (K.COMMENT if block.is_comment else K.EVENT, block.data)
            for block in splitter.feed(chunk)
        ]
    found = blocks(*frames)
    return [(each.name, each.pointer, each.note) for b in found for each in b.annotations]


class TestMcp:
    def test_spans_in_a_string_cover_its_escapes(self) -> None:
        text = json.dumps({"results": [{"name": 'a"b\\ü🍳\n', "url": "x"}]})
        message = {"result": {"content": [{"type": "text", "text": text}]}}
        (block,) = blocks(body(message), sent_as=MCP)
        assert_nested(block)
        for pointer, shown in named(block).items():
            if pointer.endswith("#/results/0/url"):
                assert shown == '\\"url\\": \\"x\\"'
                return
        raise AssertionError

    def test_several_values_in_one_text(self) -> None:
        text = '{"_meta": {}}\n{"results": []}'
        message = {"result": {"content": [{"type": "text", "text": text}]}}
        (block,) = blocks(body(message), sent_as=MCP)
        pointers = named(block)
        assert "/result/content/0/text#/_meta" in pointers
        assert "/result/content/0/text#/results" in pointers

    def test_the_answers_in_an_array_of_messages_may_differ(self) -> None:
        actions = ({"protocol": "MCP", "tool": "x"}, {"protocol": "HTTP", "method": "POST"})
        messages = [
            {"result": {"structuredContent": {"results": [{"actions": [each]}]}}}
            for each in actions
        ]
        (block,) = blocks(body(messages), sent_as=MCP)
        pointer = "/1/result/structuredContent/results/0/actions/0/method"
        assert at(block, pointer).explanation is not None

    def test_a_name_that_begins_like_that_of_an_answer(self) -> None:
        result = {"structuredContent": ANSWER, "structuredContents": ANSWER}
        (block,) = blocks(body({"result": result}), sent_as=MCP)
        assert places(block)["/result/structuredContents/results"].startswith("mcp/1/message#")


@pytest.mark.parametrize("binding", ["http", "mcp", "a2a", "other"])
@pytest.mark.parametrize("protocol", ["nlweb", "agent-api", "action", "other"])
def test_an_unknown_version_has_no_explanations(protocol: str, binding: str) -> None:
    found = blocks(
        call({"query": "x"}), (K.HEAD, HEAD), event({"message_type": "result"}),
        sent_as=(protocol, binding, "legacy"),
    )  # fmt: skip
    assert "/query" in named(found[0])
    assert "/message_type" in named(found[2])


class TestPages:
    def test_skipped_frames_are_remembered(self) -> None:
        item = {"@type": "Recipe", "name": "x"}
        frames = frames_of(call({}), (K.HEAD, HEAD), *[event({"item": item}, "result")] * 4)
        annotator = Annotator("nlweb", "http", "0.55")
        for frame in frames[:4]:
            annotator.skip(frame)
        (block, _) = annotator.blocks(frames[4:])
        assert block.is_repeated

    def test_a_page_may_begin_within_a_body(self) -> None:
        frames = frames_of(call({}), (K.HEAD, HEAD), body(b'{"a":'), body(b" 1"), body(b"}"))
        annotator = Annotator("nlweb", "http", "0.55")
        for frame in frames[:4]:
            annotator.skip(frame)
        (block,) = annotator.blocks(frames[4:])
        assert (block.piece_of, block.annotations) == (3, [])


class TestBounds:
    def test_only_the_beginning_is_annotated(self) -> None:
        text = json.dumps([{"n": n} for n in range(100_000)]).encode()
        (block,) = blocks(body(text))
        assert block.hidden == len(text) - MAX_BYTES
        assert len(block.text) == MAX_BYTES
        assert not any(each.kind is AnnotationKind.PROBLEM for each in block.annotations)
        assert len(block.annotations) < 20

    @pytest.mark.parametrize(
        "text",
        [
            b"[" * MAX_BYTES,
            b'{"a":' * (MAX_BYTES // 5),
            b'"' + b"\\" * MAX_BYTES,
            b"{" + b'"a":1,' * (MAX_BYTES // 6),
            b"data:" * (MAX_BYTES // 5),
            "\u202e\u0000\x1b[2J".encode() * 1000,
        ],
        ids=["arrays", "objects", "backslashes", "members", "data", "control"],
    )
    @pytest.mark.parametrize("kind", [K.BODY, K.EVENT, K.TAIL, K.HEAD, K.CALL])
    def test_hostile_text(self, text: bytes, kind: FrameKind) -> None:
        (block,) = blocks((kind, text), sent_as=MCP)
        assert_nested(block)


def assert_nested(block: AnnotatedBlock) -> None:
    """Check that annotations are within the text and within the ones that they belong to."""
    around: list[Annotation] = []
    for each in block.annotations:
        assert 0 <= each.start <= each.end <= len(block.text)
        del around[each.depth :]
        assert len(around) == each.depth
        if around:
            assert around[-1].start <= each.start
            assert each.end <= around[-1].end
        around.append(each)


@given(batches(), st.sampled_from([("nlweb", "http", "0.55"), MCP, ("agent-api", "http", "1")]))
def test_annotations_of_any_run(drawn: Any, sent_as: tuple[str, str, str]) -> None:
    frames = [frame for batch in drawn for frame in batch]
    found = blocks(*[(frame.kind, frame.data) for frame in frames], sent_as=sent_as)
    assert [block.seq for block in found] == list(range(1, len(frames) + 1))
    for block in found:
        assert_nested(block)


@given(st.binary(max_size=80), st.sampled_from(list(K)), st.sampled_from(["http", "mcp", "a2a"]))
def test_annotations_of_any_bytes(data: bytes, kind: FrameKind, binding: str) -> None:
    (block,) = blocks((kind, data), sent_as=("nlweb", binding, "0.55"))
    assert_nested(block)


#: Names of HTTP: each has an explanation of its own.
LISTED = {AnnotationKind.METHOD, AnnotationKind.STATUS, AnnotationKind.HEADER}
URL = "http://agent.example.com"


def sent(sent_as: tuple[str, str, str], document: Any) -> Iterator[Part]:
    """Yield the calls that send a document, a handshake included."""
    for each in dict.fromkeys(filter(None, first_calls(Target(URL, *sent_as), document))):
        head = [f"{each.method} {each.url.removeprefix(URL)} HTTP/1.1", "Host: agent.example.com"]
        head += [f"{name}: {value}" for name, value in each.headers]
        head += [f"Content-Length: {len(each.body)}", "", ""]
        yield K.CALL, "\r\n".join(head).encode() + each.body


def received(data: bytes, media_type: str = JSON) -> Iterator[Part]:
    yield K.OPEN, b'{"tls": null, "peer": "127.0.0.1:80"}'
    yield K.HEAD, f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nDate: now\r\n\r\n".encode()
    if media_type == SSE:
        yield from ((K.EVENT, block.data) for block in sse.Splitter().feed(data))
    else:
        yield K.BODY, data
    yield K.END, b""


def files() -> Iterator[Any]:
    """Yield (protocol, binding, version, path) of the examples of requests and responses."""
    for folder in sorted(EXAMPLES.iterdir()):
        binding, _, version = folder.name.partition("-")
        if binding not in ("nlweb", "mcp"):
            continue
        for path in sorted(folder.iterdir()):
            kind = path.name.partition("-")[0]
            if kind in ("ask", "await", "response", "stream"):
                name = "http" if binding == "nlweb" else "mcp"
                yield pytest.param(name, version, path, id=f"{folder.name}-{path.stem}")


def unexplained(blocks: list[AnnotatedBlock]) -> set[str]:
    """Return the names without an explanation, with the place where it should be.

    Properties of items are excepted, because schema.org has more than a schema can list, and so
    is the ellipsis of the specification.
    """
    found = {f"frame {block.kind.name}" for block in blocks if block.explanation is None}
    for block in blocks:
        properties = [
            each.pointer for each in block.annotations if each.note.startswith("Property of ")
        ]
        for each in block.annotations:
            is_property = any(
                each.pointer == pointer or each.pointer.startswith(f"{pointer}/")
                for pointer in properties
            )
            is_excepted = is_property or each.name == "..." or each.kind is AnnotationKind.TEXT
            is_explained = each.explanation is not None and (
                each.kind not in LISTED or each.explanation.is_listed
            )
            if not is_explained and not is_excepted:
                found.add(f"{each.kind} {each.name} {each.place} {each.pointer}")
    return found


@pytest.mark.parametrize(("binding", "version", "path"), list(files()))
def test_names_in_examples_of_nlweb(binding: str, version: str, path: Path) -> None:
    data, sent_as = path.read_bytes(), ("nlweb", binding, version)
    if not path.name.startswith(("ask", "await")):
        parts = received(data, SSE if path.suffix == ".sse" else JSON)
    elif binding == "http":
        parts = sent(sent_as, json.loads(data))
    else:
        parts = iter([call(json.loads(data), path="/mcp")])
    assert unexplained(blocks(*parts, sent_as=sent_as)) == set()


#: What each captured agent speaks.
SPOKEN = {
    "mcp": ("nlweb", "mcp", "0.55"), "a2a": ("action", "a2a", ""),
    "agentscope": ("agent-api", "http", "1"), "nlweb": ("nlweb", "http", "legacy"),
    "ask_agent": ("nlweb", "http", "0.54"),
}  # fmt: skip
CAPTURED = sorted(path for path in CAPTURES.glob("*/*.txt") if ".req" not in path.name)


def captured(path: Path) -> Iterator[Part]:
    """Yield the parts of a captured response, after those of its request."""
    if (request := path.with_suffix(".req.txt")).exists():
        yield K.CALL, b"\r\n\r\n".join(parts_of(request))
    head, body = parts_of(path)
    yield K.HEAD, head + b"\r\n\r\n"
    if not sse.is_event_stream("", body):
        yield K.BODY, body
        return
    for block in sse.Splitter().feed(body + b"\n\n"):
        yield K.EVENT, block.data


def parts_of(path: Path) -> tuple[bytes, bytes]:
    """Return head and body; requests were written with bare line feeds."""
    head, _, body = path.read_bytes().replace(b"\r\n", b"\n").partition(b"\n\n")
    return head.replace(b"\n", b"\r\n"), body


@pytest.mark.parametrize("path", CAPTURED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_names_in_captures(path: Path) -> None:
    found = unexplained(blocks(*captured(path), sent_as=SPOKEN[path.parent.name]))
    # A captured request has a member that is invalid on purpose.
    assert {each for each in found if not each.endswith(" /foo")} == set()


ASKED = {"query": {"text": "eggs"}, "meta": {"version": "0.55"}}


@pytest.mark.parametrize(
    ("sent_as", "document"),
    [
        (NLWEB, ASKED),
        (MCP, ASKED),
        (LEGACY, {"query": {"text": "eggs"}, "prefer": {"streaming": True}}),
        (LEGACY, {"query": {"text": "eggs"}, "prefer": {"streaming": False}}),
        (AGENT_API, REQUEST),
    ],
)
def test_names_in_requests_of_the_playground(sent_as: tuple[str, str, str], document: Any) -> None:
    assert unexplained(blocks(*sent(sent_as, document), sent_as=sent_as)) == set()


@pytest.mark.parametrize("stream", STREAMS)
def test_names_in_examples_of_the_agent_api(stream: list[dict[str, Any]]) -> None:
    data = "".join(f"data: {json.dumps(each)}\n\n" for each in stream).encode()
    assert unexplained(blocks(*received(data, SSE), sent_as=AGENT_API)) == set()


def test_a_name_without_an_explanation_is_found() -> None:
    parts = received(b'{"_meta": {"response_type": "answer"}, "never_heard": 1}')
    (missing,) = unexplained(blocks(*parts))
    assert "never_heard" in missing
