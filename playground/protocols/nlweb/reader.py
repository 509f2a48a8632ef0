"""Lenient reader of NLWeb responses, whole or streamed, as events.

It reads every version and the legacy messages at once, because agents mix them; whether a response
conforms to its version is checked by the conformance rules. It does not depend on the binding:
every binding passes JSON documents and stream messages to it. Total: any input yields events, and
nothing raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from playground.protocols import error_documents, json_decoder
from playground.protocols.events import (
    Completed,
    Elicitation,
    Event,
    Failure,
    Note,
    Outcome,
    Promise,
    Result,
    Started,
    Text,
    Unknown,
    meta_facts,
)
from playground.protocols.nlweb import content, legacy, versions
from playground.protocols.nlweb.content import Payload

# --- outcome ----------------------------------------------------------------------------------
#
# Two sources: the outcome that the agent *announced* (`response_type` in a meta block) and the
# outcome that was *seen* (results, questions, a promise, an error). The seen outcome takes
# precedence; an announcement counts only once the response is complete, for an answer without
# results.

_BY_NAME = {outcome.value: outcome for outcome in Outcome if outcome is not Outcome.NONE}

#: The outcome of an event. An error may be recoverable (0.55 section 6.1), so results and text
#: that follow it change the outcome to an answer.
_SEEN: Mapping[type[Event], Outcome] = {
    Result: Outcome.ANSWER,
    Text: Outcome.ANSWER,
    Elicitation: Outcome.ELICITATION,
    Promise: Outcome.PROMISE,
    Failure: Outcome.FAILURE,
}
_INTERMEDIATE = (Outcome.ELICITATION, Outcome.PROMISE)


def announced_by(meta: Mapping[str, Any]) -> Outcome:
    """Return the `response_type` of a meta block, in any capitalisation; NONE without one."""
    name = meta.get("response_type")
    return _BY_NAME.get(name.strip().lower(), Outcome.NONE) if type(name) is str else Outcome.NONE


class OutcomeReader:
    """Reads the outcome and the session context of one response from its events."""

    def __init__(self) -> None:
        self.announced = Outcome.NONE
        self.session_context: Mapping[str, Any] | None = None
        self._seen = Outcome.NONE
        self._settled = False

    @property
    def outcome(self) -> Outcome:
        if self._seen is not Outcome.NONE:
            return self._seen
        return self.announced if self._settled else Outcome.NONE

    def meta(self, meta: Mapping[str, Any]) -> None:
        """Add a meta block: the announced outcome and the session context."""
        if (announced := announced_by(meta)) is not Outcome.NONE:
            self.announced = announced
        context = meta.get("session_context")
        if isinstance(context, dict):
            self.session_context = context

    def event(self, event: Event) -> None:
        kind = type(event)
        if kind is Completed:
            self._complete(event)  # type: ignore[arg-type]
            return
        # A text beside a question or a promise does not change the outcome.
        if kind in _SEEN and not (kind is Text and self._seen in _INTERMEDIATE):
            self._seen = _SEEN[kind]

    def settle(self, default: Outcome = Outcome.NONE) -> None:
        """Note that the response is complete: the announced outcome counts, or else `default`."""
        self._settled = True
        if self.announced is Outcome.NONE:
            self.announced = default

    def document(self) -> None:
        """Note that a whole response was read: an announced failure is the outcome.

        An announced answer does not: an error without results is a failure.
        """
        self._settled = True
        if self.announced is Outcome.FAILURE:
            self._seen = Outcome.FAILURE

    def _complete(self, event: Completed) -> None:
        """Add the end of the response, whose outcome takes precedence over an earlier failure."""
        self._settled = True
        final = announced_by(event.meta)
        if final is Outcome.FAILURE or (final is Outcome.ANSWER and self._seen is Outcome.FAILURE):
            self._seen = final


# --- reader -----------------------------------------------------------------------------------

#: Members of a stream message that are not metadata even if the metadata is the payload itself.
_NOT_META = frozenset({*content.PARTS, "index", "item", "_meta", "meta"})
#: Names of the metadata of a message.
_META = frozenset({"_meta", "meta"})


class NLWebReader:
    """Reads one response. See `playground.protocols.exchange.Reader`."""

    def __init__(self, version: str) -> None:
        """Raises `ValueError` for an unknown version."""
        self._label = versions.get_version(version).label
        self._outcome = OutcomeReader()
        self._started = False
        self._summary = ""
        # The standard's events (0.55 section 6.1; `content` and `end`: 0.54 HTTP examples,
        # section 5), then names that agents use although no version defines them.
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
        return self._outcome.outcome

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        return self._outcome.session_context

    def end(self) -> None:
        """Note that the response ended as its framing says, so that its announcements count."""
        self._outcome.settle()

    def document(self, seq: int, payload: Any) -> list[Event]:
        """Return the events of a whole response (section 4); one `Unknown` if it is not NLWeb.

        A list with messages of the legacy server is read as their stream.
        """
        if isinstance(payload, list) and any(map(legacy.is_message, payload)):
            return self._messages(seq, payload)
        if legacy.is_message(payload):
            return self._messages(seq, [payload])
        found: list[Event] = []
        if (items := content.schema_items(payload)) is not None:
            remark = f"This is {content.schema_form(payload)}, not an NLWeb response."
            found = [Note(seq, "form", {"remark": remark})]
            payload = {"results": items}
        if not isinstance(payload, dict):
            return [Unknown(seq, "document", payload, "The response is not a JSON object.")]
        meta = self._read_meta(payload)
        is_legacy = not meta and legacy.has_messages(payload)
        if not meta and not is_legacy and content.KNOWN.isdisjoint(payload):
            reason = "The object has no members of an NLWeb response."
            return [Unknown(seq, "document", payload, reason)]
        parts = content.read_parts(seq, payload, content.DOCUMENT_PARTS)
        if items is not None:
            parts = content.without_pointers(parts)
        if is_legacy:
            found += [*parts, *legacy.read_members(seq, payload)]
        elif not parts and self._outcome.announced is Outcome.FAILURE:
            found += content.failure(seq, payload)
        else:
            found += [*content.other_members(seq, payload), *parts]
        self._with_outcome(found)
        self._settle_if_empty(payload)
        self._outcome.document()
        head: list[Event] = [Started(seq, meta)] if meta else []
        stray = content.stray_meta(seq, payload)
        return [*head, *self._summaries(seq, meta), *found, *stray, Completed(seq, meta)]

    def _messages(self, seq: int, payloads: list[Any]) -> list[Event]:
        """Return the events of a whole response that is a list of stream messages."""
        found = content.without_pointers(
            event for each in payloads for event in self.payload(seq, None, each)
        )
        self.end()
        is_complete = any(type(event) is Completed for event in found)
        return found if is_complete else [*found, Completed(seq)]

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        """Return the events of one stream message (section 6.1), whatever its name and data."""
        if not data or data.isspace():
            return self._without_data(seq, name)
        payload, reason = json_decoder.read_event(data)
        if reason:
            failure = error_documents.of_event(seq, name, data)
            return self._with_outcome([failure or Unknown(seq, name or "message", data, reason)])
        return self.payload(seq, name, payload)

    def payload(self, seq: int, name: str | None, payload: Any) -> list[Event]:
        """Return the events of one stream message whose data are already decoded."""
        read = self._events.get(name)
        events = read(seq, payload) if read else self._foreign(seq, name, payload)
        if not isinstance(payload, dict) or _META.isdisjoint(payload):
            return events
        # A payload that is one `Unknown` includes its metadata.
        if any(type(event) is Unknown and event.data is payload for event in events):
            return events
        return [
            *self._late_meta(seq, payload, events),
            *events,
            *content.stray_meta(seq, payload),
        ]

    def _late_meta(self, seq: int, payload: Payload, events: list[Event]) -> list[Event]:
        """Return a note about metadata beside content, which are no event themselves.

        In 0.54 (section 8.4) any one of the messages has the metadata.
        """
        meta = payload.get("_meta", payload.get("meta"))
        if not isinstance(meta, dict) or not meta_facts(meta):
            return []
        if any(isinstance(event, Started | Completed | Note) for event in events):
            return []
        return [Note(seq, "_meta", {"_meta": meta})]

    # Messages by name

    def _result(self, seq: int, payload: Any) -> list[Event]:
        if isinstance(payload, list):
            return self._with_outcome(content.results(seq, payload))
        if not isinstance(payload, dict):
            return self._with_outcome([Result(seq, payload, pointer="")])
        if "_meta" in payload:
            self._read_meta(payload)
        pointer = ""
        if "item" in payload:
            item, pointer = payload["item"], "/item"
        elif "message_type" in payload or not content.PARTS.keys().isdisjoint(payload):
            return self._mixed(seq, payload)
        else:
            # Not wrapped in {index, item}: the payload is the item.
            item = {name: value for name, value in payload.items() if name != "_meta"}
        index = content.index_of(payload.get("index"))
        found: list[Event] = [Result(seq, item, index, pointer=pointer)]
        if "item" in payload and len(payload) > 2:
            found += content.read_members(seq, payload)
        return self._with_outcome(found)

    def _start(self, seq: int, payload: Any) -> list[Event]:
        if not isinstance(payload, dict):
            return _not_an_object(seq, "start", payload)
        meta = self._read_meta(payload, bare=True)
        self._started = True
        return [
            Started(seq, meta),
            *self._summaries(seq, meta),
            *self._with_outcome(_members(seq, payload)),
        ]

    def _content(self, seq: int, payload: Any) -> list[Event]:
        if isinstance(payload, dict):
            self._read_meta(payload)
            if "text" not in payload and (found := content.read_parts(seq, payload)):
                return self._with_outcome(found)
        return self._with_outcome(content.texts(seq, payload))

    def _error(self, seq: int, payload: Any) -> list[Event]:
        if isinstance(payload, dict):
            self._read_meta(payload)
            if payload.get("error"):
                return self._with_outcome(content.read_parts(seq, payload))
        return self._with_outcome(content.failure(seq, payload))

    def _complete(self, seq: int, payload: Any) -> list[Event]:
        if not isinstance(payload, dict):
            return _not_an_object(seq, "complete", payload)
        meta = self._read_meta(payload, bare=True)
        found = _members(seq, payload)
        if meta.get("error") and self.outcome is not Outcome.FAILURE and "error" not in payload:
            # The reference server of 0.55 ends a response that failed with `"error": true`.
            found.append(error_documents.failure(seq, meta["error"]))
        summaries = self._summaries(seq, meta)
        return [*summaries, *self._with_outcome([*found, Completed(seq, meta)])]

    def _end(self, seq: int, payload: Any) -> list[Event]:
        if not isinstance(payload, dict):
            return [Note(seq, "end", payload)]
        self._read_meta(payload)
        # A text at the end does not change the outcome.
        return [*content.read_members(seq, payload), Note(seq, "end", payload)]

    def _bare(self, member: str) -> Callable[[int, Any], list[Event]]:
        """Return a reader of messages named for a member of a response, with or without it."""

        def read(seq: int, payload: Any) -> list[Event]:
            if isinstance(payload, dict) and (member in payload or "_meta" in payload):
                return self._mixed(seq, payload)
            return self._with_outcome(content.PARTS[member](seq, payload, ""))

        return read

    def _mixed(self, seq: int, payload: Any) -> list[Event]:
        """Read a message by its members, in any combination (the public ask agent)."""
        if not isinstance(payload, dict):
            return _not_an_object(seq, "message", payload)
        if legacy.is_message(payload):
            return self._with_outcome(legacy.read_message(seq, payload))
        meta = self._read_meta(payload)
        found: list[Event] = []
        if "item" in payload:
            index = content.index_of(payload.get("index"))
            found += [Result(seq, payload["item"], index, pointer="/item")]
        is_known = bool(meta or found) or not content.KNOWN.isdisjoint(payload)
        parts = content.read_parts(seq, payload)
        self._settle_if_empty(payload)
        # A failure that is announced may have its text in any member.
        is_announced = announced_by(meta) is Outcome.FAILURE
        if not (found or parts) and error_documents.is_error(payload, 400 if is_announced else 0):
            found = content.failure(seq, payload)
        elif is_known:
            found += [*content.other_members(seq, payload), *parts]
        found = [*self._summaries(seq, meta), *self._with_outcome(found)]
        if meta and not self._started:
            self._started = True
            return [Started(seq, meta), *found]
        if found:
            return found
        if is_known:
            return [Note(seq, "_meta" if meta else "empty", payload)]
        reason = "The message has no members of an NLWeb response."
        return [Unknown(seq, "message", payload, reason)]

    def _foreign(self, seq: int, name: str | None, payload: Any) -> list[Event]:
        if isinstance(payload, dict):
            self._read_meta(payload)
        reason = f"{self._label} does not define an event with this name."
        return [Unknown(seq, name or "message", payload, reason)]

    def _without_data(self, seq: int, name: str | None) -> list[Event]:
        if name == "start":
            return self._start(seq, {})
        if name == "complete":
            return self._complete(seq, {})
        if name == "end":
            return [Note(seq, "end")]
        return [Unknown(seq, name or "message", "", "The message has no data.")]

    # Common to all messages

    def _read_meta(self, payload: Payload, *, bare: bool = False) -> Mapping[str, Any]:
        """Return the metadata of a payload and add it to the outcome; empty if there is none.

        `_meta` (0.55) or `meta` (0.54 allows either); an example of 0.54 (section 4.1.2)
        has `response_type` at the top level, and `bare` means that the payload is metadata.
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
        self._outcome.meta(meta)
        return meta

    def _summaries(self, seq: int, meta: Mapping[str, Any]) -> list[Event]:
        """Return the summary in a meta block (0.54 HTTP examples, section 2), once."""
        summary = meta.get("summary")
        if not isinstance(summary, str) or summary in ("", self._summary):
            return []
        self._summary = summary
        return [Text(seq, summary, kind="summary", raw=summary)]

    def _with_outcome(self, events: list[Event]) -> list[Event]:
        for event in events:
            self._outcome.event(event)
        return events

    def _settle_if_empty(self, payload: Payload) -> None:
        """Note that an empty list of results is an answer, too."""
        if payload.get("results") == [] or payload.get("structuredData") == []:
            self._outcome.settle(Outcome.ANSWER)


def _members(seq: int, payload: Payload) -> list[Event]:
    """Return the events of the members beside `_meta`; without it, the payload is metadata."""
    return (content.read_members if "_meta" in payload else content.read_parts)(seq, payload)


def _not_an_object(seq: int, name: str, payload: Any) -> list[Event]:
    return [Unknown(seq, name, payload, "The data is JSON, but not an object.")]


# --- the response as one document -------------------------------------------------------------

#: Members of a text with its type and value, and those of the message that holds it.
_NO_EXTRAS = frozenset(
    {"type", "Type", "text", "Text", "delta", "_meta", "content", "message_type", "query_id"}
)


class AnswerAssembler:
    """Puts the events of one response together into one document, whole or streamed.

    The shape is that of a whole response of the specification (0.55 section 4). A stream with the
    same content, a response over MCP and a legacy response become the same document:

    `_meta`        all metadata, later members replace earlier ones; `{}` if there was none
    `results`      the items, in the order of their `index`, those without one last in stream
                   order, including members that a format adds (`structuredData`); present, maybe
                   empty, if there is a result or the outcome is an answer
    `content`      texts beside the results: `[{"type": "text", "text": "…"}]`, pieces joined
    `elicitation`  the agent's questions, verbatim
    `promise`      the promise, verbatim
    others         members that no version defines, if they are objects or arrays
    `error`        the failure: `code`, `message`, `details`; the last one if there were several

    Empty members are omitted. A response that is not NLWeb is the JSON or the text that it is.
    """

    def __init__(self) -> None:
        self._meta: dict[str, Any] = {}
        self._results: list[Result] = []
        self._content: list[_PartialText] = []
        #: `elicitation`, `promise` and `error`, where there are any.
        self._parts: dict[str, Any] = {}
        self._unknown: list[Any] = []

    def add(self, events: Iterable[Event]) -> None:
        for event in events:
            self._add(event)

    def _add(self, event: Event) -> None:
        match event:
            case Result():
                self._results.append(event)
            case Text():
                self._text(event)
            case Started() | Completed():
                self._meta.update(event.meta)
            case Note(name="_meta", data={"_meta": dict() as meta}):
                self._meta.update(meta)
            case Elicitation(text=text, raw=raw):
                self._parts["elicitation"] = _object(raw, {"text": text, "questions": raw})
            case Promise(token=token, raw=raw):
                self._parts["promise"] = _object(raw, {"token": token})
            case Failure():
                self._parts["error"] = _error(event)
            case Unknown(name=name, data=data, reason=""):
                self._parts[name] = data  # A member that no version defines.
            case Unknown(data=data):
                self._unknown.append(data)

    def document(self, outcome: str, session_context: Mapping[str, Any] | None = None) -> Any:
        """Return the document of the events that were added, None if there were none.

        `session_context` is what the agent returned in any member.
        """
        meta = dict(self._meta)
        if session_context is not None:
            meta["session_context"] = session_context
        found: dict[str, Any] = {"_meta": meta}
        if self._results or outcome == "answer":
            ordered = sorted(self._results, key=lambda each: (each.index is None, each.index or 0))
            found["results"] = [each.item for each in ordered]
        if self._content:
            found["content"] = [text.to_json() for text in self._content]
        found |= self._parts
        if found == {"_meta": {}}:
            return self._unknown[0] if self._unknown else None
        return found

    def _text(self, event: Text) -> None:
        if isinstance(event.raw, str) and event.kind == "summary":
            return  # It is in the metadata (0.54 HTTP examples, section 2).
        last = self._content[-1] if self._content else None
        if event.delta and last is not None and last.kind == event.kind:
            last.pieces.append(event.text)
        else:
            self._content.append(_PartialText(event))


class _PartialText:
    """One text that is received in pieces."""

    def __init__(self, event: Text) -> None:
        self.kind = event.kind
        self.pieces = [event.text]
        raw = event.raw if isinstance(event.raw, Mapping) else {}
        left_out = {*_NO_EXTRAS, event.kind}
        self._extras = {name: value for name, value in raw.items() if name not in left_out}

    def to_json(self) -> dict[str, Any]:
        """Return the text as a part of `content`."""
        return {"type": self.kind, "text": "".join(self.pieces), **self._extras}


def _object(raw: Any, fallback: dict[str, Any]) -> Any:
    """Return what the agent sent if that is an object, otherwise what was read in it."""
    if not isinstance(raw, Mapping):
        return {name: value for name, value in fallback.items() if value}
    return {name: value for name, value in raw.items() if name != "_meta"}


def _error(event: Failure) -> Any:
    read = {"code": event.code, "message": event.message}
    kept = _object(event.raw, read)
    # An error may have other member names than those of the specification.
    return {**{name: value for name, value in read.items() if value}, **kept}
