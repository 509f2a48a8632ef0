"""From a prepared request to a run that can be driven: linked, limited, recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils import timezone

from playground.engine.request import PreparedRequest, keepable
from playground.models import Conversation, Run, RunKind, RunState
from playground.models.json_text import storable
from playground.models.liveness import mark_interrupted, this_driver
from playground.protocols import registry
from playground.protocols.exchange import Target
from playground.protocols.problems import Problem, Stage


@dataclass(frozen=True, slots=True)
class RunParent:
    """Where a run belongs: the turn that it follows, or the entry of it that it came of."""

    kind: RunKind = RunKind.ASK
    parent: Run | None = None
    #: Number and part of the parent's entry: the question, the promise, the card.
    seq: int | None = None
    part: int | None = None
    #: What was answered, {question id: value}.
    answers: Mapping[str, Any] | None = None


def create_run(
    prepared: PreparedRequest,
    owner: User | None = None,
    link: RunParent | None = None,
    *,
    has_room: bool = False,
) -> Run:
    """Record a run of `prepared` for `owner`; it is refused at once when too many are under way.

    Without a `link` to a turn before it, it starts a conversation. With `has_room` somebody has
    looked already that there are not too many.
    """
    target = prepared.target
    link = link or RunParent()
    run = Run(
        owner=owner,
        conversation=_conversation(link.parent, owner),
        kind=link.kind,
        parent=link.parent,
        parent_entry_seq=link.seq,
        parent_entry_part=link.part,
        answers=dict(link.answers) if link.answers is not None else None,
        agent=prepared.agent if prepared.agent.pk else None,
        agent_name=prepared.agent.name,
        url=prepared.url,
        protocol=target.protocol,
        binding=target.binding,
        version=target.version,
        request=prepared.request,
        resume=dict(target.resume) if target.resume is not None else None,
        headers=keepable(prepared.headers),
        text=storable(_text(target, prepared.request)[:500]),
        driver=this_driver(),
        heartbeat_at=timezone.now(),
        **prepared.provenance.columns,
    )
    if not has_room and not _has_room(owner, run.kind):
        run.state = RunState.REFUSED
        run.problem = _too_many(settings.RUN_LIMITS.max_runs).to_json()
    run.save()
    return run


def is_at_run_limit(owner: User | None, kind: str = RunKind.ASK) -> bool:
    """Whether as many runs of this kind are under way for `owner` as may be.

    Those of a process that has died count until somebody looks: see `mark_interrupted`.
    """
    return _under_way(owner, kind).count() >= settings.RUN_LIMITS.max_runs


def _has_room(owner: User | None, kind: str) -> bool:
    return not is_at_run_limit(owner, kind) or (
        mark_interrupted() > 0 and not is_at_run_limit(owner, kind)
    )


def _conversation(parent: Run | None, owner: User | None) -> Conversation:
    if parent is not None and parent.conversation is not None:
        return parent.conversation
    conversation = Conversation.objects.create(owner=owner)
    if parent is not None:  # A run from before there were conversations.
        Run.objects.filter(pk=parent.pk).update(conversation=conversation)
        parent.conversation = conversation
    return conversation


#: Kinds that are counted for themselves.
_APART = (RunKind.POLL, RunKind.CLIENT_RESPONSE)


def _under_way(owner: User | None, kind: str) -> QuerySet[Run]:
    """Runs that count against a new one: checks that hang keep nobody from sending.

    Nor does a run that waits for an answer keep its user from giving it.
    """
    runs = Run.objects.unfinished().filter(owner=owner)
    apart = kind if kind in _APART else ""
    return runs.filter(Q(kind=apart) if apart else ~Q(kind__in=_APART))


def _text(target: Target, request: Mapping[str, Any]) -> str:
    if target.protocol == registry.ACTION:
        action = request.get("action")
        return action if isinstance(action, str) else ""
    return registry.request_text(target.protocol, request)


def _too_many(limit: int) -> Problem:
    return Problem(
        state=RunState.REFUSED,
        stage=Stage.LIMIT,
        cause=f"{limit} runs are under way, which is as many as may be at once.",
        fix="Wait for one to end or stop one, or raise PLAYGROUND_MAX_RUNS.",
        limit="max_runs",
    )
