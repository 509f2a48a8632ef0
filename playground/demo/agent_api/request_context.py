"""Context of one request of the Agent API: the request, its session, the corpus and the writer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playground.demo.agent_api.requests import ParsedRequest
from playground.demo.agent_api.search import Catalog
from playground.demo.agent_api.writer import ResponseWriter

#: The state of a session, as JSON.
State = dict[str, Any]
#: Questions of a session that are stored.
_MAX_QUESTIONS = 20


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
