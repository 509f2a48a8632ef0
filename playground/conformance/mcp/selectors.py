"""What the rules of MCP share: the versions of NLWeb that they are for, and where they look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playground.conformance.mcp.calls import LocatedMessage, RecordedCall
from playground.conformance.mcp.transcript import McpTranscript
from playground.conformance.shape import MISSING, Place, RuleFactory, Selector

_FACTORY = RuleFactory[McpTranscript]("mcp.", ("0.55", "0.54"))
rule, row = _FACTORY.rule, _FACTORY.row

McpSelector = Selector[McpTranscript]


def inside(located: LocatedMessage, pointer: str, value: Any) -> Place:
    """Return the place of a value in a message."""
    return located.seq, located.pointer + pointer, value


def results_where(matches: Callable[[RecordedCall], bool]) -> McpSelector:
    """Select the results of calls: objects, empty for results of another type."""
    return lambda t: (
        inside(answer, "/result", answer.result)
        for call in t.calls
        if matches(call)
        if (answer := call.answer) is not None and answer.message.error is None
    )


def results_of(method: str) -> McpSelector:
    return results_where(lambda call: call.method == method)


def heads(header: str, matches: Callable[[RecordedCall], bool] = lambda _: True) -> McpSelector:
    """Select a header in the heads of responses; its value is `MISSING` where there is none."""
    return lambda t: (
        (call.http_response.head_seq, "", call.http_response.headers.get(header, MISSING))
        for call in t.http_calls
        if call.http_response.head_seq is not None and matches(call)
    )
