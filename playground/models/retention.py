"""Retention limits of owners; `playground.engine.retention` applies them."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from playground.models.ownership import OwnedQuerySet


class Retention(models.Model):
    """One owner's limits on the history; None for no limit. At most one row per owner."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )
    max_days = models.PositiveIntegerField(null=True, blank=True)
    max_runs = models.PositiveIntegerField(null=True, blank=True)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner"], name="retention_per_owner"),
            models.UniqueConstraint(
                models.Value(1), condition=models.Q(owner=None), name="retention_unowned"
            ),
        ]

    def __str__(self) -> str:
        return f"retention of {self.owner or 'all users'}"
