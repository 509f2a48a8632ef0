"""Rules of Chat Completions, and the transcript that they read.

Sections are the headings of the API's reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from playground.conformance.rule import Rule, RuleIssue, Violation, missing, mistyped, must, should
from playground.conformance.rule_input import MAX_PARTS, RuleInput, resolve_prefix
from playground.conformance.shape import (
    Place,
    RuleFactory,
    integer,
    is_array,
    is_object,
    is_string,
    members,
    one_of,
    present,
    those,
)
from playground.protocols import lenient, raw, sse
from playground.protocols.chat_completions.reader import is_message
from playground.protocols.chat_completions.requests import wants_stream
from playground.protocols.response import Message, Response


@dataclass(frozen=True, slots=True)
class ChatTranscript:
    """One request and its response: a stream of chunks, or a single completion."""

    version: str
    request: Mapping[str, Any]
    response: Response
    #: Whether it ended as its framing requires, complete, in a run that was not stopped.
    is_complete: bool
    overflowed: bool
    #: The messages, except undecided ones and the last one of a stream, `[DONE]`.
    messages: tuple[Message, ...]
    #: The frames of `[DONE]`.
    done: tuple[int, ...]

    by_frame: Mapping[int | None, Message]
    #: The messages that are a completion or a chunk.
    completions: tuple[Message, ...]
    #: Each choice, with its index or, without one, its position.
    choices: tuple[tuple[Place, str], ...]

    def resolve_pointer(self, seq: int | None, pointer: str) -> str:
        """Return `pointer` as far as it leads through frame `seq`, plus one missing step."""
        message = self.by_frame.get(seq)
        return resolve_prefix(message.payload, pointer) if message and pointer else ""


def read(rule_input: RuleInput) -> ChatTranscript:
    """Return the transcript of the last response. Never raise, whatever a server sent."""
    response = rule_input.response
    received = response.messages
    ends = [each.seq for each in received if response.streamed and each.text.strip() == sse.DONE]
    others = (each for each in received if not response.streamed or each.text.strip() != sse.DONE)
    messages = tuple(each for each in islice(others, MAX_PARTS) if not each.undecided)
    completions = tuple(
        each for each in messages if is_message(each.name, each.payload, response.streamed)
    )
    return ChatTranscript(
        version=rule_input.version,
        request=rule_input.members,
        response=response,
        is_complete=response.ended
        and len(messages) + len(ends) == len(received)
        and not rule_input.was_stopped,
        overflowed=len(received) > MAX_PARTS,
        messages=messages,
        done=tuple(ends),
        by_frame={each.seq: each for each in messages},
        completions=completions,
        choices=tuple(_read_choices(completions)),
    )


def _read_choices(completions: Iterable[Message]) -> Iterator[tuple[Place, str]]:
    for message in completions:
        for at, choice in enumerate(lenient.items(message.members.get("choices"))):
            index = lenient.members(choice).get("index", at)
            yield (message.seq, f"/choices/{at}", choice), str(index)


#: The only version.
VERSION = "1"
_CREATE, _OBJECT, _STREAMING, _ERRORS = (
    "Create chat completion",
    "The chat completion object",
    "Streaming",
    "Errors",
)

_rules = RuleFactory[ChatTranscript]("chat-completions.", (VERSION,))
rule, row = _rules.rule, _rules.row


# Places


def _completions(t: ChatTranscript) -> Iterable[Place]:
    return ((each.seq, "", each.payload) for each in t.completions)


def _documents(t: ChatTranscript) -> Iterable[Place]:
    return () if t.response.streamed else _completions(t)


def _chunks(t: ChatTranscript) -> Iterable[Place]:
    return _completions(t) if t.response.streamed else ()


def _choices(t: ChatTranscript) -> Iterable[Place]:
    return (place for place, _ in t.choices)


def _errors(t: ChatTranscript) -> Iterable[Place]:
    return (
        (each.seq, "/error", each.members["error"])
        for each in t.messages
        if each.members.get("error") is not None
    )


_messages = members(_choices, "message")
_deltas = members(_choices, "delta")


def _said(t: ChatTranscript) -> Iterable[Place]:
    """Select the message of each choice of a completion, the delta of each one of a chunk."""
    return _deltas(t) if t.response.streamed else _messages(t)


def _roles(t: ChatTranscript) -> Iterable[Place]:
    """Select the role of each message; of deltas those that have one."""
    return present(_deltas, "role")(t) if t.response.streamed else members(_messages, "role")(t)


def _pieces(t: ChatTranscript) -> list[list[Place]]:
    """Return the pieces of each call: in a completion the call itself."""
    found: dict[tuple[str, str], list[Place]] = {}
    name = "delta" if t.response.streamed else "message"
    for (seq, pointer, choice), index in t.choices:
        said = lenient.members(lenient.members(choice).get(name))
        for at, call in enumerate(lenient.items(said.get("tool_calls"))):
            key = index, str(lenient.members(call).get("index", at))
            found.setdefault(key, []).append((seq, f"{pointer}/{name}/tool_calls/{at}", call))
    return [*found.values()]


def _calls(t: ChatTranscript) -> Iterable[Place]:
    return (place for places in _pieces(t) for place in places)


def _first_pieces(t: ChatTranscript) -> Iterable[Place]:
    return (places[0] for places in _pieces(t))


_usages = those(present(_completions, "usage"), lambda value: value is not None)


def _is_text_or_null(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_reason(value: Any) -> bool:
    reasons = ("stop", "length", "tool_calls", "content_filter", "function_call")
    return value is None or value in reasons


def _is_assistant(value: Any) -> bool:
    return bool(value == "assistant")


def _is_success(t: ChatTranscript) -> bool:
    return t.response.head_seq is not None and t.response.status < 300


def reply(t: ChatTranscript) -> Iterator[RuleIssue]:
    if not t.messages:
        yield missing(t, "The body is empty. Send a completion.", t.response.head_seq)
    elif not t.completions and not [*_errors(t)]:
        first = t.messages[0]
        actual = first.reason or "The body contains no completion."
        yield missing(t, f"{actual} Send an object with choices.", first.seq)


def content_type(t: ChatTranscript) -> Iterator[RuleIssue]:
    return mistyped(t.response, t.response.streamed)


def stream_honoured(t: ChatTranscript) -> Iterator[RuleIssue]:
    if t.response.streamed != wants_stream(t.request):
        wanted = "a stream" if wants_stream(t.request) else "one document"
        yield Violation(f"The request asks for {wanted}. Send that.", t.response.head_seq)


def data_json(t: ChatTranscript) -> Iterator[RuleIssue]:
    for each in t.messages:
        if not isinstance(each.payload, dict):
            yield Violation(
                f"{each.reason or 'The data is not an object.'} Send a chunk.", each.seq
            )
        elif t.done and each.seq > t.done[0]:
            yield Violation("This event is after [DONE]. Send [DONE] last.", each.seq)


def _is_streamed_well(t: ChatTranscript) -> bool:
    return t.response.streamed and bool(t.completions) and not [*_errors(t)]


def done(t: ChatTranscript) -> Iterator[RuleIssue]:
    if not t.done:
        text = "The stream ends without [DONE]. Send the line data: [DONE] at the end."
        yield missing(t, text, t.messages[-1].seq)


def id_same(t: ChatTranscript) -> Iterator[RuleIssue]:
    first, *others = t.completions
    for each in others:
        if each.members.get("id") != first.members.get("id"):
            text = "The id differs from that of the first chunk. Send the same one."
            yield Violation(text, each.seq, "/id")


def finished(t: ChatTranscript) -> Iterator[RuleIssue]:
    last = {index: place for place, index in t.choices}
    ended = {index for place, index in t.choices if _reason_of(place) is not None}
    for index, (seq, pointer, _) in last.items():
        if index not in ended:
            text = "The choice has no finish_reason at its end. Set it, for example to stop."
            yield missing(t, text, seq, f"{pointer}/finish_reason")


def _reason_of(place: Place) -> Any:
    return lenient.members(place[2]).get("finish_reason")


def tool_arguments(t: ChatTranscript) -> Iterator[RuleIssue]:
    for places in _pieces(t):
        functions = (lenient.members(lenient.members(call).get("function")) for *_, call in places)
        arguments = "".join(lenient.text(each.get("arguments")) for each in functions)
        if not isinstance(lenient.decode(arguments), dict):
            text = "The arguments are not a JSON object. Send one, for example {}."
            seq, pointer, _ = places[0]
            yield missing(t, text, seq, f"{pointer}/function/arguments")


def usage_chunk(t: ChatTranscript) -> Iterator[RuleIssue]:
    if not [*_usages(t)]:
        last = t.messages[-1]
        yield missing(t, "No chunk has the usage. Send one before [DONE].", last.seq, "/usage")


def _asks_for_usage(t: ChatTranscript) -> bool:
    return lenient.members(t.request.get("stream_options")).get("include_usage") is True


def error_status(t: ChatTranscript) -> Iterator[RuleIssue]:
    if t.response.status < 400:
        text = f"HTTP {t.response.status} with an error. Use an error status such as 400."
        yield Violation(text, t.response.head_seq)
    elif not [*_errors(t)]:
        text = f"HTTP {t.response.status} without an error object. Send one with a message."
        yield missing(t, text, t.response.head_seq)


def _rejections(t: ChatTranscript) -> Iterable[Place]:
    """Select the errors in place of a response."""
    return () if t.completions else _errors(t)


# fmt: off
RULES: tuple[Rule[ChatTranscript], ...] = (
    rule("reply", "Requests are answered with a completion or a stream of chunks.", must(_CREATE),
        reply, when=_is_success,
        why="Anything else is an error, with an HTTP error status or in mid-stream."),
    rule("content-type", "Content-Type matches the body: JSON or an event stream.", must(_CREATE),
        content_type, when=lambda t: bool(t.completions),
        why="Clients select their parser by it."),
    rule("stream-honoured", "Responses are streamed if and only if the request asks for it.",
        must(_CREATE), stream_honoured,
        when=lambda t: bool(t.completions) and raw.raw_of(t.request) is None,
        why="Without `stream`, a client expects one document."),
    row("object", "The object is chat.completion; in a stream it is chat.completion.chunk.",
        must(_OBJECT),
        members(_documents, "object"),
        {one_of("chat.completion"): "Set object to chat.completion."},
        (members(_chunks, "object"),
         {one_of("chat.completion.chunk"): "Set object to chat.completion.chunk."}),
        why="Clients for several APIs tell responses apart by it."),
    row("members", "Completions and chunks have id, model, created and choices.", must(_OBJECT),
        members(_completions, "id", "model"),
        {is_string: "{name} is {actual}. Set it to a string."},
        (members(_completions, "created"),
         {integer(0): "created is {actual}. Set it to the seconds since 1970."}),
        (members(_completions, "choices"), {is_array: "choices is {actual}. Send an array."}),
        why="Typed clients reject an object that lacks one of them."),
    row("choice-index", "Each choice has an index of 0 or more.", must(_OBJECT),
        members(_choices, "index"), {integer(0): "Set index to an integer of 0 or more."},
        why="Clients put the pieces of several choices together by it."),
    row("message", "Each choice has a message; in a stream it has a delta.", must(_OBJECT),
        _said, {is_object: "{name} is {actual}. Send an object."},
        why="A delta may be empty, and is present all the same."),
    row("role", "The role of the message is assistant.", must(_OBJECT),
        _roles, {_is_assistant: "Set role to assistant."},
        why="A following request repeats the message. In a stream only the first delta needs it."),
    row("content", "The content of the message is text or null.", must(_OBJECT),
        present(_said, "content", "refusal"),
        {_is_text_or_null: "{name} is {actual}. Send a string."},
        why="Parts are for requests; clients append the text of each delta to the text so far."),
    row("finish-reason", "The finish_reason is one of those that the API lists.", must(_OBJECT),
        present(_choices, "finish_reason"),
        {_is_reason: "Set finish_reason to stop, length, tool_calls or content_filter."},
        why="Clients stop, continue or call functions by it. It is null as long as more follows."),
    rule("finished", "Each choice ends with a finish_reason.", must(_OBJECT), finished,
        when=lambda t: bool(t.choices) and not [*_errors(t)], needs_complete_response=True,
        why="Clients learn from it whether the text is complete, and that calls wait for their "
            "outputs."),
    row("tool-calls", "Calls have id, type and a function with a name and arguments.",
        must("Function calling"),
        those(present(_said, "tool_calls"), lambda calls: calls is not None),
        {is_array: "tool_calls is {actual}. Send an array."},
        (members(_first_pieces, "id"), {is_string: "The call has no id. Set it to a string."}),
        (members(_first_pieces, "type"), {one_of("function"): "Set type to function."}),
        (members(members(_first_pieces, "function"), "name"),
         {is_string: "Set name to that of a function."}),
        (present(members(_calls, "function"), "arguments"),
         {is_string: "arguments is {actual}. Send JSON in a string."}),
        why="The next request repeats the call, and its output names the id. In a stream the first "
            "piece of a call has them; the others continue the arguments."),
    rule("tool-arguments", "The arguments of a call, put together, are a JSON object.",
        should("Function calling"), tool_arguments, when=_calls, needs_complete_response=True,
        why="The model writes them, so clients have to expect others; servers can constrain it."),
    rule("data-json", "The data of each event is an object, or [DONE] at the end.",
        must(_STREAMING), data_json, when=lambda t: t.response.streamed and bool(t.messages),
        why="Clients decode each event by itself; comments keep a connection open."),
    rule("id-same", "All chunks of a stream have the same id.", must(_STREAMING), id_same,
        when=_chunks,
        why="It identifies the response, not the chunk."),
    rule("done", "Streams end with the event [DONE].", must(_STREAMING), done,
        when=_is_streamed_well,
        needs_complete_response=True,
        why="Without it, clients cannot tell the end from a connection that broke."),
    rule("usage-chunk", "A stream has the usage that the request asks for.", must(_STREAMING),
        usage_chunk,
        when=lambda t: _is_streamed_well(t) and _asks_for_usage(t),
        needs_complete_response=True,
        why="It is in a chunk without choices, before [DONE]: `stream_options.include_usage`."),
    row("usage", "The usage has numbers of tokens.", must(_OBJECT),
        _usages, {is_object: "usage is {actual}. Send an object with numbers of tokens."},
        (members(_usages, "prompt_tokens", "completion_tokens", "total_tokens"),
         {integer(0): "Set {name} to a number of tokens, 0 or more."}),
        why="Clients add them up. A chunk may have null in place of the usage."),
    rule("error-status", "Rejected requests have an HTTP error status and an error object.",
        must(_ERRORS), error_status,
        when=lambda t: t.response.status >= 400 or bool([*_rejections(t)]),
        why="Clients take status 200 for success. An error in mid-stream comes too late for a "
            "status."),
    row("error-object", "Errors are objects with a message, type, param and code.", must(_ERRORS),
        _errors, {is_object: "error is {actual}. Send an object with a message."},
        (members(_errors, "message"), {is_string: "Set message to a string."}),
        (members(_errors, "type", "param", "code"),
         {_is_text_or_null: "Set {name} to a string or null."}),
        why="Programs compare type and code; param names the member of the request."),
)
# fmt: on
