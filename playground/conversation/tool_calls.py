"""Forms of pending tool calls: an output to write, or an approval to decide.

A response may leave several calls to its client, and its agent waits for the outputs of all:
they are answered together, with one request, whichever form was submitted. The same form is used
by the page, the websocket message and a submission with errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.conversation.entries import Entry, Shown
from playground.conversation.entry_runs import EntryRuns, PendingToolCall
from playground.conversation.message_joiner import JoinedMessage
from playground.conversation.messages import MessageView
from playground.models import Agent, Run, RunKind
from playground.protocols.events import EntryRef, Message, ToolCall

APPROVAL = "mcp_approval_request"


@dataclass(frozen=True, slots=True)
class ToolCallForm:
    """The form of one pending tool call."""

    thread: EntryRuns
    waiting: PendingToolCall
    #: Submitted values by the name of the control, and the error.
    submitted: Mapping[str, str] = field(default_factory=dict)
    error: str = ""

    @property
    def run(self) -> Run:
        return self.thread.run

    @property
    def entry_ref(self) -> EntryRef:
        return self.waiting.entry_ref

    @property
    def event(self) -> ToolCall:
        return self.waiting.event

    @property
    def name(self) -> str:
        """Return its entry as one word, the prefix of its controls in the joint form."""
        return f"{self.entry_ref[0]}-{self.entry_ref[1]}"

    @property
    def selector(self) -> str:
        """Return the CSS selector of its form, the same on the page of any run."""
        return f'[data-calls="{self.run.pk}"][data-place="{self.name}"]'

    @property
    def answered_together(self) -> int:
        """Return the number of calls that are answered together, including itself."""
        return len(self.thread.waiting)

    @property
    def agent(self) -> Agent | None:
        """Return the agent; None if it was deleted, and then no answer can be sent."""
        return self.run.target_agent

    @property
    def anchor(self) -> str:
        return self.thread.anchor(self.entry_ref)

    @property
    def is_approval(self) -> bool:
        return self.event.kind == APPROVAL

    @property
    def is_json(self) -> bool:
        """Return whether the output was submitted as JSON."""
        return self.submitted.get("format") == "json"

    @property
    def answers(self) -> list[Run]:
        """Return the turns that answered it, oldest first, whichever form was submitted."""
        runs = self.thread.runs_at(self.entry_ref, RunKind.ASK, RunKind.ANSWER)
        for other in self.thread.waiting:
            if other.entry_ref != self.entry_ref:
                answers = self.thread.runs_at(other.entry_ref, RunKind.ANSWER)
                runs += [run for run in answers if self._is_answered_by(run)]
        return sorted(runs, key=lambda run: run.created_at)

    def _is_answered_by(self, run: Run) -> bool:
        return isinstance(run.answers, Mapping) and self.waiting.label in run.answers


def tool_call_form(joined: JoinedMessage, thread: EntryRuns, ref: EntryRef) -> ToolCallForm | None:
    """Return the form of a message's call, None if the client has nothing to do about it."""
    if joined.pending_call is None or not thread.run.is_final:
        return None
    forms = (ToolCallForm(thread, each) for each in thread.waiting if each.entry_ref == ref)
    return next(forms, None)


def tool_call_context(joined: JoinedMessage, thread: EntryRuns) -> dict[str, Any]:
    """Return the context of a message's templates beyond that of its entry."""
    caller = joined.caller
    return {
        "message": MessageView(joined, thread.run.is_final),
        "tool_call_form": tool_call_form(joined, thread, joined.ref),
        "caller_anchor": thread.anchor(caller.ref) if caller else "",
    }


def show_message(entry: Entry, thread: EntryRuns) -> Shown:
    """Show a message; only its beginning, if too many came before it to be joined."""
    event = entry.event
    assert isinstance(event, Message)
    joined = entry.message or JoinedMessage(
        (event.seq, 0), event.id, event.type, event.role, event.status, event.raw
    )
    if entry.message is None:
        return "conversation/messages.html#entry", {"message": MessageView(joined)}
    return "conversation/messages.html#entry", tool_call_context(joined, thread)
