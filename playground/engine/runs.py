"""Creation of runs: the record of a prepared request, its conversation and its limits."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from playground.engine.request import PreparedRequest, storable_headers
from playground.engine.retention import delete
from playground.models import Conversation, Run, RunKind, RunState
from playground.models.columns import storable, text_bytes
from playground.models.driving import driver_columns, mark_interrupted
from playground.models.runs import REQUEST_COLUMNS
from playground.models.storage import MAKE_ROOM, no_room
from playground.protocols import lenient, registry
from playground.protocols.exchange import Target
from playground.protocols.problems import Problem, Stage

#: Bytes of a request document that is stored although there is no room.
MAX_REFUSED_REQUEST = 1024
#: Runs of an owner that are stored although there is no room, the latest ones.
MAX_REFUSED_RUNS = 10
#: Set when this process shuts down.
_refusing = threading.Event()


class ShuttingDownError(Exception):
    """The process is shutting down and starts no new runs."""


def refuse_new_runs() -> None:
    _refusing.set()


def refuses_new_runs() -> bool:
    return _refusing.is_set()


def check_accepting_runs() -> None:
    if refuses_new_runs():
        raise ShuttingDownError


@dataclass(frozen=True, slots=True)
class RunParent:
    """The parent of a run: the turn that it follows, or the entry that it belongs to."""

    kind: RunKind = RunKind.ASK
    parent: Run | None = None
    #: Entry reference of the parent's entry: the question, the promise, the card.
    seq: int | None = None
    part: int | None = None
    #: The answers, {question id: value}.
    answers: Mapping[str, Any] | None = None


def create_run(
    prepared: PreparedRequest,
    owner: User | None = None,
    link: RunParent | None = None,
    *,
    has_room: bool = False,
) -> Run:
    """Record a run of `prepared` for `owner`; beyond a limit it is refused at once.

    Without a `link` to a parent it starts a conversation. With `has_room` the caller has checked
    the concurrency limit. Raises `ShuttingDownError` if the process shuts down, except for a
    client response: the call of another run waits for it. If the shutdown begins meanwhile, the
    run is recorded as interrupted.
    """
    target = prepared.target
    link = link or RunParent()
    is_always_accepted = link.kind == RunKind.CLIENT_RESPONSE
    if not is_always_accepted:
        check_accepting_runs()
    run = Run(
        owner=owner,
        conversation=_conversation(link.parent, owner),
        kind=link.kind,
        parent=link.parent,
        parent_entry_seq=link.seq,
        parent_entry_part=link.part,
        answers=dict(link.answers) if link.answers is not None else None,
        agent=prepared.agent if prepared.agent.pk else None,
        sent_to_url=_is_sent_to_url(prepared, link),
        detected=prepared.agent.detected if prepared.agent.pk is None else None,
        agent_name=prepared.agent.name,
        url=prepared.url,
        protocol=target.protocol,
        binding=target.binding,
        version=target.version,
        request=prepared.request,
        resume=dict(target.resume) if target.resume is not None else None,
        headers=storable_headers(prepared.headers),
        text=storable(_text(target, prepared.request)[:500]),
        **driver_columns(),
        **prepared.columns,
    )
    if cause := no_room(owner.pk if owner else None, is_begun=run.kind in _PARTS_OF_A_TURN):
        _refuse_without_room(run, cause)
        delete(_earlier_refused(owner))
    elif not has_room and not _has_room(owner, run.kind):
        run.state = RunState.REFUSED
        cause = f"Too many runs in progress ({settings.RUN_LIMITS.max_runs})."
        fix = "Wait for one to finish, stop one, or raise PLAYGROUND_MAX_RUNS."
        problem = Problem(RunState.REFUSED, Stage.LIMIT, cause, fix, limit="max_runs")
        run.problem = problem.to_json()
    run.other_bytes = text_bytes(run)
    run.save()
    # Again: the process may have ended its runs since, and end before this one is started.
    if refuses_new_runs() and not is_always_accepted and not run.is_final:
        run.state = RunState.INTERRUPTED
        run.save(update_fields=["state"])
    return run


def _refuse_without_room(run: Run, cause: str) -> None:
    """Refuse a run; a large request is not stored, or refused runs would take room themselves."""
    problem = Problem(RunState.REFUSED, Stage.LIMIT, cause, MAKE_ROOM, limit="quota")
    if sum(len(json.dumps(getattr(run, name))) for name in REQUEST_COLUMNS) > MAX_REFUSED_REQUEST:
        problem = replace(problem, detail="The request is too large to be stored with the run.")
        empty = Run(request={})
        for name in REQUEST_COLUMNS:
            setattr(run, name, getattr(empty, name))
    run.state, run.problem = RunState.REFUSED, problem.to_json()


def _earlier_refused(owner: User | None) -> list[UUID]:
    """Return the runs that the quota has refused earlier, without the latest ones."""
    is_quota = Q(cause__contains='"limit": "quota"')
    refused = Run.objects.filter(owner=owner, state=RunState.REFUSED)
    found = refused.annotate(cause=Cast("problem", TextField())).filter(is_quota)
    return list(found.order_by("-created_at").values_list("pk", flat=True)[MAX_REFUSED_RUNS - 1 :])


def _is_sent_to_url(prepared: PreparedRequest, link: RunParent) -> bool:
    """Return whether a request has a URL and no agent, not even one that was deleted."""
    if prepared.agent.pk is not None:
        return False
    is_child = link.parent is not None and link.kind not in (RunKind.ASK, RunKind.ANSWER)
    return link.parent.sent_to_url if is_child and link.parent else True


def is_at_run_limit(owner: User | None, kind: str = RunKind.ASK) -> bool:
    """Return whether `owner` has as many unfinished runs of this kind as allowed.

    Runs of a process that has died count until `mark_interrupted` is called.
    """
    return _unfinished(owner and owner.pk, kind).count() >= settings.RUN_LIMITS.max_runs


def _has_room(owner: User | None, kind: str) -> bool:
    return not is_at_run_limit(owner, kind) or (
        mark_interrupted() > 0 and not is_at_run_limit(owner, kind)
    )


def _conversation(parent: Run | None, owner: User | None) -> Conversation:
    if parent is not None and parent.conversation is not None:
        return parent.conversation
    conversation = Conversation.objects.create(owner=owner)
    if parent is not None:  # A run that is older than conversations.
        Run.objects.filter(pk=parent.pk).update(conversation=conversation)
        parent.conversation = conversation
    return conversation


#: Kinds without which a turn that was admitted is incomplete. They have an allowance beyond the
#: quota, which ends as well: there can be any number of polls and cancellations of a promise, and
#: of responses in a call.
_PARTS_OF_A_TURN = (RunKind.POLL, RunKind.CANCEL, RunKind.CLIENT_RESPONSE)
#: Kinds that are counted separately.
_COUNTED_SEPARATELY = (RunKind.POLL, RunKind.CLIENT_RESPONSE)


@lru_cache(maxsize=64)
def _unfinished(owner: int | None, kind: str) -> QuerySet[Run]:
    """Return the runs that count towards the limit of a new run of the owner with this key.

    Polls that hang do not prevent sending, and a run that waits for an answer does not prevent the
    client response. Cached, because building the query takes as long as counting.
    """
    runs = Run.objects.unfinished().filter(owner=owner)
    separate = kind if kind in _COUNTED_SEPARATELY else ""
    return runs.filter(Q(kind=separate) if separate else ~Q(kind__in=_COUNTED_SEPARATELY))


def _text(target: Target, request: Mapping[str, Any]) -> str:
    if target.protocol == registry.ACTION:
        return lenient.text(request.get("action"))
    return registry.request_text(target.protocol, request)
