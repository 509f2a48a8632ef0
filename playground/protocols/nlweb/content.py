"""Members of an NLWeb response as events: pure functions from JSON values to events.

Each takes any JSON value and reads it leniently; none raises. Section numbers are those of 0.55
unless they name 0.54.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from playground.protocols import error_documents
from playground.protocols.events import (
    Elicitation,
    Event,
    Promise,
    Question,
    Result,
    Text,
    Unknown,
)
from playground.protocols.media import media_of

Payload = dict[str, Any]


def text_of(value: Any) -> str:
    """Return `value` as text: strings unchanged, numbers and booleans written out, else ""."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else ""


def first_text(payload: Mapping[str, Any], *names: str) -> str:
    """Return the first of the named members that is text, "" if none is."""
    for name in names:
        if name in payload and (text := text_of(payload[name])):
            return text
    return ""


def number_of(value: Any) -> float | None:
    """Return `value` as a finite number; numbers in strings count, booleans do not."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def index_of(value: Any) -> int | None:
    """Return `value` as a position in the results, None if it is not an integer."""
    if type(value) is int:
        return value
    number = number_of(value)
    return int(number) if number is not None and number.is_integer() else None


def listed(value: Any) -> list[Any]:
    """Return `value` as a list: lists unchanged, null as empty, anything else as one element."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _located(value: Any, pointer: str) -> list[tuple[str, Any]]:
    """Return the elements of `listed(value)` with their pointers."""
    if isinstance(value, list):
        return [(f"{pointer}/{at}", each) for at, each in enumerate(value)]
    return [] if value is None else [(pointer, value)]


def without_pointers(events: Iterable[Event]) -> list[Event]:
    """Return the events of a value that is only a part of the document, or not in it as it is."""
    return [replace(event, pointer=None) for event in events]


def results(seq: int, value: Any, pointer: str = "") -> list[Event]:
    """Return the items of a batch in a stream, whose positions are unknown."""
    return [Result(seq, item, pointer=at) for at, item in _located(value, pointer)]


def placed_results(seq: int, value: Any, pointer: str = "") -> list[Event]:
    """Return the items of `results` or `structuredData` of a whole response (section 4.1.1)."""
    return [
        Result(seq, item, index, pointer=at)
        for index, (at, item) in enumerate(_located(value, pointer))
    ]


def texts(seq: int, value: Any, pointer: str = "") -> list[Event]:
    """Return the parts of `content` (section 4.1.1), or the one part of a 0.54 `content` event."""
    return [_text(seq, part, at) for at, part in _located(value, pointer)]


#: Members of items, which no text has.
_ITEM_MEMBERS = frozenset({"@type", "schema_object"})


def _text(seq: int, part: Any, pointer: str) -> Event:
    if isinstance(part, str):
        return Text(seq, part, raw=part, pointer=pointer)
    if isinstance(part, dict):
        # 0.54 (section 4.1.1) writes "Type" and "Text" in its prose.
        text = part.get("text", part.get("Text"))
        if isinstance(text, str):
            kind = first_text(part, "type", "Type") or "text"
            is_delta = part.get("delta") is True
            return Text(seq, text, delta=is_delta, kind=kind, raw=part, pointer=pointer)
        if not _ITEM_MEMBERS.isdisjoint(part):
            return Result(seq, part)  # An older server has its items in `content`.
        if media_of(part) is not None:
            return Result(seq, part)  # MCP's contents, beside texts (appendix A.3).
    return Unknown(seq, "content", part, "This content part has no text.")


def elicitation(seq: int, value: Any, pointer: str = "") -> list[Event]:
    """Return the agent's questions (section 4.1.3), which may be one text in 0.54."""
    text, questions = text_of(value), value if isinstance(value, list) else None
    if isinstance(value, dict):
        text, questions = first_text(value, "text", "message"), value.get("questions")
    return [Elicitation(seq, text, _questions(questions), value, pointer=pointer)]


def _questions(value: Any) -> tuple[Question, ...]:
    if isinstance(value, dict):
        # Questions by their ids.
        pairs = value.items()
        value = [{"id": name, **(q if isinstance(q, dict) else {"text": q})} for name, q in pairs]
    used: set[str] = set()
    free = _free_names(used)
    questions = (question for question in listed(value) if question is not None)
    return tuple(_question(question, used, free) for question in questions)


def _question(value: Any, used: set[str], free: Iterator[str]) -> Question:
    fields = value if isinstance(value, dict) else {"text": value}
    options = tuple(_options(fields.get("options")))
    name = first_text(fields, "id", "name") or next(free)
    used.add(name)
    return Question(
        id=name,
        text=first_text(fields, "text", "question", "label", "title"),
        type=first_text(fields, "type") or ("single_select" if options else "free_text"),
        options=options,
        default=fields.get("default"),
    )


def _free_names(used: set[str]) -> Iterator[str]:
    """Yield ids for questions without one, by their position or the next number that is free.

    No number is tried twice, however many of the ids an agent uses itself.
    """
    number = 0
    while True:
        number = max(number, len(used)) + 1
        if (name := f"question_{number}") not in used:
            yield name


def _options(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    for option in listed(value):
        if isinstance(option, dict):
            option = first_text(option, "text", "label", "name", "title", "value", "id")
        if text := text_of(option):
            yield text


def promise(seq: int, value: Any, pointer: str = "") -> list[Event]:
    """Return the token of a promise and its progress (section 4.1.2)."""
    if not isinstance(value, dict):
        return [Promise(seq, text_of(value), raw=value, pointer=pointer)]
    return [
        Promise(
            seq,
            token=first_text(value, "token", "promise_token", "id"),
            estimated_time=number_of(value.get("estimated_time")),
            message=first_text(value, "message", "text"),
            progress=number_of(value.get("progress")),
            raw=value,
            pointer=pointer,
        )
    ]


def failure(seq: int, value: Any, pointer: str = "") -> list[Event]:
    """Return the agent's error (section 4.1.4), of any shape."""
    return [error_documents.failure(seq, value, pointer=pointer)]


def stray_meta(seq: int, payload: Any) -> list[Event]:
    """Return the metadata of a response as unknown if it is not an object."""
    meta = payload.get("_meta") if isinstance(payload, dict) else None
    if meta is None or isinstance(meta, dict):
        return []
    return [Unknown(seq, "_meta", meta, "The metadata is not a JSON object.")]


#: By member: (number of the frame, value, pointer to it) to events.
Parts = Mapping[str, Callable[[int, Any, str], list[Event]]]

#: Members of a stream message with content, in the order in which they are read: the error
#: before the results, because a response with results and an error is an answer.
PARTS: Parts = {
    "content": texts,
    "error": failure,
    "results": results,
    "structuredData": results,
    "structured_data": results,
    "elicitation": elicitation,
    "promise": promise,
}

#: The same members of a whole response.
DOCUMENT_PARTS: Parts = {
    name: placed_results if read is results else read for name, read in PARTS.items()
}


def read_parts(seq: int, payload: Mapping[str, Any], table: Parts = PARTS) -> list[Event]:
    """Return the events of every content member of `payload`; null members have none.

    Neither has an error that says that there is none; the text of one that is no object may be in
    the members beside it.
    """
    found: list[Event] = []
    for name, read in table.items():
        value = payload.get(name)
        if name == "error" and value and not isinstance(value, dict):
            beside = {each: payload[each] for each in payload if each not in table or each == name}
            found.append(error_documents.failure(seq, beside, value, pointer="/error"))
        elif value is not None and not (name == "error" and value in (False, "")):
            found += read(seq, value, f"/{name}")
    return found


#: Members that make an object an NLWeb response; some servers add two texts.
KNOWN = frozenset({*PARTS, "summary", "generated_response"})
#: Members without content, which say what a message is, or repeat the request.
_ENVELOPE = frozenset(
    "_meta meta index item @context @type type object version response_type message_type query "
    "mode site status timestamp name model".split()
)


def read_members(seq: int, payload: Mapping[str, Any]) -> list[Event]:
    """Return the events of every member with content: those that no version defines first."""
    return [*other_members(seq, payload), *read_parts(seq, payload)]


def other_members(seq: int, payload: Mapping[str, Any]) -> list[Event]:
    """Return the members with content that no version defines, each named for its member.

    A response may have a format of the agent's own (sections 3.3.1 and 4.1.1).
    """
    found: list[Event] = []
    for name, value in payload.items():
        if name in PARTS or name in _ENVELOPE or name.lower().endswith("id") or not value:
            continue
        if isinstance(value, str):
            found.append(Text(seq, value, kind=name, raw={name: value}))
        elif isinstance(value, dict | list):
            found.append(Unknown(seq, name, value))
    return found


def schema_items(value: Any) -> list[Any] | None:
    """Return the items of a page or list of schema.org, or of a bare list; None for NLWeb."""
    if isinstance(value, dict):
        is_own = "_meta" not in value and KNOWN.isdisjoint(value)
        lists = (value, value.get("mainEntity")) if is_own else ()
        keys = ("itemListElement", "@graph", "items")
        found = (each.get(key) for each in lists if isinstance(each, dict) for key in keys)
        value = next((each for each in found if isinstance(each, list)), None)
    elif value == []:
        return None
    names = {"@type", "schema_object", "url"}
    if not isinstance(value, list) or not all(
        isinstance(each, dict) and not names.isdisjoint(each) for each in value
    ):
        return None
    return [each["item"] if isinstance(each.get("item"), dict) else each for each in value]


def schema_form(value: Any) -> str:
    """Return a name for the form of a response that has `schema_items`."""
    kind = first_text(value, "@type")[:60] if isinstance(value, dict) else "list of items"
    whose = ", as wpnlweb (WordPress) sends it" if kind == "SearchResultsPage" else ""
    return f"a schema.org {kind or 'graph'}{whose}"
