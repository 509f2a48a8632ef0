"""The corpus of the demo agent, loaded from `fixtures/demo_corpus.json`."""

from __future__ import annotations

from typing import ClassVar

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
