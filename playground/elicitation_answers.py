"""Answers to elicitations: the request that sends one, and the run that it is.

Who asks decides how an answer travels:

- NLWeb or the Agent API: as the next request of the conversation, by an answer strategy.
- An MCP server in mid-call: as a client response, into the open call.
- An MCP server that ended the call with its question: the same request again, with what resumes
  its exchange.
- The server or agent of an action: the action again, with what resumes its exchange.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from playground import engine
from playground.elicitation import ElicitationForm
from playground.follow_ups import answer_document
from playground.models import Run, RunKind
from playground.models.elicitation_status import ElicitationStatus
from playground.models.ownership import Owner
from playground.protocols import a2a, registry
from playground.protocols.calls import HttpCall
from playground.protocols.frames import FrameKind
from playground.protocols.mcp import elicitation as mcp
from playground.protocols.origins import same_origin

CALL_ENDED = "The request has ended, so this question can no longer be answered."
ALREADY_ANSWERED = "This question has already been answered."
ORIGIN_CHANGED = "The agent’s URL has changed since the request was sent."
AGENT_DELETED = "The agent that offered the action was deleted."


class NotExpectedError(ValueError):
    """No answer is expected any more; the message says why."""


@dataclass(frozen=True, slots=True)
class ElicitationAnswer:
    """Answer of a user to an elicitation."""

    status: ElicitationStatus
    form: ElicitationForm
    #: Answers by question id.
    values: Mapping[str, Any]
    #: To a binding elicitation: `accept`, `decline` or `cancel`.
    action: str = mcp.ACCEPT
    #: Answer strategy and its template; not used for a binding elicitation.
    strategy: str = ""
    template: str = ""

    @property
    def run(self) -> Run:
        """Return the run whose agent asks."""
        return self.status.run

    @property
    def kind(self) -> RunKind:
        """Return the kind of the run that the answer is."""
        if self.status.is_server_request:
            return RunKind.CLIENT_RESPONSE
        return RunKind.ACTION if self.status.is_of_action else RunKind.ANSWER


def prepare_answer(
    answer: ElicitationAnswer, headers: engine.Headers = ()
) -> engine.PreparedRequest:
    """Return the prepared request that sends an answer, and its problems.

    `headers` are those of the next request of the conversation; an action has its own. Raises
    `TemplateError` for a template that is not a request, and `ValueError` for an unknown strategy.
    """
    if answer.status.is_of_action:
        return _prepare_action(answer)
    if answer.status.is_binding_elicitation:
        return _prepare_resumption(answer, headers)
    document = answer_document(
        answer.run, answer.form, answer.values, answer.strategy, answer.template
    )
    return engine.prepare_follow_up(answer.run, document, headers)


def record_answer(answer: ElicitationAnswer, prepared: engine.PreparedRequest, owner: Owner) -> Run:
    """Record the run of an answer. Raises `NotExpectedError` where one was sent already."""
    parent = engine.RunParent(answer.kind, answer.run, *answer.status.entry_ref, answer.values)
    if answer.kind == RunKind.ANSWER:  # A turn can have any number of follow-ups.
        return engine.create_run(prepared, owner, parent)
    with transaction.atomic():
        # Read again: it may have been answered in another tab, or have ended meanwhile.
        run = Run.objects.select_for_update().get(pk=answer.run.pk)
        now = ElicitationStatus.load(run, answer.status.entry_ref, answer.status.resume)
        if now.is_settled:
            raise NotExpectedError(ALREADY_ANSWERED)
        if now.is_closed:
            raise NotExpectedError(CALL_ENDED)
        return engine.create_run(prepared, owner, parent)


def next_call(answer: ElicitationAnswer, prepared: engine.PreparedRequest) -> HttpCall | None:
    """Return the first call that sends an answer to the server or agent of an action.

    The exchange learns the details of an A2A agent from the run's frames before its first message:
    they hold the agent card.
    """
    if not answer.status.is_task:
        return registry.preview(prepared.target, prepared.request)
    exchange = registry.exchange(prepared.target, prepared.request)
    for frame in answer.run.read_frames():
        if frame.kind is FrameKind.CALL and not frame.data.startswith(b"GET "):
            break
        exchange.receive(frame)
    return exchange.next_call()


def _prepare_resumption(
    answer: ElicitationAnswer, headers: engine.Headers
) -> engine.PreparedRequest:
    """Return the same request, with what resumes its exchange."""
    run = answer.run
    prepared = engine.prepare_follow_up(run, run.request, headers)
    if not prepared.has_call:
        return prepared
    if answer.status.is_server_request:
        # It belongs to the session of the call, so it goes to the same URL.
        if not same_origin(run.url, prepared.target.url):
            prepared.add_error("", ORIGIN_CHANGED)
        prepared = prepared.with_url(run.url)
    resume = mcp.resume_of(answer.status.resume or {}, answer.action, answer.values)
    return prepared.resuming(resume)


def _prepare_action(answer: ElicitationAnswer) -> engine.PreparedRequest:
    """Return the action with what resumes its exchange.

    No credentials are sent: a run does not store those that it was sent with.
    """
    run, question = answer.run, answer.status.resume or {}
    agent = run.target_agent
    if agent is None:
        return engine.refused(AGENT_DELETED)
    if answer.status.is_task:
        resume: dict[str, Any] | None = a2a.resume_of(question, answer.values, _message_id(answer))
    else:
        resume = mcp.resume_of(question, answer.action, answer.values)
    headers = [(name, value) for name, value in run.headers if value]
    return engine.action_request(
        agent, run.request, run.url, binding=run.binding, headers=headers, resume=resume
    )


def _message_id(answer: ElicitationAnswer) -> str:
    """Return the id of the message: the same for its preview, and another for each answer."""
    earlier = len(answer.status.actions)
    return str(uuid.uuid5(answer.run.pk, f"{answer.status.entry_ref}-{earlier}"))
