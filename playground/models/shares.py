"""Shares: read-only links to a run or to a collection."""

from __future__ import annotations

import secrets
from typing import Any

from django.db import models
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from playground.models.collections import Collection
from playground.models.columns import IN_URL
from playground.models.rows import Owned, OwnedQuerySet, UntrashedManager
from playground.models.runs import Run


class ShareQuerySet(OwnedQuerySet):
    """Queries over shares."""

    def valid(self) -> ShareQuerySet:
        """Return the shares that have not expired; revoked ones are deleted."""
        return self.filter(models.Q(expires_at=None) | models.Q(expires_at__gt=Now()))


class ShareManager(UntrashedManager.from_queryset(ShareQuerySet)):  # type: ignore[misc]
    """Manager of the shares of what is not in the trash."""

    deleted_at = "collection__deleted_at"


class Share(Owned):
    """A link that shows a run or a collection to everyone who has it, and allows no change."""

    token = models.CharField(max_length=40, unique=True, editable=False)
    run = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.CASCADE, related_name="shares"
    )
    collection = models.ForeignKey(
        Collection, null=True, blank=True, on_delete=models.CASCADE, related_name="shares"
    )
    created_at = models.DateTimeField(default=timezone.now)
    #: By the database's clock; None for never.
    expires_at = models.DateTimeField(null=True, blank=True)

    objects = ShareManager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(run=None) ^ models.Q(collection=None), name="share_of_one_thing"
            ),
            models.CheckConstraint(
                condition=models.Q(token__regex=IN_URL), name="share_token_valid"
            ),
        ]

    def __str__(self) -> str:
        return f"link to {self.run or self.collection}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save; make a token if there is none."""
        self.token = self.token or secrets.token_urlsafe(24)  # 192 random bits
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        return reverse("share", args=[self.token])
