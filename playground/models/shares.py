"""Shares: read-only links to a run or to a collection."""

from __future__ import annotations

import secrets
from typing import Any

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from playground.models.collections import Collection
from playground.models.ownership import OwnedQuerySet
from playground.models.runs import Run


def new_token() -> str:
    """192 random bits: nobody guesses that."""
    return secrets.token_urlsafe(24)


class ShareQuerySet(OwnedQuerySet):
    """Queries over shares."""

    def valid(self) -> ShareQuerySet:
        """Shares that have not expired; a revoked one is deleted."""
        return self.filter(models.Q(expires_at=None) | models.Q(expires_at__gt=timezone.now()))


class Share(models.Model):
    """Whoever has the link sees the run, or the collection, and can change nothing."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )
    token = models.CharField(max_length=40, unique=True, editable=False)
    run = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.CASCADE, related_name="shares"
    )
    collection = models.ForeignKey(
        Collection, null=True, blank=True, on_delete=models.CASCADE, related_name="shares"
    )
    created_at = models.DateTimeField(default=timezone.now)
    #: None for never.
    expires_at = models.DateTimeField(null=True, blank=True)

    objects = ShareQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(run=None) ^ models.Q(collection=None), name="share_of_one_thing"
            ),
        ]

    def __str__(self) -> str:
        return f"link to {self.run or self.collection}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Give a new share its token."""
        self.token = self.token or new_token()
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        """The page that the link opens."""
        return reverse("share", args=[self.token])
