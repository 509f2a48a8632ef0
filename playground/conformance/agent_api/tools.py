"""Rules on tool calls and their outputs: section 2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from playground.conformance.agent_api.stream_state import is_final, same_json
from playground.conformance.agent_api.transcript import (
    AgentTranscript,
    is_not_blank,
    is_set,
    row,
    rule,
)
from playground.conformance.rule import Inconclusive, RuleIssue, Violation, info, must, should
from playground.conformance.rule_input import Location
from playground.conformance.shape import (
    MISSING,
    Place,
    is_given,
    is_string,
    members,
    present,
    those,
)
from playground.protocols import json_decoder
from playground.protocols.agent_api import requests
from playground.protocols.agent_api.constants import CALLS, CLIENT_CALLS, OUTPUTS

#: Types whose members the specification leaves open: only their names are listed.
_OPEN = frozenset({"mcp_approval_request", "mcp_approval_response"})
_DEPTH = 100
_FUNCTION_OUTPUT = "function_call_output"


class ToolMessage(NamedTuple):
    """The complete data of a call or an output, the type of its message, and its place there."""

    location: Location
    kind: str
    slot: tuple[str, int]

    @property
    def call_id(self) -> str:
        """Return the key that pairs a call with its output, "" without one."""
        name = self.location.value.get("call_id")
        return name if isinstance(name, str) else ""

    def violation(self, message: str) -> Violation:
        """Return a violation at its call_id."""
        seq, pointer, _ = self.location
        return Violation(message, seq, f"{pointer}/call_id")


def _tools(t: AgentTranscript) -> Iterator[ToolMessage]:
    """Yield every call and output in the order of arrival, repetitions only if they differ."""
    latest: dict[tuple[str, int], Any] = {}
    for tool in sorted(_found(t), key=lambda tool: tool.location.seq):
        data = tool.location.value
        if tool.slot not in latest or not same_json(latest[tool.slot], data):
            latest[tool.slot] = data
            yield tool


def _found(t: AgentTranscript) -> Iterator[ToolMessage]:
    for name, state in t.stream_state.messages.items():
        for index, content in state.contents.items():
            seq, _, value = content.location
            if is_final(content.status) and _is_tool(state.type, value):
                yield ToolMessage(Location(seq, "/data", value["data"]), state.type, (name, index))
    for (seq, pointer, value), kind, slot, is_partial in t.stream_state.listed_contents:
        if not is_partial and _is_tool(kind, value):
            yield ToolMessage(Location(seq, f"{pointer}/data", value["data"]), kind, slot)


def _is_tool(kind: str, content: dict[str, Any]) -> bool:
    return (kind in CALLS or kind in OUTPUTS) and isinstance(content.get("data"), dict)


def _checked(t: AgentTranscript, kinds: Iterable[str]) -> list[ToolMessage]:
    return [tool for tool in _tools(t) if tool.kind in kinds and tool.kind not in _OPEN]


def _calls(t: AgentTranscript) -> list[ToolMessage]:
    return _checked(t, CALLS)


def _outputs(t: AgentTranscript) -> list[ToolMessage]:
    return _checked(t, OUTPUTS)


def _data_of_calls(t: AgentTranscript) -> Iterable[Place]:
    return (tool.location for tool in _calls(t))


def _data_of_outputs(t: AgentTranscript) -> Iterable[Place]:
    return (tool.location for tool in _outputs(t))


def _is_json_object(text: Any) -> bool:
    """Return whether arguments are a JSON object; other rules check their type and presence."""
    if not isinstance(text, str) or not text.strip():
        return True
    if json_decoder.exceeds_depth(text, _DEPTH):
        return False
    try:
        return isinstance(json_decoder.decode(text), dict)
    except (ValueError, RecursionError):
        return False


def _required_members(t: AgentTranscript) -> Iterator[Place]:
    """Select the members of outputs that are strings: required ones, and those that are present."""
    for tool in _outputs(t):
        seq, pointer, data = tool.location
        for name in ("call_id", "output"):
            if tool.kind == _FUNCTION_OUTPUT or name in data:
                yield seq, f"{pointer}/{name}", data.get(name, MISSING)


def _other_outputs(t: AgentTranscript) -> Iterable[Place]:
    return (tool.location for tool in _outputs(t) if tool.kind != _FUNCTION_OUTPUT)


def _sent(t: AgentTranscript) -> set[str]:
    """Return the ids of the calls in the request itself."""
    return {
        part["data"]["call_id"]
        for message in requests.messages_of(t.request)
        for part in requests.parts_of(message)
        if isinstance(part.get("data"), dict) and isinstance(part["data"].get("call_id"), str)
    }


def output_paired(t: AgentTranscript) -> Iterator[RuleIssue]:
    if _has_nameless_call(t):
        return
    known = _sent(t)
    for tool in _tools(t):
        if tool.kind in CALLS:
            known.add(tool.call_id)
        elif tool.kind not in _OPEN and tool.call_id and tool.call_id not in known:
            yield tool.violation("No previous call has this call_id.")


def _has_nameless_call(t: AgentTranscript) -> bool:
    named = {tool.slot[0] for tool in _calls(t) if tool.call_id}
    calls = {
        name
        for name, state in t.stream_state.messages.items()
        if state.type in CALLS and state.type not in _OPEN
    }
    return bool(calls - named)


def call_id_unique(t: AgentTranscript) -> Iterator[RuleIssue]:
    for tool in _repeated(_calls(t)):
        yield tool.violation("Another call has this call_id. Use each once.")


def output_unique(t: AgentTranscript) -> Iterator[RuleIssue]:
    for tool in _repeated(_outputs(t)):
        yield tool.violation("Another output has this call_id. Use each once.")


def _repeated(tools: Iterable[ToolMessage]) -> Iterator[ToolMessage]:
    """Yield those whose call_id one at another place has."""
    slots: dict[str, tuple[str, int]] = {}
    for tool in tools:
        if tool.call_id and slots.setdefault(tool.call_id, tool.slot) != tool.slot:
            yield tool


def call_answered(t: AgentTranscript) -> Iterator[RuleIssue]:
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
            yield tool.violation("This call has no output.")


_NOT_STRING = "{name} is {actual}. Set it to a string."
_EMPTY = "{name} is empty. Set it to a string."

# fmt: off
RULES = (
    row("call-fields", "Calls have a call_id and a name.", info("2"),
        members(_data_of_calls, "call_id", "name"),
        {is_set: _NOT_STRING, is_not_blank: _EMPTY},
        why="Both are optional. Without them a call cannot be executed or matched to its output."),
    row("call-types", "The call_id, the name and the arguments of a call are strings.", must("2"),
        those(present(_data_of_calls, "call_id", "name", "arguments"), is_set),
        {is_string: "{name} is {actual}; expected a string."}, when=_data_of_calls,
        why="The arguments are JSON in a string."),
    row("call-arguments", "The arguments of a call are a JSON object.", info("2"),
        present(_data_of_calls, "arguments"),
        {_is_json_object: "arguments is not a JSON object."},
        why="Language models write the arguments and can make mistakes, as the specification says."
        ),
    row("output-fields",
        "Outputs of functions have a call_id and an output; in all outputs they are strings.",
        must("2"),
        _required_members, {is_string: _NOT_STRING}, when=_data_of_outputs,
        why="The specification requires them for functions, and does not define other outputs."),
    row("output-members", "Outputs have a call_id and an output.", info("2"),
        members(_other_outputs, "call_id", "output"), {is_given: _NOT_STRING},
        (present(_data_of_outputs, "call_id"), {lambda name: name != "": _EMPTY}),
        when=_data_of_outputs,
        why="Without a call_id, an output cannot be matched to its call."),
    rule("output-paired", "Outputs follow the call with the same call_id.", should("2"),
        output_paired, when=_data_of_outputs,
        why="A call without a call_id matches any output."),
    rule("call-id-unique", "Each call has a unique call_id.", must("2"), call_id_unique,
        when=_data_of_calls,
        why="Outputs are matched to their calls by the call_id."),
    rule("output-unique", "Each call has at most one output.", should("2"), output_unique,
        when=_data_of_outputs,
        why="The output is the result of the call."),
    rule("call-answered", "Calls that the agent executes have an output.", info("2"), call_answered,
        when=lambda t: any(tool.kind not in CLIENT_CALLS for tool in _calls(t)),
        needs_complete_response=True,
        why="These are plugins, components and MCP tools. The client executes functions."),
)
# fmt: on
