"""Which rows somebody sees: those of their owner, without those in the trash.

A row in the trash keeps the time at which a user deleted it, until it is purged. To everybody else
it is a deleted one: the manager `objects` of its model leaves it out, and so does the manager of a
model whose rows a delete would remove with it. A foreign key that a delete would set to NULL is a
`WeakForeignKey`. `with_trashed` has all rows; deletion in the database and the bytes that an owner
uses are about those.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.sessions.models import Session
from django.db import models
from django.db.models.fields.related_descriptors import ForwardManyToOneDescriptor
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from playground.models.columns import AsPlain

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

# Ownership


Row = TypeVar("Row", bound=models.Model)
#: Owner of a row: a user, or None in local mode, where everything is shared.
Owner: TypeAlias = "User | None"


def owner_of(user: User | AnonymousUser | None) -> Owner:
    """Return the owner of the rows that `user` creates; None in local mode or if anonymous.

    The user is that of a request (`request.user`) or of a WebSocket (`scope["user"]`). In local
    mode everything is shared, also with a browser that sends the session of a user.
    """
    if not settings.HOSTED or user is None or not user.is_authenticated:
        return None
    return user


class NaturalKeyManager(models.Manager[Row]):
    """Manager of rows by slugs, so that fixtures need no primary keys."""

    def get_by_natural_key(self, slug: str, part: str | None = None) -> Row:
        """Return the shared (unowned) row with this slug, or the part of it with the other one."""
        if part is None:
            return self.get(owner=None, slug=slug)
        return self.get(collection__owner=None, collection__slug=slug, slug=part)


class OwnedQuerySet(models.QuerySet):  # type: ignore[type-arg]
    """Rows with an owner, which is None for all rows in local mode."""

    def owned_by(self, user: User | AnonymousUser) -> Self:
        """Return the rows that `user` may see: their own, or the unowned ones in local mode."""
        owner = owner_of(user)
        if settings.HOSTED and owner is None:
            return self.none()
        return self.filter(owner=owner)


class Owned(models.Model):
    """A row of a user; of everybody in local mode."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, editable=False
    )

    class Meta:
        abstract = True


def unique_per_owner(
    name: str, *fields: str, condition: models.Q | None = None
) -> list[models.BaseConstraint]:
    """Return constraints of an `Owned` model: no two rows of an owner are equal in these fields.

    One with NULL equals no other, so rows without an owner need a constraint of their own.
    """
    unowned = models.Q(owner=None)
    both = condition & unowned if condition else unowned
    return [
        models.UniqueConstraint(
            fields=["owner", *fields], condition=condition, name=f"{name}_per_owner"
        ),
        models.UniqueConstraint(fields=fields, condition=both, name=f"{name}_unowned"),
    ]


# Sessions of users who are logged in to a hosted playground


def valid_sessions(keys: Collection[str]) -> set[str]:
    """Return the keys of those sessions that are logged in, by two queries for all of them.

    A session ends with a log-out, when its user is deactivated or deleted, and when the password is
    changed.
    """
    rows = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    data = {row.session_key: row.get_decoded() for row in rows}
    ids = {each[SESSION_KEY] for each in data.values() if SESSION_KEY in each}
    users = get_user_model().objects.filter(pk__in=ids, is_active=True)
    hashes = {str(user.pk): user.get_session_auth_hash() for user in users}
    return {
        key
        for key, each in data.items()
        if (known := hashes.get(each.get(SESSION_KEY, "")))
        and constant_time_compare(each.get(HASH_SESSION_KEY, ""), known)
    }


# The trash

#: Conditions of constraints and indexes.
UNTRASHED, TRASHED = models.Q(deleted_at=None), models.Q(deleted_at__isnull=False)


class UntrashedManager(models.Manager[Row]):
    """Manager of the rows that are not in the trash."""

    #: The lookup of the time of deletion: the row's own, or that of the row to which it belongs.
    deleted_at = "deleted_at"

    def get_queryset(self) -> models.QuerySet[Row]:
        """Return these rows; relations and Django's commands use it, too."""
        return super().get_queryset().filter(**{self.deleted_at: None})


class PartManager(UntrashedManager[Row], NaturalKeyManager[Row]):
    """Manager of collections and their parts."""


class Trashable(models.Model):
    """A row that can be in the trash."""

    #: By the database's clock. Rows that were deleted together have the same time.
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    with_trashed = models.Manager()

    class Meta:
        abstract = True


if TYPE_CHECKING:
    WeakForeignKey = models.ForeignKey
else:

    class _WeakDescriptor(ForwardManyToOneDescriptor):
        def __get__(self, instance: Any, cls: Any = None) -> Any:
            found = super().__get__(instance, cls)
            is_trashed = instance is not None and found is not None and found.deleted_at
            return None if is_trashed else found

    class WeakForeignKey(AsPlain, models.ForeignKey):
        """A nullable foreign key that reads None, also in a dump, while its row is in the trash."""

        plain = "ForeignKey"
        forward_related_accessor_class = _WeakDescriptor

        def value_from_object(self, obj: models.Model) -> Any:
            """Return what a dump and a form contain."""
            found = getattr(obj, self.name)
            return found and found.pk
