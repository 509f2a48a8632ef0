"""The result of any tool, as events that say what is in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from playground.protocols import json_decoder
from playground.protocols.events import Event, Failure, Outcome, Result, Text

#: Parts of one result that are read.
MAX_PARTS = 1000


class ToolReader:
    """Reads the result of a tool that is none of NLWeb's. See `protocols.exchange.Reader`."""

    def __init__(self) -> None:
        self._outcome = Outcome.NONE

    def document(self, seq: int, payload: Any) -> list[Event]:
        """Events of a result, or of an error as `results.failure_of` has it."""
        if not isinstance(payload, Mapping):
            self._outcome = Outcome.ANSWER
            return [Result(seq, payload)]
        if payload.get("isError") is True:
            return [self._failed(seq, "TOOL_ERROR", _words(payload), payload)]
        error = payload.get("error")
        if isinstance(error, Mapping) and "content" not in payload:
            return [self._failed(seq, str(error.get("code") or ""), error.get("message"), payload)]
        self._outcome = Outcome.ANSWER
        return list(_parts(seq, payload))

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        """Something that followed the result."""
        self._outcome = Outcome.ANSWER
        try:
            return [Result(seq, json_decoder.decode(data))]
        except (ValueError, RecursionError):
            return [Text(seq, data, raw=data)]

    def end(self) -> None:
        """Nothing: the result was the end."""

    @property
    def outcome(self) -> Outcome:
        """What the tool has answered so far."""
        return self._outcome

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        """Tools have none."""
        return None

    def _failed(self, seq: int, code: str, message: Any, raw: Mapping[str, Any]) -> Failure:
        self._outcome = Outcome.FAILURE
        error = raw.get("error")
        details = error.get("details") if isinstance(error, Mapping) else None
        return Failure(seq, code, message if isinstance(message, str) else "", details, raw)


def _parts(seq: int, result: Mapping[str, Any]) -> Iterator[Event]:
    structured = result.get("structuredContent")
    if structured is not None:
        # The text beside it says the same once more, for clients that know no better.
        yield Result(seq, structured)
        return
    content = result.get("content")
    if not isinstance(content, list) or not content:
        yield Result(seq, dict(result))
        return
    for part in content[:MAX_PARTS]:
        text = part.get("text") if isinstance(part, Mapping) else None
        yield Text(seq, text, raw=part) if isinstance(text, str) else Result(seq, part)


def _words(result: Mapping[str, Any]) -> str:
    content = result.get("content")
    parts = content[:MAX_PARTS] if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str))
