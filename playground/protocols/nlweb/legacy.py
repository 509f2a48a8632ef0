"""The legacy server: flat request parameters, and messages with a `message_type`.

The public server from before the specification. Requests are composed as in every other version,
so that one request can be sent to either. The server knows six parameters: `query`, `site`,
`prev`, `streaming`, `generate_mode` and `query_id`, and has no `await`. A stream is requested by
GET with a query string, a document by POST with a flat JSON body in which `streaming` is the
string `"false"`. The schema of the request names the parameter of a member; members without one are
not sent.

Its responses have no `_meta`; messages are unnamed and told apart by `message_type`. Results come
in batches, progress in many small notes. `_READERS` is all that is known of it; a type that is
not in that table becomes a note. A whole response has the same messages in one of two forms: a
list of them, or an object with a member for each, named by its type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from playground.protocols import error_documents, http, json_decoder, lenient, schemas, sse
from playground.protocols.calls import HttpCall
from playground.protocols.events import Completed, Elicitation, Event, Note, Text
from playground.protocols.exchange import Target
from playground.protocols.nlweb.content import PARTS, Payload, first_text, results, without_pointers

Document = Mapping[str, Any]

#: The problem of an await request.
NO_AWAIT = "Legacy NLWeb has no promises and no await requests."

#: Types of messages with content that no version has as a member of a response.
MESSAGE_MEMBERS = frozenset({"nlws", "ask_user", "result_batch"})

MASK = "••••••"

#: Members of an `api_key` message that are not secret.
_PUBLIC = frozenset({"message_type", "query_id", "key_name", "name", "provider"})

#: A member with a string, which may be incomplete: name and quote are group 1.
_MEMBER = rb'("(?:%b)"\s*:\s*")(?:[^"\\]|\\.)*+'
_SURE_KEY = re.compile(_MEMBER % b"key_value|api_key", re.DOTALL)
_NAMED_KEY = re.compile(_MEMBER % b"key_value|api_key|key", re.DOTALL)


# Requests


def legacy_call(target: Target, document: Document, *, streaming: bool) -> HttpCall:
    url = http.operation_url(target.url, "ask")
    if streaming:
        defaults = (("Accept", "text/event-stream"), ("User-Agent", http.USER_AGENT))
        headers = http.merge_headers(defaults, target.headers)
        return HttpCall("GET", _with_query(url, parameters(document)), headers, streaming=True)
    flat = {**parameters(document), "streaming": "false"}
    return http.post(target, "ask", flat, streaming=False)


@cache
def parameters_of_members() -> Mapping[tuple[str, str], str]:
    """Return the names of the flat parameters by the section and member that they come from."""
    sections = schemas.load("nlweb", "legacy", "ask-request")["properties"]
    return {
        (section, name): member["x-parameter"]
        for section, schema in sections.items()
        for name, member in schema["properties"].items()
        if "x-parameter" in member
    }


def parameters(document: Document) -> dict[str, Any]:
    """Return the flat parameters of a request, without `streaming`.

    Values are those of the JSON. Of two members for a parameter, the later in the schema counts.
    `prefer.mode` may name several modes, of which the server takes one: `summarize`, which includes
    the list, or else the first.
    """
    found: dict[str, Any] = {}
    for (section, member), name in parameters_of_members().items():
        value = lenient.members(document.get(section)).get(member)
        if value is not None and name != "streaming":
            found[name] = _single_mode(value) if member == "mode" else value
    return {name: value for name, value in found.items() if value not in ("", [])}


def _single_mode(value: Any) -> Any:
    """Return the one mode to send for a list of modes; anything but text unchanged."""
    if not isinstance(value, str):
        return value
    named = [part.strip() for part in value.split(",") if part.strip()]
    return "summarize" if "summarize" in named else next(iter(named), "")


def _with_query(url: str, values: Mapping[str, Any]) -> str:
    """Return a URL with parameters after its own; lists as JSON."""
    parts = urlsplit(url)
    pairs = [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in values.items()
    ]
    query = "&".join(filter(None, (parts.query, urlencode(pairs, errors="replace"))))
    return urlunsplit(parts._replace(query=query))


# Messages


def read_message(seq: int, payload: Payload) -> list[Event]:
    """Return the events of a message whose `message_type` is a string."""
    name: str = payload["message_type"]
    reader = _READERS.get(name)
    return reader(seq, payload) if reader else [Note(seq, name, payload)]


def is_message(value: Any) -> bool:
    """Return whether a value is a message of the legacy server: it has a type."""
    return isinstance(value, Mapping) and isinstance(value.get("message_type"), str)


def has_messages(payload: Mapping[str, Any]) -> bool:
    """Return whether a whole response has messages with content as members."""
    # Other agents may have a text of that name.
    if isinstance(payload.get("summary"), dict):
        return True
    return any(isinstance(payload.get(name), dict | list | str) for name in MESSAGE_MEMBERS)


def read_members(seq: int, payload: Payload) -> list[Event]:
    """Return the events of the messages that a whole response has as members, named by their type.

    Members that a response of every version may have, such as `results`, are not read; neither are
    numbers and ids.
    """
    found: list[Event] = []
    for name, value in payload.items():
        if name in PARTS or name == "complete":
            continue
        if isinstance(value, dict):
            found += read_message(seq, {**value, "message_type": name})
        elif name in _READERS and isinstance(value, str | list) and value:
            found += read_message(seq, {"message_type": name, "content": value})
    return without_pointers(found)


def mask_keys(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return an `api_key` message without its keys."""
    return {name: value if name in _PUBLIC else MASK for name, value in payload.items()}


def mask_block(block: bytes) -> bytes:
    """Return bytes of a response with the keys of `api_key` messages masked.

    `block` is a block of an event stream, a JSON document, or a piece of either. Bytes without such
    a message are returned unchanged. For the recorder, so that a key that a server sends by mistake
    is never stored. In bytes that do not parse, what looks like the value of a key is masked; a
    piece that begins within a key is not recognized.
    """
    if b"api_key" not in block and b"key_value" not in block:
        return block
    is_document = block.lstrip()[:1] in (b"{", b"[")
    try:
        payload = json.loads(block if is_document else sse.parse(block).data)
        masked = _mask_json(payload)
        if masked == payload:
            return block
    except (ValueError, RecursionError):
        return _mask_text(block)
    text = json.dumps(masked, ensure_ascii=True).encode()
    if is_document:
        return text
    return sse.with_data(block, text)


def _mask_json(value: Any) -> Any:
    """Return `value` with the keys of all `api_key` messages in it masked."""
    if isinstance(value, dict):
        if value.get("message_type") == "api_key":
            return mask_keys(value)
        return {name: _mask_member(name, inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_mask_json(inner) for inner in value]
    return _mask_nested(value) if isinstance(value, str) and '"api_key"' in value else value


def _mask_member(name: str, value: Any) -> Any:
    """Return a member masked; in a whole response, an `api_key` message is a member."""
    return mask_keys(value) if name == "api_key" and isinstance(value, dict) else _mask_json(value)


def _mask_nested(text: str) -> str:
    """Return a text masked: JSON, as in the result of an MCP tool, or prose with JSON in it."""
    try:
        found = json_decoder.decode_sequence(text)
    except (ValueError, RecursionError):
        return _mask_text(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
    masked = [_mask_json(each) for each in found]
    return text if masked == found else "\n".join(json.dumps(each) for each in masked)


def _mask_text(data: bytes) -> bytes:
    """Return `data`, which is not JSON, with the strings of all key members masked."""
    # `key` is a common name: it is a secret only in a message of type `api_key`.
    names = _NAMED_KEY if b'"api_key"' in data else _SURE_KEY
    return names.sub(rb"\1" + MASK.encode(), data)


def _batch(seq: int, payload: Payload) -> list[Event]:
    if isinstance(text := payload.get("content"), str) and "results" not in payload:
        kind = "summary" if payload.get("@type") == "Summary" else "text"
        return [Text(seq, text, kind=kind, raw=payload)]
    for name in ("results", "content", "items"):
        if name in payload:
            return results(seq, payload[name], f"/{name}")
    return []


def _summary(seq: int, payload: Payload) -> list[Event]:
    text = first_text(payload, "content", "text", "summary", "message")
    return [Text(seq, text, kind="summary", raw=payload)]


def _answer(seq: int, payload: Payload) -> list[Event]:
    text = first_text(payload, "answer", "content", "text")
    return [
        Text(seq, text, kind="nlws", raw=payload),
        *results(seq, payload.get("items"), "/items"),
    ]


def _question(seq: int, payload: Payload) -> list[Event]:
    text = first_text(payload, "content", "text", "message", "question")
    return [Elicitation(seq, text, raw=payload)]


_READERS: dict[str, Callable[[int, Payload], list[Event]]] = {
    "result_batch": _batch,
    "result": _batch,
    "summary": _summary,
    "nlws": _answer,
    "ask_user": _question,
    "error": lambda seq, payload: [error_documents.failure(seq, payload)],
    "complete": lambda seq, payload: [Completed(seq, payload)],
    "api_key": lambda seq, payload: [Note(seq, "api_key", mask_keys(payload))],
}
