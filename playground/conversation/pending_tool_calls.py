"""Pending tool calls: the calls and approval requests that a response leaves to its client."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from playground.conversation.thread_reader import ThreadReader
from playground.models import Run, RunState
from playground.protocols.events import EntryRef, ToolCall


@dataclass(frozen=True, slots=True)
class PendingToolCall:
    """A tool call without an output."""

    entry_ref: EntryRef
    event: ToolCall
    #: Name among the pending calls of the response, unique.
    label: str


def pending_tool_calls(run: Run) -> Sequence[PendingToolCall]:
    """Return the pending tool calls of a run, in order; reads all of its frames.

    Empty unless the response is complete: a missing output may have been on its way.
    """
    if run.state != RunState.COMPLETED or not run.is_turn:
        return ()
    pending: list[PendingToolCall] = []
    labels: set[str] = set()
    counts: Counter[str] = Counter()
    for joined in ThreadReader(run).read_messages():
        if (call := joined.pending_call) and joined.number is not None:
            label = name = call.name or call.call_id or "call"
            while label in labels:
                counts[name] += 1
                label = f"{name} ({counts[name] + 1})"
            labels.add(label)
            pending.append(PendingToolCall(joined.ref, call, label))
    return pending
