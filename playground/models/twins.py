"""Twins: pairs of runs of one request, for a comparison."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.urls import reverse

from playground.models.ownership import OwnedQuerySet
from playground.models.runs import Run


class Twin(models.Model):
    """Two runs of one request: over two bindings, to two agents, or in two versions."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )
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
