"""Status of an elicitation: who asks, whether it may still be answered, and its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.models.runs import Run, RunKind, RunState
from playground.protocols import a2a
from playground.protocols.events import EntryRef
from playground.protocols.mcp import elicitation


@dataclass(frozen=True, slots=True)
class ElicitationStatus:
    """An elicitation in a run, with the child runs of its entry."""

    run: Run
    entry_ref: EntryRef
    #: What continues the exchange of a binding elicitation; None for one of NLWeb.
    resume: Mapping[str, Any] | None
    #: Child runs of the entry, oldest first.
    children: Sequence[Run]

    @classmethod
    def load(
        cls, run: Run, entry_ref: EntryRef, resume: Mapping[str, Any] | None
    ) -> ElicitationStatus:
        """Return the status with the child runs that the entry has now."""
        children = run.children.filter(parent_entry_seq=entry_ref[0])
        ordered = children.defer("request", "headers").order_by("created_at")
        at_entry = [child for child in ordered if child.parent_entry == entry_ref]
        return cls(run, entry_ref, resume, at_entry)

    @property
    def is_binding_elicitation(self) -> bool:
        """Return whether MCP or A2A itself asks, and defines how it is answered."""
        return self.resume is not None

    @property
    def is_server_request(self) -> bool:
        """Return whether the call stays open for the answer, instead of being repeated with it."""
        return self._resume_kind() == elicitation.RESPONSE

    @property
    def is_task(self) -> bool:
        """Return whether the answer is the next message of an A2A task."""
        return self._resume_kind() == a2a.KIND

    @property
    def is_of_action(self) -> bool:
        """Return whether the server or agent of an action asks."""
        return self.run.kind == RunKind.ACTION

    @property
    def is_declined(self) -> bool:
        """Return whether the user declined to answer."""
        return declined_key(self.entry_ref) in (self.run.declined_elicitations or [])

    @property
    def is_closed(self) -> bool:
        """Return whether the open call has ended, so that no answer can be sent into it."""
        return self.is_server_request and self.run.is_final

    @property
    def is_settled(self) -> bool:
        """Return whether an answer was received or is being sent, so that no other is accepted."""
        runs = self._children(RunKind.CLIENT_RESPONSE, RunKind.ACTION)
        return any(not run.is_final or run.state == RunState.COMPLETED for run in runs)

    @property
    def answers(self) -> list[Run]:
        """Return the turns that answered, oldest first."""
        return self._children(RunKind.ASK, RunKind.ANSWER)

    @property
    def actions(self) -> list[Run]:
        """Return the actions that were run at the entry, oldest first."""
        return self._children(RunKind.ACTION)

    def _resume_kind(self) -> str:
        return str((self.resume or {}).get("kind"))

    def _children(self, *kinds: RunKind) -> list[Run]:
        return [run for run in self.children if run.kind in kinds]


def declined_key(ref: EntryRef) -> str:
    """Return the name of an entry in `Run.declined_elicitations`."""
    return f"{ref[0]}-{ref[1]}"
