"""The next request of a conversation, made of the turns before it: for pages and commands.

What a branch carries comes from the models, how it is put into a document from the protocol
and the ways to answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.elicitation import Form, form_of, next_request
from playground.models import Run
from playground.models.conversations import queries_of, turn_of, turns_to
from playground.protocols import registry
from playground.protocols.agent_api import turns as agent_api
from playground.protocols.events import Elicitation
from playground.reading import readings

__all__ = ["answer_document", "call_document", "elicitation_at", "next_document", "turn_of"]


def next_document(run: Run, text: str = "") -> dict[str, Any]:
    """A request that follows on `run`: its queries so far, and the session context to echo."""
    turns = turns_to(run)
    last = turns[-1]
    return registry.continuation(
        run.protocol, last.run.request, prev=queries_of(turns), session_context=last.echo, text=text
    )


def answer_document(
    run: Run, form: Form, values: Mapping[str, Any], strategy: str, template: str = ""
) -> dict[str, Any]:
    """The request that answers the questions of `run`; `values` by question id.

    Raises `TemplateError` for a template that makes no request, `ValueError` for an unknown
    strategy.
    """
    turns = turns_to(run)
    last = turns[-1]
    return next_request(
        last.run.request,
        form,
        values,
        strategy,
        prev=queries_of(turns),
        session_context=last.echo,
        template=template,
    )


def call_document(run: Run, replies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The request that answers the calls of `run`: a message for each of them, in their order."""
    last = turns_to(run)[-1]
    return agent_api.following(last.run.request, replies, last.echo)


def elicitation_at(run: Run, seq: int, part: int) -> Form | None:
    """The questions at a place of `run` as a form, None where there are none."""
    for frame, events in readings(run, after=seq - 1):
        if frame.seq != seq or part >= len(events):
            return None
        event = events[part]
        return form_of(event) if isinstance(event, Elicitation) else None
    return None
