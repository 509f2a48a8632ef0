"""Environments: named sets of variables for `{{name}}` in requests, secrets among them."""

from __future__ import annotations

import json
from typing import Any

from django.db import models
from django.urls import reverse

from playground.models.columns import (
    TEXTS,
    EncryptedTextField,
    JSONTextField,
    NameSlugField,
    valid_columns,
)
from playground.models.rows import Owned, OwnedQuerySet, unique_per_owner

_RESERVED = frozenset({"new", "active"})


class Environment(Owned):
    """A named set of variables; one environment of a user is active at a time."""

    name = models.CharField(max_length=80)
    slug = NameSlugField(max_length=130, within="owner", fallback="environment", reserved=_RESERVED)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            *unique_per_owner("environment_slug", "slug"),
            *valid_columns("environment", _RESERVED),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("environment", args=[self.slug])


class Variable(models.Model):
    """A named value of an environment; that of a secret is never shown or stored with a run."""

    class Kind(models.TextChoices):
        """The type of the value."""

        TEXT = "text", "Text"
        #: A number, true, false, null, a list or an object, where `{{name}}` is a whole string.
        JSON = "json", "JSON"
        SECRET = "secret", "Secret"

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="variables")
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=6, choices=Kind, default=Kind.TEXT)
    #: The value of text and JSON; "" for a secret.
    value = models.TextField(blank=True)
    #: The value of a secret. Encrypted in the database.
    secret = EncryptedTextField(blank=True)
    #: The origins ("https://example.com") that a secret may be sent to.
    allowed_origins = JSONTextField(default=list, blank=True, shape=TEXTS)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["environment", "name"], name="variable_name"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_secret(self) -> bool:
        return self.kind == self.Kind.SECRET

    @property
    def content(self) -> Any:
        """The value of `{{name}}`; "" for a secret."""
        if self.kind != self.Kind.JSON:
            return self.value
        try:
            return json.loads(self.value)
        except (ValueError, RecursionError):
            return self.value  # Not written by the form, which takes JSON only.
