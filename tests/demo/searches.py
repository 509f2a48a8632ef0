"""Searches of the corpus without HTTP."""

from __future__ import annotations

from typing import Any

from playground.demo.corpus import Corpus
from playground.demo.requests import AskRequest
from playground.demo.search import SearchResult, find


def search(
    corpus: Corpus, text: str, context: dict[str, Any] | None = None, **filters: Any
) -> SearchResult:
    return find(corpus, AskRequest("0.55", text, filters, context or {}, {}))


def names(found: SearchResult) -> list[str]:
    return [entry.name for entry in found.entries]
