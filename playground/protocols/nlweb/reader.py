"""The lenient reader: NLWeb's replies, whole or streamed, as events.

It reads every version and dialect at once, because agents mix them; whether a reply is what
the version asks for is the conformance report's question. It knows nothing of how replies
travel: every binding hands it JSON documents and stream messages. Total: whatever an agent
sends, it makes events of it and never raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from playground.protocols import json_decoder
from playground.protocols.events import (
    Completed,
    Event,
    Note,
    Outcome,
    Result,
    Started,
    Text,
    Unknown,
)
from playground.protocols.nlweb import content, legacy_messages, versions
from playground.protocols.nlweb.content import Payload
from playground.protocols.nlweb.outcome import OutcomeReader

#: Members of a stream message that are no metadata even where the metadata stands bare.
_NOT_META = frozenset({*content.PARTS, "index", "item", "_meta", "meta"})


class NLWebReader:
    """Reads one reply. See `playground.protocols.exchange.Reader`."""

    def __init__(self, version: str) -> None:
        """A reader for a target of this version. Raises `ValueError` for an unknown one."""
        self._label = versions.get_version(version).label
        self._fold = OutcomeReader()
        self._started = False
        self._summary = ""
        # The standard's events (0.55 section 6.1; `content` and `end`: 0.54 HTTP examples,
        # section 5), then names that no version defines and agents use all the same.
        self._events: Mapping[str | None, Callable[[int, Any], list[Event]]] = {
            "result": self._result,
            "start": self._start,
            "content": self._content,
            "error": self._error,
            "complete": self._complete,
            "end": self._end,
            None: self._mixed,
            "message": self._mixed,
            "results": self._mixed,
            "answer": self._mixed,
            "failure": self._error,
            "elicitation": self._bare("elicitation"),
            "promise": self._bare("promise"),
        }

    @property
    def outcome(self) -> Outcome:
        """What the agent has answered so far."""
        return self._fold.outcome

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        """The latest session context that the agent returned."""
        return self._fold.session_context

    def end(self) -> None:
        """The reply ended the way its framing says: what it announced, it meant."""
        self._fold.settle()

    def document(self, seq: int, payload: Any) -> list[Event]:
        """Events of one whole JSON reply (section 4); a single `Unknown` if it is not NLWeb."""
        if not isinstance(payload, dict):
            return [Unknown(seq, "document", payload, "An NLWeb reply is a JSON object.")]
        if isinstance(payload.get("message_type"), str):
            return self._fold_all(legacy_messages.read(seq, payload))
        meta = self._take_meta(payload)
        if not meta and content.PARTS.keys().isdisjoint(payload):
            reason = "The object has none of the members of an NLWeb reply."
            return [Unknown(seq, "document", payload, reason)]
        found = content.read_parts(seq, payload, content.DOCUMENT_PARTS)
        if not found and self._fold.announced is Outcome.FAILURE:
            found = content.failure(seq, payload)
        self._fold_all(found)
        self._settle_if_empty(payload)
        self._fold.document()
        head: list[Event] = [Started(seq, meta)] if meta else []
        stray = content.stray_meta(seq, payload)
        return [*head, *self._summaries(seq, meta), *found, *stray, Completed(seq, meta)]

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        """Events of one stream message (section 6.1), whatever its name and its data are."""
        if not data or data.isspace():
            return self._without_data(seq, name)
        try:
            payload = json_decoder.decode(data)
        except ValueError as error:
            return [Unknown(seq, name or "message", data, f"The data is not JSON: {error}.")]
        except RecursionError:
            return [Unknown(seq, name or "message", data, "The data is nested too deep.")]
        return self.payload(seq, name, payload)

    def payload(self, seq: int, name: str | None, payload: Any) -> list[Event]:
        """Events of one stream message whose data are decoded already."""
        read = self._events.get(name)
        events = read(seq, payload) if read else self._foreign(seq, name, payload)
        # What could not be read as a whole is shown as a whole.
        if any(type(event) is Unknown and event.data is payload for event in events):
            return events
        return [*events, *content.stray_meta(seq, payload)]

    # Messages by name

    def _result(self, seq: int, payload: Any) -> list[Event]:
        if isinstance(payload, list):
            return self._fold_all(content.results(seq, payload))
        if not isinstance(payload, dict):
            return self._fold_all([Result(seq, payload)])
        if "_meta" in payload:
            self._take_meta(payload)
        if "item" in payload:
            item = payload["item"]
        elif "message_type" in payload or not content.PARTS.keys().isdisjoint(payload):
            return self._mixed(seq, payload)
        else:
            # Not wrapped into {index, item}: the payload is the item.
            item = {name: value for name, value in payload.items() if name != "_meta"}
        return self._fold_all([Result(seq, item, content.index_of(payload.get("index")))])

    def _start(self, seq: int, payload: Any) -> list[Event]:
        if not isinstance(payload, dict):
            return _not_an_object(seq, "start", payload)
        meta = self._take_meta(payload, bare=True)
        self._started = True
        return [
            Started(seq, meta),
            *self._summaries(seq, meta),
            *self._fold_all(content.read_parts(seq, payload)),
        ]

    def _content(self, seq: int, payload: Any) -> list[Event]:
        if isinstance(payload, dict):
            self._take_meta(payload)
            if "text" not in payload and (found := content.read_parts(seq, payload)):
                return self._fold_all(found)
        return self._fold_all(content.texts(seq, payload))

    def _error(self, seq: int, payload: Any) -> list[Event]:
        if isinstance(payload, dict):
            self._take_meta(payload)
            if payload.get("error") is not None:
                return self._fold_all(content.read_parts(seq, payload))
        return self._fold_all(content.failure(seq, payload))

    def _complete(self, seq: int, payload: Any) -> list[Event]:
        if not isinstance(payload, dict):
            return _not_an_object(seq, "complete", payload)
        meta = self._take_meta(payload, bare=True)
        found = content.read_parts(seq, payload)
        summaries = self._summaries(seq, meta)
        return [*summaries, *self._fold_all([*found, Completed(seq, meta)])]

    def _end(self, seq: int, payload: Any) -> list[Event]:
        if isinstance(payload, dict):
            self._take_meta(payload)
        return [Note(seq, "end", payload)]

    def _bare(self, member: str) -> Callable[[int, Any], list[Event]]:
        """A reader of messages named for a member of a reply, with or without that member."""

        def read(seq: int, payload: Any) -> list[Event]:
            if isinstance(payload, dict) and (member in payload or "_meta" in payload):
                return self._mixed(seq, payload)
            return self._fold_all(content.PARTS[member](seq, payload))

        return read

    def _mixed(self, seq: int, payload: Any) -> list[Event]:
        """A message whose members say what it is, in any mixture (the public ask agent)."""
        if not isinstance(payload, dict):
            return _not_an_object(seq, "message", payload)
        if isinstance(payload.get("message_type"), str):
            return self._fold_all(legacy_messages.read(seq, payload))
        meta = self._take_meta(payload)
        found: list[Event] = []
        if "item" in payload:
            found += [Result(seq, payload["item"], content.index_of(payload.get("index")))]
        found += content.read_parts(seq, payload)
        self._settle_if_empty(payload)
        found = [*self._summaries(seq, meta), *self._fold_all(found)]
        if meta and not self._started:
            self._started = True
            return [Started(seq, meta), *found]
        if found:
            return found
        if meta or not content.PARTS.keys().isdisjoint(payload):
            return [Note(seq, "_meta" if meta else "empty", payload)]
        reason = "The message has none of the members of an NLWeb reply."
        return [Unknown(seq, "message", payload, reason)]

    def _foreign(self, seq: int, name: str | None, payload: Any) -> list[Event]:
        if isinstance(payload, dict):
            self._take_meta(payload)
        reason = f"{self._label} defines no event of this name."
        return [Unknown(seq, name or "message", payload, reason)]

    def _without_data(self, seq: int, name: str | None) -> list[Event]:
        if name == "start":
            return self._start(seq, {})
        if name == "complete":
            return self._complete(seq, {})
        if name == "end":
            return [Note(seq, "end")]
        return [Unknown(seq, name or "message", "", "The message has no data.")]

    # What messages have in common

    def _take_meta(self, payload: Payload, *, bare: bool = False) -> Mapping[str, Any]:
        """The metadata of a payload, taken into the fold; empty where there is none.

        `_meta` (0.55) or `meta` (0.54 allows either); an example of 0.54 (section 4.1.2)
        has `response_type` at the top, and `bare` says that the payload is metadata.
        """
        meta = payload.get("_meta")
        if not isinstance(meta, dict):
            meta = payload.get("meta")
        if not isinstance(meta, dict):
            if not bare and "response_type" not in payload:
                return {}
            meta = {name: value for name, value in payload.items() if name not in _NOT_META}
        elif "response_type" not in meta and "response_type" in payload:
            meta = {**meta, "response_type": payload["response_type"]}
        self._fold.meta(meta)
        return meta

    def _summaries(self, seq: int, meta: Mapping[str, Any]) -> list[Event]:
        """The summary in a meta block (0.54 HTTP examples, section 2), once."""
        summary = meta.get("summary")
        if not isinstance(summary, str) or summary in ("", self._summary):
            return []
        self._summary = summary
        return [Text(seq, summary, kind="summary", raw=summary)]

    def _fold_all(self, events: list[Event]) -> list[Event]:
        for event in events:
            self._fold.event(event)
        return events

    def _settle_if_empty(self, payload: Payload) -> None:
        """An empty list of results is an answer, too."""
        if payload.get("results") == [] or payload.get("structuredData") == []:
            self._fold.settle(Outcome.ANSWER)


def _not_an_object(seq: int, name: str, payload: Any) -> list[Event]:
    return [Unknown(seq, name, payload, "The data is JSON, but not an object.")]
