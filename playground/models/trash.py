"""The trash: rows that keep the time at which a user deleted them, until they are purged.

To everybody else a row in the trash is a deleted one: the manager `objects` of its model leaves it
out, and so does the manager of a model whose rows a delete would remove with it. A foreign key that
a delete would set to NULL is a `WeakForeignKey`. `with_trashed` has all rows; deletion in the
database and the bytes that an owner uses are about those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from django.db import models
from django.db.models.fields.related_descriptors import ForwardManyToOneDescriptor

Row = TypeVar("Row", bound=models.Model)

#: Conditions of constraints and indexes.
UNTRASHED, TRASHED = models.Q(deleted_at=None), models.Q(deleted_at__isnull=False)


class UntrashedManager(models.Manager[Row]):
    """Manager of the rows that are not in the trash."""

    #: The lookup of the time of deletion: the row's own, or that of the row to which it belongs.
    deleted_at = "deleted_at"

    def get_queryset(self) -> models.QuerySet[Row]:
        """Return these rows; relations and Django's commands use it, too."""
        return super().get_queryset().filter(**{self.deleted_at: None})


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

    class WeakForeignKey(models.ForeignKey):
        """A nullable foreign key that reads None, also in a dump, while its row is in the trash."""

        forward_related_accessor_class = _WeakDescriptor

        def value_from_object(self, obj: models.Model) -> Any:
            """Return what a dump and a form contain."""
            found = getattr(obj, self.name)
            return found and found.pk

        def deconstruct(self) -> Any:
            """Deconstruct as a plain foreign key, which it is in the database."""
            name, _, args, kwargs = super().deconstruct()
            return name, "django.db.models.ForeignKey", args, kwargs
