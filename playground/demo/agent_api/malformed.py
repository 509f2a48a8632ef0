"""Responses that break the protocol on purpose, in one way each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from playground.demo.agent_api.writer import ResponseWriter

_FAULT = re.compile(r"^\W*broken:?\s+(.+?)\W*$", re.I)
_TEXT = "Tomato soup it is."


@dataclass(frozen=True, slots=True)
class MalformedResponse:
    """A way to break the protocol, with the function that writes it."""

    happens: str
    write: Callable[[ResponseWriter], None]
    #: True if the stream ends with the response in a final status.
    ends: bool = True


def requested_fault(text: str) -> MalformedResponse | None:
    """Return the row of a text `broken: NAME`; None for any other text."""
    match = _FAULT.match(text)
    return BROKEN.get(match[1].lower()) if match else None


def _unknown_message(writer: ResponseWriter) -> None:
    message = writer.announce()
    writer.write_words(message, 0, _TEXT)
    message.id = "msg_nobody_announced"
    writer.delta(message, 0, "Who says this?")


def _index_gap(writer: ResponseWriter) -> None:
    message = writer.announce()
    writer.write_words(message, 0, _TEXT)
    writer.write_words(message, 3, "This is the second part, at index 3.")
    writer.close(message)


def _late_content(writer: ResponseWriter) -> None:
    message = writer.announce()
    writer.write_words(message, 0, _TEXT)
    writer.delta(message, 0, " One more word.")
    writer.close(message)
    writer.delta(message, 0, " And another.")


def _wrong_total_text(writer: ResponseWriter) -> None:
    message = writer.announce()
    writer.delta(message, 0, "Tomato soup it ")
    writer.delta(message, 0, "was.")
    writer.write_content(message, 0, "text", _TEXT)
    writer.close(message)


def _unclosed(writer: ResponseWriter) -> None:
    message = writer.announce()
    for word in ("This ", "message ", "never "):
        writer.delta(message, 0, word)


def _unknown_type(writer: ResponseWriter) -> None:
    message = writer.announce("telepathy", "ghost")
    writer.write_words(message, 0, _TEXT)
    writer.write_content(message, 1, "hologram", "a pot, slowly turning")
    writer.close(message)


def _bare_error(writer: ResponseWriter) -> None:
    writer.objects.clear()
    writer.numbered = False
    writer.emit({"error": "1 validation error for AgentRequest: the soup is cold"})


def _no_numbers(writer: ResponseWriter) -> None:
    writer.numbered = False
    for value in writer.objects:
        value.pop("sequence_number", None)
    writer.write_text(_TEXT)


def _numbers(writer: ResponseWriter) -> None:
    writer.write_text(_TEXT)
    for number, value in enumerate(writer.objects):
        value["sequence_number"] = number if number % 3 else number + 5


def _backwards(writer: ResponseWriter) -> None:
    message = writer.announce()
    writer.write_words(message, 0, _TEXT)
    writer.close(message)
    writer.emit(message.describe("in_progress"))
    writer.emit(message.describe("completed", content=message.contents))


def _after_end(writer: ResponseWriter) -> None:
    writer.write_text(_TEXT)
    writer.end()
    writer.write_text("One more thing.")


def _silence(writer: ResponseWriter) -> None:
    message = writer.announce()
    writer.delta(message, 0, "And then there was ")


BROKEN: Mapping[str, MalformedResponse] = {
    "unknown message": MalformedResponse("A delta for an unknown message.", _unknown_message),
    "index gap": MalformedResponse("Contents with indexes 0 and 3.", _index_gap),
    "late content": MalformedResponse(
        "Deltas for a content and a message that are already completed.", _late_content
    ),
    "wrong sum": MalformedResponse(
        "A completed text that differs from its deltas.", _wrong_total_text
    ),
    "unclosed message": MalformedResponse("A message that is never completed.", _unclosed),
    "unknown type": MalformedResponse(
        "An unknown message type, role and content type.", _unknown_type
    ),
    "bare error": MalformedResponse("Only an error, as a string.", _bare_error, ends=False),
    "no numbers": MalformedResponse("No sequence numbers.", _no_numbers),
    "wrong numbers": MalformedResponse(
        "Sequence numbers that are not strings and have gaps.", _numbers
    ),
    "backwards": MalformedResponse("A completed message that is in progress again.", _backwards),
    "after the end": MalformedResponse(
        "A message after the end of the response.", _after_end, ends=False
    ),
    "silence": MalformedResponse(
        "The stream ends in the middle of a message.", _silence, ends=False
    ),
}
