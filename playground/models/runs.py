"""Runs: one request to one agent, with its state, its counts and its frames; and twins of runs."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

from django.db import models
from django.urls import reverse

from playground.models.agents import Agent
from playground.models.columns import (
    OBJECT,
    OBJECTS,
    PAIRS,
    TEXTS,
    EncryptedJSONField,
    JSONTextField,
)
from playground.models.frames import FrameBatch
from playground.models.rows import Owned, OwnedQuerySet, WeakForeignKey
from playground.protocols import registry
from playground.protocols.events import Outcome
from playground.protocols.frames import Frame
from playground.protocols.origins import MAX_URL, origin_of
from playground.protocols.registry import ProtocolSpec

#: Frame batches in memory at once while a run is read.
CHUNK = 50


class RunState(models.TextChoices):
    """The state of the transfer; its transitions are in `playground.engine.driver`."""

    QUEUED = "queued", "Queued"
    CONNECTING = "connecting", "Connecting"
    STREAMING = "streaming", "Streaming"
    COMPLETED = "completed", "Completed"
    TRUNCATED = "truncated", "Truncated"
    FAILED = "failed", "Failed"
    REFUSED = "refused", "Refused"
    CANCELLED = "cancelled", "Cancelled"
    INTERRUPTED = "interrupted", "Interrupted"

    @property
    def is_final(self) -> bool:
        return self not in _UNFINISHED


class RunKind(models.TextChoices):
    """The role of a run in its conversation."""

    ASK = "ask", "Request"
    ANSWER = "answer", "Answer"
    POLL = "check", "Poll"
    CANCEL = "cancel", "Cancellation"
    #: The response to a request that the MCP server made in mid-call.
    CLIENT_RESPONSE = "reply", "Client response"
    ACTION = "action", "Action"


class RunSource(models.TextChoices):
    """The source of a run: a user, a collection run or a recording."""

    USER = "user", "You"
    COLLECTION = "collection", "Collection run"
    #: It was read from a file: a recorded response.
    RECORDING = "recording", "Recording"


#: Kinds of turns; runs of other kinds are child runs.
TURNS = (RunKind.ASK, RunKind.ANSWER)

_UNFINISHED = (RunState.QUEUED, RunState.CONNECTING, RunState.STREAMING)

#: Columns of a request, which can be large.
REQUEST_COLUMNS = (
    "request", "headers", "request_template", "expectations", "answers", "resume",
)  # fmt: skip

#: The states of the index of bytes, as its migration has them.
FINAL_STATES = tuple(state.value for state in RunState if state.is_final)


#: The most words of a search that are used.
MAX_WORDS = 10


class RunQuerySet(OwnedQuerySet):
    """Queries over runs."""

    def unfinished(self) -> RunQuerySet:
        """Return the runs in progress, and those whose process died."""
        return self.filter(state__in=_UNFINISHED)

    def turns(self) -> RunQuerySet:
        return self.filter(kind__in=TURNS)

    def with_related(self) -> RunQuerySet:
        """Annotate whether a run has child runs, follow-ups or a polled promise."""
        children = Run.objects.filter(parent=models.OuterRef("pk"))
        promises = Run.objects.filter(polled_promise__run=models.OuterRef("pk"))
        has_related = models.Exists(children) | models.Exists(promises)
        found: RunQuerySet = self.annotate(
            has_related=models.ExpressionWrapper(has_related, models.BooleanField())
        )
        return found

    def search(self, words: str) -> RunQuerySet:
        """Return the runs whose query, agent, state or outcome matches every one of the words."""
        found = self
        for word in words.split()[:MAX_WORDS]:
            contains = models.Q(text__icontains=word) | models.Q(agent_name__icontains=word)
            found = found.filter(
                contains | models.Q(state__iexact=word) | models.Q(outcome__iexact=word)
            )
        return found


class Run(Owned):
    """One request sent to one agent, and everything that was received."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    #: None where it was sent to a URL, and once the agent was deleted; the run has copies of what
    #: it needs of it.
    agent = models.ForeignKey(Agent, null=True, blank=True, on_delete=models.SET_NULL)
    conversation = models.ForeignKey(
        "playground.Conversation",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="runs",
    )
    kind = models.CharField(max_length=8, choices=RunKind, default=RunKind.ASK)
    #: The turn that this one follows, or that a child run belongs to.
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="children"
    )
    #: The entry of the parent that it belongs to: the question, the promise, the card.
    parent_entry_seq = models.PositiveIntegerField(null=True, blank=True)
    parent_entry_part = models.PositiveIntegerField(null=True, blank=True)
    #: Whether it was sent to a URL without an agent: then `target_agent` represents that URL.
    sent_to_url = models.BooleanField(default=False)
    agent_name = models.CharField(max_length=80)
    url = models.CharField(max_length=MAX_URL)
    protocol = models.CharField(max_length=20)
    binding = models.CharField(max_length=10)
    version = models.CharField(max_length=10)
    #: The request document, with placeholders of secrets.
    request = JSONTextField()
    #: Of a run that was sent to a URL: the handshake and the detected settings, as an `Agent` keeps
    #: them.
    handshake = EncryptedJSONField(default=dict, blank=True, editable=False, shape=OBJECT)
    detected = JSONTextField(null=True, blank=True, editable=False)
    #: The request's own headers, as [[name, value], ...], without credentials.
    headers = JSONTextField(default=list, blank=True, shape=PAIRS)
    #: The saved request that it was made from.
    saved_request = WeakForeignKey(
        "playground.SavedRequest", null=True, blank=True, on_delete=models.SET_NULL,
        related_name="runs",
    )  # fmt: skip
    source = models.CharField(max_length=10, choices=RunSource, default=RunSource.USER)
    #: The request template, where variables were substituted: {"document", "headers", "address",
    #: "auth"}, as the user wrote them. None where there was nothing to substitute.
    request_template = JSONTextField(null=True, blank=True)
    #: The slug of the environment that the variables came from; "" for none.
    environment = models.CharField(max_length=130, blank=True)
    #: Names of the secrets that were sent. `request` and `headers` hold their placeholders.
    secret_names = JSONTextField(default=list, blank=True, shape=TEXTS)
    #: The expectations when it was sent: see `playground.expectations`.
    expectations = JSONTextField(default=list, blank=True, shape=OBJECTS)
    #: The text of the query, which the history shows and searches.
    text = models.CharField(max_length=500, blank=True)

    state = models.CharField(max_length=12, choices=RunState, default=RunState.QUEUED)
    outcome = models.CharField(
        max_length=12, choices=[(o.value, o.value.title()) for o in Outcome], default=Outcome.NONE
    )
    #: Why the run did not complete: see `protocols.problems`.
    problem = JSONTextField(null=True, blank=True, shape=OBJECT)
    #: HTTP status of the latest response, None without one.
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    #: Retry-After of the latest response, as received.
    retry_after = models.CharField(max_length=60, blank=True)
    session_context = JSONTextField(null=True, blank=True)
    #: The answer to a question of the binding itself: see `protocols.exchange.Target.resume`.
    resume = JSONTextField(null=True, blank=True)
    #: The answers to the parent's questions, {question id: value}.
    answers = JSONTextField(null=True, blank=True, shape=OBJECT)
    #: The session context of a follow-up request: None for the latest one,
    #: {"mode": "edited", "value": {...} or None}, {"mode": "off"} or {"mode": "latest"}.
    session_override = JSONTextField(null=True, blank=True)
    #: Elicitations that the user declined, as "seq-part".
    declined_elicitations = JSONTextField(default=list, blank=True, shape=TEXTS)

    # Always exact: written in the transaction that stores the frames that they count.
    frames = models.PositiveIntegerField(default=0)
    #: Bytes of the response body.
    bytes = models.PositiveBigIntegerField(default=0)
    #: Bytes of the other frames, such as calls and response heads, and of what was stored with the
    #: run when it was created.
    other_bytes = models.PositiveBigIntegerField(default=0)
    events = models.PositiveIntegerField(default=0)
    results = models.PositiveIntegerField(default=0)
    #: Failures that the agent reported, also those after which it continued.
    failures = models.PositiveIntegerField(default=0)
    #: Entries of the thread, the pinned ones included.
    entries = models.PositiveIntegerField(default=0)
    #: Whether a result came after one with a higher `index` (NLWeb 0.55 section 6.1 allows it).
    out_of_order = models.BooleanField(default=False)
    #: Whether the response had the event that terminates it: `complete` of NLWeb. Runs of before
    #: this was counted have it.
    terminated = models.BooleanField(default=True)

    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    started_at = models.DateTimeField(null=True, blank=True)
    # Microseconds since started_at, None if it did not happen.
    headers_us = models.PositiveBigIntegerField(null=True, blank=True)
    first_event_us = models.PositiveBigIntegerField(null=True, blank=True)
    ended_us = models.PositiveBigIntegerField(null=True, blank=True)

    #: Set by another process than the one that drives the run, to stop it.
    stop_requested = models.BooleanField(default=False)
    #: The process that drives it, and its latest heartbeat: see `playground.models.driving`.
    driver = models.CharField(max_length=120, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["owner", "-created_at"], name="run_history"),
            models.Index(fields=["owner", "agent", "-created_at"], name="run_history_agent"),
            models.Index(fields=["owner", "state", "-created_at"], name="run_history_state"),
            models.Index(fields=["owner", "outcome", "-created_at"], name="run_history_outcome"),
            models.Index(fields=["owner", "source", "-created_at"], name="run_history_source"),
            models.Index(fields=["state"], name="run_state"),
            models.Index(fields=["conversation", "created_at"], name="run_conversation"),
            # The bytes of an owner's runs. Only of runs that have ended: the columns of others
            # change with every flush, and the index would have to be changed with them.
            models.Index(
                fields=["owner", "state", "bytes", "other_bytes", "frames"],
                name="run_bytes",
                condition=models.Q(state__in=FINAL_STATES),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.text or 'run'} → {self.agent_name}"

    def get_absolute_url(self) -> str:
        return reverse("run", args=[self.pk])

    @property
    def is_final(self) -> bool:
        return self.state not in _UNFINISHED

    @property
    def is_recorded(self) -> bool:
        return self.source == RunSource.RECORDING

    @property
    def is_turn(self) -> bool:
        return self.kind in TURNS

    @property
    def has_secrets(self) -> bool:
        """Whether it was sent with secrets of an environment, or with credentials of its own."""
        return bool(self.secret_names or (self.request_template or {}).get("auth"))

    @property
    def target_agent(self) -> Agent | None:
        """The agent that requests after this run are sent to; None if it was deleted.

        Of a run that was sent to a URL, it is an agent with that URL, which is not saved.
        """
        if self.agent is not None or not self.sent_to_url:
            return self.agent
        return Agent(
            owner_id=self.owner_id,
            name=self.agent_name,
            url=self.url,
            protocol=registry.known(self.protocol),
            binding=self.binding,
            version=self.version,
            handshake=self.handshake,
            detected=self.detected,
        )

    @property
    def spec(self) -> ProtocolSpec:
        """Return the row of its protocol; that of the default for an action."""
        return registry.spec(self.protocol)

    @property
    def declares_end(self) -> bool:
        return self.protocol != registry.ACTION and bool(self.spec.last_event)

    @property
    def recipient(self) -> str:
        """Return the name of the agent; of an action the host that gets the request."""
        host = origin_of(self.url).partition("://")[2] if self.kind == RunKind.ACTION else ""
        return host or self.agent_name

    @property
    def loads_pictures(self) -> bool:
        """Return whether pictures named in the response are loaded without a click."""
        return self.agent is not None and self.agent.load_pictures

    @property
    def can_be_continued(self) -> bool:
        return self.agent_id is not None or self.sent_to_url

    @property
    def parent_entry(self) -> tuple[int, int] | None:
        """The entry reference of the parent's entry that the run belongs to, as (seq, part)."""
        if self.parent_entry_seq is None:
            return None
        return self.parent_entry_seq, self.parent_entry_part or 0

    @property
    def viewer_groups(self) -> tuple[str, ...]:
        """The channel-layer groups to notify: of the run and of its parents up to the turn.

        Only of parents that are loaded: a notification must not query, and a viewer that is not
        notified reads the database after a moment.
        """
        found = [self.group]
        run: Run | None = self
        while run is not None and not run.is_turn and run.parent_id is not None:
            found.append(group_of(run.parent_id))
            run = run._state.fields_cache.get("parent")
        return tuple(found)

    @property
    def group(self) -> str:
        """The channel-layer group that is notified when frames were stored."""
        return group_of(self.pk)

    def read_frames(self, after: int = 0) -> Iterator[Frame]:
        """Yield the stored frames numbered above `after`, in order."""
        for batch in self.batches(last__gt=after):
            for frame in batch.frames():
                if frame.seq > after:
                    yield frame

    def batches(self, **conditions: Any) -> Iterator[FrameBatch]:
        """Return the frame batches that meet the conditions, in order, few in memory at a time."""
        return self.frame_batches.filter(**conditions).order_by("first").iterator(CHUNK)

    def describe_target(self) -> dict[str, Any]:
        """Return the fields of a `Target` with which the frames of this run are read again."""
        return {
            "url": self.url,
            "protocol": self.protocol,
            "binding": self.binding,
            "version": self.version,
        }


def group_of(pk: uuid.UUID) -> str:
    return f"run.{pk.hex}"


class Twin(Owned):
    """Two runs of one request: over two bindings, to two agents, or in two versions."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    left = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    right = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.left} and {self.right}"

    def get_absolute_url(self) -> str:
        return reverse("twin", args=[self.pk])
