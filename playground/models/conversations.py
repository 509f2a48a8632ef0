"""Conversations: branches of turns, and the session context of the next request."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import models

from playground.models.ownership import OwnedQuerySet
from playground.models.runs import Run
from playground.protocols import registry

#: The most turns of a branch that are read, back from its last one.
MAX_TURNS = 200


class Conversation(models.Model):
    """A tree of turns: every turn follows another one, or starts the conversation."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"conversation {self.pk}"


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a branch, with its session context."""

    run: Run
    #: 1 for the first turn of the conversation.
    number: int
    #: The session context of the request; None without one.
    sent_session_context: Any
    #: The latest session context that the agent returned in this turn, polls included; None
    #: without one.
    returned_session_context: Mapping[str, Any] | None
    #: The session context of a request that follows this turn; None for none.
    next_session_context: Mapping[str, Any] | None
    #: Its source: `latest`, `edited`, `off`, or `nothing` where none was returned.
    session_mode: str
    #: The number of turns that follow the previous one: more than one is a branching.
    siblings: int = 1

    @property
    def query(self) -> str:
        """The text of the query, "" without one."""
        return registry.query_text(self.run.protocol, self.run.request)


def ancestors(run: Run) -> Iterator[Run]:
    """Yield the run and its parents, up to its turn."""
    at: Run | None = run
    while at is not None:
        yield at
        at = None if at.is_turn else at.parent


def turn_of(run: Run) -> Run:
    """Return the run itself if it is a turn, else the turn that the child run belongs to."""
    *_, turn = ancestors(run)
    return turn


def branch_to(run: Run) -> list[Turn]:
    """Return the turns of the branch that ends with `run`, oldest first.

    For a child run (a poll, an action) the branch is that of its turn.
    """
    path = _path(run)
    latest = _latest_contexts(path)
    siblings = _siblings(path)
    turns: list[Turn] = []
    next_context: Mapping[str, Any] | None = None
    mode = "nothing"
    for number, each in enumerate(path, 1):
        returned = latest.get(each.pk)
        sent = registry.session_context(each.protocol, each.request, None)
        current = registry.session_context(each.protocol, each.request, returned)
        current = current if isinstance(current, Mapping) else None
        next_context, mode = _next_context(each, current, next_context, mode)
        following = siblings.get(each.pk, 1)
        turns.append(Turn(each, number, sent, returned, next_context, mode, following))
    return turns


def branch_queries(turns: list[Turn]) -> list[str]:
    """Return the queries so far, for `context.prev` of the next request."""
    return [turn.query for turn in turns if turn.query]


def _path(run: Run) -> list[Run]:
    """Return the turns from the first one to `run`, with a constant number of queries."""
    turn = turn_of(run)
    if turn.conversation_id is None:
        return [turn]
    everything = Run.objects.filter(conversation=turn.conversation_id)
    # With their polled promises: every turn is shown with the status of its promise.
    newest = everything.turns().select_related("polled_promise").order_by("-created_at")
    known = {each.pk: each for each in newest[: 10 * MAX_TURNS]}
    # An answer can follow a poll, if the agent asked a question instead of answering.
    others = dict(everything.exclude(pk__in=known).values_list("pk", "parent"))
    path = [turn]
    while len(path) < MAX_TURNS:
        before = path[-1].parent_id
        while before in others:
            before = others[before]
        if before not in known:
            break
        path.append(known[before])
    return path[::-1]


def _latest_contexts(path: list[Run]) -> dict[Any, Mapping[str, Any]]:
    """Return the latest session context of each turn, by its key."""
    found = {run.pk: run.session_context for run in path}
    children = Run.objects.filter(parent__in=path, kind__in=("check", "cancel"))
    for child in children.order_by("created_at"):
        if isinstance(child.session_context, Mapping):
            found[child.parent_id] = child.session_context
    return {pk: context for pk, context in found.items() if isinstance(context, Mapping)}


def _siblings(path: list[Run]) -> dict[Any, int]:
    parents = [run.parent_id for run in path if run.parent_id]
    counts = (
        Run.objects.turns()
        .filter(parent__in=parents)
        .order_by()
        .values_list("parent")
        .annotate(count=models.Count("pk"))
    )
    by_parent = dict(counts)
    return {run.pk: by_parent.get(run.parent_id, 1) for run in path}


def _next_context(
    run: Run,
    current: Mapping[str, Any] | None,
    before: Mapping[str, Any] | None,
    mode: str,
) -> tuple[Mapping[str, Any] | None, str]:
    """Return the session context after `run`, and its mode: the user's override, or the latest.

    The mode `off` lasts until it is revoked; an edited context until a newer one is returned.
    """
    own = run.session_override if isinstance(run.session_override, Mapping) else {}
    if own.get("mode") == "edited":
        value = own.get("value")
        return (value, "edited") if isinstance(value, Mapping) else (None, "edited")
    if own.get("mode") == "off" or (mode == "off" and own.get("mode") != "latest"):
        return None, "off"
    if current is not None:
        return current, "latest"
    return (before, mode) if before is not None else (None, "nothing")
