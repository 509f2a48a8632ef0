"""What the agent finds for a question: sentences, a picture, and the things themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playground.demo import followups, search
from playground.demo import items as presenting
from playground.demo.actions import DemoUrls
from playground.demo.corpus import Corpus
from playground.demo.failures import FailureError
from playground.demo.requests import VERSIONS, AskRequest

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class FoundItems:
    """What was found for a question."""

    text: str
    items: Sequence[dict[str, Any]]

    @property
    def parts(self) -> list[tuple[str, Any]]:
        """A picture of the first, and all of them as data."""
        parts: list[tuple[str, Any]] = [("data", {"results": list(self.items)})]
        if self.items and isinstance(image := self.items[0].get("image"), str):
            parts.insert(0, ("image", image))
        return parts

    @property
    def listed(self) -> list[dict[str, Any]]:
        """Their names and addresses."""
        return [{"name": item["name"], "url": item["url"]} for item in self.items]


@dataclass(frozen=True, slots=True)
class Catalog:
    """The corpus, and where its pictures and actions are."""

    corpus: Corpus
    links: DemoUrls

    def find(self, text: str, earlier: Sequence[str] = ()) -> FoundItems:
        """The best for a question that may refine `earlier` ones.

        Nothing found is an answer too. Raises `FailureError` for a question without words.
        """
        asked = followups.complete_from_context(
            AskRequest(VERSIONS[-1], text, {}, {"prev": list(earlier)}, {})
        )
        try:
            found = search.find(self.corpus, asked)
        except FailureError as failure:
            if failure.code != "NO_RESULTS":
                raise
            return FoundItems(failure.message, [])
        items = [presenting.item(entry, self.links) for entry in found.entries[:_SHOWN]]
        return FoundItems(presenting.summary(found, asked.text), items)
