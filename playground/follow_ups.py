"""The next request of a conversation, made of the turns before it: for pages and commands.

What a branch carries comes from the models, how it is put into a document from the protocol
and the ways to answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.elicitation import ElicitationForm, build_form, next_request
from playground.models import Run
from playground.models.conversations import branch_queries, branch_to, turn_of
from playground.protocols import registry
from playground.protocols.agent_api import turns as agent_api
from playground.protocols.events import Elicitation
from playground.reading import read_events

__all__ = [
    "answer_document",
    "elicitation_at",
    "follow_up_document",
    "tool_output_document",
    "turn_of",
]


def follow_up_document(run: Run, text: str = "") -> dict[str, Any]:
    """A request that follows on `run`: its queries so far, and the session context to echo."""
    turns = branch_to(run)
    last = turns[-1]
    return registry.follow_up_document(
        run.protocol,
        last.run.request,
        prev=branch_queries(turns),
        session_context=last.next_session_context,
        text=text,
    )


def answer_document(
    run: Run, form: ElicitationForm, values: Mapping[str, Any], strategy: str, template: str = ""
) -> dict[str, Any]:
    """The request that answers the questions of `run`; `values` by question id.

    Raises `TemplateError` for a template that makes no request, `ValueError` for an unknown
    strategy.
    """
    turns = branch_to(run)
    last = turns[-1]
    return next_request(
        last.run.request,
        form,
        values,
        strategy,
        prev=branch_queries(turns),
        session_context=last.next_session_context,
        template=template,
    )


def tool_output_document(run: Run, replies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The request that answers the calls of `run`: a message for each of them, in their order."""
    last = branch_to(run)[-1]
    return agent_api.with_input(last.run.request, replies, last.next_session_context)


def elicitation_at(run: Run, seq: int, part: int) -> ElicitationForm | None:
    """The questions at a place of `run` as a form, None where there are none."""
    for frame, events in read_events(run, after=seq - 1):
        if frame.seq != seq or part >= len(events):
            return None
        event = events[part]
        return build_form(event) if isinstance(event, Elicitation) else None
    return None
