"""Runs and their frames."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.urls import reverse

from playground.models.agents import Agent
from playground.models.conversations import Conversation
from playground.models.json_text import JSONTextField
from playground.models.ownership import OwnedQuerySet
from playground.protocols.events import Outcome
from playground.protocols.frames import Frame

if TYPE_CHECKING:
    from playground.models.frames import FrameBatch

#: Batches of frames that are held in memory at once while a run is read.
CHUNK = 50


class RunState(models.TextChoices):
    """How the transfer went. The transitions are in `playground.engine.states`."""

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
        """Whether nothing more will come."""
        return self not in _UNFINISHED


class RunKind(models.TextChoices):
    """What a run is in its conversation."""

    ASK = "ask", "Request"
    ANSWER = "answer", "Answer"
    POLL = "check", "Check"
    CANCEL = "cancel", "Cancellation"
    #: The answer to a question that the run's binding asked in mid-call.
    CLIENT_RESPONSE = "reply", "Reply"
    ACTION = "action", "Action"


class RunSource(models.TextChoices):
    """What a run was made by."""

    USER = "user", "You"
    COLLECTION = "collection", "A collection run"
    #: It came from a file (a recorded reply, a HAR) and not over the wire.
    RECORDING = "recording", "A recording"


#: Kinds that move a conversation on; the others belong to one of these.
_TURNS = (RunKind.ASK, RunKind.ANSWER)

_UNFINISHED = (RunState.QUEUED, RunState.CONNECTING, RunState.STREAMING)


#: Words of a search that count.
MAX_WORDS = 10


class RunQuerySet(OwnedQuerySet):
    """Queries over runs."""

    def unfinished(self) -> RunQuerySet:
        """Runs that are under way, or whose process died under them."""
        return self.filter(state__in=_UNFINISHED)

    def turns(self) -> RunQuerySet:
        """Runs that move a conversation on."""
        return self.filter(kind__in=_TURNS)

    def with_related(self) -> RunQuerySet:
        """Runs that know whether other runs, or a promise that is followed, came of them."""
        children = Run.objects.filter(parent=models.OuterRef("pk"))
        trackers = Run.objects.filter(polled_promise__run=models.OuterRef("pk"))
        kin = models.Exists(children) | models.Exists(trackers)
        found: RunQuerySet = self.annotate(
            has_kin=models.ExpressionWrapper(kin, models.BooleanField())
        )
        return found

    def search(self, words: str) -> RunQuerySet:
        """Runs whose query, agent or state contains every one of the words."""
        found = self
        for word in words.split()[:MAX_WORDS]:
            found = found.filter(
                _contains(word) | models.Q(state__iexact=word) | models.Q(outcome__iexact=word)
            )
        return found

    def containing(self, word: str) -> RunQuerySet:
        """Runs whose query or agent contains the word."""
        return self.filter(_contains(word))


def _contains(word: str) -> models.Q:
    return models.Q(text__icontains=word) | models.Q(agent_name__icontains=word)


class Run(models.Model):
    """One request sent to one agent, and all that came back."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )
    #: None once the agent is deleted; what the run needs of it is copied below.
    agent = models.ForeignKey(Agent, null=True, blank=True, on_delete=models.SET_NULL)
    conversation = models.ForeignKey(
        Conversation, null=True, blank=True, on_delete=models.CASCADE, related_name="runs"
    )
    kind = models.CharField(max_length=8, choices=RunKind, default=RunKind.ASK)
    #: The turn that this one follows, or that a check or an action belongs to.
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="children"
    )
    #: The entry of the parent that it came of: the question, the promise, the card.
    parent_entry_seq = models.PositiveIntegerField(null=True, blank=True)
    parent_entry_part = models.PositiveIntegerField(null=True, blank=True)
    agent_name = models.CharField(max_length=80)
    url = models.CharField(max_length=2000)
    protocol = models.CharField(max_length=20)
    binding = models.CharField(max_length=10)
    version = models.CharField(max_length=10)
    #: The document as the user composed it.
    request = JSONTextField()
    #: The request's own headers, as [[name, value], ...]; secrets are not kept here.
    headers = JSONTextField(default=list, blank=True)
    #: The saved request that it was made of.
    saved_request = models.ForeignKey(
        "playground.SavedRequest", null=True, blank=True, on_delete=models.SET_NULL,
        related_name="runs",
    )  # fmt: skip
    source = models.CharField(max_length=10, choices=RunSource, default=RunSource.USER)
    #: What the user composed where variables made something else of it: {"document", "headers",
    #: "address", "auth"}, as the user wrote them. None where there was nothing to substitute.
    request_template = JSONTextField(null=True, blank=True)
    #: The slug of the environment that the variables came from; "" for none.
    environment = models.CharField(max_length=130, blank=True)
    #: Names of the secrets that went along. `request` and `headers` hold their placeholders.
    secret_names = JSONTextField(default=list, blank=True)
    #: What was expected when it was sent: see `playground.expectations`.
    expectations = JSONTextField(default=list, blank=True)
    #: What the history shows and searches: the query's text.
    text = models.CharField(max_length=500, blank=True)

    state = models.CharField(max_length=12, choices=RunState, default=RunState.QUEUED)
    outcome = models.CharField(
        max_length=12, choices=[(o.value, o.value.title()) for o in Outcome], default=Outcome.NONE
    )
    #: Why the run ended as it did, where that is not "completed": see `protocols.problems`.
    problem = JSONTextField(null=True, blank=True)
    #: HTTP status of the latest response, None where there was none.
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    #: The latest response's Retry-After, as it came.
    retry_after = models.CharField(max_length=60, blank=True)
    session_context = JSONTextField(null=True, blank=True)
    #: The answer to a question of the binding itself: see `protocols.exchange.Target.resume`.
    resume = JSONTextField(null=True, blank=True)
    #: What was answered to the parent's questions, {question id: value}.
    answers = JSONTextField(null=True, blank=True)
    #: What a request that follows carries as session context: None for the latest that came,
    #: {"mode": "edited", "value": {...} or None}, {"mode": "off"} or {"mode": "latest"}.
    session_override = JSONTextField(null=True, blank=True)
    #: Elicitations that the user declined, as "seq-part".
    declined_elicitations = JSONTextField(default=list, blank=True)

    # Exact at every moment: written in the transaction that stores the frames they count.
    frames = models.PositiveIntegerField(default=0)
    bytes = models.PositiveBigIntegerField(default=0)
    events = models.PositiveIntegerField(default=0)
    results = models.PositiveIntegerField(default=0)
    #: Failures that the agent reported, also those after which it went on.
    failures = models.PositiveIntegerField(default=0)
    #: What the thread shows, the pinned included.
    entries = models.PositiveIntegerField(default=0)
    #: Whether a result came after one with a higher `index` (NLWeb 0.55 section 6.1 allows it).
    out_of_order = models.BooleanField(default=False)

    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    started_at = models.DateTimeField(null=True, blank=True)
    # Microseconds since started_at, None where it never happened.
    headers_us = models.PositiveBigIntegerField(null=True, blank=True)
    first_event_us = models.PositiveBigIntegerField(null=True, blank=True)
    ended_us = models.PositiveBigIntegerField(null=True, blank=True)

    #: Set by a Stop that came in at another process than the one that drives the run.
    stop_requested = models.BooleanField(default=False)
    #: Who drives it (host:pid:start), and when it last showed that it is alive.
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
        ]

    def __str__(self) -> str:
        return f"{self.text or 'run'} → {self.agent_name}"

    def get_absolute_url(self) -> str:
        """The workbench, opened on this run."""
        return reverse("run", args=[self.pk])

    @property
    def is_final(self) -> bool:
        """Whether nothing more will come."""
        return RunState(self.state).is_final

    @property
    def is_recorded(self) -> bool:
        """Whether nothing was sent: it came from a file."""
        return self.source == RunSource.RECORDING

    @property
    def is_turn(self) -> bool:
        """Whether the run moves its conversation on."""
        return self.kind in _TURNS

    @property
    def parent_entry(self) -> tuple[int, int] | None:
        """The entry of the parent that the run came of, as (seq, part)."""
        if self.parent_entry_seq is None:
            return None
        return self.parent_entry_seq, self.parent_entry_part or 0

    @property
    def viewer_groups(self) -> tuple[str, ...]:
        """Whose viewers want to know: the run's own, and those of the runs it belongs to.

        Up to the turn, as far as the parents are at hand: a nudge must not query, and whoever
        is not nudged looks by itself after a moment.
        """
        found = [self.group]
        run: Run | None = self
        while run is not None and not run.is_turn and run.parent_id is not None:
            found.append(group_of(run.parent_id))
            run = run._state.fields_cache.get("parent")
        return tuple(found)

    @property
    def group(self) -> str:
        """The channel-layer group that is nudged when frames were stored."""
        return group_of(self.pk)

    def read_frames(self, after: int = 0) -> Iterator[Frame]:
        """The stored frames numbered above `after`, in order."""
        for batch in self.batches(last__gt=after):
            for frame in batch.frames():
                if frame.seq > after:
                    yield frame

    def batches(self, **conditions: Any) -> Iterator[FrameBatch]:
        """The frame batches that meet the conditions, in order, a few in memory at a time."""
        return self.frame_batches.filter(**conditions).order_by("first").iterator(CHUNK)

    def describe_target(self) -> dict[str, Any]:
        """What the protocol registry needs to read this run's frames again."""
        return {
            "url": self.url,
            "protocol": self.protocol,
            "binding": self.binding,
            "version": self.version,
        }


def group_of(pk: uuid.UUID) -> str:
    """The channel-layer group of the run with this key."""
    return f"run.{pk.hex}"
