"""Collections: requests that are kept, in folders one level deep, and what is expected of them.

Every model has a natural key, so that a collection is a plain Django fixture without primary
keys. Moments have defaults instead of `auto_now_add`, because a fixture may leave them out.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify

from playground.models.agents import Agent
from playground.models.json_text import JSONTextField
from playground.models.ownership import OwnedQuerySet

#: How far apart neighbours are placed, so that one that moves between two others changes
#: nothing but its own place.
STEP = 1024
#: Addresses beside those of collections: no slug of one.
RESERVED = frozenset({"new", "import", "search", "undo", "runs", "tabs"})


class CollectionManager(models.Manager.from_queryset(OwnedQuerySet)):  # type: ignore[misc]
    """Collections by natural key."""

    def get_by_natural_key(self, slug: str) -> Collection:
        """The shared (unowned) collection with this slug."""
        found: Collection = self.get(owner=None, slug=slug)
        return found


class Collection(models.Model):
    """An ordered, described set of requests."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, editable=False
    )
    name = models.CharField(max_length=120)
    #: Stays when the name changes: it is what files, addresses and the command line say.
    slug = models.SlugField(max_length=130)
    #: Markdown.
    description = models.TextField(blank=True)
    #: Among the collections of its owner.
    position = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    modified_at = models.DateTimeField(default=timezone.now)
    #: SHA-256 of the file in fixtures/ when it was loaded or written last; "" for never. What
    #: differs from it since has changed, on disk or here.
    file_digest = models.CharField(max_length=64, blank=True, editable=False)

    objects = CollectionManager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "slug"], name="collection_slug_per_owner"),
            models.UniqueConstraint(
                fields=["slug"], condition=models.Q(owner=None), name="collection_slug_unowned"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save, with a slug made from the name where there is none."""
        if not self.slug:
            others = Collection.objects.filter(owner=self.owner_id).exclude(pk=self.pk)
            self.slug = free_slug(self.name, "collection", others, RESERVED)
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        """The page of the collection."""
        return reverse("collection", args=[self.slug])

    def natural_key(self) -> tuple[str]:
        """The slug: what fixtures and the command line call the collection."""
        return (self.slug,)


class FolderManager(models.Manager["Folder"]):
    """Folders by natural key."""

    def get_by_natural_key(self, collection: str, slug: str) -> Folder:
        """The folder of a shared collection."""
        return self.get(collection__owner=None, collection__slug=collection, slug=slug)


class Folder(models.Model):
    """A part of a collection. Folders are one level deep: a folder has no parent."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="folders")
    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=130)
    #: Markdown.
    description = models.TextField(blank=True)
    position = models.PositiveIntegerField(default=0)

    objects = FolderManager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "slug"], name="folder_slug"),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save, with a slug made from the name where there is none."""
        if not self.slug:
            others = Folder.objects.filter(collection=self.collection).exclude(pk=self.pk)
            self.slug = free_slug(self.name, "folder", others)
        super().save(*args, **kwargs)

    def natural_key(self) -> tuple[str, str]:
        """The collection's slug and the folder's."""
        return (self.collection.slug, self.slug)

    natural_key.dependencies = ["playground.collection"]  # type: ignore[attr-defined]


class SavedRequestManager(models.Manager["SavedRequest"]):
    """Saved requests by natural key."""

    def get_by_natural_key(self, collection: str, slug: str) -> SavedRequest:
        """The request of a shared collection."""
        return self.get(collection__owner=None, collection__slug=collection, slug=slug)


class SavedRequest(models.Model):
    """A request that is kept: as it was composed, before variables, without any secret."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="requests")
    #: None for one that stands before the folders.
    folder = models.ForeignKey(
        Folder, null=True, blank=True, on_delete=models.CASCADE, related_name="requests"
    )
    name = models.CharField(max_length=120)
    #: Stays when the name changes.
    slug = models.SlugField(max_length=130)
    #: Among the requests of its folder, or among those without one.
    position = models.PositiveIntegerField(default=0)

    #: The slug of the agent that it goes to. By its slug and not as a foreign key: a collection
    #: may come to somebody who has no such agent.
    agent = models.CharField(max_length=90, blank=True)
    #: Where it goes where there is no such agent; may hold `{{name}}`. One that begins with `/`
    #: is a path at the agent's origin: see `destination_of`.
    address = models.CharField(max_length=2000, blank=True)
    protocol = models.CharField(max_length=20, choices=Agent.Protocol, default=Agent.Protocol.NLWEB)
    binding = models.CharField(max_length=10, choices=Agent.Binding, default=Agent.Binding.HTTP)
    version = models.CharField(max_length=10, default="0.55")
    #: The document as it was composed; strings may hold `{{name}}`.
    document = JSONTextField(default=dict)
    #: [[name, value], ...]; a credential stands here as `{{name}}` of a secret only.
    headers = JSONTextField(default=list, blank=True)
    #: How it authenticates: {} for the way of its agent; otherwise {"type": "none"},
    #: {"type": "bearer", "secret": NAME}, {"type": "api_key", "header": H, "secret": NAME} or
    #: {"type": "basic", "user": U, "secret": NAME}; NAME is a secret of the environment.
    auth = JSONTextField(default=dict, blank=True)
    #: Markdown.
    notes = models.TextField(blank=True)
    #: See `playground.expectations`: a list of objects.
    expectations = JSONTextField(default=list, blank=True)
    #: What is taken from the reply for the requests that follow: {variable: JSONPath}.
    captures = JSONTextField(default=dict, blank=True)
    #: A reply that was recorded, with its timings: see `playground.library.recordings`.
    reply = JSONTextField(null=True, blank=True)
    #: The recorded reply as a run, once somebody has looked at it; never exported.
    recorded_run = models.ForeignKey(
        "playground.Run", null=True, blank=True, on_delete=models.SET_NULL, related_name="+",
        editable=False,
    )  # fmt: skip
    created_at = models.DateTimeField(default=timezone.now)
    modified_at = models.DateTimeField(default=timezone.now)

    objects = SavedRequestManager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "slug"], name="saved_request_slug"),
        ]
        indexes = [
            models.Index(fields=["collection", "folder", "position"], name="saved_request_order")
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save, with a slug made from the name where there is none."""
        if not self.slug:
            others = SavedRequest.objects.filter(collection=self.collection).exclude(pk=self.pk)
            self.slug = free_slug(self.name, "request", others)
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        """The workbench, with this request in the composer."""
        return reverse("saved-request", args=[self.collection.slug, self.slug])

    def natural_key(self) -> tuple[str, str]:
        """The collection's slug and the request's."""
        return (self.collection.slug, self.slug)

    natural_key.dependencies = ["playground.collection", "playground.folder"]  # type: ignore[attr-defined]


class TrashedItem(models.Model):
    """Something of a collection that was deleted, kept so that it can be put back."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )
    #: What was deleted, in words.
    label = models.CharField(max_length=200)
    #: What hung on it, and the text of a fixture: see `playground.library.removals`.
    fixture = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.label


def free_slug(
    name: str, fallback: str, others: models.QuerySet[Any], reserved: frozenset[str] = frozenset()
) -> str:
    """A slug made from `name` that none of `others` has and no address beside them needs."""
    base = slugify(name)[:110].strip("-") or fallback
    # One query, however many have the same name: an import asks for thousands.
    taken = set(others.filter(slug__startswith=base).values_list("slug", flat=True)) | reserved
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    return slug


def requests_in_order(collection: Collection) -> models.QuerySet[SavedRequest]:
    """The requests of a collection as they are shown and run: without a folder, then by folder."""
    nowhere_first = models.F("folder__position").asc(nulls_first=True)
    order = (nowhere_first, "folder__pk", "position", "pk")
    return collection.requests.select_related("folder").order_by(*order)


def resolve_target(saved: SavedRequest, agents: models.QuerySet[Agent]) -> tuple[Agent | None, str]:
    """Where a saved request goes: its agent among `agents`, or else an address.

    An address that begins with `/` is a path at the origin of its agent, for what that agent
    has beside its own address; without the agent there is nothing that it could belong to.
    """
    agent = agents.filter(slug=saved.agent).first() if saved.agent else None
    if not saved.address.startswith("/"):
        return agent, "" if agent else saved.address
    parts = urlsplit(agent.url) if agent else None
    return None, f"{parts.scheme}://{parts.netloc}{saved.address}" if parts else ""
