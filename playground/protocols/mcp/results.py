"""Results of `tools/call`: their events, and the NLWeb response in them.

`ToolResponse` reads the answer to a call: a result, an error, or a request for input. Of a result,
the reader of the protocol is given a document: for NLWeb's tools by `document_of`, for any other
tool the result itself, which `ToolReader` reads.

An NLWeb response has four shapes in the specification's own examples, and servers know more: JSON
text in `content` (0.55 appendix C), `results` and `_meta` beside each other (0.54 MCP examples),
`content` with `_meta` (0.55 appendix A.3), a failure in the `data` of an error (0.54 MCP examples,
section 6), and MCP's `structuredContent`. All become one document, which the reader of the HTTP
binding reads as well. Several JSON objects in the texts are read as the messages of a stream.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from playground.protocols import error_documents, json_decoder, jsonrpc, lenient
from playground.protocols.error_documents import combined, describe, is_error
from playground.protocols.events import (
    Completed,
    Event,
    Failure,
    Outcome,
    Result,
    Started,
    Text,
    Unknown,
    format_facts,
)
from playground.protocols.exchange import Reader
from playground.protocols.jsonrpc import URL_ELICITATION_REQUIRED, JsonRpcMessage
from playground.protocols.mcp import elicitation
from playground.protocols.mcp.messages import nlweb_meta
from playground.protocols.media import media_of
from playground.protocols.nlweb.legacy import MESSAGE_MEMBERS

#: Parts of `content` that are read.
MAX_PARTS = 1000
#: Texts of a result that may be NLWeb: SDKs have one for each item.
_MAX_TEXTS = 20_000
#: Levels of JSON in a text of any tool that are read.
MAX_DEPTH = 100
#: The code of the failure when a server requests input that no user can give.
UNANSWERABLE = "INPUT_REQUIRED"

#: Members that make an object an NLWeb response; `content` and `_meta` are MCP's as well.
_NLWEB_MEMBERS = frozenset(
    {"results", "structuredData", "structured_data", "elicitation", "promise", "error"}
    | MESSAGE_MEMBERS
)
#: Members that make an object a result item.
_ITEM_MEMBERS = frozenset({"@type", "schema_object"})
#: Members of a result that are MCP's own.
_MCP_MEMBERS = frozenset({"isError", "resultType", "structuredContent"})


# --- the response to a call -------------------------------------------------------------------


class ToolResponse:
    """Reader of the answer to one call of a tool."""

    def __init__(self, reader: Reader | None, to_document: Callable[[Any], Any]) -> None:
        """`to_document` turns a result into the document that `reader` reads."""
        self._reader = reader
        self._to_document = to_document
        self._is_answered = False
        self._own_outcome = Outcome.NONE
        #: Whether anything of the answer could be read.
        self.understood = False

    @property
    def outcome(self) -> Outcome:
        if self._own_outcome is not Outcome.NONE or self._reader is None:
            return self._own_outcome
        return self._reader.outcome

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        return self._reader.session_context if self._reader else None

    def read(self, seq: int, message: JsonRpcMessage, in_stream: bool) -> Sequence[Event]:
        """Return the events of the answer, or of a message without an id that follows it."""
        events = self._read(seq, message, in_stream)
        self.understood = self.understood or any(type(event) is not Unknown for event in events)
        return events

    def raw_message(self, seq: int, name: str | None, data: str) -> Sequence[Event]:
        """Return the events of a stream message that is no JSON-RPC, as the reader has them."""
        name = name if name in error_documents.EVENTS else None
        return self._reader.message(seq, name, data) if self._reader else ()

    def end(self) -> None:
        if self._reader:
            self._reader.end()

    def _read(self, seq: int, message: JsonRpcMessage, in_stream: bool) -> Sequence[Event]:
        follows, self._is_answered = self._is_answered, True
        if message.error is not None and message.result is None:
            return self._error(seq, message.error)
        result = message.result
        if isinstance(result, Mapping) and result.get("resultType") == "input_required":
            return self._input_required(seq, result)
        events = self._document(seq, self._to_document(result), in_stream, follows)
        return events if follows else _with_media(seq, events, result)

    def _error(self, seq: int, error: jsonrpc.Error) -> Sequence[Event]:
        if error.code == URL_ELICITATION_REQUIRED and (
            event := elicitation.url_elicitation(seq, error.data)
        ):
            self._own_outcome = Outcome.ELICITATION
            return [event]
        if self._reader is None:
            self._own_outcome = Outcome.FAILURE
            return [Failure(seq, str(error.code or ""), error.message, error.data, error.raw)]
        document = failure_of(error)
        events = self._reader.document(seq, document)
        if document != error.data:
            return events
        around = ": ".join(filter(None, (str(error.code or ""), error.message)))
        return [replace(e, json_rpc=around) if isinstance(e, Failure) else e for e in events]

    def _input_required(self, seq: int, result: Mapping[str, Any]) -> Sequence[Event]:
        if event := elicitation.input_requests(seq, result):
            self._own_outcome = Outcome.ELICITATION
            return [event]
        self._own_outcome = Outcome.FAILURE
        message = "The server requests input that the playground can’t provide."
        return [Failure(seq, UNANSWERABLE, message, result.get("inputRequests"), result)]

    def _document(self, seq: int, document: Any, in_stream: bool, follows: bool) -> Sequence[Event]:
        if self._reader is None:
            return ()
        if isinstance(document, tuple):
            return self._messages(seq, document, is_complete=not follows)
        # Metadata alone may be the beginning of a stream whose other messages have no id.
        is_meta_only = isinstance(document, Mapping) and set(document) == {"_meta"}
        if follows or (in_stream and is_meta_only):
            return self._reader.message(seq, None, json.dumps(document))
        return self._reader.document(seq, document)

    def _messages(self, seq: int, objects: tuple[Any, ...], *, is_complete: bool) -> list[Event]:
        """Return the events of stream messages, which end with the result that has them."""
        found = [e for each in objects for e in self.raw_message(seq, None, json.dumps(each))]
        if is_complete:
            self.end()
            if not any(type(event) is Completed for event in found):
                found.append(Completed(seq))
        return found


def _with_media(seq: int, events: Sequence[Event], result: Any) -> Sequence[Event]:
    """Return events with the pictures and files beside an NLWeb response in a text."""
    parts = lenient.items(lenient.members(result).get("content"))[:MAX_PARTS]
    if not events or not parts:
        return events
    read = {id(event.item) for event in events if isinstance(event, Result)}
    media = [Result(seq, p) for p in parts if id(p) not in read and media_of(p) is not None]
    end = len(events) - isinstance(events[-1], Completed)
    return [*events[:end], *media, *events[end:]] if media else events


# --- NLWeb in a result ------------------------------------------------------------------------


class EmbeddedResponse(NamedTuple):
    """An NLWeb response in a result, and its location."""

    #: JSON pointer from the result; after a `#`, it leads through the JSON in a text.
    pointer: str
    response: dict[str, Any]
    #: The pointer to each of its results, if a list or several texts are these results.
    items: tuple[str, ...] = ()


class ToolResult:
    """The contents of a result: structured content, texts, and NLWeb's members beside them."""

    def __init__(self, result: Mapping[str, Any], max_depth: int) -> None:
        """`max_depth` is the nesting of the JSON in a text that is still read."""
        self._is_error = result.get("isError") is True
        self._meta = nlweb_meta(result.get("_meta"))
        self._own = _without_mcp_members(result)
        self._structured = [*_structured_values(result.get("structuredContent"), max_depth)]
        #: Pointer to each text, the text, and the JSON objects and arrays that it consists of.
        self._texts = [(*each, parse_values(each[1], max_depth)) for each in _texts(result)]
        #: The responses outside of texts.
        self._whole = [
            EmbeddedResponse(*each) for each in self._structured if is_nlweb_response(each[1])
        ]
        if not _NLWEB_MEMBERS.isdisjoint(self._own):
            self._whole.append(EmbeddedResponse("", self._own))

    def responses(self) -> Iterator[EmbeddedResponse]:
        """Yield every NLWeb response, first the one that is read."""
        yield from self._whole
        for pointer, _, values in self._texts:
            if len(values) == 1 and is_nlweb_response(values[0]):
                yield EmbeddedResponse(f"{pointer}#", values[0])
        if self.error() is None:
            yield from self._lists()
        if not self._whole and is_nlweb_response(self._own):
            yield EmbeddedResponse("", self._own)

    def document(self) -> Any:
        """See `document_of`."""
        if self._whole:
            return self._with_texts(self._whole[0].response)
        messages = self._messages()
        objects = [each for each in messages if not isinstance(each, str)]
        if len(objects) == 1:
            return self._with_texts(objects[0])
        if objects:
            meta = [{"_meta": self._meta}] if self._meta else []
            said = ({"content": each} if isinstance(each, str) else each for each in messages)
            return (*meta, *said)
        if error := self.error():
            return {"error": error}
        for found in self._lists():
            return self._with_texts(found.response)
        return self._own

    def error(self) -> dict[str, Any] | None:
        """Return the error that the result is or holds, in NLWeb's form; None without one."""
        values = [value for _, value in reversed(self._structured)]
        values += [value for *_, found in self._texts for value in found]
        errors = (each for each in values if each and (self._is_error or is_error(each)))
        error = next(errors, None)
        if error is None and not self._is_error:
            return None
        code, message, details = describe(error)
        prose = "\n".join(text for _, text, found in self._texts if not found)
        code = code or ("TOOL_ERROR" if self._is_error else "")
        return {"code": code, "message": combined(prose, message), "details": details}

    def beside(self, *values: Any) -> list[str]:
        """Return the texts that are not just JSON of these values, or of structured content."""
        known = {_canonical(each) for each in (*values, *(value for _, value in self._structured))}
        return [
            text
            for _, text, found in self._texts
            if text.strip() and not (found and all(_canonical(each) in known for each in found))
        ]

    def _messages(self) -> list[Any]:
        """Return the objects of texts with a response in them, and the other texts, each once."""
        found: dict[str, list[Any]] = {}
        for _, text, values in self._texts:
            is_read = any(is_nlweb_response(each) for each in values)
            found.setdefault(
                _canonical(values) if is_read else text, [*values] if is_read else [text]
            )
        return [each for messages in found.values() for each in messages]

    def _lists(self) -> Iterator[EmbeddedResponse]:
        """Yield lists of items: SDKs wrap what a tool returns, or have a text for each item."""
        in_texts = [
            (f"{pointer}#" if len(found) == 1 else pointer, value)
            for pointer, _, found in self._texts
            for value in found
        ]
        for values in (*([each] for each in self._structured), in_texts):
            items = [item for each in values for item in _items(*each, is_one=len(values) > 1)]
            if items:
                pointers, results = zip(*items, strict=True)
                response = {"results": list(results)}
                yield EmbeddedResponse(pointers[0].rpartition("/")[0], response, pointers)

    def _with_texts(self, response: dict[str, Any]) -> dict[str, Any]:
        """Return a response with the texts and the metadata that the result has beside it."""
        results, content = response.get("results"), response.get("content")
        known = [response, results, *(results if isinstance(results, list) else ())]
        known += [each for *_, found in self._texts for each in found if is_nlweb_response(each)]
        message = describe(response.get("error")).message
        texts = [text for text in self.beside(*known) if text.strip() != message]
        listed = content if isinstance(content, list) else [] if content is None else [content]
        if response is self._own and listed is content:
            said = {None, *texts}
            kept = [part for part in listed if _text_of(part) in said]
            response = {**response, "content": kept}
        elif texts and response is not self._own:
            response = {**response, "content": [*texts, *listed]}
        return _with_meta(response, self._meta)


def document_of(result: Any, max_depth: int) -> Any:
    """Return the NLWeb response in a result; the result itself if it holds none.

    Several JSON objects in its texts are returned as a tuple, which no JSON value is.
    `max_depth` is the nesting of the JSON in a text that is still read.
    """
    return ToolResult(result, max_depth).document() if isinstance(result, Mapping) else result


def failure_of(error: jsonrpc.Error) -> dict[str, Any]:
    """Return the NLWeb failure in the data of an error, or the error as one."""
    data = error.data
    if isinstance(data, Mapping) and (is_nlweb_response(data) or nlweb_meta(data.get("_meta"))):
        return dict(data)
    code = describe(error.raw).code if error.code is None else str(error.code)
    return {"error": {"code": code, "message": error.message, "details": data}}


def is_nlweb_response(value: Any) -> bool:
    """Return whether a value is an object with members that only an NLWeb response has."""
    if not isinstance(value, Mapping):
        return False
    if not _NLWEB_MEMBERS.isdisjoint(value) or isinstance(value.get("message_type"), str):
        return True
    meta = value.get("_meta")
    return isinstance(meta, Mapping) and "response_type" in meta


def _structured_values(structured: Any, max_depth: int) -> Iterator[tuple[str, Any]]:
    """Yield structured content, and the value that is wrapped in it, with their pointers."""
    pointer = "/structuredContent"
    if structured is not None:
        yield pointer, structured
    if isinstance(structured, Mapping) and set(structured) == {"result"}:
        # SDKs wrap values that are no objects, or are not known to be one, like this.
        inner, pointer = structured["result"], f"{pointer}/result"
        values = parse_values(inner, max_depth) if isinstance(inner, str) else ()
        yield (f"{pointer}#", values[0]) if len(values) == 1 else (pointer, inner)


def _items(pointer: str, value: Any, *, is_one: bool) -> list[tuple[str, Any]]:
    """Return the items in a list, or an object if it `is_one` or looks like one, with pointers."""
    if isinstance(value, list) and all(isinstance(each, Mapping) for each in value):
        return [(f"{pointer}/{at}", each) for at, each in enumerate(value)]
    is_one = is_one or (isinstance(value, Mapping) and not _ITEM_MEMBERS.isdisjoint(value))
    return [(pointer, value)] if is_one and isinstance(value, Mapping) else []


def _with_meta(found: dict[str, Any], meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return a response with the metadata that the result has beside it.

    To metadata of its own only facts about the format are added, such as the template of a widget.
    """
    if "_meta" not in found:
        return {"_meta": dict(meta), **found} if meta else found
    own, facts = found["_meta"], format_facts(meta)
    return {**found, "_meta": {**own, **facts, **own}} if isinstance(own, Mapping) else found


def _without_mcp_members(result: Mapping[str, Any]) -> dict[str, Any]:
    bare = {name: value for name, value in result.items() if name not in _MCP_MEMBERS}
    if isinstance(bare.get("_meta"), Mapping):
        bare["_meta"] = nlweb_meta(bare["_meta"])
        if not bare["_meta"]:
            del bare["_meta"]
    return bare


def _texts(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    content = result.get("content")
    is_list = isinstance(content, list)
    for at, part in enumerate(content[:_MAX_TEXTS] if is_list else [content]):  # type: ignore[index]
        if (text := _text_of(part)) is not None:
            index = f"/{at}" if is_list else ""
            yield f"/content{index}{'/text' if isinstance(part, Mapping) else ''}", text


def _text_of(part: Any) -> str | None:
    text = part.get("text") if isinstance(part, Mapping) else part
    return text if isinstance(text, str) else None


def parse_values(text: str, max_depth: int) -> tuple[Any, ...]:
    """Return the JSON objects and arrays that a text consists of; none if there is more in it."""
    text = text.removeprefix("\ufeff")
    if not text.lstrip().startswith(("{", "[")) or json_decoder.exceeds_depth(text, max_depth):
        return ()
    try:
        return tuple(json_decoder.decode_sequence(text))
    except (ValueError, RecursionError):
        return ()


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


# --- any tool ---------------------------------------------------------------------------------


class ToolReader(Reader):
    """Reader of the result of any tool."""

    def __init__(self) -> None:
        self._outcome = Outcome.NONE

    def document(self, seq: int, payload: Any) -> list[Event]:
        """Return the events of a result, or of an error in the form of `failure_of`."""
        if not isinstance(payload, Mapping):
            self._outcome = Outcome.ANSWER
            return [Result(seq, payload)]
        content = ToolResult(payload, MAX_DEPTH)
        is_failed = payload.get("isError") is True
        error = content.error() if is_failed else payload.get("error")
        if isinstance(error, Mapping) and (is_failed or "content" not in payload):
            self._outcome = Outcome.FAILURE
            return [error_documents.failure(seq, error, payload)]
        self._outcome = Outcome.ANSWER
        meta = nlweb_meta(payload.get("_meta"))
        head: list[Event] = [Started(seq, meta)] if format_facts(meta) else []
        return [*head, *_content(seq, payload, {*content.beside()})]

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        self._outcome = Outcome.ANSWER
        try:
            return [Result(seq, json_decoder.decode(data))]
        except (ValueError, RecursionError):
            return [Text(seq, data, raw=data)]

    @property
    def outcome(self) -> Outcome:
        return self._outcome


def _content(seq: int, result: Mapping[str, Any], texts: set[str]) -> Iterator[Event]:
    """Yield structured content, and what does not repeat it of the content."""
    structured, parts = result.get("structuredContent"), lenient.items(result.get("content"))
    if structured is not None:
        yield Result(seq, structured)
    elif not parts:
        yield Result(seq, dict(result))
    for part in parts[:MAX_PARTS]:
        text = part.get("text") if isinstance(part, Mapping) else None
        if not isinstance(text, str):
            yield Result(seq, part)
        elif structured is None or text in texts:
            yield Text(seq, text, raw=part)
    if len(parts) > MAX_PARTS:
        reason = f"{len(parts):,} contents were received; only the first {MAX_PARTS:,} are shown."
        yield Unknown(seq, "content", None, reason)
