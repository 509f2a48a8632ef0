"""Rules on tool calls and their outputs: section 2."""

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
from playground.protocols.agent_api.constants import CALLS, CLIENT_CALLS, OUTPUTS

#: Types whose members the specification leaves open: only their names are listed.
_OPEN = frozenset({"mcp_approval_request", "mcp_approval_response"})
_DEPTH = 100


class ToolMessage(NamedTuple):
    """The complete data of a call or an output, and the type of its message."""

    location: Location
    kind: str

    @property
    def call_id(self) -> str:
        """Return the key that pairs a call with its output, "" without one."""
        name = self.location.value.get("call_id")
        return name if isinstance(name, str) else ""


def _tools(t: AgentTranscript) -> Iterator[ToolMessage]:
    """Return every call and output, in the order of their messages."""
    if t.http_response.streamed:
        for state in t.stream_state.messages.values():
            if state.type in CALLS or state.type in OUTPUTS:
                yield from _in_message(state)
        return
    for message in t.messages:
        kind = message.value.get("type")
        if isinstance(kind, str) and (kind in CALLS or kind in OUTPUTS):
            yield from _in_parts(message, kind)


def _in_message(state: MessageState) -> Iterator[ToolMessage]:
    for content in state.contents.values():
        if _is_complete(content) and isinstance(data := content.location.value.get("data"), dict):
            yield ToolMessage(Location(content.location.seq, "/data", data), state.type)
    if not state.contents:
        yield from _in_parts(state.last, state.type)


def _is_complete(content: ContentState) -> bool:
    return is_final(content.status)


def _in_parts(message: Location, kind: str) -> Iterator[ToolMessage]:
    parts = message.value.get("content")
    for at, part in enumerate(parts if isinstance(parts, list) else ()):
        if isinstance(part, dict) and isinstance(data := part.get("data"), dict):
            yield ToolMessage(
                Location(message.seq, f"{message.pointer}/content/{at}/data", data), kind
            )


def _checked(t: AgentTranscript, kinds: Iterable[str]) -> list[ToolMessage]:
    return [tool for tool in _tools(t) if tool.kind in kinds and tool.kind not in _OPEN]


def _calls(t: AgentTranscript) -> list[ToolMessage]:
    return _checked(t, CALLS)


def _outputs(t: AgentTranscript) -> list[ToolMessage]:
    return _checked(t, OUTPUTS)


@rule(
    "call-fields",
    "Calls have a call_id and a name.",
    should("2"),
    when=lambda t: bool(_calls(t)),
)
def call_fields(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Both are optional in the model; without them a call cannot be made or paired."""
    for tool in _calls(t):
        yield from _strings(tool.location, "call_id", "name")


@rule(
    "call-arguments",
    "The arguments of a call are a string of JSON.",
    should("2"),
    when=lambda t: any("arguments" in tool.location.value for tool in _calls(t)),
)
def call_arguments(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Written by a language model, which can fail: an agent should validate them."""
    for tool in _calls(t):
        seq, pointer, data = tool.location
        arguments: Any = data.get("arguments")
        if arguments is None:
            continue
        if not isinstance(arguments, str):
            message = f"arguments is {type_with_article(arguments)}; expected a string of JSON."
            yield Violation(message, seq, f"{pointer}/arguments")
        elif arguments.strip() and not _is_object(arguments):
            yield Violation("arguments is not a JSON object.", seq, f"{pointer}/arguments")


def _is_object(text: str) -> bool:
    if json_decoder.exceeds_depth(text, _DEPTH):
        return False
    try:
        return isinstance(json_decoder.decode(text), dict)
    except (ValueError, RecursionError):
        return False


@rule(
    "output-fields",
    "Outputs have a call_id and an output, both strings.",
    must("2"),
    when=lambda t: bool(_outputs(t)),
)
def output_fields(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Required in the model of an output."""
    for tool in _outputs(t):
        yield from _strings(tool.location, "call_id", "output", empty=("output",))


def _strings(location: Location, *names: str, empty: tuple[str, ...] = ()) -> Iterator[RuleIssue]:
    for name in names:
        value = location.value.get(name)
        if not is_nonempty_text(value) and not (name in empty and isinstance(value, str)):
            actual = type_with_article(value) if name in location.value else "missing"
            actual = "empty" if isinstance(value, str) else actual
            message = f"{name} is {actual}. Set it to a string."
            yield Violation(message, location.seq, f"{location.pointer}/{name}")


def _sent(t: AgentTranscript) -> set[str]:
    """Return the ids of the calls in the request itself."""
    return {
        part["data"]["call_id"]
        for message in requests.messages_of(t.request)
        for part in requests.parts_of(message)
        if isinstance(part.get("data"), dict) and isinstance(part["data"].get("call_id"), str)
    }


@rule(
    "output-paired",
    "Outputs follow the call with the same call_id.",
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
            seq, pointer, _ = tool.location
            yield Violation("No previous call has this call_id.", seq, f"{pointer}/call_id")


@rule(
    "call-answered",
    "Calls that the agent executes have an output.",
    info("2"),
    when=lambda t: any(tool.kind not in CLIENT_CALLS for tool in _calls(t)),
    needs_complete_response=True,
)
def call_answered(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Plugins, components and tools of MCP; functions are called by the client."""
    if not t.is_complete:
        yield Inconclusive("The stream was truncated before this could be checked.")
        return
    answered = {tool.call_id for tool in _outputs(t)}
    for tool in _calls(t):
        if (
            tool.kind not in CLIENT_CALLS
            and tool.call_id not in answered
            and "output" not in (tool.location.value)
        ):
            seq, pointer, _ = tool.location
            yield Violation("This call has no output.", seq, f"{pointer}/call_id")


RULES = (call_fields, call_arguments, output_fields, output_paired, call_answered)
