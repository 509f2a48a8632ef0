"""Follow-up requests: the next request document of a conversation, from the turns before it.

For views and commands. The state of a branch comes from the models, its form in a document from
the protocol and the answer strategies.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from playground.elicitation.form import ElicitationForm, build_form
from playground.elicitation.strategies import next_request, omissions
from playground.models import Run
from playground.models.conversations import branch_queries, branch_to
from playground.models.runs import TURNS
from playground.protocols import registry
from playground.protocols.events import Elicitation, EntryRef
from playground.protocols.raw import document_of
from playground.stored_runs import event_at


def follow_up_document(run: Run, text: str = "") -> dict[str, Any]:
    """Return a follow-up to `run`, with the previous queries and the session context."""
    turns = branch_to(run)
    last = turns[-1]
    row = registry.of(last.run.protocol)  # That of the turn, also for an action in it.
    document = row.follow_up_document(
        document_of(last.run.request),
        prev=branch_queries(turns),
        session_context=last.next_session_context,
        text=text,
    )
    return _with_own_request_id(last.run, document)


def follow_up_omissions(run: Run) -> list[str]:
    turns = branch_to(run)
    last = turns[-1].run
    sentence = last.spec.omitted_previous(document_of(last.request), branch_queries(turns))
    return [sentence] if sentence else []


def answer_document(
    run: Run, form: ElicitationForm, values: Mapping[str, Any], strategy: str, template: str = ""
) -> dict[str, Any]:
    """Return the request that answers the questions of `run`; `values` by question id.

    Raises `TemplateError` for a template that is not a request, `ValueError` for an unknown
    strategy.
    """
    turns = branch_to(run)
    last = turns[-1]
    document = next_request(
        document_of(last.run.request),
        form,
        values,
        strategy,
        prev=branch_queries(turns),
        session_context=last.next_session_context,
        template=template,
    )
    return document if strategy == "template" else _with_own_request_id(last.run, document)


def answer_omissions(run: Run, strategy: str) -> list[str]:
    """Return sentences about what an answer to `run` omits, or sends in another place."""
    turns = branch_to(run)
    return omissions(document_of(turns[-1].run.request), strategy, prev=branch_queries(turns))


def _with_own_request_id(turn: Run, document: dict[str, Any]) -> dict[str, Any]:
    """Return a follow-up with a unique request id: the same for its preview and when it is sent.

    It changes with every turn that follows.
    """
    turns = turn.children.filter(kind__in=TURNS).order_by("-created_at")
    newest = turns.values_list("pk", flat=True).first() or turn.pk
    return turn.spec.with_request_id(document, str(uuid.uuid5(newest, "request")))


def tool_output_document(run: Run, replies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the request with the outputs of the tool calls of `run`, in their order."""
    last = branch_to(run)[-1]
    document = document_of(last.run.request)
    return last.run.spec.with_messages(document, replies, last.next_session_context)


def elicitation_at(run: Run, ref: EntryRef) -> ElicitationForm | None:
    """Return the form of the elicitation at an entry of `run`, None without one."""
    event = event_at(run, ref)
    return build_form(event) if isinstance(event, Elicitation) else None
