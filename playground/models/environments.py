"""Environments: named sets of values for `{{name}}` in requests, and secrets among them."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.db import models
from django.urls import reverse

from playground.models.collections import free_slug
from playground.models.fields import EncryptedTextField
from playground.models.json_text import JSONTextField
from playground.models.ownership import OwnedQuerySet

_RESERVED = frozenset({"new", "active"})


class Environment(models.Model):
    """A named set of variables; one at a time is active for a user."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, editable=False
    )
    name = models.CharField(max_length=80)
    slug = models.SlugField(max_length=130)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "slug"], name="environment_slug_per_owner"),
            models.UniqueConstraint(
                fields=["slug"], condition=models.Q(owner=None), name="environment_slug_unowned"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save, with a slug made from the name where there is none."""
        if not self.slug:
            others = Environment.objects.filter(owner=self.owner_id).exclude(pk=self.pk)
            self.slug = free_slug(self.name, "environment", others, _RESERVED)
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        """The page where its variables are edited."""
        return reverse("environment", args=[self.slug])


class Variable(models.Model):
    """A named value of an environment. A secret is one that never leaves."""

    class Kind(models.TextChoices):
        """What the value is."""

        TEXT = "text", "Text"
        #: A number, true, false, null, a list or an object, where `{{name}}` is a whole string.
        JSON = "json", "JSON"
        SECRET = "secret", "Secret"

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="variables")
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=6, choices=Kind, default=Kind.TEXT)
    #: Of text and JSON; "" for a secret.
    value = models.TextField(blank=True)
    #: Of a secret. Encrypted at rest.
    secret = EncryptedTextField(blank=True)
    #: The origins ("https://example.com") that a secret may be sent to.
    allowed_origins = JSONTextField(default=list, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["environment", "name"], name="variable_name"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_secret(self) -> bool:
        """Whether its value never leaves."""
        return self.kind == self.Kind.SECRET

    @property
    def content(self) -> Any:
        """The value that `{{name}}` stands for; of a secret nothing."""
        if self.kind != self.Kind.JSON:
            return self.value
        try:
            return json.loads(self.value)
        except (ValueError, RecursionError):
            return self.value  # Not written by the form, which takes JSON only.
