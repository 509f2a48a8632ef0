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
from typing import Any

from playground.protocols import json_decoder, jsonrpc
from playground.protocols.events import (
    Completed,
    Event,
    Failure,
    Outcome,
    Result,
    Started,
    Text,
    Unknown,
)
from playground.protocols.exchange import Reader
from playground.protocols.jsonrpc import URL_ELICITATION_REQUIRED, JsonRpcMessage
from playground.protocols.mcp import elicitation
from playground.protocols.mcp.messages import nlweb_meta
from playground.protocols.media import media_of
from playground.protocols.nlweb.legacy import MESSAGE_MEMBERS
from playground.protocols.placement import format_facts

#: Parts of `content` that are read.
MAX_PARTS = 1000
#: The code of the failure when a server requests input that no user can give.
UNANSWERABLE = "INPUT_REQUIRED"

#: Members that make an object an NLWeb response; `content` and `_meta` are MCP's as well.
_NLWEB_MEMBERS = frozenset(
    {"results", "structuredData", "structured_data", "elicitation", "promise", "error"}
    | MESSAGE_MEMBERS
)
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
        """The outcome so far."""
        if self._own_outcome is not Outcome.NONE or self._reader is None:
            return self._own_outcome
        return self._reader.outcome

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        """The latest session context that the agent returned."""
        return self._reader.session_context if self._reader else None

    def read(self, seq: int, message: JsonRpcMessage, in_stream: bool) -> Sequence[Event]:
        """Return the events of the answer, or of a message without an id that follows it."""
        events = self._read(seq, message, in_stream)
        self.understood = self.understood or any(type(event) is not Unknown for event in events)
        return events

    def raw_message(self, seq: int, data: str) -> Sequence[Event]:
        """Return the events of a stream message that is no JSON-RPC, as the reader has them."""
        return self._reader.message(seq, None, data) if self._reader else ()

    def end(self) -> None:
        """Tell the reader that the response is complete."""
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
        return self._reader.document(seq, failure_of(error))

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
        if follows or (in_stream and is_meta_only(document)):
            return self._reader.message(seq, None, json.dumps(document))
        return self._reader.document(seq, document)

    def _messages(self, seq: int, objects: tuple[Any, ...], *, is_complete: bool) -> list[Event]:
        """Return the events of stream messages, which end with the result that has them."""
        found = [e for each in objects for e in self.raw_message(seq, json.dumps(each))]
        if is_complete:
            self.end()
            if not any(type(event) is Completed for event in found):
                found.append(Completed(seq))
        return found


def _with_media(seq: int, events: Sequence[Event], result: Any) -> Sequence[Event]:
    """Return events with the pictures and files beside an NLWeb response in a text."""
    content = result.get("content") if isinstance(result, Mapping) else None
    if not events or not isinstance(content, list):
        return events
    read = {id(event.item) for event in events if isinstance(event, Result)}
    parts = content[:MAX_PARTS]
    media = [Result(seq, p) for p in parts if id(p) not in read and media_of(p) is not None]
    end = len(events) - isinstance(events[-1], Completed)
    return [*events[:end], *media, *events[end:]] if media else events


# --- NLWeb in a result ------------------------------------------------------------------------


def document_of(result: Any, max_depth: int) -> Any:
    """Return the NLWeb response in a result; the result itself if it holds none.

    Several JSON objects in its texts are returned as a tuple, which no JSON value is.
    `max_depth` is the nesting of the JSON in a text that is still read.
    """
    if not isinstance(result, Mapping):
        return result
    for found in _candidates(result, max_depth):
        return _with_meta(found, result)
    match _objects_in_texts(result, max_depth):
        case [only]:
            return _with_meta(only, result)
        case [_, *_] as several:
            meta = nlweb_meta(result.get("_meta"))
            return ({"_meta": meta}, *several) if meta else tuple(several)
    if result.get("isError") is True:
        return {"error": {"code": "TOOL_ERROR", "message": text_of(result)}}
    return _without_mcp_members(result)


def failure_of(error: jsonrpc.Error) -> dict[str, Any]:
    """Return the NLWeb failure in the data of an error, or the error as one."""
    data = error.data
    if isinstance(data, Mapping) and (is_nlweb_response(data) or nlweb_meta(data.get("_meta"))):
        return dict(data)
    code = "" if error.code is None else str(error.code)
    return {"error": {"code": code, "message": error.message, "details": data}}


def text_of(result: Mapping[str, Any]) -> str:
    """Return the texts of a result's content, one per line."""
    return "\n".join(_texts(result))


def is_nlweb_response(value: Any) -> bool:
    """Return whether a value is an object with members that only an NLWeb response has."""
    if not isinstance(value, Mapping):
        return False
    if not _NLWEB_MEMBERS.isdisjoint(value) or isinstance(value.get("message_type"), str):
        return True
    meta = value.get("_meta")
    return isinstance(meta, Mapping) and "response_type" in meta


def is_meta_only(document: Any) -> bool:
    """Return whether a document is metadata and nothing else: more may follow in the stream."""
    return isinstance(document, Mapping) and set(document) == {"_meta"}


def _candidates(result: Mapping[str, Any], max_depth: int) -> Iterator[Mapping[str, Any]]:
    """Yield objects that are NLWeb responses, best first."""
    structured = result.get("structuredContent")
    if is_nlweb_response(structured):
        yield structured  # type: ignore[misc]
    if not _NLWEB_MEMBERS.isdisjoint(result):
        yield _without_mcp_members(result)
    if isinstance(structured, Mapping) and set(structured) == {"result"}:
        # Some servers wrap values that are no objects, or are not known to be one, like this.
        inner = structured["result"]
        inner = _parse_object(inner, max_depth) if isinstance(inner, str) else inner
        if is_nlweb_response(inner):
            yield inner


def _objects_in_texts(result: Mapping[str, Any], max_depth: int) -> list[dict[str, Any]]:
    """Return the JSON objects of the texts that hold an NLWeb response, without repetitions."""
    found: list[dict[str, Any]] = []
    for text in _texts(result):
        objects = _parse_objects(text, max_depth)
        if any(is_nlweb_response(each) for each in objects) and objects != found:
            found += objects
    return found


def _with_meta(found: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a response with the metadata that the result has beside it.

    To metadata of its own only facts about the format are added, such as the template of a widget.
    """
    meta = nlweb_meta(result.get("_meta"))
    if "_meta" not in found:
        return {"_meta": meta, **found} if meta else dict(found)
    own, facts = found["_meta"], format_facts(meta)
    return {**found, "_meta": {**own, **facts, **own}} if isinstance(own, Mapping) else dict(found)


def _without_mcp_members(result: Mapping[str, Any]) -> dict[str, Any]:
    bare = {name: value for name, value in result.items() if name not in _MCP_MEMBERS}
    if isinstance(bare.get("_meta"), Mapping):
        bare["_meta"] = nlweb_meta(bare["_meta"])
        if not bare["_meta"]:
            del bare["_meta"]
    return bare


def _texts(result: Mapping[str, Any]) -> Iterator[str]:
    content = result.get("content")
    for part in content[:MAX_PARTS] if isinstance(content, list) else [content]:
        text = part.get("text") if isinstance(part, Mapping) else part
        if isinstance(text, str):
            yield text


def _parse_object(text: str, max_depth: int) -> Any:
    """Return the JSON object in a text, None if it is none or nested too deep."""
    objects = _parse_objects(text, max_depth)
    return objects[0] if len(objects) == 1 else None


def _parse_objects(text: str, max_depth: int) -> list[dict[str, Any]]:
    """Return the JSON objects that a text consists of; none if there is anything else in it."""
    if not text.lstrip().startswith("{") or json_decoder.exceeds_depth(text, max_depth):
        return []
    try:
        found = json_decoder.decode_sequence(text)
    except (ValueError, RecursionError):
        return []
    return found if all(isinstance(each, dict) for each in found) else []


# --- any tool ---------------------------------------------------------------------------------


class ToolReader:
    """Reader of the result of any tool. See `playground.protocols.exchange.Reader`."""

    def __init__(self) -> None:
        self._outcome = Outcome.NONE

    def document(self, seq: int, payload: Any) -> list[Event]:
        """Return the events of a result, or of an error in the form of `failure_of`."""
        if not isinstance(payload, Mapping):
            self._outcome = Outcome.ANSWER
            return [Result(seq, payload)]
        if payload.get("isError") is True:
            return [self._failure(seq, "TOOL_ERROR", text_of(payload), payload)]
        error = payload.get("error")
        if isinstance(error, Mapping) and "content" not in payload:
            return [self._failure(seq, str(error.get("code") or ""), error.get("message"), payload)]
        self._outcome = Outcome.ANSWER
        meta = nlweb_meta(payload.get("_meta"))
        head: list[Event] = [Started(seq, meta)] if format_facts(meta) else []
        return [*head, *_content(seq, payload)]

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        """Return the event of a message that follows the result."""
        self._outcome = Outcome.ANSWER
        try:
            return [Result(seq, json_decoder.decode(data))]
        except (ValueError, RecursionError):
            return [Text(seq, data, raw=data)]

    def end(self) -> None:
        """Do nothing: the result was the end."""

    @property
    def outcome(self) -> Outcome:
        """The outcome so far."""
        return self._outcome

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        """None: tools have no session context."""
        return None

    def _failure(self, seq: int, code: str, message: Any, raw: Mapping[str, Any]) -> Failure:
        self._outcome = Outcome.FAILURE
        error = raw.get("error")
        details = error.get("details") if isinstance(error, Mapping) else None
        return Failure(seq, code, message if isinstance(message, str) else "", details, raw)


def _content(seq: int, result: Mapping[str, Any]) -> Iterator[Event]:
    structured, content = result.get("structuredContent"), result.get("content")
    parts = content if isinstance(content, list) else []
    if structured is not None:
        # The text beside it repeats it, for clients that do not read structured content.
        yield Result(seq, structured)
    elif not parts:
        yield Result(seq, dict(result))
    for part in parts[:MAX_PARTS]:
        text = part.get("text") if isinstance(part, Mapping) else None
        if not isinstance(text, str):
            yield Result(seq, part)
        elif structured is None:
            yield Text(seq, text, raw=part)
    if len(parts) > MAX_PARTS:
        reason = f"{len(parts):,} contents were received; only the first {MAX_PARTS:,} are shown."
        yield Unknown(seq, "content", None, reason)
