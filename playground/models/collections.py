"""Collections: saved requests with their expectations, in folders one level deep.

Every model has a natural key, so that a collection is a plain Django fixture without primary
keys. Times have defaults instead of `auto_now_add`, because a fixture may omit them.
"""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

from django.db import models
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from playground.models.agents import Agent
from playground.models.columns import (
    NAMED_TEXTS,
    OBJECT,
    OBJECTS,
    PAIRS,
    JSONTextField,
    NameSlugField,
    ProtocolField,
    valid_columns,
)
from playground.models.rows import (
    TRASHED,
    UNTRASHED,
    Owned,
    OwnedQuerySet,
    PartManager,
    Trashable,
    WeakForeignKey,
    unique_per_owner,
)
from playground.protocols import registry
from playground.protocols.origins import MAX_URL

#: The distance between the positions of neighbours, so that an item that moves between two others
#: changes its own position only.
STEP = 1024
#: Time for which a deleted part can be restored.
TRASH_LIFETIME = timedelta(days=1)
#: The most rows that `purge_trash` deletes at once.
PURGE_BATCH = 100
#: Slugs that are paths of other pages under /collections/.
RESERVED = frozenset({"new", "import", "search", "undo", "runs", "tabs"})


class Collection(Trashable, Owned):
    """An ordered, described set of requests."""

    name = models.CharField(max_length=120)
    #: Does not change with the name: files, URLs and the command line use it.
    slug = NameSlugField(max_length=130, within="owner", fallback="collection", reserved=RESERVED)
    #: Markdown.
    description = models.TextField(blank=True)
    #: Among the collections of its owner.
    position = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    modified_at = models.DateTimeField(default=timezone.now)
    #: The steps of a lesson, see `playground.lesson_format`; None where it is no lesson.
    lesson = JSONTextField(null=True, blank=True, default=None, shape=OBJECT)
    #: SHA-256 of the file in fixtures/ when it was last loaded or written; "" for never. A
    #: difference means that the file, or the collection, has changed since.
    file_digest = models.CharField(max_length=64, blank=True, editable=False)

    objects = PartManager.from_queryset(OwnedQuerySet)()
    with_trashed = OwnedQuerySet.as_manager()  # type: ignore[misc]

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            *unique_per_owner("collection_slug", "slug", condition=UNTRASHED),
            *valid_columns("collection", RESERVED),
        ]
        indexes = [
            models.Index(fields=["deleted_at"], condition=TRASHED, name="collection_trashed"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("collection", args=[self.slug])

    def natural_key(self) -> tuple[str]:
        """Return the slug, which names the collection in fixtures and on the command line."""
        return (self.slug,)


class Folder(Trashable):
    """A part of a collection. Folders are one level deep: a folder has no parent."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="folders")
    name = models.CharField(max_length=120)
    slug = NameSlugField(max_length=130, within="collection", fallback="folder")
    #: Markdown.
    description = models.TextField(blank=True)
    position = models.PositiveIntegerField(default=0)

    objects = PartManager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "slug"], condition=UNTRASHED, name="folder_slug"
            ),
            *valid_columns("folder"),
        ]
        indexes = [
            models.Index(fields=["deleted_at"], condition=TRASHED, name="folder_trashed"),
        ]

    def __str__(self) -> str:
        return self.name

    def natural_key(self) -> tuple[str, str]:
        return (self.collection.slug, self.slug)

    natural_key.dependencies = ["playground.collection"]  # type: ignore[attr-defined]


class SavedRequest(Trashable):
    """A saved request: a request template, without the value of any secret."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="requests")
    #: None for a request outside folders; it comes before them.
    folder = WeakForeignKey(
        Folder, null=True, blank=True, on_delete=models.SET_NULL, related_name="requests"
    )
    name = models.CharField(max_length=120)
    #: Does not change with the name.
    slug = NameSlugField(max_length=130, within="collection", fallback="request")
    #: Among the requests of its folder, or among those without one.
    position = models.PositiveIntegerField(default=0)

    #: The slug of its agent. Not a foreign key: whoever imports a collection may have no such
    #: agent.
    agent = models.CharField(max_length=90, blank=True)
    #: The URL, where there is no such agent; may hold `{{name}}`. One that begins with `/`
    #: is a path at the agent's origin: see `resolve_target`.
    address = models.CharField(max_length=MAX_URL, blank=True)
    protocol = ProtocolField()
    binding = models.CharField(max_length=10, choices=Agent.Binding, default=Agent.Binding.HTTP)
    version = models.CharField(max_length=10, default="0.55")
    #: The document as it was written; strings may hold `{{name}}`.
    document = JSONTextField(default=dict, shape=OBJECT)
    #: [[name, value], ...]; credentials are `{{name}}` of a secret only.
    headers = JSONTextField(default=list, blank=True, shape=PAIRS)
    #: Its authentication: {} for that of its agent; otherwise {"type": "none"},
    #: {"type": "bearer", "secret": NAME}, {"type": "api_key", "header": H, "secret": NAME} or
    #: {"type": "basic", "user": U, "secret": NAME}; NAME is a secret of the environment.
    auth = JSONTextField(default=dict, blank=True, shape=NAMED_TEXTS)
    #: Markdown.
    notes = models.TextField(blank=True)
    #: See `playground.expectations`: a list of objects.
    expectations = JSONTextField(default=list, blank=True, shape=OBJECTS)
    #: Values of the response for later requests: {variable: JSONPath}.
    captures = JSONTextField(default=dict, blank=True, shape=NAMED_TEXTS)
    #: A recorded response, with its times: see `playground.collections.recordings`.
    reply = JSONTextField(null=True, blank=True, shape=OBJECT)
    #: The recorded response as a run, created when it is first shown; never exported.
    recorded_run = models.ForeignKey(
        "playground.Run", null=True, blank=True, on_delete=models.SET_NULL, related_name="+",
        editable=False,
    )  # fmt: skip
    created_at = models.DateTimeField(default=timezone.now)
    modified_at = models.DateTimeField(default=timezone.now)

    objects = PartManager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "slug"], condition=UNTRASHED, name="saved_request_slug"
            ),
            *valid_columns("saved_request", names=["protocol"], binding=registry.BINDINGS),
            models.CheckConstraint(
                condition=models.Q(document__startswith="{"), name="saved_request_document_valid"
            ),
        ]
        indexes = [
            models.Index(fields=["collection", "folder", "position"], name="saved_request_order"),
            models.Index(fields=["deleted_at"], condition=TRASHED, name="saved_request_trashed"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return the URL of the workbench with this request in the composer."""
        return reverse("saved-request", args=[self.collection.slug, self.slug])

    def natural_key(self) -> tuple[str, str]:
        return (self.collection.slug, self.slug)

    natural_key.dependencies = ["playground.collection", "playground.folder"]  # type: ignore[attr-defined]


class SkippedCollection(models.Model):
    """The slug of a shipped collection that a start does not load, since a user deleted it."""

    slug = models.SlugField(max_length=130, unique=True)

    def __str__(self) -> str:
        return self.slug


def requests_in_order(collection: Collection) -> models.QuerySet[SavedRequest]:
    """Return the requests in display and run order: without a folder, then by folder."""
    without_folder_first = models.F("folder__position").asc(nulls_first=True)
    order = (without_folder_first, "folder__pk", "position", "pk")
    return collection.requests.select_related("folder").order_by(*order)


def resolve_target(saved: SavedRequest, agents: models.QuerySet[Agent]) -> tuple[Agent | None, str]:
    """Return the agent among `agents` that a saved request goes to, or else a URL.

    An address that begins with `/` is a path at the origin of its agent, for an endpoint other
    than the agent's URL; without the agent the URL is "".
    """
    agent = agents.filter(slug=saved.agent).first() if saved.agent else None
    if not saved.address.startswith("/"):
        return agent, "" if agent else saved.address
    parts = urlsplit(agent.url) if agent else None
    return None, f"{parts.scheme}://{parts.netloc}{saved.address}" if parts else ""


def purge_trash() -> int:
    """Delete some rows whose time in the trash is over; return their number, 0 for none."""
    for model in (SavedRequest, Folder, Collection):
        expired = model.with_trashed.filter(deleted_at__lt=Now() - TRASH_LIFETIME)
        if keys := list(expired.values_list("pk", flat=True)[:PURGE_BATCH]):
            expired.filter(pk__in=keys).delete()
            return len(keys)
    return 0
