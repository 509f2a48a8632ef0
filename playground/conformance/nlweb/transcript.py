"""Transcript of NLWeb: a request and its response, and the places that rules look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, NamedTuple

from playground.conformance.rule import Level
from playground.conformance.rule_input import (
    MAX_NODES,
    MAX_PARTS,
    NOTHING_EARLIER,
    EarlierResponses,
    Location,
    RuleInput,
    resolve_prefix,
)
from playground.conformance.shape import (
    MISSING,
    Place,
    RuleFactory,
    Selector,
    is_nonempty_text,
    objects,
    present,
    those,
)
from playground.protocols import sse
from playground.protocols.events import Event, Outcome, Result, Unknown
from playground.protocols.json_pointer import pointer_of
from playground.protocols.nlweb import versions
from playground.protocols.nlweb.content import PARTS
from playground.protocols.nlweb.reader import NLWebReader
from playground.protocols.nlweb.versions import RESPONSE_FORMATS
from playground.protocols.response import Message, Response, request_headers


class ActionFinder:
    """Finds actions in items, one item after another, up to a limit over all of them."""

    def __init__(self) -> None:
        self._remaining = MAX_NODES
        #: Whether there was more than the limit.
        self.overflowed = False

    def actions_of(self, item: Location) -> Iterator[Location]:
        """Yield the `actions` members of an item, at any depth except within actions."""
        # A path is a pair of the parent's path and a step: most of them are never written out.
        pending: list[tuple[_Path, Any]] = [((None, item.pointer), item.value)]
        while pending and self._remaining > 0:
            path, value = pending.pop()
            self._remaining -= 1
            if type(value) is list:
                pending += [
                    ((path, at), inner)
                    for at, inner in enumerate(value)
                    if type(inner) is dict or type(inner) is list
                ]
            elif type(value) is dict:
                if "actions" in value:
                    yield Location(item.seq, f"{_full_pointer(path)}/actions", value["actions"])
                pending += [
                    ((path, name), inner)
                    for name, inner in value.items()
                    if (type(inner) is dict or type(inner) is list) and name != "actions"
                ]
        self.overflowed = bool(pending)


#: The parent's path and a step; at the root, None and the pointer to the root.
_Path = tuple[Any, int | str]


def _full_pointer(path: _Path) -> str:
    steps: list[int | str] = []
    above, step = path
    while above is not None:
        steps.append(step)
        above, step = above
    return str(step) + pointer_of(reversed(steps))


def listed_actions(lists: Iterable[Location]) -> Iterator[Location]:
    """Yield the actions in `actions` members; an object instead of an array is one action."""
    for seq, pointer, value in lists:
        if type(value) is list:
            for at, action in enumerate(value):
                yield Location(seq, f"{pointer}/{at}", action)
        elif type(value) is dict:
            yield Location(seq, pointer, value)


#: Names of events that are a part of a response by themselves, with or without a member for it.
_BARE_PARTS = {
    "error": "error",
    "failure": "error",
    "elicitation": "elicitation",
    "promise": "promise",
}
#: Names of events whose members can be parts of a response.
_WITH_PARTS = {None, "message", "results", "answer", "start", "result", "complete", *_BARE_PARTS}
#: Members that hold results.
RESULTS = ("results", "structuredData", "structured_data")
_KINDS = frozenset(outcome.value for outcome in Outcome if outcome is not Outcome.NONE)


class ResponseLocation(NamedTuple):
    """The location of a response in the JSON of a frame: JSON pointers, "" for all of it.

    A pointer to a string that is JSON itself ends with `#`.
    """

    response: str = ""
    #: The parent of its `_meta`, if that is outside of the response.
    meta: str = ""
    #: Each of its results, if they have no member `results`.
    items: tuple[str, ...] = ()


_TOP = ResponseLocation()


@dataclass(frozen=True, slots=True)
class Transcript:
    """One request and its response. Sequences without elements are empty."""

    version: str
    operation: str
    request: Mapping[str, Any]
    #: HTTP status, 0 without a response head; header names in lower case.
    status: int
    headers: Mapping[str, str]
    head_seq: int | None
    streamed: bool
    is_json_lines: bool
    #: Whether the response ended as its framing requires.
    ended: bool
    #: Whether it did, without an undecided message, in a run that was not stopped.
    is_complete: bool
    #: The messages, except undecided ones.
    messages: tuple[Message, ...]
    by_frame: Mapping[int | None, Message]
    metas: tuple[Location, ...]
    items: tuple[Location, ...]
    #: The `actions` members of all items, at any depth, and the actions in them.
    action_lists: tuple[Location, ...]
    actions: tuple[Location, ...]
    #: Content members of all messages by name: `results`, `content`, `error`, ...
    parts: Mapping[str, tuple[Location, ...]]
    #: Whether there is more than the rules check.
    overflowed: bool
    outcome: Outcome
    session_context: Mapping[str, Any] | None
    #: The HTTP response that it was received in.
    response: Response
    #: The facts in earlier responses of the same conversation.
    earlier: EarlierResponses = NOTHING_EARLIER
    #: The headers of the request over HTTP; names in lower case.
    request_headers: Mapping[str, str] = field(default_factory=dict)
    #: The location of the response in frames that hold more; see `read_inner`.
    response_locations: Mapping[int | None, ResponseLocation] = field(default_factory=dict)

    @property
    def traits(self) -> Mapping[str, Any]:
        return versions.get_version(self.version).traits

    @property
    def document(self) -> Message | None:
        """Return the single response document; None for a stream or without a response."""
        return next((message for message in self.messages if message.document), None)

    @property
    def last_seq(self) -> int | None:
        """Return the last frame with a message, the location of what is missing at the end."""
        return self.messages[-1].seq if self.messages else self.head_seq

    @property
    def has_response(self) -> bool:
        """Return whether there is an NLWeb response: not for an HTTP error alone."""
        objects = any(isinstance(message.payload, dict) for message in self.messages)
        return objects and (self.status < 300 or self.outcome is not Outcome.NONE)

    def resolve_pointer(self, seq: int | None, pointer: str) -> str:
        """Return `pointer` as far as it leads through frame `seq`, plus one missing step.

        From the root of the frame's JSON; for a response in a string, the pointer to the string, a
        `#`, and the pointer into its JSON.
        """
        message = self.by_frame.get(seq)
        if message is None:
            return ""
        inner = resolve_prefix(message.payload, pointer) if pointer else ""
        response_location = self.response_locations.get(seq, _TOP)
        if inner == "/_meta" or inner.startswith("/_meta/"):
            return response_location.meta + inner
        _, member, rest = inner.partition("/results/")
        if member and response_location.items:
            index, slash, rest = rest.partition("/")
            return response_location.items[int(index)] + slash + rest
        return (
            response_location.response + inner
            if inner
            else response_location.response.removesuffix("#")
        )

    def prefer(self, name: str) -> Any:
        """Return a preference of the request (section 3.3), None without one."""
        prefer = self.request.get("prefer")
        return prefer.get(name) if isinstance(prefer, Mapping) else None

    @property
    def has_own_format(self) -> bool:
        """Return whether this has a format of the agent's own, asked for and named (3.3.1).

        Its content has any structure (4.1.1).
        """
        asked = self.prefer("response_format")
        formats = {each.strip() for each in asked.split(",")} if isinstance(asked, str) else set()
        metas = (each.value for each in self.metas if isinstance(each.value, dict))
        own = formats.difference(RESPONSE_FORMATS)
        return any(str(meta.get("response_format")) in own for meta in metas)

    @property
    def announced(self) -> str:
        """Return the last response type in the metadata, in lower case; "" if none of the four."""
        for location in reversed(self.metas):
            if kind := type_of(location.value):
                return kind
        return ""

    @property
    def kind(self) -> str:
        """Return the response type in the metadata, or else the outcome of the content, or ""."""
        seen = self.outcome.value
        return self.announced or (seen if seen in _KINDS else "")

    def is_kind(self, kind: str, part: str) -> bool:
        """Return whether the response has this type, or the part that makes it one."""
        return self.has_response and (self.kind == kind or part in self.parts)


def type_of(meta: Any) -> str:
    """Return the response type in a metadata block in lower case, "" if none of the four."""
    name = meta.get("response_type") if isinstance(meta, dict) else None
    lowered = name.strip().lower() if isinstance(name, str) else ""
    return lowered if lowered in _KINDS else ""


def read(rule_input: RuleInput) -> Transcript:
    """Return the transcript of the last response. Raise `ValueError` for an unknown version."""
    response = rule_input.response
    reader = NLWebReader(rule_input.version)
    items = _read_messages(reader, response)
    decided = tuple(message for message in response.messages if not message.undecided)
    return _transcript(
        response,
        reader,
        decided,
        items,
        rule_input,
        is_complete=response.ended
        and len(decided) == len(response.messages)
        and not rule_input.was_stopped,
        request_headers=request_headers(rule_input.frames),
        streamed=response.streamed,
    )


def _read_messages(reader: NLWebReader, response: Response) -> list[Location]:
    """Let the reader of the playground read a response; return the items of decided messages."""
    items: list[Location] = []
    is_understood, is_whole = False, response.ended
    for message in response.messages:
        events: Sequence[Event] = ()
        if message.readable:
            events = _read_payload(reader, message)
        elif message.undecided:
            is_whole = is_whole and message.text.strip() == sse.DONE
        elif not message.document:
            events = reader.message(message.seq, message.name, message.text)
        is_understood = is_understood or any(type(event) is not Unknown for event in events)
        if not message.undecided:
            items += _items(message, events)
    if is_whole and is_understood:
        reader.end()
    return items


def _read_payload(reader: NLWebReader, message: Message) -> Sequence[Event]:
    if message.document:
        return reader.document(message.seq, message.payload)
    return reader.payload(message.seq, message.name, message.payload)


def _items(message: Message, events: Iterable[Event]) -> Iterator[Location]:
    """Yield the results in events, except one that stands in place of a list of them.

    A list as the data of a `result` event is itself the result: an event has one (section 6.1).
    """
    if message.name == "result" and isinstance(message.payload, list):
        yield Location(message.seq, "", message.payload)
        return
    for event in events:
        if type(event) is Result and event.pointer is not None and event.pointer[1:] not in PARTS:
            yield Location(event.seq, event.pointer, event.item)


def read_inner(
    response: Response,
    pieces: Sequence[tuple[Message, ResponseLocation]],
    rule_input: RuleInput,
    *,
    is_complete: bool = True,
) -> Transcript:
    """Return the transcript of a response within the messages of another binding.

    One piece is a single response document; several are parts of one. Raise `ValueError` for an
    unknown version only.
    """
    reader = NLWebReader(rule_input.version)
    is_document = len(pieces) == 1
    messages = tuple(each._replace(name=None, document=is_document) for each, _ in pieces)
    items = [item for each in messages for item in _items(each, _read_payload(reader, each))]
    reader.end()
    return _transcript(
        response,
        reader,
        messages,
        items,
        rule_input,
        is_complete=is_complete,
        streamed=False,
        response_locations={
            message.seq: response_location for message, response_location in pieces
        },
    )


def _transcript(
    response: Response,
    reader: NLWebReader,
    messages: tuple[Message, ...],
    found: Sequence[Location],
    rule_input: RuleInput,
    **facts: Any,
) -> Transcript:
    items = tuple(found[:MAX_PARTS])
    finder = ActionFinder()
    lists = tuple(islice(chain.from_iterable(map(finder.actions_of, items)), MAX_PARTS))
    actions = tuple(islice(listed_actions(lists), MAX_PARTS))
    made = Transcript(
        version=rule_input.version,
        operation=rule_input.operation,
        request=rule_input.members,
        earlier=rule_input.earlier,
        status=response.status,
        headers=response.headers,
        head_seq=response.head_seq,
        is_json_lines=response.is_json_lines,
        ended=response.ended,
        messages=messages,
        by_frame={message.seq: message for message in messages},
        metas=tuple(location for message in messages if (location := _meta_of(message))),
        items=items,
        action_lists=lists,
        actions=actions,
        overflowed=finder.overflowed or MAX_PARTS in map(len, (items, lists, actions)),
        parts=_parts(messages),
        outcome=reader.outcome,
        session_context=reader.session_context,
        response=response,
        **facts,
    )
    if not made.has_own_format:
        return made
    other = {name: at for name, at in made.parts.items() if name not in (*RESULTS, "content")}
    return replace(made, items=(), action_lists=(), actions=(), parts=other)


def _meta_of(message: Message) -> Location | None:
    """Return the metadata block, of any type: `_meta`, or else `meta`."""
    for name in ("_meta", "meta"):
        if name in message.members:
            return Location(message.seq, f"/{name}", message.members[name])
    return None


def _parts_of(message: Message) -> Iterator[tuple[str, Location]]:
    """Yield the content members of a message by name; null members are ignored."""
    members = message.members
    if message.name not in _WITH_PARTS or isinstance(members.get("message_type"), str):
        return
    for name in PARTS:
        if members.get(name) is not None:
            yield name, Location(message.seq, f"/{name}", members[name])
    bare_part = _BARE_PARTS.get(message.name or "")
    if bare_part and message.readable and bare_part not in members and "_meta" not in members:
        yield bare_part, Location(message.seq, "", message.payload)


def _parts(messages: tuple[Message, ...]) -> Mapping[str, tuple[Location, ...]]:
    found: dict[str, list[Location]] = {}
    for message in messages:
        for name, location in _parts_of(message):
            found.setdefault(name, []).append(location)
    return {name: tuple(locations) for name, locations in found.items()}


#: The latest first.
VERSIONS = ("0.55", "0.54")

#: For rules on any response over HTTP, and for those on the content of an NLWeb response.
any_response = RuleFactory[Transcript]("", VERSIONS)
content = RuleFactory[Transcript]("", VERSIONS, lambda t: t.has_response)


def items(t: Transcript) -> Iterable[Place]:
    return t.items


def part(name: str) -> Selector[Transcript]:
    """Select the content members of a name in all messages: `promise`, `error`, …"""
    return lambda t: t.parts.get(name, ())


def absent(name: str, kind: str) -> Selector[Transcript]:
    """Select the place at the end where a response of a type lacks its content member."""

    def select(t: Transcript) -> Iterator[Place]:
        if t.kind == kind and name not in t.parts:
            yield t.last_seq, f"/{name}", MISSING

    return select


def milder_in_054(t: Transcript, _: Place | None = None) -> Level | None:
    """Return the level of a wrong type: 0.54 shows most types in examples only."""
    return Level.SHOULD if t.version == "0.54" else None


def _metas(t: Transcript) -> Iterable[Place]:
    return t.metas


# Those that are objects: metadata blocks, and the parts of a response
blocks = objects(_metas)
promises, errors = objects(part("promise")), objects(part("error"))
#: The codes of failures that are a text.
codes = those(present(errors, "code"), is_nonempty_text)
