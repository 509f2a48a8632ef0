"""Context of one request of the Agent API: the request, its session, the writer, and a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playground.demo import items as result_items
from playground.demo import search
from playground.demo.actions import DemoUrls
from playground.demo.agent_api.requests import ParsedRequest
from playground.demo.agent_api.writer import ResponseWriter
from playground.demo.corpus import Corpus
from playground.demo.failures import FailureError
from playground.demo.query_parser import complete_from_context
from playground.demo.requests import VERSIONS, AskRequest

#: The state of a session, as JSON.
State = dict[str, Any]
#: Questions of a session that are stored.
_MAX_QUESTIONS = 20
#: Matches of a search that are shown.
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class FoundItems:
    """The matches for a question, with a summary."""

    text: str
    items: Sequence[dict[str, Any]]

    @property
    def parts(self) -> list[tuple[str, Any]]:
        """Return an image of the first match, and all matches as data."""
        parts: list[tuple[str, Any]] = [("data", {"results": list(self.items)})]
        if self.items and isinstance(image := self.items[0].get("image"), str):
            parts.insert(0, ("image", image))
        return parts

    @property
    def listed(self) -> list[dict[str, Any]]:
        """Return the names and URLs of the matches."""
        return [{"name": item["name"], "url": item["url"]} for item in self.items]


@dataclass(frozen=True, slots=True)
class Catalog:
    """The corpus, with the URLs of images and actions."""

    corpus: Corpus
    links: DemoUrls

    def find(self, text: str, earlier: Sequence[str] = ()) -> FoundItems:
        """Return the best matches for a question that may refine `earlier` ones.

        No match is an answer, too. Raise `FailureError` for a question without words.
        """
        complete = complete_from_context(
            AskRequest(VERSIONS[-1], text, {}, {"prev": list(earlier)}, {})
        )
        try:
            found = search.find(self.corpus, complete)
        except FailureError as failure:
            if failure.code != "NO_RESULTS":
                raise
            return FoundItems(failure.message, [])
        items = [result_items.item(entry, self.links) for entry in found.entries[:_SHOWN]]
        return FoundItems(result_items.summary(found, complete.text), items)


@dataclass(slots=True)
class RequestContext:
    """A request, and what its handler reads and writes."""

    request: ParsedRequest
    catalog: Catalog
    state: State
    writer: ResponseWriter

    @property
    def earlier(self) -> list[str]:
        found = self.state.get("asked")
        return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []

    def store_question(self) -> None:
        if self.request.text:
            self.state["asked"] = [*self.earlier, self.request.text][-_MAX_QUESTIONS:]
