"""Responses that break the protocol on purpose, one way each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from playground.demo.agent_api.writer import ResponseWriter

_ASKED = re.compile(r"^\W*broken:?\s+(.+?)\W*$", re.I)
_TEXT = "Tomato soup it is."


@dataclass(frozen=True, slots=True)
class MalformedResponse:
    """A way to break the protocol."""

    happens: str
    write: Callable[[ResponseWriter], None]
    #: Whether the stream ends with the response in a final status.
    ends: bool = True


def requested_fault(text: str) -> MalformedResponse | None:
    """What `broken: NAME` names; None for any other text."""
    match = _ASKED.match(text)
    return BROKEN.get(match[1].lower()) if match else None


def _unknown_message(script: ResponseWriter) -> None:
    message = script.announce()
    script.spell(message, 0, _TEXT)
    message.id = "msg_nobody_announced"
    script.piece(message, 0, "Who says this?")


def _index_gap(script: ResponseWriter) -> None:
    message = script.announce()
    script.spell(message, 0, _TEXT)
    script.spell(message, 3, "This is the second part, at index 3.")
    script.close(message)


def _late_content(script: ResponseWriter) -> None:
    message = script.announce()
    script.spell(message, 0, _TEXT)
    script.piece(message, 0, " One more word.")
    script.close(message)
    script.piece(message, 0, " And another.")


def _wrong_sum(script: ResponseWriter) -> None:
    message = script.announce()
    script.piece(message, 0, "Tomato soup it ")
    script.piece(message, 0, "was.")
    script.write_content(message, 0, "text", _TEXT)
    script.close(message)


def _unclosed(script: ResponseWriter) -> None:
    message = script.announce()
    for word in ("This ", "message ", "never "):
        script.piece(message, 0, word)


def _unknown_type(script: ResponseWriter) -> None:
    message = script.announce("telepathy", "ghost")
    script.spell(message, 0, _TEXT)
    script.write_content(message, 1, "hologram", "a pot, slowly turning")
    script.close(message)


def _bare_error(script: ResponseWriter) -> None:
    script.objects.clear()
    script.numbered = False
    script.emit({"error": "1 validation error for AgentRequest: the soup is cold"})


def _no_numbers(script: ResponseWriter) -> None:
    script.numbered = False
    for value in script.objects:
        value.pop("sequence_number", None)
    script.write_text(_TEXT)


def _numbers(script: ResponseWriter) -> None:
    script.write_text(_TEXT)
    for number, value in enumerate(script.objects):
        value["sequence_number"] = number if number % 3 else number + 5


def _backwards(script: ResponseWriter) -> None:
    message = script.announce()
    script.spell(message, 0, _TEXT)
    script.close(message)
    script.emit(message.describe("in_progress"))
    script.emit(message.describe("completed", content=message.contents))


def _after_end(script: ResponseWriter) -> None:
    script.write_text(_TEXT)
    script.end()
    script.write_text("One more thing.")


def _silence(script: ResponseWriter) -> None:
    message = script.announce()
    script.piece(message, 0, "And then there was ")


BROKEN: Mapping[str, MalformedResponse] = {
    "unknown message": MalformedResponse(
        "A piece for a message that was never announced.", _unknown_message
    ),
    "index gap": MalformedResponse("Contents with the indexes 0 and 3.", _index_gap),
    "late content": MalformedResponse(
        "Pieces after a content and a message are completed.", _late_content
    ),
    "wrong sum": MalformedResponse(
        "A completed text that is not what its pieces make.", _wrong_sum
    ),
    "unclosed message": MalformedResponse("A message that never ends.", _unclosed),
    "unknown type": MalformedResponse(
        "A type, a role and a content that nobody knows.", _unknown_type
    ),
    "bare error": MalformedResponse(
        "An error and nothing else, as a string.", _bare_error, ends=False
    ),
    "no numbers": MalformedResponse("No sequence numbers.", _no_numbers),
    "wrong numbers": MalformedResponse("Sequence numbers that are no strings and jump.", _numbers),
    "backwards": MalformedResponse("A message that is completed and goes on.", _backwards),
    "after the end": MalformedResponse(
        "A message after the response has ended.", _after_end, ends=False
    ),
    "silence": MalformedResponse(
        "The stream ends in the middle of a message.", _silence, ends=False
    ),
}
