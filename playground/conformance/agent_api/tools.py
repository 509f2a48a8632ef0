"""Rules on tool calls and their outputs: section 2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from playground.conformance.agent_api.rule import rule
from playground.conformance.agent_api.stream_state import is_final, same_json
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import Inconclusive, RuleIssue, Violation, info, must, should
from playground.conformance.values import type_with_article
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


@rule(
    "call-fields",
    "Calls have a call_id and a name.",
    info("2"),
    when=lambda t: bool(_calls(t)),
)
def call_fields(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Both are optional. Without them a call cannot be executed or matched to its output."""
    for tool in _calls(t):
        for name in ("call_id", "name"):
            value = tool.location.value.get(name)
            if value is None or (isinstance(value, str) and not value.strip()):
                yield _not_set(tool.location, name)


@rule(
    "call-types",
    "The call_id, the name and the arguments of a call are strings.",
    must("2"),
    when=lambda t: bool(_calls(t)),
)
def call_types(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The arguments are JSON in a string."""
    for tool in _calls(t):
        seq, pointer, data = tool.location
        for name in ("call_id", "name", "arguments"):
            value = data.get(name)
            if value is not None and not isinstance(value, str):
                message = f"{name} is {type_with_article(value)}; expected a string."
                yield Violation(message, seq, f"{pointer}/{name}")


@rule(
    "call-arguments",
    "The arguments of a call are a JSON object.",
    info("2"),
    when=lambda t: any("arguments" in tool.location.value for tool in _calls(t)),
)
def call_arguments(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Language models write the arguments and can make mistakes, as the specification says."""
    for tool in _calls(t):
        seq, pointer, data = tool.location
        arguments: Any = data.get("arguments")
        if isinstance(arguments, str) and arguments.strip() and not _is_object(arguments):
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
    "Outputs of functions have a call_id and an output; in all outputs they are strings.",
    must("2"),
    when=lambda t: bool(_outputs(t)),
)
def output_fields(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The specification requires them for functions, and does not define other outputs."""
    for tool in _outputs(t):
        for name in ("call_id", "output"):
            value = tool.location.value.get(name)
            is_required = tool.kind == _FUNCTION_OUTPUT or name in tool.location.value
            if is_required and not isinstance(value, str):
                yield _not_set(tool.location, name)


@rule(
    "output-members",
    "Outputs have a call_id and an output.",
    info("2"),
    when=lambda t: bool(_outputs(t)),
)
def output_members(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Without a call_id, an output cannot be matched to its call."""
    for tool in _outputs(t):
        names = ("call_id", "output") if tool.kind != _FUNCTION_OUTPUT else ()
        for name in names:
            if name not in tool.location.value:
                yield _not_set(tool.location, name)
        if (value := tool.location.value.get("call_id")) is not None and value == "":
            yield _not_set(tool.location, "call_id")


def _not_set(location: Location, name: str) -> Violation:
    value = location.value.get(name)
    actual = type_with_article(value) if name in location.value else "missing"
    actual = "empty" if isinstance(value, str) else actual
    message = f"{name} is {actual}. Set it to a string."
    return Violation(message, location.seq, f"{location.pointer}/{name}")


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
    """A call without a call_id matches any output."""
    if _has_nameless_call(t):
        return
    known = _sent(t)
    for tool in _tools(t):
        if tool.kind in CALLS:
            known.add(tool.call_id)
        elif tool.kind not in _OPEN and tool.call_id and tool.call_id not in known:
            seq, pointer, _ = tool.location
            yield Violation("No previous call has this call_id.", seq, f"{pointer}/call_id")


def _has_nameless_call(t: AgentTranscript) -> bool:
    named = {tool.slot[0] for tool in _calls(t) if tool.call_id}
    calls = {
        name
        for name, state in t.stream_state.messages.items()
        if state.type in CALLS and state.type not in _OPEN
    }
    return bool(calls - named)


@rule(
    "call-id-unique",
    "Each call has a unique call_id.",
    must("2"),
    when=lambda t: bool(_calls(t)),
)
def call_id_unique(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Outputs are matched to their calls by the call_id."""
    yield from _repeated(_calls(t), "call")


@rule(
    "output-unique",
    "Each call has at most one output.",
    should("2"),
    when=lambda t: bool(_outputs(t)),
)
def output_unique(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The output is the result of the call."""
    yield from _repeated(_outputs(t), "output")


def _repeated(tools: list[ToolMessage], words: str) -> Iterator[RuleIssue]:
    slots: dict[str, tuple[str, int]] = {}
    for tool in tools:
        if tool.call_id and slots.setdefault(tool.call_id, tool.slot) != tool.slot:
            seq, pointer, _ = tool.location
            message = f"Another {words} has this call_id. Use each once."
            yield Violation(message, seq, f"{pointer}/call_id")


@rule(
    "call-answered",
    "Calls that the agent executes have an output.",
    info("2"),
    when=lambda t: any(tool.kind not in CLIENT_CALLS for tool in _calls(t)),
    needs_complete_response=True,
)
def call_answered(t: AgentTranscript) -> Iterator[RuleIssue]:
    """These are plugins, components and MCP tools. The client executes functions."""
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


RULES = (
    call_fields,
    call_types,
    call_arguments,
    output_fields,
    output_members,
    output_paired,
    call_id_unique,
    output_unique,
    call_answered,
)
