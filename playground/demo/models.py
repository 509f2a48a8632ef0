"""The corpus of the demo agent, loaded from `fixtures/demo_corpus.json`, and what it keeps.

What callers sent is kept as JSON text in ASCII: a JSON column of PostgreSQL refuses a lone
surrogate and the character 0, which both can stand in a request.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from django.db import models


class ItemManager(models.Manager["Item"]):
    """Finds items the way the fixture names them."""

    def get_by_natural_key(self, url: str) -> Item:
        """The item at `url`: it makes loading the fixture again an update, not a copy."""
        return self.get(url=url)


class Item(models.Model):
    """One thing that the agent can answer with, as a schema.org document."""

    #: The part of the corpus that it belongs to; `query.site` chooses one (section 3.1).
    site = models.CharField(max_length=80)
    #: Its schema.org type, the same as the document's `@type`.
    item_type = models.CharField(max_length=40)
    url = models.URLField(max_length=300, unique=True)
    document = models.JSONField()

    objects: ClassVar[ItemManager] = ItemManager()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.url

    def natural_key(self) -> tuple[str]:
        """What the fixture knows an item by."""
        return (self.url,)


class PromisedTask(models.Model):
    """A task that was promised (section 4.1.2)."""

    token = models.CharField(max_length=80, unique=True)
    #: The request, as JSON text.
    ask = models.TextField()
    #: How it will end.
    script = models.CharField(max_length=20)
    #: Seconds since the epoch, and how many it takes from there.
    started = models.FloatField()
    seconds = models.FloatField()
    cancelled = models.BooleanField(default=False)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.token


class ListItem(models.Model):
    """Something that an action put into the cart or the cookbook (section 5)."""

    #: cart or cookbook.
    list_name = models.CharField(max_length=20, db_index=True)
    #: What was put there, as JSON text.
    entry = models.TextField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.list_name} {self.pk}"

    @property
    def content(self) -> dict[str, Any]:
        """What was put there."""
        found: dict[str, Any] = json.loads(self.entry)
        return found


class StoredState(models.Model):
    """What a protocol has to remember between two requests: a session, a question, a task."""

    #: Which of the demo's endpoints it belongs to.
    area = models.CharField(max_length=20)
    key = models.CharField(max_length=200)
    #: What is remembered, as JSON text.
    state = models.TextField()
    #: When it was used last, in seconds since the epoch.
    used_at = models.FloatField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["area", "key"], name="demo_stored_state_key")
        ]

    def __str__(self) -> str:
        return f"{self.area} {self.key}"
