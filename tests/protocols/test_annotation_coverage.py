"""Every name in the specifications' examples and in captures is explained in the exchange."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from playground.protocols import sse
from playground.protocols.annotations import AnnotatedBlock, AnnotationKind, annotate
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.registry import first_calls
from tests.support.agent_api_examples import REQUEST, STREAMS
from tests.support.playbook import CAPTURES, EXAMPLES, JSON, SSE

K = FrameKind
#: Names of HTTP: each has an explanation of its own.
LISTED = {AnnotationKind.METHOD, AnnotationKind.STATUS, AnnotationKind.HEADER}
URL = "http://agent.example.com"


def sent(target: Target, document: Any) -> list[Frame]:
    """Return the frames of the calls that send a document, a handshake included."""
    calls = dict.fromkeys(call for call in first_calls(target, document) if call)
    return [frame_of(call) for call in calls]


def frame_of(call: HttpCall) -> Frame:
    path = call.url.removeprefix(URL)
    head = [f"{call.method} {path} HTTP/1.1", "Host: agent.example.com"]
    head += [f"{name}: {value}" for name, value in call.headers]
    head += [f"Content-Length: {len(call.body)}", "", ""]
    return Frame(0, 0, K.CALL, "\r\n".join(head).encode() + call.body)


def received(data: bytes, media_type: str = JSON) -> list[Frame]:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nDate: now\r\n\r\n".encode()
    body = [Frame(0, 0, K.BODY, data)]
    if media_type == SSE:
        splitter = sse.Splitter()
        body = [Frame(0, 0, K.EVENT, block.data) for block in splitter.feed(data)]
    return [
        Frame(0, 0, K.OPEN, b'{"tls": null, "peer": "127.0.0.1:80"}'),
        Frame(0, 0, K.HEAD, head),
        *body,
        Frame(0, 0, K.END),
    ]


def numbered(frames: list[Frame]) -> list[Frame]:
    return [Frame(seq, frame.at_us, frame.kind, frame.data) for seq, frame in enumerate(frames, 1)]


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
def test_examples_of_nlweb(binding: str, version: str, path: Path) -> None:
    data = path.read_bytes()
    if path.name.startswith(("ask", "await")):
        if binding == "http":
            frames = sent(Target(URL, version=version), json.loads(data))
        else:
            head = b"POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\n\r\n"
            frames = [Frame(0, 0, K.CALL, head + data)]
    else:
        frames = received(data, SSE if path.suffix == ".sse" else JSON)
    assert unexplained(annotate(numbered(frames), "nlweb", binding, version)) == set()


#: What each captured agent speaks.
SPOKEN = {
    "mcp": ("nlweb", "mcp", "0.55"), "a2a": ("action", "a2a", ""),
    "agentscope": ("agent-api", "http", "1"), "nlweb": ("nlweb", "http", "legacy"),
    "ask_agent": ("nlweb", "http", "0.54"),
}  # fmt: skip
CAPTURED = sorted(path for path in CAPTURES.glob("*/*.txt") if ".req" not in path.name)


def captured(path: Path) -> Iterator[Frame]:
    """Yield the frames of a captured response, after those of its request."""
    if (request := path.with_suffix(".req.txt")).exists():
        yield Frame(0, 0, K.CALL, b"\r\n\r\n".join(parts_of(request)))
    head, body = parts_of(path)
    yield Frame(0, 0, K.HEAD, head + b"\r\n\r\n")
    if not sse.is_event_stream("", body):
        yield Frame(0, 0, K.BODY, body)
        return
    for block in sse.Splitter().feed(body + b"\n\n"):
        yield Frame(0, 0, K.EVENT, block.data)


def parts_of(path: Path) -> tuple[bytes, bytes]:
    """Return head and body; requests were written with bare line feeds."""
    head, _, body = path.read_bytes().replace(b"\r\n", b"\n").partition(b"\n\n")
    return head.replace(b"\n", b"\r\n"), body


@pytest.mark.parametrize("path", CAPTURED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_captures(path: Path) -> None:
    found = unexplained(annotate(numbered([*captured(path)]), *SPOKEN[path.parent.name]))
    # A captured request has a member that is invalid on purpose.
    assert {each for each in found if not each.endswith(" /foo")} == set()


@pytest.mark.parametrize("binding", ["http", "mcp"])
def test_requests_of_the_playground(binding: str) -> None:
    target = Target(URL, binding=binding, version="0.55")
    frames = sent(target, {"query": {"text": "eggs"}, "meta": {"version": "0.55"}})
    assert unexplained(annotate(numbered(frames), "nlweb", binding, "0.55")) == set()


@pytest.mark.parametrize("streaming", [True, False])
def test_requests_to_the_legacy_server(streaming: bool) -> None:
    document = {"query": {"text": "eggs"}, "prefer": {"streaming": streaming}}
    frames = sent(Target(URL, version="legacy"), document)
    (block,) = annotate(numbered(frames), "nlweb", "http", "legacy")
    assert unexplained([block]) == set()
    assert "nlweb/legacy/parameters#/query" in {str(each.place) for each in block.annotations}


@pytest.mark.parametrize("stream", STREAMS)
def test_examples_of_the_agent_api(stream: list[dict[str, Any]]) -> None:
    target = Target(URL, protocol="agent-api", version="1")
    data = "".join(f"data: {json.dumps(each)}\n\n" for each in stream).encode()
    frames = [*sent(target, REQUEST), *received(data, SSE)]
    assert unexplained(annotate(numbered(frames), "agent-api", "http", "1")) == set()


def test_a_name_without_an_explanation_is_found() -> None:
    frames = received(b'{"_meta": {"response_type": "answer"}, "never_heard": 1}')
    (missing,) = unexplained(annotate(numbered(frames), "nlweb", "http", "0.55"))
    assert "never_heard" in missing
