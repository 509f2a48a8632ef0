"""Calls of tools and what they returned: section 2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from playground.conformance.agent_api.rule import rule
from playground.conformance.agent_api.stream_state import ContentState, MessageState, is_final
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import Inconclusive, RuleIssue, Violation, info, must, should
from playground.conformance.values import is_nonempty_text, type_with_article
from playground.protocols import json_decoder
from playground.protocols.agent_api import requests
from playground.protocols.agent_api.constants import APPROVAL_TYPES, CALLS, OUTPUTS

#: Types whose members the specification leaves open: only their names are told.
_OPEN = frozenset({"mcp_approval_request", "mcp_approval_response"})
_DEPTH = 100


class ToolMessage(NamedTuple):
    """The data of a call or of an output, complete, and the type of its message."""

    place: Location
    kind: str

    @property
    def call_id(self) -> str:
        """What pairs a call with its output, "" where there is nothing of the kind."""
        name = self.place.value.get("call_id")
        return name if isinstance(name, str) else ""


def _tools(t: AgentTranscript) -> Iterator[ToolMessage]:
    """Every call and output, in the order of their messages."""
    if t.transfer.streamed:
        for thread in t.walk.threads.values():
            if thread.type in CALLS or thread.type in OUTPUTS:
                yield from _of_thread(thread)
        return
    for message in t.messages:
        kind = message.value.get("type")
        if isinstance(kind, str) and (kind in CALLS or kind in OUTPUTS):
            yield from _of_parts(message, kind)


def _of_thread(thread: MessageState) -> Iterator[ToolMessage]:
    for slot in thread.slots.values():
        if _is_complete(slot) and isinstance(data := slot.place.value.get("data"), dict):
            yield ToolMessage(Location(slot.place.seq, "/data", data), thread.type)
    if not thread.slots:
        yield from _of_parts(thread.last, thread.type)


def _is_complete(slot: ContentState) -> bool:
    return is_final(slot.status)


def _of_parts(message: Location, kind: str) -> Iterator[ToolMessage]:
    parts = message.value.get("content")
    for at, part in enumerate(parts if isinstance(parts, list) else ()):
        if isinstance(part, dict) and isinstance(data := part.get("data"), dict):
            yield ToolMessage(
                Location(message.seq, f"{message.pointer}/content/{at}/data", data), kind
            )


def _judged(t: AgentTranscript, kinds: Iterable[str]) -> list[ToolMessage]:
    return [tool for tool in _tools(t) if tool.kind in kinds and tool.kind not in _OPEN]


def _calls(t: AgentTranscript) -> list[ToolMessage]:
    return _judged(t, CALLS)


def _outputs(t: AgentTranscript) -> list[ToolMessage]:
    return _judged(t, OUTPUTS)


@rule(
    "call-fields",
    "A call has a call_id and the name of what is called.",
    should("2"),
    when=lambda t: bool(_calls(t)),
)
def call_fields(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Both are optional in the model; without them nobody can call it, or pair its output."""
    for tool in _calls(t):
        yield from _strings(tool.place, "call_id", "name")


@rule(
    "call-arguments",
    "The arguments of a call are JSON in a string.",
    should("2"),
    when=lambda t: any("arguments" in tool.place.value for tool in _calls(t)),
)
def call_arguments(t: AgentTranscript) -> Iterator[RuleIssue]:
    """As the model wrote them, which can go wrong: an agent does well to look."""
    for tool in _calls(t):
        seq, pointer, data = tool.place
        arguments: Any = data.get("arguments")
        if arguments is None:
            continue
        if not isinstance(arguments, str):
            message = f"arguments is {type_with_article(arguments)}. Write it as JSON in a string."
            yield Violation(message, seq, f"{pointer}/arguments")
        elif arguments.strip() and not _is_object(arguments):
            yield Violation("This is no JSON object.", seq, f"{pointer}/arguments")


def _is_object(text: str) -> bool:
    if json_decoder.exceeds_depth(text, _DEPTH):
        return False
    try:
        return isinstance(json_decoder.decode(text), dict)
    except (ValueError, RecursionError):
        return False


@rule(
    "output-fields",
    "An output has the call_id of its call and an output, both strings.",
    must("2"),
    when=lambda t: bool(_outputs(t)),
)
def output_fields(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Required in the model of an output."""
    for tool in _outputs(t):
        yield from _strings(tool.place, "call_id", "output", empty=("output",))


def _strings(place: Location, *names: str, empty: tuple[str, ...] = ()) -> Iterator[RuleIssue]:
    for name in names:
        value = place.value.get(name)
        if not is_nonempty_text(value) and not (name in empty and isinstance(value, str)):
            said = type_with_article(value) if name in place.value else "missing"
            said = "empty" if isinstance(value, str) else said
            message = f"{name} is {said}. Set it to a string."
            yield Violation(message, place.seq, f"{place.pointer}/{name}")


def _sent(t: AgentTranscript) -> set[str]:
    """The calls that the request itself speaks of."""
    return {
        part["data"]["call_id"]
        for message in requests.messages_of(t.request)
        for part in requests.parts_of(message)
        if isinstance(part.get("data"), dict) and isinstance(part["data"].get("call_id"), str)
    }


@rule(
    "output-paired",
    "An output belongs to a call that came before it.",
    should("2"),
    when=lambda t: bool(_outputs(t)),
)
def output_paired(t: AgentTranscript) -> Iterator[RuleIssue]:
    """By call_id."""
    known = _sent(t)
    for tool in _tools(t):
        if tool.kind in CALLS:
            known.add(tool.call_id)
        elif tool.kind not in _OPEN and tool.call_id and tool.call_id not in known:
            seq, pointer, _ = tool.place
            yield Violation("No call of this call_id came before.", seq, f"{pointer}/call_id")


@rule(
    "call-answered",
    "What the agent calls itself has an output.",
    info("2"),
    when=lambda t: any(tool.kind not in APPROVAL_TYPES for tool in _calls(t)),
    needs_complete_response=True,
)
def call_answered(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Plugins, components and tools of MCP; a function is for the client to call."""
    if not t.is_complete:
        yield Inconclusive("The stream broke off before this could be judged.")
        return
    answered = {tool.call_id for tool in _outputs(t)}
    for tool in _calls(t):
        if (
            tool.kind not in APPROVAL_TYPES
            and tool.call_id not in answered
            and "output" not in (tool.place.value)
        ):
            seq, pointer, _ = tool.place
            yield Violation("No output of this call came.", seq, f"{pointer}/call_id")


RULES = (call_fields, call_arguments, output_fields, output_paired, call_answered)
