"""What the parts of an answer say: pure functions from JSON values to events.

Each takes whatever the agent put there (any JSON type) and makes the best of it; none
raises. Section numbers are those of 0.55 unless they name 0.54.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from playground.protocols.events import (
    Elicitation,
    Event,
    Failure,
    Promise,
    Question,
    Result,
    Text,
    Unknown,
)

Payload = dict[str, Any]


def text_of(value: Any) -> str:
    """`value` as words: strings as they are, numbers and booleans written out, else ""."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else ""


def first_text(payload: Mapping[str, Any], *names: str) -> str:
    """The first of the named members that holds words, "" if none does."""
    for name in names:
        if name in payload and (text := text_of(payload[name])):
            return text
    return ""


def number_of(value: Any) -> float | None:
    """`value` as a finite number; numbers in strings count, booleans do not."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def index_of(value: Any) -> int | None:
    """`value` as a position in the results; None for what is not a whole number."""
    if type(value) is int:
        return value
    number = number_of(value)
    return int(number) if number is not None and number.is_integer() else None


def listed(value: Any) -> list[Any]:
    """`value` as a list: lists as they are, null as nothing, anything else as one element."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def results(seq: int, value: Any) -> list[Event]:
    """The items of a batch in a stream: nobody said where in the results they stand."""
    return [Result(seq, item) for item in listed(value)]


def placed_results(seq: int, value: Any) -> list[Event]:
    """The items of `results` or `structuredData` of a whole reply (section 4.1.1)."""
    return [Result(seq, item, place) for place, item in enumerate(listed(value))]


def texts(seq: int, value: Any) -> list[Event]:
    """The parts of `content` (section 4.1.1), or the one part of a 0.54 `content` event."""
    return [_text(seq, part) for part in listed(value)]


def _text(seq: int, part: Any) -> Event:
    if isinstance(part, str):
        return Text(seq, part, raw=part)
    if isinstance(part, dict):
        # 0.54 (section 4.1.1) writes "Type" and "Text" in its prose.
        text = part.get("text", part.get("Text"))
        if isinstance(text, str):
            kind = first_text(part, "type", "Type") or "text"
            return Text(seq, text, delta=part.get("delta") is True, kind=kind, raw=part)
    return Unknown(seq, "content", part, "This content part has no text.")


def elicitation(seq: int, value: Any) -> list[Event]:
    """The agent's questions (section 4.1.3); 0.54 also has them as one text."""
    if isinstance(value, dict):
        text = first_text(value, "text", "message")
        return [Elicitation(seq, text, _questions(value.get("questions")), value)]
    if isinstance(value, list):
        return [Elicitation(seq, "", _questions(value), value)]
    return [Elicitation(seq, text_of(value), (), value)]


def _questions(value: Any) -> tuple[Question, ...]:
    if isinstance(value, dict):
        # Questions keyed by their ids.
        pairs = value.items()
        value = [{"id": name, **(q if isinstance(q, dict) else {"text": q})} for name, q in pairs]
    taken: set[str] = set()
    free = _free_names(taken)
    asked = (question for question in listed(value) if question is not None)
    return tuple(_question(question, taken, free) for question in asked)


def _question(value: Any, taken: set[str], free: Iterator[str]) -> Question:
    fields = value if isinstance(value, dict) else {"text": value}
    options = tuple(_options(fields.get("options")))
    name = first_text(fields, "id", "name") or next(free)
    taken.add(name)
    return Question(
        id=name,
        text=first_text(fields, "text", "question", "label", "title"),
        type=first_text(fields, "type") or ("single_select" if options else "free_text"),
        options=options,
        default=fields.get("default"),
    )


def _free_names(taken: set[str]) -> Iterator[str]:
    """Names for questions without one, by their place or the next number that is free.

    No number is tried twice: an agent can put as many names in the way as it likes.
    """
    number = 0
    while True:
        number = max(number, len(taken)) + 1
        if (name := f"question_{number}") not in taken:
            yield name


def _options(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    for option in listed(value):
        if isinstance(option, dict):
            option = first_text(option, "text", "label", "name", "title", "value", "id")
        if text := text_of(option):
            yield text


def promise(seq: int, value: Any) -> list[Event]:
    """The token to ask for the answer with, and how far the agent is (section 4.1.2)."""
    if not isinstance(value, dict):
        return [Promise(seq, text_of(value), raw=value)]
    return [
        Promise(
            seq,
            token=first_text(value, "token", "promise_token", "id"),
            estimated_time=number_of(value.get("estimated_time")),
            message=first_text(value, "message", "text"),
            progress=number_of(value.get("progress")),
            raw=value,
        )
    ]


def failure(seq: int, value: Any) -> list[Event]:
    """The agent's refusal (section 4.1.4); a bare string is taken as its message."""
    if not isinstance(value, dict):
        return [Failure(seq, "", text_of(value), raw=value)]
    return [
        Failure(
            seq,
            code=first_text(value, "code", "type"),
            message=first_text(value, "message", "content", "detail"),
            details=value.get("details"),
            raw=value,
        )
    ]


def stray_meta(seq: int, payload: Any) -> list[Event]:
    """The metadata of a reply where it is no object: nothing can be read from it."""
    meta = payload.get("_meta") if isinstance(payload, dict) else None
    if meta is None or isinstance(meta, dict):
        return []
    return [Unknown(seq, "_meta", meta, "The metadata is not a JSON object.")]


Parts = Mapping[str, Callable[[int, Any], list[Event]]]

#: Members of a stream message that carry content. In the order in which they are read: the
#: error before the results, because results beside an error make an answer all the same.
PARTS: Parts = {
    "content": texts,
    "error": failure,
    "results": results,
    "structuredData": results,
    "structured_data": results,
    "elicitation": elicitation,
    "promise": promise,
}

#: The same members of a whole reply.
DOCUMENT_PARTS: Parts = {
    name: placed_results if read is results else read for name, read in PARTS.items()
}


def read_parts(seq: int, payload: Mapping[str, Any], table: Parts = PARTS) -> list[Event]:
    """The events of every content member that `payload` has; null members say nothing."""
    found: list[Event] = []
    for name, read in table.items():
        if (value := payload.get(name)) is not None:
            found += read(seq, value)
    return found
