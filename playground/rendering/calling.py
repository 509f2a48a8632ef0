"""A call that the agent leaves to its client: an answer by hand, or a yes or no.

The same for a page, for what a websocket pushes, and for a form that comes back with errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from playground.models import Agent, Run, RunKind
from playground.protocols.agent_api.vocabulary import ASKING
from playground.protocols.events import ToolCall
from playground.rendering.answered import Other
from playground.rendering.messages import Joined
from playground.rendering.speech import Speech

if TYPE_CHECKING:  # The thread makes these for its entries.
    from playground.rendering.thread import Place, Thread

APPROVAL = "mcp_approval_request"


@dataclass(frozen=True, slots=True)
class Calling:
    """One call that waits for the user, as it stands."""

    thread: Thread
    place: Place
    event: ToolCall
    #: What was filled in, by the name of a control, and what is wrong with it.
    filled: Mapping[str, str] = field(default_factory=dict)
    error: str = ""

    @property
    def run(self) -> Run:
        """The run whose agent calls."""
        return self.thread.run

    @property
    def agent(self) -> Agent | None:
        """Who calls; None once the agent is deleted, and then nobody can be answered."""
        return self.run.agent

    @property
    def anchor(self) -> str:
        """The id of the entry; ids of what is in it begin with it."""
        return self.thread.anchor(self.place)

    @property
    def is_approval(self) -> bool:
        """Whether a yes or a no is asked for, and not what a function returned."""
        return self.event.kind == APPROVAL

    @property
    def is_json(self) -> bool:
        """Whether what is filled in is meant as JSON."""
        return self.filled.get("format") == "json"

    @property
    def answers(self) -> list[Other]:
        """The turns that answered, oldest first."""
        return [Other(run) for run in self.thread.runs_at(self.place, RunKind.ASK, RunKind.ANSWER)]


def calling_of(joined: Joined, thread: Thread, place: Place) -> Calling | None:
    """The call that a message makes, None where the client has nothing to do about it.

    As long as the reply goes on, its output may still come with it.
    """
    call, run = joined.call, thread.run
    if call is None or call.kind not in ASKING or joined.output is not None:
        return None
    return Calling(thread, place, call) if run.is_final and run.is_turn else None


def context_of(joined: Joined, thread: Thread) -> dict[str, Any]:
    """What the templates of a message need beyond its entry."""
    caller = joined.caller
    return {
        "speech": Speech(joined, thread.run.is_final),
        "calling": calling_of(joined, thread, joined.home),
        "caller_anchor": thread.anchor(caller.home) if caller else "",
    }
