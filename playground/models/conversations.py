"""Conversations: branches of turns, and the session context of the next request.

A conversation is a tree: a turn that is followed twice forks it. A branch is a path through the
tree from the first turn to one that nothing follows.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import models
from django.utils.crypto import salted_hmac

from playground.models.columns import EncryptedJSONField, EncryptedTextField
from playground.models.rows import Owned, OwnedQuerySet
from playground.models.runs import TURNS, Run
from playground.protocols import registry
from playground.protocols.exchange import Target
from playground.protocols.headers import is_credential
from playground.protocols.origins import MAX_URL

#: The most turns that are read before a turn, and after it.
MAX_TURNS = 500


class Conversation(Owned):
    """A tree of turns: every turn follows another one, or starts the conversation."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
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
    #: The keys of the turns that follow the previous one, oldest first, its own included: with
    #: more than one the conversation forks here.
    siblings: Sequence[uuid.UUID] = ()

    @property
    def query(self) -> str:
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
    """Return the turns of the branch up to `run`, oldest first, at most `MAX_TURNS`.

    For a child run (a poll, an action) the branch is that of its turn.
    """
    return _turns(run, onward=False)


def branch_through(run: Run) -> list[Turn]:
    """Return the turns of the branch that `run` is on, oldest first, with those after its turn.

    Where the conversation forks after it, the newest turn is followed. At most `MAX_TURNS` before
    the turn of `run`, and as many after it.
    """
    return _turns(run, onward=True)


def _turns(run: Run, *, onward: bool) -> list[Turn]:
    tree = _Tree.of(turn_of(run))
    path = tree.load(onward=onward)
    latest = _latest_contexts(path)
    turns: list[Turn] = []
    next_context: Mapping[str, Any] | None = None
    mode = "nothing"
    for number, each in enumerate(path, tree.number_of_first):
        returned = latest.get(each.pk)
        sent = each.spec.session_context(each.request, None)
        current = each.spec.session_context(each.request, returned)
        current = current if isinstance(current, Mapping) else None
        next_context, mode = _next_context(each, current, next_context, mode)
        siblings = tree.siblings(each.pk)
        turns.append(Turn(each, number, sent, returned, next_context, mode, siblings))
    return turns


def branch_keys(run: Run) -> tuple[list[uuid.UUID], int]:
    """Return the keys of the turns of `branch_through`, with one query, and the first's number."""
    tree = _Tree.of(turn_of(run))
    return tree.keys(onward=True), tree.number_of_first


def branch_queries(turns: Sequence[Turn]) -> list[str]:
    """Return the queries so far, for `context.prev` of the next request."""
    return [turn.query for turn in turns if turn.query]


@dataclass
class _Tree:
    """The turns of a conversation by their keys, read without what was sent and received."""

    turn: Run
    #: The turn before each turn; None for the first one, and where that was deleted.
    before: dict[uuid.UUID, uuid.UUID | None] = field(default_factory=dict)
    #: The turns after each turn, oldest first.
    after: dict[uuid.UUID, list[uuid.UUID]] = field(default_factory=dict)
    #: The number of the first turn that `keys` returned.
    number_of_first: int = 1

    @classmethod
    def of(cls, turn: Run) -> _Tree:
        """Read the tree around a turn, with one query."""
        tree = cls(turn)
        if turn.conversation_id is None:
            return tree
        everything = Run.objects.filter(conversation=turn.conversation_id).order_by("created_at")
        rows = {
            pk: (parent, kind)
            for pk, parent, kind in everything.values_list("pk", "parent", "kind")
        }
        for pk, (parent, kind) in rows.items():
            if kind not in TURNS:
                continue
            # An answer can follow a poll, if the agent asked a question instead of answering.
            while parent in rows and rows[parent][1] not in TURNS:
                parent = rows[parent][0]
            tree.before[pk] = parent if parent in rows else None
            if tree.before[pk]:
                tree.after.setdefault(parent, []).append(pk)
        return tree

    def keys(self, *, onward: bool) -> list[uuid.UUID]:
        """Return the keys of the turns of the branch: to the turn, or onward through it."""
        back = [self.turn.pk]
        while before := self.before.get(back[-1]):
            back.append(before)
        self.number_of_first = max(1, len(back) - MAX_TURNS + 1)
        keys = back[:MAX_TURNS][::-1]
        if onward:
            while len(keys) < 2 * MAX_TURNS and (after := self.after.get(keys[-1])):
                keys.append(after[-1])
        return keys

    def load(self, *, onward: bool) -> list[Run]:
        """Return the turns of the branch, oldest first: to the turn, or onward through it."""
        keys = self.keys(onward=onward)
        others = [pk for pk in keys if pk != self.turn.pk]
        # With their polled promises: every turn is shown with the status of its promise.
        found = Run.objects.select_related("polled_promise").in_bulk(others) if others else {}
        found[self.turn.pk] = self.turn
        return [found[pk] for pk in keys if pk in found]

    def siblings(self, pk: uuid.UUID) -> Sequence[uuid.UUID]:
        """Return the turns after the turn before this one, itself included."""
        before = self.before.get(pk)
        return self.after[before] if before else [pk]


def _latest_contexts(path: list[Run]) -> dict[Any, Mapping[str, Any]]:
    """Return the latest session context of each turn, by its key."""
    found = {run.pk: run.session_context for run in path}
    children = Run.objects.filter(parent__in=path, kind__in=("check", "cancel"))
    rows = children.order_by("created_at").values_list("parent", "session_context")
    found |= {parent: context for parent, context in rows if isinstance(context, Mapping)}
    return {pk: context for pk, context in found.items() if isinstance(context, Mapping)}


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


# MCP sessions, which conversations have with servers (up to 2025-11-25)

#: Characters of a version that are stored.
MAX_VERSION = 40


class McpSession(models.Model):
    """A session that a server keeps until it is ended."""

    #: None once the conversation was deleted: the session is then ended.
    conversation = models.ForeignKey(
        Conversation, null=True, on_delete=models.SET_NULL, related_name="mcp_sessions"
    )
    url = models.CharField("URL", max_length=MAX_URL)
    #: Digest of URL, credentials and the version to use: see `key_of`.
    key = models.CharField(max_length=64)
    version = models.CharField(max_length=MAX_VERSION)
    #: Encrypted: it gives access to the session.
    session_id = EncryptedTextField()
    #: The headers of the call that ends it, as [[name, value], ...].
    headers = EncryptedJSONField(default=list)
    used_at = models.DateTimeField()

    class Meta:
        ordering = ["-used_at"]
        indexes = [models.Index(fields=["used_at"], name="mcp_session_used_at")]

    def __str__(self) -> str:
        return f"MCP session at {self.url}"


def key_of(target: Target) -> str:
    """Return the digest of what a session is valid for.

    A session must not be used with other credentials than those that opened it.
    """
    credentials = sorted(pair for pair in target.headers if is_credential(pair[0]))
    value = json.dumps([target.url, target.mcp_version, credentials])
    return salted_hmac("playground.mcp_session", value, algorithm="sha256").hexdigest()
