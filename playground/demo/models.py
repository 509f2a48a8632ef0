"""Models of the demo: the corpus, loaded from `fixtures/demo_corpus.json`, and stored state.

Text from callers is stored as JSON in ASCII: a JSON column of PostgreSQL rejects a lone
surrogate and the character 0, and a request may contain both.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from django.db import models


class ItemManager(models.Manager["Item"]):
    """Manager that finds items by their natural key in the fixture."""

    def get_by_natural_key(self, url: str) -> Item:
        """Return the item at `url`: loading the fixture again updates instead of copying."""
        return self.get(url=url)


class Item(models.Model):
    """An item of the corpus as a schema.org document."""

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
        return (self.url,)


class ListItem(models.Model):
    """An entry that an action put into the cart or the cookbook (section 5)."""

    #: cart or cookbook.
    list_name = models.CharField(max_length=20, db_index=True)
    #: The entry, as JSON text.
    entry = models.TextField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.list_name} {self.pk}"

    @property
    def content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.entry)
        return content


class StoredState(models.Model):
    """State of a protocol between two requests: a session, an open question, a promise, a task."""

    #: The endpoint of the demo that it belongs to.
    area = models.CharField(max_length=20)
    key = models.CharField(max_length=200)
    #: The state, as JSON text.
    state = models.TextField()
    #: Time of last use, in seconds since the epoch.
    used_at = models.FloatField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["area", "key"], name="demo_stored_state_key")
        ]

    def __str__(self) -> str:
        return f"{self.area} {self.key}"


def prune(rows: models.QuerySet[Any], keep: int) -> None:
    """Delete all rows but the newest `keep`."""
    surplus = rows.order_by("-pk").values_list("pk", flat=True)[keep : keep + 1]
    for newest in surplus:
        rows.filter(pk__lte=newest).delete()
