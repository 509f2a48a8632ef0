"""Annotations of a run: the meaning of every part of what crossed the wire.

An `Annotator` turns the frames of a run into blocks of text, each with its annotations in reading
order: parts of a request line, headers, fields of an event stream, members of JSON. An annotation
covers a span of characters, lies within the one that it belongs to, and has the explanation of its
name (see `playground.protocols.explanations`) where a schema has one.

A JSON text has a document in it: that of the protocol, or a JSON-RPC message of MCP or A2A, whose
arguments and results hold the document of the protocol, also as JSON within a string. The pointers
of annotations are those of findings: see `playground.conformance.rule.Finding.pointer`.
"""

from __future__ import annotations

import codecs
import contextlib
import enum
import json
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import unquote_plus

from playground.protocols import explanations, lenient, registry, schemas
from playground.protocols.explanations import Explanation
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.json_members import JsonPart, scalar, scalars_of, scan
from playground.protocols.json_pointer import escape
from playground.protocols.mcp.results import is_nlweb_response
from playground.protocols.nlweb import versions

#: Bytes of a block that are annotated; the download has all of them.
MAX_BYTES = 128 * 1024
#: Levels of JSON of which values are read; deeper JSON is annotated without them.
_MAX_DEPTH = 100
#: Annotations of a block for which conditions in schemas are evaluated.
_MAX_CONDITIONS = 1_000
#: Characters of the type of an item in a sentence.
_MAX_TYPE = 60
#: JSON values in one string.
_MAX_VALUES = 50
#: Bytes of an event that are searched for what it is.
_MAX_SHAPE = 2_048

_UTF8 = codecs.getincrementaldecoder("utf-8")
_LINE = re.compile(r"[^\r\n]*")
_PARAMETER = re.compile(r"[^&]+")
_ESCAPE = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)
_EVENT_NAME = re.compile(rb"(?:^|[\r\n])(?:\xef\xbb\xbf)?event: ?([^\r\n]*)")
_KIND_MEMBER = re.compile(
    rb'"(@?type|object|status|method|message_type|role|response_type)"\s*:\s*"([^"]{0,64})"'
)
#: Members of a result of MCP that are its own.
_MCP_MEMBERS = frozenset({"content", "isError", "resultType", "structuredContent"})


class AnnotationKind(enum.StrEnum):
    """Kinds of parts that are annotated."""

    METHOD = "method"
    TARGET = "target"
    PARAMETER = "parameter"
    HTTP_VERSION = "HTTP version"
    STATUS = "status"
    HEADER = "header"
    FIELD = "field"
    DOCUMENT = "document"
    MEMBER = "member"
    ELEMENT = "element"
    TEXT = "text"
    PROBLEM = "problem"


class SchemaPlace(NamedTuple):
    """A place in a schema: protocol, version, schema and JSON Pointer."""

    protocol: str
    version: str
    schema: str
    pointer: str = ""

    def __str__(self) -> str:
        """Return the value of the attribute `data-explain`."""
        return f"{self.protocol}/{self.version}/{self.schema}#{self.pointer}"

    def below(self, pointer: str) -> SchemaPlace:
        return self._replace(pointer=self.pointer + pointer)


@dataclass(slots=True)
class Annotation:
    """The meaning of a span of the text of a block."""

    start: int
    end: int
    kind: AnnotationKind
    name: str
    #: JSON Pointer into the JSON of the block, as in findings; "" for the document and for parts
    #: that are not JSON.
    pointer: str = ""
    #: The place in a schema that should describe it; None for none.
    place: SchemaPlace | None = None
    explanation: Explanation | None = None
    #: Meaning of the value, if the schema has one for it.
    meaning: str = ""
    #: A sentence about this very part.
    note: str = ""
    #: Number of the annotations that it lies within.
    depth: int = 0


@dataclass(slots=True)
class AnnotatedBlock:
    """The text of a frame, or of all pieces of a body, with its annotations."""

    seq: int
    at_us: int
    kind: FrameKind
    #: What crossed the wire as text; "" for frames that are no bytes of HTTP.
    text: str = ""
    #: Bytes in all.
    size: int = 0
    #: Bytes beyond the text.
    hidden: int = 0
    #: Whether bytes that are not valid UTF-8 were replaced.
    replaced: bool = False
    annotations: list[Annotation] = field(default_factory=list)
    #: The place of the explanation of its frame kind.
    place: SchemaPlace | None = None
    explanation: Explanation | None = None
    #: Of a piece of a body that is not its first: the number of the frame with the text.
    piece_of: int = 0
    #: Number of the pieces of a body.
    pieces: int = 1
    #: Whether an earlier block of the run is an event of the same kind.
    is_repeated: bool = False

    @property
    def at_ms(self) -> float:
        return self.at_us / 1000

    @property
    def last(self) -> int:
        """Return the number of the last frame whose bytes are in the text."""
        return self.seq + self.pieces - 1


#: Where a document begins: its pointer, with `*` for an index; its place, and its value if that is
#: known.
_Mount = tuple[str, SchemaPlace, Any]
_UNKNOWN = object()


class Annotator:
    """Annotator of the frames of one run, in their order."""

    def __init__(self, protocol: str, binding: str, version: str) -> None:
        """Set what the request was sent as: names of `playground.protocols.registry`."""
        self._protocol, self._binding, self._version = protocol, binding, version
        #: Whether a request is sent as flat parameters: to the legacy server.
        self._is_flat = version == versions.LEGACY.name
        self._seen: set[Any] = set()
        #: Number of the first piece of the body that the next frame may continue, 0 for none.
        self._body = 0
        self._is_card = False
        self._explained: dict[tuple[SchemaPlace, str], Explanation | None] = {}

    def skip(self, frame: Frame) -> None:
        """Take note of a frame that is not annotated."""
        if frame.kind is FrameKind.CALL:
            self._note_call(frame.data)
        elif frame.kind is FrameKind.EVENT:
            self._seen.add(_shape(frame))
        if frame.kind is FrameKind.BODY:
            self._body = self._body or frame.seq
        else:
            self._body = 0

    def blocks(self, frames: Iterable[Frame]) -> Iterator[AnnotatedBlock]:
        """Yield a block for each frame. The text of a body is in the block of its first piece."""
        pieces: list[Frame] = []
        beginning, size = bytearray(), 0
        for frame in frames:
            if frame.kind is FrameKind.BODY and not self._body:
                size += len(frame.data)
                beginning += frame.data[: MAX_BYTES - len(beginning)]
                pieces.append(Frame(frame.seq, frame.at_us, frame.kind))
                continue
            if pieces:
                yield from self._body_blocks(pieces, bytes(beginning), size)
                pieces, beginning, size = [], bytearray(), 0
            yield self._block(frame)
        if pieces:
            yield from self._body_blocks(pieces, bytes(beginning), size)

    # Blocks

    def _body_blocks(
        self, pieces: list[Frame], beginning: bytes, size: int
    ) -> Iterator[AnnotatedBlock]:
        first = pieces[0]
        block = self._new_block(Frame(first.seq, first.at_us, first.kind, beginning), size)
        block.pieces = len(pieces)
        self._annotate(block, self._document(_Source.of(block.text), block, is_request=False))
        yield block
        for piece in pieces[1:]:
            yield AnnotatedBlock(piece.seq, piece.at_us, piece.kind, piece_of=first.seq)

    def _block(self, frame: Frame) -> AnnotatedBlock:
        if frame.kind is FrameKind.BODY:
            # The text of a piece is that of the body, in the block of its first piece.
            size = len(frame.data)
            return AnnotatedBlock(
                frame.seq, frame.at_us, frame.kind, size=size, piece_of=self._body
            )
        self._body = 0
        block = self._new_block(frame, len(frame.data))
        match frame.kind:
            case FrameKind.CALL:
                self._note_call(frame.data)
                self._annotate(block, self._call(block))
            case FrameKind.HEAD:
                self._annotate(block, self._head(block.text))
            case FrameKind.EVENT | FrameKind.TAIL | FrameKind.COMMENT:
                shape = _shape(frame)
                block.is_repeated = frame.kind is FrameKind.EVENT and shape in self._seen
                self._seen.add(shape)
                self._annotate(block, self._stream_block(block))
        return block

    def _new_block(self, frame: Frame, size: int) -> AnnotatedBlock:
        place = SchemaPlace("playground", "1", "frames", f"/{frame.kind.name.lower()}")
        block = AnnotatedBlock(
            frame.seq, frame.at_us, frame.kind, size=size, place=place,
            explanation=self._explain(place, place.pointer),
        )  # fmt: skip
        if frame.kind not in (FrameKind.OPEN, FrameKind.END, FrameKind.ERROR):
            data = frame.data[:MAX_BYTES]
            block.hidden = size - len(data)
            # A character that is cut in two is left out instead of being replaced.
            block.text = _UTF8("replace").decode(data, final=block.hidden <= 0)
            block.replaced = block.text.count("\ufffd") > data.count(b"\xef\xbf\xbd")
        return block

    def _annotate(self, block: AnnotatedBlock, found: Iterable[Annotation]) -> None:
        """Store annotations in reading order, each within the one that it belongs to."""
        block.annotations = sorted(found, key=lambda each: (each.start, -each.end))
        outer: list[Annotation] = []
        for each in block.annotations:
            while outer and outer[-1].end <= each.start:
                outer.pop()
            if outer:
                each.end = min(each.end, outer[-1].end)
            each.depth = len(outer)
            outer.append(each)

    def _note_call(self, data: bytes) -> None:
        self._is_card = self._binding == "a2a" and data.startswith(b"GET ")

    # HTTP

    def _call(self, block: AnnotatedBlock) -> Iterator[Annotation]:
        head, blank, body = block.text.partition("\r\n\r\n")
        line = head.partition("\r\n")[0]
        at = 0
        kinds = (
            (AnnotationKind.METHOD, "method"),
            (AnnotationKind.TARGET, "target"),
            (AnnotationKind.HTTP_VERSION, "version"),
        )
        words = line.split(" ", 2)
        for word, (kind, member) in zip(words, kinds, strict=False):
            place = SchemaPlace("http", "1", "request-line", f"/{member}")
            yield self._named(at, at + len(word), kind, word, place, word)
            if kind is AnnotationKind.TARGET:
                yield from self._parameters(word, at)
            at += len(word) + 1
        yield from self._headers(head, "request-headers")
        if body:
            source = _Source.of(body, len(head) + len(blank))
            yield from self._document(source, block, is_request=True)

    def _parameters(self, target: str, at: int) -> Iterator[Annotation]:
        path, mark, query = target.partition("?")
        for each in _PARAMETER.finditer(query.partition("#")[0]) if mark else ():
            name = unquote_plus(each[0].partition("=")[0])
            place = self._request_place({}).below(f"/{escape(name)}")
            start = at + len(path) + 1 + each.start()
            end = start + len(each[0])
            value = unquote_plus(each[0].partition("=")[2])
            yield self._named(start, end, AnnotationKind.PARAMETER, name, place, value)

    def _head(self, text: str) -> Iterator[Annotation]:
        line = text.partition("\r\n")[0]
        words = line.split(None, 2)
        code = words[1] if len(words) > 1 else ""
        place = SchemaPlace("http", "1", "status", f"/{escape(code)}")
        yield self._named(0, len(line), AnnotationKind.STATUS, code or line, place)
        yield from self._headers(text, "response-headers")

    def _headers(self, head: str, schema: str) -> Iterator[Annotation]:
        at = head.find("\r\n") + 2
        while 2 <= at < len(head):
            end = head.find("\r\n", at)
            end = len(head) if end < 0 else end
            name, _, value = head[at:end].partition(":")
            if name.strip():
                pointer = f"/{escape(name.strip().lower())}"
                place = SchemaPlace("http", "1", schema, pointer)
                yield self._named(
                    at, end, AnnotationKind.HEADER, name.strip(), place, value.strip()
                )
            at = end + 2

    # Event streams

    def _stream_block(self, block: AnnotatedBlock) -> Iterator[Annotation]:
        text = block.text
        data: list[tuple[int, int]] = []
        event, first = "", None
        for line in _LINE.finditer(text):
            start = line.start() + (line[0][:1] == "\ufeff")
            name, colon, value = text[start : line.end()].partition(":")
            if not name and not colon:
                continue
            if name == "data":
                begins = start + len(name) + len(colon) + (value[:1] == " ")
                data.append((begins, line.end()))
                if len(data) > 1:
                    continue
            event = value.removeprefix(" ") if name == "event" else event
            place = SchemaPlace("http", "1", "sse", f"/{escape(name)}" if name else "/comment")
            found = self._named(
                start, line.end(), AnnotationKind.FIELD, name or "comment", place,
                value.removeprefix(" "),
            )  # fmt: skip
            if name not in ("", "data", "event", "id", "retry"):
                found.note = "Unknown field: clients ignore it."
            if name == "data":
                first = found
            else:
                yield found
        if first:
            # The lines of data are one value.
            first.end = data[-1][1]
            yield first
            source = _Source.of_lines(text, data)
            yield from self._document(source, block, is_request=False, event=event)

    # JSON

    def _document(
        self, source: _Source, block: AnnotatedBlock, *, is_request: bool, event: str = ""
    ) -> Iterator[Annotation]:
        """Yield the annotations of a text that should be JSON, and of the text if it is not."""
        bare = source.text.strip(" \t\r\n\ufeff")
        if not bare:
            return
        if bare == "[DONE]" or (bare[0] not in '{["' and _value_of(bare) is _UNKNOWN):
            name = "[DONE]" if bare == "[DONE]" else "text"
            start, end = source.span(0, len(source.text))
            yield Annotation(start, end, AnnotationKind.TEXT, name, note="Not JSON.")
            return
        source = source.without_bom()
        yield from self._json(
            source, "", is_request=is_request, event=event, is_shortened=block.hidden > 0
        )

    def _json(
        self, source: _Source, prefix: str, *, is_request: bool, event: str, is_shortened: bool
    ) -> Iterator[Annotation]:
        """Yield the annotations of a JSON text; `prefix` is the pointer to it."""
        text = source.text
        found = scan(text)
        value = _value_of(text) if found.stopped is None else _UNKNOWN
        document = scalars_of(text, found) if value is _UNKNOWN else value
        mounts = self._mounts(document, is_request=is_request, event=event, is_inner=bool(prefix))
        if value is _UNKNOWN:
            mounts = _without_values(mounts)
        types = {
            part.pointer.removesuffix("/@type"): value
            for part in found.parts
            if part.name == "@type" and isinstance(value := scalar(text, part), str)
        }
        for count, part in enumerate(found.parts):
            if count == _MAX_CONDITIONS:
                mounts = _without_values(mounts)
            start, end = source.span(part.start, part.end)
            annotation = Annotation(
                start, end, _kind_of(part), part.name or "document", prefix + part.pointer
            )
            values = _values_in(text, part)
            self._describe(annotation, part, mounts, values)
            if annotation.explanation is None:
                kind = types.get(part.pointer.rpartition("/")[0], "") if part.pointer else ""
                annotation.note = f"Property of {kind[:_MAX_TYPE]}." if kind else ""
            if part.alike:
                if part.alike > 1:
                    annotation.name = f"{part.name} to {int(part.name) + part.alike - 1}"
                annotation.note = "Same members as the elements before."
            yield annotation
            # A string of MCP that may have the document of the protocol in it, as JSON.
            may_hold_json = self._binding == "mcp" and part.name in ("text", "result", "data")
            if part.kind == "string" and not prefix and may_hold_json:
                yield from self._inner(source, part, annotation.pointer, event, is_shortened)
        yield from _problem_of(source, found.stopped, is_cut=found.is_cut, is_window=is_shortened)

    def _inner(
        self, source: _Source, part: JsonPart, pointer: str, event: str, is_shortened: bool
    ) -> Iterator[Annotation]:
        """Yield the annotations of the JSON values in a string."""
        inner = source.inside(part)
        for _ in range(_MAX_VALUES):
            if inner is None or inner.text.lstrip(" \t\r\n")[:1] not in ("{", "["):
                return
            ends = scan(inner.text)
            is_last = ends.stopped is None or ends.is_cut
            value = inner if is_last else inner.cut(0, ends.stopped or 0)
            if not is_last and scan(value.text).stopped is not None:
                value, is_last = inner, True
            yield from self._json(
                value, f"{pointer}#", is_request=False, event=event, is_shortened=is_shortened
            )
            inner = None if is_last else inner.cut(ends.stopped or 0, len(inner.text))

    def _mounts(
        self, document: Any, *, is_request: bool, event: str, is_inner: bool
    ) -> list[_Mount]:
        """Return where the documents in a JSON text begin, the innermost first."""
        if self._binding == "a2a":
            name = "card" if self._is_card else "message"
            return [("", SchemaPlace("a2a", "1", name), document)]
        if self._binding == "mcp" and not is_inner:
            message, above = document, ""
            if isinstance(document, list):
                message, above = next(iter(document), None), "/*"
            found = [(above + at, *rest) for at, *rest in self._in_message(message)]
            found = _without_values(found) if above else found
            envelope = SchemaPlace("mcp", "1", "message")
            return sorted([(above, envelope, _UNKNOWN), *found], key=lambda e: -e[0].count("/"))
        if self._protocol not in registry.PROTOCOLS:
            return []
        if is_request:
            return [("", self._request_place(document), document)]
        return [("", place, document) for place in self._response_places(document, event)]

    def _request_place(self, document: Any) -> SchemaPlace:
        """Return the place of a request document as it is sent over HTTP."""
        schema = registry.schema_of_request(self._protocol, document)
        if schema == "ask-request" and self._is_flat:
            schema = "parameters"
        return SchemaPlace(self._protocol, self._version, schema)

    def _response_places(self, document: Any, event: str = "") -> list[SchemaPlace]:
        try:
            schema = explanations.schema_of_response(self._protocol, self._version, document, event)
        except ValueError:
            return []
        return [SchemaPlace(self._protocol, self._version, schema)]

    def _in_message(self, message: Any) -> Iterator[_Mount]:
        """Yield the documents of the protocol in a message of MCP."""
        if self._protocol not in registry.PROTOCOLS or not isinstance(message, Mapping):
            return
        params, result, error = (
            lenient.members(message.get(key)) for key in ("params", "result", "error")
        )
        if message.get("method") == "tools/call":
            arguments = params.get("arguments")
            schema = registry.schema_of_request(self._protocol, arguments)
            place = SchemaPlace(self._protocol, self._version, schema)
            yield "/params/arguments", place, arguments
        for at, value in (
            ("/result/structuredContent", result.get("structuredContent")),
            ("/error/data", error.get("data")),
        ):
            if isinstance(value, Mapping):
                for place in self._response_places(value):
                    yield at, place, value
        if is_nlweb_response(result):
            for place in self._response_places(result):
                for name in result:
                    if name not in _MCP_MEMBERS:
                        at = f"/{escape(name)}"
                        yield f"/result{at}", place.below(at), _UNKNOWN

    # Explanations

    def _named(
        self, start: int, end: int, kind: AnnotationKind, name: str, place: SchemaPlace,
        value: str = "",
    ) -> Annotation:  # fmt: skip
        """Return the annotation of a part of HTTP or of an event stream."""
        found = Annotation(start, end, kind, name, place=place)
        found.explanation = self._explain(place, place.pointer)
        if found.explanation and value:
            found.meaning = _meaning(found.explanation, [value, value.partition(";")[0].strip()])
        return found

    def _describe(
        self, annotation: Annotation, part: JsonPart, mounts: list[_Mount], values: list[str]
    ) -> None:
        places: list[tuple[SchemaPlace, str, Any]] = []
        for at, place, value in mounts:
            if f"{part.shape}/".startswith(f"{at}/"):
                rest = "".join(f"/{key}" for key in part.pointer.split("/")[at.count("/") + 1 :])
                shape = part.shape.removeprefix(at)
                places.append((place.below(rest), place.pointer + shape, value))
        if len(places) > 1 and part.pointer and not places[0][0].pointer:
            # The name of a member that is a document belongs to the message around it.
            places.append(places.pop(0))
        for place, shape, value in places:
            annotation.place = annotation.place or place
            if found := self._explain(place, shape, value):
                annotation.place, annotation.explanation = place, found
                annotation.meaning = _meaning(found, values)
                return

    def _explain(
        self, place: SchemaPlace, shape: str, document: Any = _UNKNOWN
    ) -> Explanation | None:
        """Return the explanation of a place; None without a schema or a description."""
        if document is not _UNKNOWN and _has_conditions(*place[:3]):
            return _looked_up(*place, document)
        key = (place._replace(pointer=""), shape)
        if key not in self._explained:
            self._explained[key] = _looked_up(*place)
        return self._explained[key]


class _Source:
    """A text within the text of a block, with the position of each of its characters there."""

    def __init__(self, text: str, positions: Sequence[int]) -> None:
        """`positions` has one more entry than the text has characters: that of its end."""
        self.text, self._positions = text, positions

    @classmethod
    def of(cls, text: str, at: int = 0) -> _Source:
        return cls(text, range(at, at + len(text) + 1))

    @classmethod
    def of_lines(cls, text: str, spans: list[tuple[int, int]]) -> _Source:
        """Return parts of a block, joined by line breaks."""
        if len(spans) == 1:
            return cls.of(text[slice(*spans[0])], spans[0][0])
        positions = array("L")
        for start, end in spans:
            positions.extend(range(start, end + 1))
        return cls("\n".join(text[start:end] for start, end in spans), positions)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return offsets in the block."""
        return self._positions[start], self._positions[end]

    def cut(self, start: int, end: int) -> _Source:
        return _Source(self.text[start:end], self._positions[start : end + 1])

    def without_bom(self) -> _Source:
        return self.cut(1, len(self.text)) if self.text[:1] == "\ufeff" else self

    def inside(self, part: JsonPart) -> _Source | None:
        """Return the value of a string as a text; None if it cannot be read."""
        raw = self.text[part.value_start : part.end]
        is_closed = len(raw) > 1 and raw[-1] == '"'
        content = raw[1:-1] if is_closed else raw[1:]
        try:
            value = json.loads(f'"{content}"', strict=False)
        except ValueError:
            return None
        at = part.value_start + 1
        offsets = (
            [at + each.start() for each in _ESCAPE.finditer(content)]
            if "\\" in content
            else (list(range(at, at + len(content))))
        )
        offsets.append(at + len(content))
        if not isinstance(value, str) or len(value) + 1 != len(offsets):
            return None
        return _Source(value, array("L", (self._positions[each] for each in offsets)))


def _shape(frame: Frame) -> Any:
    """Return what tells events of a stream apart: their name, type, status and the like."""
    data = frame.data[:_MAX_SHAPE]
    name = _EVENT_NAME.search(data)
    # The first of each: those further inside differ from item to item.
    kinds = dict(reversed(_KIND_MEMBER.findall(data)))
    return name[1] if name else b"", frozenset(kinds.items())


def _value_of(text: str) -> Any:
    """Return the value of a JSON text; `_UNKNOWN` if it is invalid or nested too deep."""
    return lenient.decode(text, _UNKNOWN, max_depth=_MAX_DEPTH)


def _without_values(mounts: Iterable[_Mount]) -> list[_Mount]:
    return [(at, place, _UNKNOWN) for at, place, _ in mounts]


def _kind_of(part: JsonPart) -> AnnotationKind:
    if not part.pointer:
        return AnnotationKind.DOCUMENT
    return AnnotationKind.ELEMENT if part.is_element else AnnotationKind.MEMBER


def _values_in(text: str, part: JsonPart) -> list[str]:
    """Return a short value, or the values of a short list, as texts."""
    if part.kind == "array" and part.end - part.value_start <= 200:
        value = _value_of(text[part.value_start : part.end])
        return [_value_text(each) for each in lenient.items(value)]
    if part.kind not in ("string", "other"):
        return []
    return [_value_text(scalar(text, part))]


def _value_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if isinstance(value, list | dict) else json.dumps(value)


def _meaning(explanation: Explanation, values: Iterable[str]) -> str:
    """Return the meanings of values, each once."""
    known = {str(key).lower(): text for key, text in explanation.values.items()}
    return " ".join(dict.fromkeys(known[v.lower()] for v in values if v.lower() in known))


def _problem_of(
    source: _Source, stopped: int | None, *, is_cut: bool, is_window: bool
) -> Iterator[Annotation]:
    """Yield an annotation of the place at which a text stops being JSON."""
    if stopped is None or (is_cut and is_window):
        return
    start, end = source.span(stopped, len(source.text))
    name, note = ("invalid", "Not JSON from here on.")
    if is_cut:
        name, note = "incomplete", "The JSON ends before it is complete."
    yield Annotation(start, end, AnnotationKind.PROBLEM, name, note=note)


def _looked_up(*args: Any) -> Explanation | None:
    """Return what `explanations.explain` does; None without a schema."""
    with contextlib.suppress(ValueError):
        return explanations.explain(*args)
    return None


@cache
def _has_conditions(protocol: str, version: str, schema: str) -> bool:
    """Return whether a schema has conditions; False for one that does not exist."""
    try:
        return '"if":' in json.dumps(schemas.load(protocol, version, schema))
    except ValueError:
        return False
