"""Conversations: runs that belong together, and what the next request of one carries."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models

from playground.models.ownership import OwnedQuerySet
from playground.protocols import registry

if TYPE_CHECKING:
    from playground.models.runs import Run

#: Turns that are walked back at most: what a conversation carries has to end somewhere.
MAX_TURNS = 200


class Conversation(models.Model):
    """A tree of turns: every request follows one before it, or starts the conversation."""

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
    """One turn of a branch, and what became of the session context in it."""

    run: Run
    #: 1 for the first turn of the conversation.
    number: int
    #: The session context that the request carried; None where it carried none.
    sent_session_context: Any
    #: The latest session context that the agent returned in this turn, checks on a promise
    #: included; None where it returned none.
    returned_session_context: Mapping[str, Any] | None
    #: What a request that follows this turn carries; None for nothing.
    next_session_context: Mapping[str, Any] | None
    #: Why that: `latest`, `edited`, `off`, or `nothing` where there is nothing to give back.
    session_mode: str
    #: How many turns follow directly on the one before this: more than one is a branching.
    siblings: int = 1

    @property
    def query(self) -> str:
        """The query's text, "" where the request has none."""
        return registry.query_text(self.run.protocol, self.run.request)


def turn_of(run: Run) -> Run:
    """The turn that a run is, or that a check or an action belongs to."""
    while not run.is_turn and run.parent is not None:
        run = run.parent
    return run


def branch_to(run: Run) -> list[Turn]:
    """The turns of the branch that ends with `run`, oldest first.

    For a child run (a check, an action) the branch is that of the turn it belongs to.
    """
    path = _path(run)
    latest = _latest_contexts(path)
    siblings = _siblings(path)
    turns: list[Turn] = []
    echo: Mapping[str, Any] | None = None
    mode = "nothing"
    for number, each in enumerate(path, 1):
        returned = latest.get(each.pk)
        sent = registry.session_context(each.protocol, each.request, None)
        current = registry.session_context(each.protocol, each.request, returned)
        echo, mode = _echo(each, current if isinstance(current, Mapping) else None, echo, mode)
        turns.append(Turn(each, number, sent, returned, echo, mode, siblings.get(each.pk, 1)))
    return turns


def branch_queries(turns: list[Turn]) -> list[str]:
    """The queries so far: what `context.prev` of the next request holds."""
    return [turn.query for turn in turns if turn.query]


def _path(run: Run) -> list[Run]:
    """The turns from the first one to `run`. A few queries, however long the conversation."""
    turn = turn_of(run)
    if turn.conversation_id is None:
        return [turn]
    everything = type(run).objects.filter(conversation=turn.conversation_id)
    # With their trackers: what became of a promise is told for every turn.
    newest = everything.turns().select_related("polled_promise").order_by("-created_at")
    known = {each.pk: each for each in newest[: 10 * MAX_TURNS]}
    # An answer can follow on a check, where what was promised turned out to be a question.
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
    """The latest session context of each turn, by its key."""
    found = {run.pk: run.session_context for run in path}
    children = type(path[0]).objects.filter(parent__in=path, kind__in=("check", "cancel"))
    for child in children.order_by("created_at"):
        if isinstance(child.session_context, Mapping):
            found[child.parent_id] = child.session_context
    return {pk: context for pk, context in found.items() if isinstance(context, Mapping)}


def _siblings(path: list[Run]) -> dict[Any, int]:
    parents = [run.parent_id for run in path if run.parent_id]
    counts = (
        type(path[0])
        .objects.turns()
        .filter(parent__in=parents)
        .order_by()
        .values_list("parent")
        .annotate(count=models.Count("pk"))
    )
    by_parent = dict(counts)
    return {run.pk: by_parent.get(run.parent_id, 1) for run in path}


def _echo(
    run: Run,
    current: Mapping[str, Any] | None,
    before: Mapping[str, Any] | None,
    mode: str,
) -> tuple[Mapping[str, Any] | None, str]:
    """What follows `run` carries: the user's word first, then the latest that came.

    Not echoing stays until it is taken back; an edited context lasts until a newer one comes.
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
