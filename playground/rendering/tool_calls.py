"""A call that the agent leaves to its client: an answer by hand, or a yes or no.

An agent may leave several with one response, and waits for what all of them returned: they are
answered together, with one request, wherever the button was pressed.
The same for a page, for what a websocket pushes, and for a form that comes back with errors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from playground.models import Agent, Run, RunKind, RunState
from playground.protocols.agent_api.constants import APPROVAL_TYPES
from playground.protocols.events import ToolCall
from playground.rendering.linked_turns import LinkedTurn
from playground.rendering.messages import JoinedMessage
from playground.rendering.speech import MessageView
from playground.rendering.thread_reader import ThreadReader

if TYPE_CHECKING:  # The thread makes these for its entries.
    from playground.rendering.thread import EntryRef, Thread

APPROVAL = "mcp_approval_request"


@dataclass(frozen=True, slots=True)
class PendingToolCall:
    """A call that a reply leaves to its client."""

    entry_ref: EntryRef
    event: ToolCall
    #: What it is called among the calls of the reply: no two are called the same.
    label: str


@dataclass(frozen=True, slots=True)
class ToolCallForm:
    """One call that waits for the user, as it stands."""

    thread: Thread
    waiting: PendingToolCall
    #: What was filled in, by what a control is for, and what is wrong with it.
    filled: Mapping[str, str] = field(default_factory=dict)
    error: str = ""

    @property
    def run(self) -> Run:
        """The run whose agent calls."""
        return self.thread.run

    @property
    def entry_ref(self) -> EntryRef:
        """Where its entry is."""
        return self.waiting.entry_ref

    @property
    def event(self) -> ToolCall:
        """What is called."""
        return self.waiting.event

    @property
    def name(self) -> str:
        """Its place as one word: names of controls begin with it, so that all go into one form."""
        return f"{self.entry_ref[0]}-{self.entry_ref[1]}"

    @property
    def selector(self) -> str:
        """Finds its form on a page, whichever run's page that is."""
        return f'[data-calls="{self.run.pk}"][data-place="{self.name}"]'

    @property
    def answered_together(self) -> int:
        """How many calls are answered with it, itself among them."""
        return len(self.thread.waiting)

    @property
    def agent(self) -> Agent | None:
        """Who calls; None once the agent is deleted, and then nobody can be answered."""
        return self.run.agent

    @property
    def anchor(self) -> str:
        """The id of the entry; ids of what is in it begin with it."""
        return self.thread.anchor(self.entry_ref)

    @property
    def is_approval(self) -> bool:
        """Whether a yes or a no is asked for, and not what a function returned."""
        return self.event.kind == APPROVAL

    @property
    def is_json(self) -> bool:
        """Whether what is filled in is meant as JSON."""
        return self.filled.get("format") == "json"

    @property
    def answers(self) -> list[LinkedTurn]:
        """The turns that answered it, oldest first, from whichever form they were sent."""
        runs = self.thread.runs_at(self.entry_ref, RunKind.ASK, RunKind.ANSWER)
        for other in self.thread.waiting:
            if other.entry_ref != self.entry_ref:
                found = self.thread.runs_at(other.entry_ref, RunKind.ANSWER)
                runs += [run for run in found if self._is_answered_by(run)]
        return [LinkedTurn(run) for run in sorted(runs, key=lambda run: run.created_at)]

    def _is_answered_by(self, run: Run) -> bool:
        return isinstance(run.answers, Mapping) and self.waiting.label in run.answers


def pending_tool_calls(run: Run) -> Sequence[PendingToolCall]:
    """The calls that the reply of `run` leaves to its client, in their order.

    None unless it came whole: an output that is missing may have been on its way. Reads
    everything.
    """
    if run.state != RunState.COMPLETED or not run.is_turn:
        return ()
    found: list[PendingToolCall] = []
    labels: set[str] = set()
    counts: Counter[str] = Counter()
    for joined in ThreadReader(run).read_messages():
        if (call := _left_open(joined)) and joined.number is not None:
            label = name = call.name or call.call_id or "call"
            while label in labels:
                counts[name] += 1
                label = f"{name} ({counts[name] + 1})"
            labels.add(label)
            found.append(PendingToolCall(joined.ref, call, label))
    return found


def tool_call_form(joined: JoinedMessage, thread: Thread, place: EntryRef) -> ToolCallForm | None:
    """The call that a message makes, None where the client has nothing to do about it."""
    if _left_open(joined) is None or not thread.run.is_final:
        return None
    found = (ToolCallForm(thread, each) for each in thread.waiting if each.entry_ref == place)
    return next(found, None)


def _left_open(joined: JoinedMessage) -> ToolCall | None:
    call = joined.call
    return call if call and call.kind in APPROVAL_TYPES and joined.output is None else None


def tool_call_context(joined: JoinedMessage, thread: Thread) -> dict[str, Any]:
    """What the templates of a message need beyond its entry."""
    caller = joined.caller
    return {
        "speech": MessageView(joined, thread.run.is_final),
        "calling": tool_call_form(joined, thread, joined.ref),
        "caller_anchor": thread.anchor(caller.ref) if caller else "",
    }
